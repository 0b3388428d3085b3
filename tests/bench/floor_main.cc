#include "tests/bench/floor_main.h"

#include <signal.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "storage/base/lock_checks.h"
#include "tests/bench/floor_database.h"

ABSL_FLAG(std::string, directory, "", "Where to put the database; removed at the end.");
ABSL_FLAG(int, cache_mb, 256, "Size of the block cache.");
ABSL_FLAG(std::string, listen, "127.0.0.1:0", "Address of the server.");
ABSL_FLAG(int, rows, 1, "Rows that a put writes.");
ABSL_FLAG(bool, lookups, false, "Look up items before they are written, and keep the tokens of transactions.");
ABSL_FLAG(bool, reads, false, "Serve get, query and scan, and only puts of rows for them.");

namespace armature::bench {
namespace {

int ServeFloor(const std::string& name, const StartFloor& start, const sigset_t& signals) {
  const FloorOptions options{.name = name,
                             .rows = static_cast<size_t>(absl::GetFlag(FLAGS_rows)),
                             .has_lookups = absl::GetFlag(FLAGS_lookups),
                             .is_for_reads = absl::GetFlag(FLAGS_reads)};
  const std::unique_ptr<rocksdb::DB> db =
      OpenFloorDatabase(absl::GetFlag(FLAGS_directory), static_cast<size_t>(absl::GetFlag(FLAGS_cache_mb)) << 20);
  std::optional<FloorWriter> writer(std::in_place, db.get());
  const FloorMethods methods = MakeFloorMethods(options, db.get(), &*writer);
  const std::unique_ptr<FloorServer> server = start(methods, absl::GetFlag(FLAGS_listen));
  if (server == nullptr) return 1;
  std::cout << server->address() << std::endl;
  int signal = 0;
  sigwait(&signals, &signal);
  server->Stop();
  // Its last replies need what the server owns.
  writer.reset();
  return 0;
}

}  // namespace

int FloorMain(int argc, char** argv, const std::string& name, const StartFloor& start) {
  SkipLockChecks();
  absl::SetProgramUsageMessage("Floor of operations on items over gRPC; see the head of the source.");
  absl::ParseCommandLine(argc, argv);
  const std::string directory = absl::GetFlag(FLAGS_directory);
  if (directory.empty() || std::filesystem::exists(directory) || absl::GetFlag(FLAGS_rows) < 1 ||
      absl::GetFlag(FLAGS_cache_mb) < 1) {
    std::fprintf(stderr, "%s: --directory must name one that does not exist, and --rows and --cache_mb be at least 1\n",
                 name.c_str());
    return 2;
  }
  // Before the first thread, so that all have them blocked.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const int status = ServeFloor(name, start, signals);
  std::filesystem::remove_all(directory);
  return status;
}

}  // namespace armature::bench
