// armature-bench: measures the cost of the daemon's item operations against a call that does nothing. See README.md.
#include <signal.h>

#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/bench_table.h"
#include "tools/bench/comparison.h"
#include "tools/bench/load.h"
#include "tools/bench/options.h"
#include "tools/bench/report.h"
#include "tools/bench/spawned_daemon.h"
#include "tools/bench/workload.h"

namespace armature::bench {
namespace {

constexpr int kExitFailed = 1;

void OnSignal(int number) {
  Interrupt();
  signal(number, SIG_DFL);  // a second signal ends the program at once
}

// Prints the failures. True if calls failed.
bool ReportFailures(const Comparison& comparison) {
  bool failed = false;
  for (const Side* side : {&comparison.workload, &comparison.echo}) {
    if (side->failed == 0) continue;
    failed = true;
    std::cerr << "armature-bench: " << side->failed << " calls failed, the first: " << side->first_error << "\n";
  }
  return failed;
}

int Run(Options options) {
  std::optional<SpawnedDaemon> daemon;
  if (!options.spawn.empty()) {
    daemon.emplace(options.spawn);
    options.target = daemon->address();
  }
  const Channels channels = Connect(options.target, options.connections);
  const client::Client client = ConnectClient(options.target);
  const std::string version = ServerInfo(client).version();
  if (!options.json) {
    std::cout << "armatured " << version << " at " << options.target << ", " << options.connections << " connections, "
              << options.outstanding << " outstanding\n";
  }
  const BenchTable table(client, options);
  if (options.Wants("get") || options.Wants("scan") || options.Wants("update")) {
    Load(channels, LoadItems(options, table.name()), options);
  }
  if (options.Wants("query")) Load(channels, LoadPages(options, table.name()), options);

  std::vector<Comparison> comparisons;
  bool failed = false;
  for (const char* name : {"put", "get", "query", "scan", "update", "batch", "transact", "pipeline"}) {
    if (!options.Wants(name) || Interrupted()) continue;
    comparisons.push_back(Compare(client, channels, Workload(name, options, table.name()), options));
    if (!options.json) PrintText(std::cout, comparisons.back());
    failed = ReportFailures(comparisons.back()) || failed;
  }
  if (options.json) PrintJson(std::cout, version, options, comparisons);
  if (Interrupted()) std::cerr << "armature-bench: interrupted\n";
  return failed || Interrupted() ? kExitFailed : 0;
}

}  // namespace
}  // namespace armature::bench

int main(int argc, char** argv) {
  int exit_code = 0;
  const auto options = armature::bench::ParseOptions(argc, argv, &exit_code);
  if (!options.has_value()) return exit_code;
  signal(SIGINT, armature::bench::OnSignal);
  signal(SIGTERM, armature::bench::OnSignal);
  try {
    return armature::bench::Run(*options);
  } catch (const std::exception& e) {
    std::cerr << "armature-bench: " << e.what() << "\n";
    return armature::bench::kExitFailed;
  }
}
