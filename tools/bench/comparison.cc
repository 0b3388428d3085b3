#include "tools/bench/comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"

namespace armature::bench {
namespace {

using Json = nlohmann::ordered_json;

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double Quotient(double a, double b) { return b > 0 ? a / b : 0; }

int64_t ServerCpuUs(const client::Client& client) {
  const admin::v1::GetServerInfoResponse info = ServerInfo(client);
  return info.cpu_user_us() + info.cpu_system_us();
}

// Runs `kind` for some seconds, and adds failures and mean message sizes to `side`.
LoadResult RunFor(double seconds, const Channels& channels, const CallKind& kind, const Options& options, Side* side) {
  LoadResult result = RunLoad(channels, kind, {options.outstanding, options.client_threads, seconds});
  const auto calls = static_cast<double>(result.calls);
  side->failed += result.failed;
  if (side->first_error.empty()) side->first_error = result.first_error;
  side->request_bytes = Quotient(static_cast<double>(result.request_bytes), calls);
  side->response_bytes = Quotient(static_cast<double>(result.response_bytes), calls);
  return result;
}

void NoteFairness(const std::vector<uint64_t>& by_client, Round* round) {
  if (by_client.empty()) return;
  const auto [least, most] = std::minmax_element(by_client.begin(), by_client.end());
  const double mean = static_cast<double>(std::accumulate(by_client.begin(), by_client.end(), uint64_t{0})) /
                      static_cast<double>(by_client.size());
  round->slowest_client = Quotient(static_cast<double>(*least), mean);
  round->fastest_client = Quotient(static_cast<double>(*most), mean);
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
  NoteFairness(result.by_client, &side->rounds.back());
  side->calls += result.calls;
  side->latency.Merge(result.latency);
  return result.failed == 0;
}

CallKind EchoOf(const Side& side) {
  return Echo(static_cast<uint64_t>(std::llround(side.request_bytes)),
              static_cast<uint64_t>(std::llround(side.response_bytes)));
}

// Rounds to so many decimal places.
double Rounded(double value, int digits) {
  const double scale = std::pow(10, digits);
  return std::round(value * scale) / scale;
}

double QuantileUs(const Side& side, double quantile) {
  return static_cast<double>(side.latency.QuantileNs(quantile)) / 1000;
}

void PrintSide(std::ostream& out, const std::string& name, const Side& side) {
  out << absl::StrFormat("  %-8s%9.0f %9.0f %9.0f %9.0f %12.2f %12.2f %9.0f %9.0f\n", name,
                         side.Median(&Round::calls_per_second), QuantileUs(side, 0.5), QuantileUs(side, 0.99),
                         QuantileUs(side, 0.999), side.Median(&Round::server_cpu_us),
                         side.Median(&Round::client_cpu_us), side.request_bytes, side.response_bytes);
}

Json ToJson(const Side& side) {
  Json rounds = Json::array();
  for (const Round& round : side.rounds) {
    rounds.push_back({{"calls_per_second", Rounded(round.calls_per_second, 1)},
                      {"server_cpu_us", Rounded(round.server_cpu_us, 3)},
                      {"client_cpu_us", Rounded(round.client_cpu_us, 3)},
                      {"slowest_client", Rounded(round.slowest_client, 3)},
                      {"fastest_client", Rounded(round.fastest_client, 3)}});
  }
  return {{"calls", side.calls},
          {"failed", side.failed},
          {"first_error", side.first_error},
          {"calls_per_second", Rounded(side.Median(&Round::calls_per_second), 1)},
          {"p50_us", Rounded(QuantileUs(side, 0.5), 1)},
          {"p99_us", Rounded(QuantileUs(side, 0.99), 1)},
          {"p999_us", Rounded(QuantileUs(side, 0.999), 1)},
          {"max_us", Rounded(static_cast<double>(side.latency.max_ns()) / 1000, 1)},
          {"server_cpu_us", Rounded(side.Median(&Round::server_cpu_us), 3)},
          {"client_cpu_us", Rounded(side.Median(&Round::client_cpu_us), 3)},
          {"request_bytes", Rounded(side.request_bytes, 1)},
          {"response_bytes", Rounded(side.response_bytes, 1)},
          {"rounds", std::move(rounds)}};
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
  c.shows_fairness = kind.shows_fairness;
  if (RunFor(options.warmup_seconds, channels, kind, options, &c.workload).failed > 0) return c;
  if (options.without_echo) {
    for (uint32_t i = 0; i < options.rounds && !Interrupted(); ++i) {
      if (!RunRound(client, channels, kind, options, &c.workload)) break;
    }
    return c;
  }
  if (RunFor(options.warmup_seconds, channels, EchoOf(c.workload), options, &c.echo).failed > 0) return c;
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
  const LoadResult result = RunLoad(channels, kind, {options.outstanding, options.client_threads});
  if (result.failed > 0) {
    throw std::runtime_error(std::to_string(result.failed) + " calls failed, the first: " + result.first_error);
  }
}

void PrintText(std::ostream& out, const Comparison& c) {
  out << c.name << ": " << c.workload.rounds.size() << " rounds"
      << (c.echo.rounds.empty() ? "" : ", in turns with echo") << "\n"
      << "             calls/s    p50 us    p99 us  p99.9 us  srv cpu us/op  cli cpu us/op   req B"
         "    resp B\n";
  PrintSide(out, c.name, c.workload);
  if (c.shows_fairness) {
    out << absl::StrFormat("  clients: the slowest had %.2f of the calls of the mean, the fastest %.2f\n",
                           c.workload.Median(&Round::slowest_client), c.workload.Median(&Round::fastest_client));
  }
  if (c.echo.rounds.empty() && c.echo.failed == 0) {
    out << "  by round, calls/s:";
    for (const Round& round : c.workload.rounds) out << absl::StrFormat(" %.0f", round.calls_per_second);
    out << "\n" << std::flush;
    return;
  }
  PrintSide(out, "echo", c.echo);
  if (c.cpu_ratio == 0) {
    out << "  ended early, no ratios\n" << std::flush;
    return;
  }
  out << absl::StrFormat("  %s / echo: server cpu per op %.2f, throughput %.2f (medians; by round:", c.name,
                         c.cpu_ratio, c.throughput_ratio);
  for (size_t i = 0; i < c.echo.rounds.size(); ++i) {
    const double echo_cpu_us = c.echo.rounds[i].server_cpu_us;
    out << absl::StrFormat(" %.2f", echo_cpu_us > 0 ? c.workload.rounds[i].server_cpu_us / echo_cpu_us : 0);
  }
  out << ")\n" << std::flush;
}

void PrintJson(std::ostream& out, const std::string& server_version, const Options& o,
               const std::vector<Comparison>& comparisons) {
  Json workloads = Json::array();
  for (const Comparison& c : comparisons) {
    workloads.push_back({{"name", c.name},
                         {"cpu_ratio", Rounded(c.cpu_ratio, 4)},
                         {"throughput_ratio", Rounded(c.throughput_ratio, 4)},
                         {"workload", ToJson(c.workload)},
                         {"echo", ToJson(c.echo)}});
  }
  const Json report = {{"server_version", server_version},
                       {"connections", o.connections},
                       {"outstanding", o.outstanding},
                       {"client_threads", o.client_threads},
                       {"seconds", Rounded(o.seconds, 2)},
                       {"item_bytes", o.item_bytes},
                       {"page_items", o.page_items},
                       {"gsi", o.gsi},
                       {"stream", o.stream},
                       {"items", o.items},
                       {"key_space", o.key_space},
                       {"workloads", std::move(workloads)}};
  out << report.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace armature::bench
