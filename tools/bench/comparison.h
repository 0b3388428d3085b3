// Compares a workload with the floor, by rounds of both in turns, and prints the results.
#ifndef ARMATURE_TOOLS_BENCH_COMPARISON_H_
#define ARMATURE_TOOLS_BENCH_COMPARISON_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "armature/client/client.h"
#include "tools/bench/histogram.h"
#include "tools/bench/load.h"
#include "tools/bench/workload.h"

namespace armature::bench {

// Figures of one round, for one call.
struct Round {
  double calls_per_second = 0;
  double server_cpu_us = 0;
  double client_cpu_us = 0;
  // Calls of the slowest and of the fastest client, as shares of the mean of all clients. 1: perfectly even.
  double slowest_client = 0;
  double fastest_client = 0;
};

// All rounds of a workload, or of its echo.
struct Side {
  std::vector<Round> rounds;
  uint64_t calls = 0;
  uint64_t failed = 0;
  std::string first_error;
  double request_bytes = 0;  // mean of a call
  double response_bytes = 0;
  Histogram latency;

  double Median(double Round::*member) const;
};

struct Comparison {
  std::string name;
  bool shows_fairness = false;
  Side workload;
  Side echo;
  // Workload over echo: medians of the ratios of neighbouring rounds.
  double cpu_ratio = 0;
  double throughput_ratio = 0;
};

// Warms up, then runs options.rounds rounds of `kind`. Each is followed by a round of echo with the message sizes of
// the round, unless options.without_echo is set: then there are no ratios. Ends early, without ratios, when calls fail
// or the program is interrupted. `client` reads the CPU time of the daemon.
Comparison Compare(const client::Client& client, const Channels& channels, const CallKind& kind,
                   const Options& options);

// Runs a source to its end, unmeasured. Throws std::runtime_error if a call fails.
void Load(const Channels& channels, const CallKind& kind, const Options& options);

// Prints a comparison without its failures, which main prints on stderr.
void PrintText(std::ostream& out, const Comparison& comparison);

// Prints one JSON object with all results. Times are in microseconds.
void PrintJson(std::ostream& out, const std::string& server_version, const Options& options,
               const std::vector<Comparison>& comparisons);

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_COMPARISON_H_
