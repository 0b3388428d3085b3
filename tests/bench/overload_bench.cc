// Overload of one operation on one front: finds the peak in closed loop, then runs half load, many times the peak, and
// half load again, each by a schedule, finds the peak again, and prints the figures and their ratios. overload_bench.py
// starts a daemon and this. The part of the peak that is served is that of the mean of both peaks, since the speed of a
// shared machine changes meanwhile.

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_format.h"
#include "tests/bench/open_load.h"

ABSL_FLAG(std::string, address, "", "HOST:PORT of the daemon's front");
ABSL_FLAG(bool, grpc, false, "the front is gRPC; else HTTP");
ABSL_FLAG(std::string, operation, "GetItem", "operation on items");
ABSL_FLAG(std::string, request, "", "file with the request: JSON, or a protobuf message");
ABSL_FLAG(uint32_t, connections, 1000, "connections");
ABSL_FLAG(uint32_t, calls_per_connection, 1, "calls at once on each connection; over HTTP 1");
ABSL_FLAG(uint32_t, closed_calls, 32, "calls at once while the peak is measured");
ABSL_FLAG(double, times, 20, "overload, in multiples of the peak");
ABSL_FLAG(double, seconds, 5, "length of each phase");
ABSL_FLAG(int, pid, 0, "process of the daemon, for its memory");

namespace armature::bench {
namespace {

double Ms(uint64_t ns) { return static_cast<double>(ns) / 1e6; }

void Print(const char* name, const LoadPhase& phase) {
  std::cout
      << absl::StrFormat(
             "  %-9s %9.0f arrivals/s, %8.0f/s admitted, %8.0f/s refused, %9.0f/s unsent, %llu broken; admitted p50 "
             "%.2f ms, p99 %.2f ms, max %.1f ms; after the first second p99 %.2f ms, p99.9 %.2f ms; generator %.2f "
             "cores",
             name, static_cast<double>(phase.arrivals) / phase.seconds, phase.admitted_per_second(),
             static_cast<double>(phase.refused) / phase.seconds, static_cast<double>(phase.unsent) / phase.seconds,
             phase.broken, Ms(phase.admitted.QuantileNs(0.5)), Ms(phase.admitted.QuantileNs(0.99)),
             Ms(phase.admitted.max_ns()), Ms(phase.settled.QuantileNs(0.99)), Ms(phase.settled.QuantileNs(0.999)),
             phase.client_cpu)
      << std::endl;
}

long PeakMb(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM")) return std::atol(line.c_str() + 6) >> 10;
  }
  return 0;
}

void ForgetPeak(int pid) { std::ofstream("/proc/" + std::to_string(pid) + "/clear_refs") << 5; }

int Run() {
  std::ifstream file(absl::GetFlag(FLAGS_request), std::ios::binary);
  OpenLoadOptions options;
  options.address = absl::GetFlag(FLAGS_address);
  options.is_grpc = absl::GetFlag(FLAGS_grpc);
  options.operation = absl::GetFlag(FLAGS_operation);
  options.request = std::string(std::istreambuf_iterator<char>(file), {});
  options.connections = absl::GetFlag(FLAGS_connections);
  options.calls_per_connection = absl::GetFlag(FLAGS_calls_per_connection);
  const double seconds = absl::GetFlag(FLAGS_seconds);
  OpenLoad load(options);
  load.Closed(absl::GetFlag(FLAGS_closed_calls), seconds / 4);  // warms up
  const LoadPhase peak = load.Closed(absl::GetFlag(FLAGS_closed_calls), seconds);
  Print("peak", peak);
  const double peak_rate = peak.admitted_per_second();
  const LoadPhase half = load.Open(peak_rate / 2, seconds, 10);
  Print("half", half);
  const uint64_t half_p99_ns = half.admitted.QuantileNs(0.99);
  const uint64_t slow_ns = 5 * half_p99_ns;
  ForgetPeak(absl::GetFlag(FLAGS_pid));
  const long before_mb = PeakMb(absl::GetFlag(FLAGS_pid));
  const LoadPhase over = load.Open(peak_rate * absl::GetFlag(FLAGS_times), seconds, 0);
  // Without a pause: late answers of the overload count as the recovery's.
  const LoadPhase after = load.Open(peak_rate / 2, std::max(seconds, 4.0), 10);
  const LoadPhase again = load.Closed(absl::GetFlag(FLAGS_closed_calls), seconds);
  const double mean_peak_rate = (peak_rate + again.admitted_per_second()) / 2;
  Print("overload", over);
  Print("after", after);
  Print("peak", again);
  std::cout << absl::StrFormat(
                   "  p99 of admitted %.1f times that at half load, after the first second %.1f times (goal 5), %.1f "
                   "times that at the peak; %.0f "
                   "%% of the peak served (goal 80); recovered after %.1f s (goal 2; before it, %.0f %% of the time "
                   "was as slow); memory +%d MB",
                   static_cast<double>(over.admitted.QuantileNs(0.99)) / static_cast<double>(half_p99_ns),
                   static_cast<double>(over.settled.QuantileNs(0.99)) / static_cast<double>(half_p99_ns),
                   static_cast<double>(over.settled.QuantileNs(0.99)) /
                       static_cast<double>(peak.admitted.QuantileNs(0.99)),
                   100 * over.admitted_per_second() / mean_peak_rate,
                   after.RecoveredAfter(slow_ns, half.TroubledPart(slow_ns)), 100 * half.TroubledPart(slow_ns),
                   PeakMb(absl::GetFlag(FLAGS_pid)) - before_mb)
            << std::endl;
  return 0;
}

}  // namespace
}  // namespace armature::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("overload of one operation of a running daemon");
  absl::ParseCommandLine(argc, argv);
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  return armature::bench::Run();
}
