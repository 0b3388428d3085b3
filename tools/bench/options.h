// The values of the command line.
#ifndef ARMATURE_TOOLS_BENCH_OPTIONS_H_
#define ARMATURE_TOOLS_BENCH_OPTIONS_H_

#include <cstdint>
#include <string>

namespace armature::bench {

struct Options {
  std::string target = "127.0.0.1:7700";
  std::string workload = "all";
  std::string spawn;  // path of a daemon to start; empty: use `target`
  uint32_t connections = 2;
  uint32_t outstanding = 64;
  uint32_t client_threads = 1;
  uint32_t rounds = 3;
  double seconds = 5;
  double warmup_seconds = 0.5;
  uint32_t item_bytes = 300;
  uint32_t page_items = 100;
  uint32_t gsi = 0;
  uint64_t items = 10000;
  uint64_t key_space = 0;
  bool without_echo = false;
  bool json = false;

  bool Wants(const std::string& name) const {
    return workload == name || (workload == "all" && (name == "put" || name == "get" || name == "query"));
  }
};

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_OPTIONS_H_
