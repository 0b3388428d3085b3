#include "tools/bench/comparison.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tools/bench/bench_table.h"
#include "tools/bench/workload.h"

namespace armature::bench {
namespace {

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double Quotient(double a, double b) { return b > 0 ? a / b : 0; }

LoadOptions ForSeconds(const Options& options, double seconds) {
  return {.outstanding = options.outstanding, .threads = options.client_threads, .seconds = seconds};
}

int64_t ServerCpuUs(const client::Client& client) {
  const admin::v1::GetServerInfoResponse info = ServerInfo(client);
  return info.cpu_user_us() + info.cpu_system_us();
}

// Runs `kind` for some seconds, and adds failures and mean message sizes to `side`.
LoadResult RunFor(double seconds, const Channels& channels, const CallKind& kind, const Options& options, Side* side) {
  LoadResult result = RunLoad(channels, kind, ForSeconds(options, seconds));
  const auto calls = static_cast<double>(result.calls);
  side->failed += result.failed;
  if (side->first_error.empty()) side->first_error = result.first_error;
  side->request_bytes = Quotient(static_cast<double>(result.request_bytes), calls);
  side->response_bytes = Quotient(static_cast<double>(result.response_bytes), calls);
  return result;
}

// Runs one round and adds it to `side`. False if calls failed.
bool RunRound(const client::Client& client, const Channels& channels, const CallKind& kind, const Options& options,
              Side* side) {
  const int64_t cpu_before_us = ServerCpuUs(client);
  const LoadResult result = RunFor(options.seconds, channels, kind, options, side);
  const auto cpu_us = static_cast<double>(ServerCpuUs(client) - cpu_before_us);
  const auto calls = static_cast<double>(result.calls);
  side->rounds.push_back({.calls_per_second = Quotient(calls, result.seconds),
                          .server_cpu_us = Quotient(cpu_us, calls),
                          .client_cpu_us = Quotient(result.client_cpu_us, calls)});
  side->calls += result.calls;
  side->latency.Merge(result.latency);
  return result.failed == 0;
}

// False if calls failed.
bool WarmUp(const Channels& channels, const CallKind& kind, const Options& options, Side* side) {
  return RunFor(options.warmup_seconds, channels, kind, options, side).failed == 0;
}

CallKind EchoOf(const Side& side) {
  return Echo(static_cast<uint64_t>(std::llround(side.request_bytes)),
              static_cast<uint64_t>(std::llround(side.response_bytes)));
}

}  // namespace

double Side::Median(double Round::*member) const {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(round.*member);
  return MedianOf(std::move(values));
}

Comparison Compare(const client::Client& client, const Channels& channels, const CallKind& kind,
                   const Options& options) {
  Comparison c;
  c.name = kind.name;
  if (!WarmUp(channels, kind, options, &c.workload)) return c;
  if (options.without_echo) {
    for (uint32_t i = 0; i < options.rounds && !Interrupted(); ++i) {
      if (!RunRound(client, channels, kind, options, &c.workload)) break;
    }
    return c;
  }
  if (!WarmUp(channels, EchoOf(c.workload), options, &c.echo)) return c;
  std::vector<double> cpu_ratios;
  std::vector<double> throughput_ratios;
  for (uint32_t i = 0; i < options.rounds && !Interrupted(); ++i) {
    if (!RunRound(client, channels, kind, options, &c.workload)) return c;
    if (!RunRound(client, channels, EchoOf(c.workload), options, &c.echo)) return c;
    const Round& workload = c.workload.rounds.back();
    const Round& echo = c.echo.rounds.back();
    cpu_ratios.push_back(Quotient(workload.server_cpu_us, echo.server_cpu_us));
    throughput_ratios.push_back(Quotient(workload.calls_per_second, echo.calls_per_second));
  }
  if (Interrupted()) return c;
  c.cpu_ratio = MedianOf(std::move(cpu_ratios));
  c.throughput_ratio = MedianOf(std::move(throughput_ratios));
  return c;
}

void Load(const Channels& channels, const CallKind& kind, const Options& options) {
  const LoadResult result = RunLoad(channels, kind, ForSeconds(options, 0));
  if (result.failed > 0) {
    throw std::runtime_error(std::to_string(result.failed) + " calls failed, the first: " + result.first_error);
  }
}

}  // namespace armature::bench
