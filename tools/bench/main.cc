// armature-bench: measures the cost of the daemon's item operations against a call that does nothing. See README.md.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "armature/version.h"
#include "storage/base/strings.h"
#include "tools/armature/unknown_word.h"
#include "tools/bench/comparison.h"
#include "tools/bench/daemon.h"
#include "tools/bench/load.h"
#include "tools/bench/options.h"
#include "tools/bench/workload.h"

namespace armature::bench {
namespace {

constexpr int kExitFailed = 1;

// Absent if the program ends at once with *exit_code, after --help or a wrong command line.
std::optional<Options> ParseOptions(int argc, char** argv, int* exit_code) {
  Options o;
  CLI::App app(
      "Load generator for armatured: drives a workload and, in turns with it, the same message volume against\n"
      "AdminService.Echo, and reports what the workload costs in terms of that floor.",
      "armature-bench");
  app.option_defaults()->always_capture_default()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option("--target", o.target, "Address of the daemon, host:port");
  app.add_option("--spawn", o.spawn, "Path of an armatured: start it on a temporary data directory, ignore --target")
      ->check(CLI::ExistingFile);
  app.add_option("--workload", o.workload, "What to run; all is put, get and query")
      ->check(CLI::IsMember({"put", "get", "query", "scan", "update", "batch", "transact", "pipeline", "all"}));
  app.add_option("--connections", o.connections, "TCP connections")->check(CLI::Range(1, 1024));
  app.add_option("--outstanding", o.outstanding, "Requests under way, over all connections")
      ->check(CLI::Range(1, 65536));
  app.add_option("--client_threads", o.client_threads, "Threads of this program")->check(CLI::Range(1, 64));
  app.add_option("--seconds", o.seconds, "Length of a round")->check(CLI::Range(0.1, 86400.0));
  app.add_option("--warmup_seconds", o.warmup_seconds, "Unmeasured run before the first round")
      ->check(CLI::Range(0.05, 3600.0));
  app.add_option("--rounds", o.rounds, "Rounds of the workload, and as many of echo")->check(CLI::Range(1, 1000));
  app.add_option("--item_bytes", o.item_bytes, "Size of an item by the rules of the API")
      ->check(CLI::Range(100, 400 * 1024));
  app.add_option("--page_items", o.page_items, "Items of a page of query and scan")->check(CLI::Range(1, 100000));
  app.add_option("--gsi", o.gsi, "Global indexes on the table, projecting whole items")->check(CLI::Range(0, 20));
  app.add_option("--items", o.items, "Items loaded for get, scan and update")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1000000000}));
  app.add_option("--key_space", o.key_space, "put: number of keys to overwrite at random; 0: every key is new");
  app.add_flag("--without_echo", o.without_echo, "Only the workload, round after round: what it can keep up");
  app.add_flag("--json", o.json, "Print the results as one JSON object");
  app.set_version_flag("--version", Cat("armature-bench ", kVersion));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    *exit_code = app.exit(help);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    const std::string unknown = cli::UnknownWord(app, std::vector<std::string>(argv + 1, argv + argc));
    std::cerr << "armature-bench: " << (unknown.empty() ? error.what() : unknown) << "\n";
    *exit_code = 2;
    return std::nullopt;
  }
  o.client_threads = std::min({o.client_threads, o.connections, o.outstanding});
  return o;
}

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
