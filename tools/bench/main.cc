// armature-bench: measures the cost of the daemon's item operations against a call that does nothing. See README.md.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "armature/client/wait.h"
#include "armature/version.h"
#include "storage/base/lock_checks.h"
#include "storage/base/strings.h"
#include "tools/armature/unknown_word.h"
#include "tools/bench/comparison.h"
#include "tools/bench/daemon_process.h"
#include "tools/bench/load.h"
#include "tools/bench/result_file.h"
#include "tools/bench/workload.h"

namespace armature::bench {
namespace {

constexpr int kExitFailed = 1;
constexpr absl::Duration kActiveMax = absl::Seconds(60);

struct CommandLine {
  Options options;
  // The files of the subcommand `compare`; otherwise workloads are to run.
  bool compares = false;
  std::vector<std::string> old_files;
  std::vector<std::string> new_files;
};

std::string WorkloadNames() {
  std::string names;
  for (const WorkloadInfo& workload : Workloads()) names += std::string(workload.name) + ", ";
  return names + "all";
}

bool IsWanted(const Options& options, const WorkloadInfo& workload) {
  return options.workload == workload.name || (options.workload == "all" && workload.is_in_all);
}

void AddWorkloadOptions(CLI::App* app, Options* o) {
  app->add_option("--workload", o->workload, "What to run: " + WorkloadNames() + "; all is put, get and query")
      ->check([](const std::string& name) {
        const auto is_named = [&](const WorkloadInfo& workload) { return workload.name == name; };
        const bool known = name == "all" || std::any_of(Workloads().begin(), Workloads().end(), is_named);
        return known ? std::string() : "no workload " + name + "; there are " + WorkloadNames();
      });
  app->add_option("--item_bytes", o->item_bytes, "Size of an item by the rules of the API")
      ->check(CLI::Range(100, 400 * 1024));
  app->add_option("--page_items", o->page_items, "Items of a page of query and scan")->check(CLI::Range(1, 100000));
  app->add_flag("--stream", o->stream, "A stream of new and old images on the table");
  app->add_option("--gsi", o->gsi, "Global indexes on the table, projecting whole items; gsi-move has at least one")
      ->check(CLI::Range(0, 20));
  app->add_option("--items", o->items, "Items loaded for workloads that read or change stored items")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1000000000}));
  app->add_option("--key_space", o->key_space,
                  "put: number of keys to overwrite at random; 0: every key is new. hot: number of hot keys; 0: one");
}

void AddLoadOptions(CLI::App* app, Options* o) {
  app->add_option("--connections", o->connections, "TCP connections of gRPC; over HTTP each call under way has its own")
      ->check(CLI::Range(1, 1024));
  app->add_option("--outstanding", o->outstanding, "Requests under way, over all connections")
      ->check(CLI::Range(1, 65536));
  app->add_option("--client_threads", o->client_threads, "Threads of this program")->check(CLI::Range(1, 64));
  app->add_option("--seconds", o->seconds, "Length of a round")->check(CLI::Range(0.1, 86400.0));
  app->add_option("--warmup_seconds", o->warmup_seconds, "Unmeasured run before the first round")
      ->check(CLI::Range(0.05, 3600.0));
  app->add_option("--rounds", o->rounds, "Rounds of the workload, and as many of echo")->check(CLI::Range(1, 1000));
  CLI::Option* const rate =
      app->add_option("--rate", o->rate, "Calls a second by a schedule; latencies count from the scheduled time")
          ->check(CLI::Range(1.0, 1e8));
  app->add_option("--rate_of_peak", o->rate_of_peak, "The same, as a share of the peak, which a round before measures")
      ->check(CLI::Range(0.01, 10.0))
      ->excludes(rate);
  app->add_option("--fsync_directory", o->fsync_directory,
                  "Measure fsync in this directory before each round; with --spawn, that of the data")
      ->check(CLI::ExistingDirectory);
}

// Absent if the program ends at once with *exit_code, after --help or a wrong command line.
std::optional<CommandLine> ParseOptions(int argc, char** argv, int* exit_code) {
  CommandLine line;
  Options& o = line.options;
  CLI::App app(
      "Load generator for armatured: drives a workload and, in turns with it, the same message volume against\n"
      "AdminService.Echo, and reports what the workload costs in terms of that floor.",
      "armature-bench");
  app.option_defaults()->always_capture_default()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option("--target", o.target, "Address of the daemon for gRPC, host:port");
  app.add_option("--http_target", o.http_target, "Its address for HTTP, host:port; --target is needed, too");
  app.add_option("--protocol", o.protocol, "Protocol of the workload; over HTTP there is no echo")
      ->check(CLI::IsMember({"grpc", "http"}));
  app.add_option("--spawn", o.spawn, "Path of an armatured: start it on a temporary data directory, ignore --target")
      ->check(CLI::ExistingFile);
  app.add_option("--daemon_flag", o.daemon_flags, "A flag of that daemon, such as --durability=os; may be repeated")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  AddWorkloadOptions(&app, &o);
  AddLoadOptions(&app, &o);
  app.add_flag("--without_echo", o.without_echo, "Only the workload, round after round: what it can keep up");
  app.add_flag("--json", o.json, "Print the results as one JSON object");
  app.add_option("--out", o.out, "Write that object to a file, too");
  app.set_version_flag("--version", Cat("armature-bench ", kVersion));
  CLI::App* const compare = app.add_subcommand("compare", "Compare two sides' files of --out, without a daemon");
  std::string old_files;
  std::string new_files;
  compare->add_option("old", old_files, "File, or files between commas")->required();
  compare->add_option("new", new_files, "File, or files between commas")->required();
  try {
    app.parse(argc, argv);
    line.old_files = CLI::detail::split(old_files, ',');
    line.new_files = CLI::detail::split(new_files, ',');
    line.compares = compare->parsed();
    if (o.workload == "pipeline" && (o.protocol == "http" || o.rate > 0 || o.rate_of_peak > 0)) {
      throw CLI::ValidationError("pipeline has neither --protocol http nor a rate");
    }
  } catch (const CLI::Success& help) {
    *exit_code = app.exit(help);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    const std::string unknown = cli::UnknownWord(app, std::vector<std::string>(argv + 1, argv + argc));
    std::cerr << "armature-bench: " << (unknown.empty() ? error.what() : unknown) << "\n";
    *exit_code = 2;
    return std::nullopt;
  }
  if (o.wire() == Protocol::kHttp) o.without_echo = true;
  if (o.wire() == Protocol::kGrpc) o.client_threads = std::min(o.client_threads, o.connections);
  o.client_threads = std::min(o.client_threads, o.outstanding);
  return line;
}

// A table armature_bench_<random>, deleted by the destructor.
class BenchTable {
 public:
  // Creates the table and waits until it and its indexes are ACTIVE. Throws std::runtime_error on failure.
  BenchTable(client::Client client, const Options& options)
      : client_(std::move(client)), name_("armature_bench_" + KeyText(std::random_device{}())) {
    ThrowUnlessOk(client_.CreateTable(TableSchema(options, name_)).status(), "CreateTable");
    ThrowUnlessOk(client::WaitForTable(client_, name_, absl::Now() + kActiveMax), "wait for the table");
  }

  ~BenchTable() {
    api::v1::DeleteTableRequest request;
    request.set_table_name(name_);
    const absl::Status status = client_.DeleteTable(request).status();
    if (!status.ok()) std::cerr << "armature-bench: table " << name_ << " is not deleted: " << status << "\n";
  }

  BenchTable(const BenchTable&) = delete;
  BenchTable& operator=(const BenchTable&) = delete;

  const std::string& name() const { return name_; }

 private:
  const client::Client client_;
  const std::string name_;
};

void OnSignal(int number) {
  Interrupt();
  signal(number, SIG_DFL);  // a second signal ends the program at once
}

// Prints the failures. True if calls failed.
bool ReportFailures(const Comparison& comparison) {
  bool failed = false;
  for (const Side* side : {&comparison.workload, &comparison.echo}) {
    if (side->total.failed == 0) continue;
    failed = true;
    std::cerr << "armature-bench: " << side->total.failed << " calls failed, the first: " << side->total.first_error
              << "\n";
  }
  return failed;
}

int Run(Options options) {
  std::optional<SpawnedDaemon> daemon;
  if (!options.spawn.empty()) {
    daemon.emplace(options.spawn, options.daemon_flags);
    options.target = daemon->grpc();
    options.http_target = daemon->http();
    if (options.fsync_directory.empty()) options.fsync_directory = daemon->directory();
  }
  const Channels channels = Connect(options.target, options.connections);
  const client::Client client = ConnectClient(options.target);
  const admin::v1::GetServerInfoResponse server = ServerInfo(client);
  if (!options.json) {
    const bool is_http = options.wire() == Protocol::kHttp;
    std::cout << "armatured " << server.version() << " at " << (is_http ? options.http_target : options.target) << ", "
              << (is_http ? options.outstanding : options.connections) << " connections, " << options.outstanding
              << " outstanding\n";
  }
  const BenchTable table(client, options);
  const NewTransport transport = TransportFor(options, channels);
  // Loads are over gRPC whatever is measured.
  Options load_options = options;
  load_options.protocol = "grpc";
  load_options.client_threads = std::min(options.client_threads, options.connections);
  std::set<Loaded> loaded = {Loaded::kNothing};
  std::vector<Comparison> comparisons;
  bool failed = false;
  for (const WorkloadInfo& workload : Workloads()) {
    if (!IsWanted(options, workload) || Interrupted()) continue;
    if (loaded.insert(workload.loaded).second) {
      Load(TransportFor(load_options, channels), LoadKind(workload.loaded, load_options, table.name()), load_options);
    }
    comparisons.push_back(Compare(client, transport, workload.make(options, table.name()), options));
    if (!options.json) PrintText(std::cout, comparisons.back(), options.seconds);
    failed = ReportFailures(comparisons.back()) || failed;
  }
  const std::string json = ResultJson(server, options, comparisons);
  if (options.json) std::cout << json;
  if (!options.out.empty() && !(std::ofstream(options.out) << json).flush()) {
    throw std::runtime_error("cannot write " + options.out);
  }
  if (Interrupted()) std::cerr << "armature-bench: interrupted\n";
  return failed || Interrupted() ? kExitFailed : 0;
}

}  // namespace
}  // namespace armature::bench

int main(int argc, char** argv) {
  armature::SkipLockChecks();
  int exit_code = 0;
  const auto line = armature::bench::ParseOptions(argc, argv, &exit_code);
  if (!line.has_value()) return exit_code;
  signal(SIGINT, armature::bench::OnSignal);
  signal(SIGTERM, armature::bench::OnSignal);
  try {
    if (!line->compares) return armature::bench::Run(line->options);
    armature::bench::CompareFiles(std::cout, line->old_files, line->new_files);
    return 0;
  } catch (const std::exception& e) {
    std::cerr << "armature-bench: " << e.what() << "\n";
    return armature::bench::kExitFailed;
  }
}
