#ifndef ARMATURE_TESTS_BENCH_FLOOR_MAIN_H_
#define ARMATURE_TESTS_BENCH_FLOOR_MAIN_H_

// Flags and life of a floor's process.

#include <functional>
#include <memory>
#include <string>

#include "tests/bench/floor_methods.h"

namespace armature::bench {

// The server of a floor. Thread-safety: owned by one thread.
class FloorServer {
 public:
  virtual ~FloorServer() = default;
  // HOST:PORT with the actual port.
  virtual std::string address() const = 0;
  // Ends all calls. No method is called when it has returned; replies to earlier calls may follow.
  virtual void Stop() = 0;
};

// Starts to serve the methods, which outlive the server. Null, with a message on stderr, if it cannot listen.
using StartFloor = std::function<std::unique_ptr<FloorServer>(const FloorMethods& methods, const std::string& listen)>;

// The main function of a floor: prints the server's address, and serves until SIGTERM or SIGINT.
int FloorMain(int argc, char** argv, const std::string& name, const StartFloor& start);

}  // namespace armature::bench

#endif  // ARMATURE_TESTS_BENCH_FLOOR_MAIN_H_
