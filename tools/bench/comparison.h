// Measures a workload and its floor, by rounds of both in turns.
#ifndef ARMATURE_TOOLS_BENCH_COMPARISON_H_
#define ARMATURE_TOOLS_BENCH_COMPARISON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "armature/client/client.h"
#include "tools/bench/histogram.h"
#include "tools/bench/load.h"
#include "tools/bench/workload.h"

namespace armature::bench {

// Figures of one round; times are those of one call.
struct Round {
  double calls_per_second = 0;
  double server_cpu_us = 0;
  double client_cpu_us = 0;
  double p50_us = 0;
  double p99_us = 0;
  double p999_us = 0;
  double max_us = 0;
  // Calls of the slowest and of the fastest client, as shares of the mean of all clients. 1: perfectly even.
  double slowest_client = 0;
  double fastest_client = 0;
};

// All rounds of a workload, or of its echo.
struct Side {
  std::vector<Round> rounds;
  LoadResult total;          // without times and CPU
  double request_bytes = 0;  // mean of a call
  double response_bytes = 0;

  double Median(double Round::*member) const;
};

struct Comparison {
  std::string name;
  bool shows_fairness = false;
  std::vector<std::string> types;  // of calls: names of operations, parallel to Side::total.by_type
  double peak = 0;                 // calls a second, if the rate is a share of it
  double rate = 0;                 // calls a second of the schedule; 0: closed loop
  Side workload;
  Side echo;
  Histogram fsync;  // floor of a durable write, measured before each round; empty without a directory
  // Workload over echo: medians of the ratios of neighbouring rounds.
  double cpu_ratio = 0;
  double throughput_ratio = 0;
};

double MedianOf(std::vector<double> values);

// Warms up, then runs options.rounds rounds of `kind`. Each is followed by a round of echo with the message sizes of
// the round, at the same rate, unless options.without_echo is set: then there are no ratios. Ends early, without
// ratios, when calls fail or the program is interrupted. `client` reads the CPU time of the daemon.
Comparison Compare(const client::Client& client, const NewTransport& transport, const CallKind& kind,
                   const Options& options);

// Runs a source to its end, unmeasured. Throws std::runtime_error if a call fails.
void Load(const NewTransport& transport, const CallKind& kind, const Options& options);

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_COMPARISON_H_
