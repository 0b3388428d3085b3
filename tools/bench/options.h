#ifndef ARMATURE_TOOLS_BENCH_OPTIONS_H_
#define ARMATURE_TOOLS_BENCH_OPTIONS_H_

// The values of the command line.

#include <cstdint>
#include <string>
#include <vector>

namespace armature::bench {

enum class Protocol : uint8_t { kGrpc, kHttp };

struct Options {
  std::string target = "127.0.0.1:7700";  // gRPC
  std::string http_target = "127.0.0.1:8000";
  std::string protocol = "grpc";
  std::string workload = "all";
  std::string spawn;                      // path of a daemon to start; empty: use `target`
  std::vector<std::string> daemon_flags;  // of that daemon
  uint32_t connections = 2;
  uint32_t outstanding = 64;
  uint32_t client_threads = 1;
  uint32_t rounds = 3;
  double seconds = 5;
  double warmup_seconds = 0.5;
  double rate = 0;          // calls a second of an open loop; 0: closed loop
  double rate_of_peak = 0;  // rate of an open loop as a share of the peak, which is measured first; 0: `rate` holds
  std::string fsync_directory;
  uint32_t item_bytes = 300;
  uint32_t page_items = 100;
  uint32_t gsi = 0;
  bool stream = false;
  uint64_t items = 10000;
  uint64_t key_space = 0;
  bool without_echo = false;
  bool json = false;
  std::string out;

  Protocol wire() const { return protocol == "http" ? Protocol::kHttp : Protocol::kGrpc; }
  // A workload that moves index keys needs an index.
  uint32_t gsi_count() const { return workload == "gsi-move" && gsi == 0 ? 1 : gsi; }
};

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_OPTIONS_H_
