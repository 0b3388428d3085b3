#include "tools/bench/report.h"

#include <array>
#include <cstdio>

namespace armature::bench {
namespace {

std::string Fixed(double value, int digits, int width = 0) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%*.*f", width, digits, value);
  return text.data();
}

double QuantileUs(const Side& side, double quantile) {
  return static_cast<double>(side.latency.QuantileNs(quantile)) / 1000;
}

void PrintSide(std::ostream& out, const std::string& name, const Side& side) {
  out << "  " << name << std::string(name.size() < 8 ? 8 - name.size() : 0, ' ')
      << Fixed(side.Median(&Round::calls_per_second), 0, 9) << " " << Fixed(QuantileUs(side, 0.5), 0, 9) << " "
      << Fixed(QuantileUs(side, 0.99), 0, 9) << " " << Fixed(QuantileUs(side, 0.999), 0, 9) << " "
      << Fixed(side.Median(&Round::server_cpu_us), 2, 12) << " " << Fixed(side.Median(&Round::client_cpu_us), 2, 12)
      << " " << Fixed(side.request_bytes, 0, 9) << " " << Fixed(side.response_bytes, 0, 9) << "\n";
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
      quoted += escape.data();
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

void JsonSide(std::ostream& out, const Side& side) {
  out << "{\"calls\": " << side.calls << ", \"failed\": " << side.failed
      << ", \"first_error\": " << Quoted(side.first_error)
      << ", \"calls_per_second\": " << Fixed(side.Median(&Round::calls_per_second), 1)
      << ", \"p50_us\": " << Fixed(QuantileUs(side, 0.5), 1) << ", \"p99_us\": " << Fixed(QuantileUs(side, 0.99), 1)
      << ", \"p999_us\": " << Fixed(QuantileUs(side, 0.999), 1)
      << ", \"max_us\": " << Fixed(static_cast<double>(side.latency.max_ns()) / 1000, 1)
      << ", \"server_cpu_us\": " << Fixed(side.Median(&Round::server_cpu_us), 3)
      << ", \"client_cpu_us\": " << Fixed(side.Median(&Round::client_cpu_us), 3)
      << ", \"request_bytes\": " << Fixed(side.request_bytes, 1)
      << ", \"response_bytes\": " << Fixed(side.response_bytes, 1) << ", \"rounds\": [";
  const char* separator = "";
  for (const Round& round : side.rounds) {
    out << separator << "{\"calls_per_second\": " << Fixed(round.calls_per_second, 1)
        << ", \"server_cpu_us\": " << Fixed(round.server_cpu_us, 3)
        << ", \"client_cpu_us\": " << Fixed(round.client_cpu_us, 3) << "}";
    separator = ", ";
  }
  out << "]}";
}

}  // namespace

void PrintText(std::ostream& out, const Comparison& c) {
  out << c.name << ": " << c.workload.rounds.size() << " rounds"
      << (c.echo.rounds.empty() ? "" : ", in turns with echo") << "\n"
      << "             calls/s    p50 us    p99 us  p99.9 us  srv cpu us/op  cli cpu us/op   req B"
         "    resp B\n";
  PrintSide(out, c.name, c.workload);
  if (c.echo.rounds.empty() && c.echo.failed == 0) {
    out << "  by round, calls/s:";
    for (const Round& round : c.workload.rounds) out << " " << Fixed(round.calls_per_second, 0);
    out << "\n" << std::flush;
    return;
  }
  PrintSide(out, "echo", c.echo);
  if (c.cpu_ratio == 0) {
    out << "  ended early, no ratios\n" << std::flush;
    return;
  }
  out << "  " << c.name << " / echo: server cpu per op " << Fixed(c.cpu_ratio, 2) << ", throughput "
      << Fixed(c.throughput_ratio, 2) << " (medians; by round:";
  for (size_t i = 0; i < c.echo.rounds.size(); ++i) {
    const double echo_cpu_us = c.echo.rounds[i].server_cpu_us;
    const double ratio = echo_cpu_us > 0 ? c.workload.rounds[i].server_cpu_us / echo_cpu_us : 0;
    out << " " << Fixed(ratio, 2);
  }
  out << ")\n";
  out << std::flush;
}

void PrintJson(std::ostream& out, const std::string& server_version, const Options& o,
               const std::vector<Comparison>& comparisons) {
  out << "{\"server_version\": " << Quoted(server_version) << ", \"connections\": " << o.connections
      << ", \"outstanding\": " << o.outstanding << ", \"client_threads\": " << o.client_threads
      << ", \"seconds\": " << Fixed(o.seconds, 2) << ", \"item_bytes\": " << o.item_bytes
      << ", \"page_items\": " << o.page_items << ", \"gsi\": " << o.gsi << ", \"items\": " << o.items
      << ", \"key_space\": " << o.key_space << ", \"workloads\": [";
  const char* separator = "";
  for (const Comparison& c : comparisons) {
    out << separator << "\n  {\"name\": " << Quoted(c.name) << ", \"cpu_ratio\": " << Fixed(c.cpu_ratio, 4)
        << ", \"throughput_ratio\": " << Fixed(c.throughput_ratio, 4) << ",\n   \"workload\": ";
    JsonSide(out, c.workload);
    out << ",\n   \"echo\": ";
    JsonSide(out, c.echo);
    out << "}";
    separator = ",";
  }
  out << "\n]}\n";
}

}  // namespace armature::bench
