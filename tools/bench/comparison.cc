#include "tools/bench/comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "tools/bench/fsync_floor.h"

namespace armature::bench {
namespace {

constexpr double kFsyncSeconds = 0.3;

double Quotient(double a, double b) { return b > 0 ? a / b : 0; }

int64_t ServerCpuUs(const client::Client& client) {
  const admin::v1::GetServerInfoResponse info = ServerInfo(client);
  return info.cpu_user_us() + info.cpu_system_us();
}

void NoteFairness(const std::vector<uint64_t>& by_client, Round* round) {
  if (by_client.empty()) return;
  const auto [least, most] = std::minmax_element(by_client.begin(), by_client.end());
  const double mean = static_cast<double>(std::accumulate(by_client.begin(), by_client.end(), uint64_t{0})) /
                      static_cast<double>(by_client.size());
  round->slowest_client = Quotient(static_cast<double>(*least), mean);
  round->fastest_client = Quotient(static_cast<double>(*most), mean);
}

// The rounds of one comparison.
class Rounds {
 public:
  Rounds(const client::Client& client, const NewTransport& transport, const Options& options)
      : client_(client), transport_(transport), options_(options) {}

  // Runs `kind` for some seconds, and notes the mean message sizes.
  LoadResult RunFor(double seconds, double rate, const CallKind& kind, Side* side) const {
    LoadResult result = RunLoad(transport_, kind, {options_.outstanding, options_.client_threads, seconds, rate});
    const auto calls = static_cast<double>(result.calls);
    side->request_bytes = Quotient(static_cast<double>(result.request_bytes), calls);
    side->response_bytes = Quotient(static_cast<double>(result.response_bytes), calls);
    return result;
  }

  // Runs a round that is not measured. False if calls failed.
  bool WarmUp(const CallKind& kind, Side* side) const {
    const LoadResult result = RunFor(options_.warmup_seconds, 0, kind, side);
    side->total.failed += result.failed;
    side->total.first_error = result.first_error;
    return result.failed == 0;
  }

  // Runs one round and adds it to `side`. False if calls failed.
  bool Run(const CallKind& kind, double rate, Side* side) const {
    const int64_t cpu_before_us = ServerCpuUs(client_);
    const LoadResult result = RunFor(options_.seconds, rate, kind, side);
    const auto cpu_us = static_cast<double>(ServerCpuUs(client_) - cpu_before_us);
    const auto calls = static_cast<double>(result.calls);
    const auto us = [&](double quantile) { return static_cast<double>(result.latency.QuantileNs(quantile)) / 1000; };
    side->rounds.push_back({.calls_per_second = Quotient(calls, result.seconds),
                            .server_cpu_us = Quotient(cpu_us, calls),
                            .client_cpu_us = Quotient(result.client_cpu_us, calls),
                            .p50_us = us(0.5),
                            .p99_us = us(0.99),
                            .p999_us = us(0.999),
                            .max_us = us(1)});
    NoteFairness(result.by_client, &side->rounds.back());
    side->total.Add(result);
    return result.failed == 0;
  }

 private:
  const client::Client& client_;
  const NewTransport& transport_;
  const Options& options_;
};

CallKind EchoOf(const Side& side) {
  return Echo(static_cast<uint64_t>(std::llround(side.request_bytes)),
              static_cast<uint64_t>(std::llround(side.response_bytes)));
}

}  // namespace

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double Side::Median(double Round::*member) const {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(round.*member);
  return MedianOf(std::move(values));
}

Comparison Compare(const client::Client& client, const NewTransport& transport, const CallKind& kind,
                   const Options& options) {
  const Rounds rounds(client, transport, options);
  Comparison c;
  c.name = kind.name;
  c.shows_fairness = kind.shows_fairness;
  c.rate = options.rate;
  for (const CallType& type : kind.types) c.types.push_back(type.operation);
  if (!rounds.WarmUp(kind, &c.workload)) return c;
  if (options.rate_of_peak > 0) {
    Side peak;
    const bool ok = rounds.Run(kind, 0, &peak);
    c.peak = peak.Median(&Round::calls_per_second);
    c.rate = c.peak * options.rate_of_peak;
    if (!ok || Interrupted()) {
      c.workload = std::move(peak);
      return c;
    }
  }
  if (!options.without_echo && !rounds.WarmUp(EchoOf(c.workload), &c.echo)) return c;
  std::vector<double> cpu_ratios;
  std::vector<double> throughput_ratios;
  for (uint32_t i = 0; i < options.rounds && !Interrupted(); ++i) {
    if (!options.fsync_directory.empty()) c.fsync.Merge(MeasureFsync(options.fsync_directory, kFsyncSeconds));
    if (!rounds.Run(kind, c.rate, &c.workload)) return c;
    if (options.without_echo) continue;
    if (!rounds.Run(EchoOf(c.workload), c.rate, &c.echo)) return c;
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

void Load(const NewTransport& transport, const CallKind& kind, const Options& options) {
  const LoadResult result = RunLoad(transport, kind, {options.outstanding, options.client_threads});
  if (result.failed > 0) {
    throw std::runtime_error(std::to_string(result.failed) + " calls failed, the first: " + result.first_error);
  }
}

}  // namespace armature::bench
