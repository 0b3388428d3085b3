#ifndef ARMATURE_CLIENT_EXAMPLES_EXAMPLE_H_
#define ARMATURE_CLIENT_EXAMPLES_EXAMPLE_H_

// The main function of all examples: connects to the daemon that the command line names, and reports errors.

#include <iostream>
#include <utility>

#include "absl/status/status.h"
#include "armature/client/client.h"

// Runs `example` with a client of the daemon at argv[1]. Returns the exit code of the program.
inline int RunExample(int argc, char** argv, absl::Status (*example)(const armature::client::Client&),
                      armature::client::ClientOptions options = {}) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " HOST:PORT\n";
    return 2;
  }
  const auto client = armature::client::Connect(argv[1], std::move(options));
  const absl::Status status = client.ok() ? example(*client) : client.status();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}

#endif  // ARMATURE_CLIENT_EXAMPLES_EXAMPLE_H_
