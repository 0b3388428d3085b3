// A workload against the floor: rounds of both, in turns.
#ifndef ARMATURE_TOOLS_BENCH_COMPARISON_H_
#define ARMATURE_TOOLS_BENCH_COMPARISON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/histogram.h"
#include "tools/bench/load.h"
#include "tools/bench/options.h"

namespace armature::bench {

// One round, by the call.
struct Round {
  double calls_per_second = 0;
  double server_cpu_us = 0;
  double client_cpu_us = 0;
};

// All rounds of a workload, or of its echo.
struct Side {
  std::vector<Round> rounds;
  uint64_t calls = 0;
  uint64_t failed = 0;
  std::string first_error;
  double request_bytes = 0;  // Means.
  double response_bytes = 0;
  Histogram latency;

  double Median(double Round::*member) const;
};

struct Comparison {
  std::string name;
  Side workload;
  Side echo;
  // Workload over echo: medians of the ratios of neighbouring rounds.
  double cpu_ratio = 0;
  double throughput_ratio = 0;
};

// Warms up, then runs options.rounds rounds of `kind`, each followed by one of echo with the
// message sizes of the round, or with options.without_echo alone and without ratios. Ends early, without ratios, when
// calls fail or the program is interrupted.
Comparison Compare(const Channels& channels, const CallKind& kind, const Options& options);

// Unmeasured: runs a source to its end. Throws std::runtime_error if a call fails.
void Load(const Channels& channels, const CallKind& kind, const Options& options);

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_COMPARISON_H_
