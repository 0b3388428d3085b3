#include "tools/bench/result_file.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "armature/version.h"

namespace armature::bench {
namespace {

using Json = nlohmann::ordered_json;

struct Figure {
  const char* name;
  double Round::*member;
};
constexpr Figure kFigures[] = {{"calls_per_second", &Round::calls_per_second},
                               {"server_cpu_us", &Round::server_cpu_us},
                               {"client_cpu_us", &Round::client_cpu_us},
                               {"p50_us", &Round::p50_us},
                               {"p99_us", &Round::p99_us},
                               {"p999_us", &Round::p999_us},
                               {"max_us", &Round::max_us}};

// Rounds to so many decimal places.
double Rounded(double value, int digits) {
  const double scale = std::pow(10, digits);
  return std::round(value * scale) / scale;
}

double QuantileUs(const Histogram& latency, double quantile) {
  return static_cast<double>(latency.QuantileNs(quantile)) / 1000;
}

void PrintSide(std::ostream& out, const std::string& name, const Side& side) {
  const Histogram& latency = side.total.latency;
  out << absl::StrFormat("  %-18s%9.0f %9.0f %9.0f %9.0f %9.0f %12.2f %12.2f %9.0f %9.0f\n", name,
                         side.Median(&Round::calls_per_second), QuantileUs(latency, 0.5), QuantileUs(latency, 0.99),
                         QuantileUs(latency, 0.999), QuantileUs(latency, 1), side.Median(&Round::server_cpu_us),
                         side.Median(&Round::client_cpu_us), side.request_bytes, side.response_bytes);
}

// Shares of the calls by powers of two of microseconds.
void PrintHistogram(std::ostream& out, const Histogram& latency) {
  std::map<uint64_t, uint64_t> counts;
  latency.ForEachBucket([&](uint64_t largest_ns, uint64_t count) {
    uint64_t bound_us = 1;
    while (bound_us * 1000 < largest_ns) bound_us *= 2;
    counts[bound_us] += count;
  });
  uint64_t below = 0;
  for (const auto& [bound_us, count] : counts) {
    below += count;
    out << absl::StrFormat("  %9d us %10d  %9.4f %%\n", bound_us, count,
                           100 * static_cast<double>(below) / static_cast<double>(latency.count()));
  }
}

// Lines that only some runs have.
void PrintDetails(std::ostream& out, const Comparison& c, double seconds) {
  const LoadResult& total = c.workload.total;
  if (c.shows_fairness && c.rate == 0) {
    out << absl::StrFormat("  clients: the slowest had %.2f of the calls of the mean, the fastest %.2f\n",
                           c.workload.Median(&Round::slowest_client), c.workload.Median(&Round::fastest_client));
  }
  for (size_t i = 0; i < total.by_type.size() && total.by_type.size() > 1; ++i) {
    const Histogram& latency = total.by_type[i];
    if (latency.count() == 0) continue;
    out << absl::StrFormat("  %-12s %9d calls, p50 %.0f us, p99 %.0f us, p99.9 %.0f us\n", c.types[i], latency.count(),
                           QuantileUs(latency, 0.5), QuantileUs(latency, 0.99), QuantileUs(latency, 0.999));
  }
  if (c.rate > 0) {
    out << absl::StrFormat(
        "  schedule: %.0f calls/s%s for %.0f s a round; %d began more than 1 ms late, %d not at all\n", c.rate,
        c.peak > 0 ? absl::StrFormat(" (peak %.0f)", c.peak) : "", seconds, total.late_starts, total.not_started);
    out << "  latencies up to          calls      share of all up to it\n";
    PrintHistogram(out, total.latency);
  }
  out << absl::StrFormat("  stalls: %d calls over 100 ms, longest time without an answer %.1f ms\n", total.slow,
                         static_cast<double>(total.longest_gap_ns) / 1e6);
  if (c.fsync.count() == 0) return;
  const double fsync_us = QuantileUs(c.fsync, 0.5);
  out << absl::StrFormat(
      "  fsync of 4 KiB: p50 %.0f us, p99 %.0f us; the workload in units of its p50: p50 %.1f, p99 %.1f, p99.9 %.1f\n",
      fsync_us, QuantileUs(c.fsync, 0.99), QuantileUs(total.latency, 0.5) / fsync_us,
      QuantileUs(total.latency, 0.99) / fsync_us, QuantileUs(total.latency, 0.999) / fsync_us);
}

Json Buckets(const Histogram& histogram) {
  Json buckets = Json::array();
  histogram.ForEachBucket([&](uint64_t largest_ns, uint64_t count) {
    buckets.push_back({Rounded(static_cast<double>(largest_ns) / 1000, 3), count});
  });
  return buckets;
}

Json ToJson(const Side& side, const std::vector<std::string>& types) {
  Json rounds = Json::array();
  for (const Round& round : side.rounds) {
    Json figures;
    for (const Figure& figure : kFigures) figures[figure.name] = Rounded(round.*figure.member, 3);
    figures["slowest_client"] = Rounded(round.slowest_client, 3);
    figures["fastest_client"] = Rounded(round.fastest_client, 3);
    rounds.push_back(std::move(figures));
  }
  const LoadResult& total = side.total;
  Json json = {{"calls", total.calls}, {"failed", total.failed}, {"first_error", total.first_error}};
  for (const Figure& figure : kFigures) json[figure.name] = Rounded(side.Median(figure.member), 3);
  // Quantiles of all rounds together.
  json["p50_us"] = Rounded(QuantileUs(total.latency, 0.5), 1);
  json["p99_us"] = Rounded(QuantileUs(total.latency, 0.99), 1);
  json["p999_us"] = Rounded(QuantileUs(total.latency, 0.999), 1);
  json["max_us"] = Rounded(QuantileUs(total.latency, 1), 1);
  json["request_bytes"] = Rounded(side.request_bytes, 1);
  json["response_bytes"] = Rounded(side.response_bytes, 1);
  json["late_starts"] = total.late_starts;
  json["not_started"] = total.not_started;
  json["calls_over_100_ms"] = total.slow;
  json["longest_gap_ms"] = Rounded(static_cast<double>(total.longest_gap_ns) / 1e6, 3);
  json["rounds"] = std::move(rounds);
  json["latency_buckets_us"] = Buckets(total.latency);
  for (size_t i = 0; i < total.by_type.size() && total.by_type.size() > 1; ++i) {
    if (total.by_type[i].count() == 0) continue;
    json["by_operation"].push_back({{"operation", types[i]},
                                    {"calls", total.by_type[i].count()},
                                    {"p50_us", Rounded(QuantileUs(total.by_type[i], 0.5), 1)},
                                    {"p99_us", Rounded(QuantileUs(total.by_type[i], 0.99), 1)},
                                    {"p999_us", Rounded(QuantileUs(total.by_type[i], 0.999), 1)}});
  }
  return json;
}

// The value of a line "name : value" of a file below /proc.
std::string ProcValue(const char* path, const std::string& name) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, name.size(), name) != 0) continue;
    const size_t value = line.find_first_not_of(" \t:", name.size());
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

Json Machine() {
  utsname names{};
  uname(&names);
  return {{"processor", ProcValue("/proc/cpuinfo", "model name")},
          {"cores", std::thread::hardware_concurrency()},
          {"memory", ProcValue("/proc/meminfo", "MemTotal")},
          {"kernel", names.release}};
}

// The command line of the daemon, which has its durability; empty if the process is not visible here.
std::string DaemonCommand(const admin::v1::GetServerInfoResponse& server) {
  std::ifstream in("/proc/" + std::to_string(server.pid()) + "/cmdline", std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  std::string command = text.str();
  if (command.find("armatured") == std::string::npos) return "";
  std::replace(command.begin(), command.end(), '\0', ' ');
  return command;
}

using ValuesByFigure = std::map<std::string, std::vector<double>>;

// The rounds of all files, by workload.
std::map<std::string, ValuesByFigure> ReadRounds(const std::vector<std::string>& files) {
  std::map<std::string, ValuesByFigure> all;
  for (const std::string& file : files) {
    std::ifstream in(file);
    const Json json = Json::parse(in, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains("workloads")) throw std::runtime_error(file + " is not a file of results");
    for (const Json& workload : json["workloads"]) {
      ValuesByFigure& values = all[workload.value("name", "")];
      for (const Json& round : workload["workload"]["rounds"]) {
        for (const Figure& figure : kFigures) values[figure.name].push_back(round.value(figure.name, 0.0));
      }
    }
  }
  return all;
}

void PrintRatio(std::ostream& out, const char* name, const std::vector<double>& before,
                const std::vector<double>& after) {
  if (before.empty() || after.empty()) return;
  const double old_median = MedianOf(before);
  const double new_median = MedianOf(after);
  const auto [old_min, old_max] = std::minmax_element(before.begin(), before.end());
  const auto [new_min, new_max] = std::minmax_element(after.begin(), after.end());
  if (*old_min <= 0 || *new_min <= 0) return;
  const double low = *new_min / *old_max;
  const double high = *new_max / *old_min;
  std::string verdict = low > 1 ? "higher" : high < 1 ? "lower" : "no difference";
  if (before.size() < 2 || after.size() < 2) verdict = "no bounds: a side has one round";
  out << absl::StrFormat("  %-18s %12.2f %12.2f  %6.3f  [%.3f, %.3f]  %s\n", name, old_median, new_median,
                         new_median / old_median, low, high, verdict);
}

}  // namespace

void PrintText(std::ostream& out, const Comparison& c, double seconds) {
  out << c.name << ": " << c.workload.rounds.size() << " rounds"
      << (c.echo.rounds.empty() ? "" : ", in turns with echo") << "\n"
      << "                       calls/s    p50 us    p99 us  p99.9 us    max us  srv cpu us/op  cli cpu us/op   req B"
         "    resp B\n";
  PrintSide(out, c.name, c.workload);
  if (!c.echo.rounds.empty()) PrintSide(out, "echo", c.echo);
  PrintDetails(out, c, seconds);
  if (c.echo.rounds.empty() && c.echo.total.failed == 0) {
    out << "  by round, calls/s:";
    for (const Round& round : c.workload.rounds) out << absl::StrFormat(" %.0f", round.calls_per_second);
    out << "; server cpu us/op:";
    for (const Round& round : c.workload.rounds) out << absl::StrFormat(" %.2f", round.server_cpu_us);
    out << "\n" << std::flush;
    return;
  }
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

std::string ResultJson(const admin::v1::GetServerInfoResponse& server, const Options& o,
                       const std::vector<Comparison>& comparisons) {
  Json workloads = Json::array();
  for (const Comparison& c : comparisons) {
    workloads.push_back({{"name", c.name},
                         {"rate", Rounded(c.rate, 1)},
                         {"peak", Rounded(c.peak, 1)},
                         {"cpu_ratio", Rounded(c.cpu_ratio, 4)},
                         {"throughput_ratio", Rounded(c.throughput_ratio, 4)},
                         {"fsync_p50_us", Rounded(QuantileUs(c.fsync, 0.5), 1)},
                         {"fsync_p99_us", Rounded(QuantileUs(c.fsync, 0.99), 1)},
                         {"workload", ToJson(c.workload, c.types)},
                         {"echo", ToJson(c.echo, {"Echo"})}});
  }
  const Json report = {{"machine", Machine()},
                       {"version", std::string(kVersion)},
                       {"server_version", server.version()},
                       {"server_command", DaemonCommand(server)},
                       {"protocol", o.protocol},
                       {"connections", o.wire() == Protocol::kHttp ? o.outstanding : o.connections},
                       {"outstanding", o.outstanding},
                       {"client_threads", o.client_threads},
                       {"seconds", Rounded(o.seconds, 2)},
                       {"item_bytes", o.item_bytes},
                       {"page_items", o.page_items},
                       {"gsi", o.gsi_count()},
                       {"stream", o.stream},
                       {"items", o.items},
                       {"key_space", o.key_space},
                       {"workloads", std::move(workloads)}};
  return report.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void CompareFiles(std::ostream& out, const std::vector<std::string>& old_files,
                  const std::vector<std::string>& new_files) {
  const auto before = ReadRounds(old_files);
  const auto after = ReadRounds(new_files);
  bool found = false;
  for (const auto& [name, old_values] : before) {
    const auto same = after.find(name);
    if (same == after.end()) continue;
    found = true;
    out << name << ":\n"
        << "                              old          new   ratio  bounds\n";
    for (const Figure& figure : kFigures) {
      const auto old_rounds = old_values.find(figure.name);
      const auto new_rounds = same->second.find(figure.name);
      if (old_rounds == old_values.end() || new_rounds == same->second.end()) continue;
      PrintRatio(out, figure.name, old_rounds->second, new_rounds->second);
    }
  }
  if (!found) throw std::runtime_error("the files have no workload in common");
}

}  // namespace armature::bench
