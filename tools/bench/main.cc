// armature-bench: measures the cost of the daemon's item operations against a call that does nothing. See README.md.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "armature/client/wait.h"
#include "armature/version.h"
#include "storage/base/strings.h"
#include "tools/armature/unknown_word.h"
#include "tools/bench/comparison.h"
#include "tools/bench/load.h"
#include "tools/bench/workload.h"

namespace armature::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kExitFailed = 1;
constexpr std::chrono::seconds kReadyMax{30};
constexpr std::chrono::seconds kStopMax{30};
constexpr std::chrono::milliseconds kDaemonPollEvery{20};
constexpr size_t kErrorTailBytes = 2000;
constexpr absl::Duration kActiveMax = absl::Seconds(60);

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
      ->check(CLI::IsMember(
          {"put", "get", "query", "scan", "overwrite", "hot", "update", "batch", "transact", "pipeline", "all"}));
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
  app.add_flag("--stream", o.stream, "A stream of new and old images on the table");
  app.add_option("--gsi", o.gsi, "Global indexes on the table, projecting whole items")->check(CLI::Range(0, 20));
  app.add_option("--items", o.items, "Items loaded for get, scan, overwrite, hot and update")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1000000000}));
  app.add_option("--key_space", o.key_space,
                 "put: number of keys to overwrite at random; 0: every key is new. hot: number of hot keys; 0: one");
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

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Replaces the child process by the daemon. Its output goes to files, so that it never blocks on a full pipe.
[[noreturn]] void Become(const std::string& path, const std::filesystem::path& directory) {
  setpgid(0, 0);  // Ctrl-C goes to the benchmark only, which stops the daemon after deleting the table
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int out = open((directory / "stdout").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int err = open((directory / "stderr").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (out < 0 || err < 0) _exit(127);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  const std::string data = "--data_dir=" + (directory / "data").string();
  execl(path.c_str(), path.c_str(), data.c_str(), "--grpc_listen=127.0.0.1:0", "--http_listen=127.0.0.1:0",
        static_cast<char*>(nullptr));
  dprintf(STDERR_FILENO, "cannot execute %s\n", path.c_str());
  _exit(127);
}

// A daemon on a temporary data directory. The destructor stops the daemon and removes its directory. The daemon also
// ends when this program is killed.
class SpawnedDaemon {
 public:
  // Starts the program `path` with data below $TMPDIR, and waits until it prints "ready grpc=ADDRESS". Throws
  // std::runtime_error with the end of its stderr if that takes more than 30 seconds. Call it before starting threads.
  explicit SpawnedDaemon(const std::string& path) {
    std::string pattern = (std::filesystem::temp_directory_path() / "armature_bench_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp " + pattern);
    }
    directory_ = pattern;
    std::filesystem::create_directory(directory_ / "data");
    pid_ = fork();
    if (pid_ == 0) Become(path, directory_);
    try {
      if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
      WaitUntilReady();
    } catch (...) {
      Stop();  // the destructor does not run after an exception
      throw;
    }
  }

  ~SpawnedDaemon() { Stop(); }

  SpawnedDaemon(const SpawnedDaemon&) = delete;
  SpawnedDaemon& operator=(const SpawnedDaemon&) = delete;

  const std::string& address() const { return address_; }

 private:
  void WaitUntilReady() {
    static const std::string kReady = "ready grpc=";
    const Clock::time_point give_up = Clock::now() + kReadyMax;
    while (true) {
      std::istringstream lines(ReadFile(directory_ / "stdout"));
      for (std::string line; std::getline(lines, line);) {
        if (line.rfind(kReady, 0) != 0 || lines.eof()) continue;  // a line at the end of the file may be incomplete
        address_ = line.substr(kReady.size(), line.find(' ', kReady.size()) - kReady.size());
        return;
      }
      const bool ended = Reap();
      if (ended || Clock::now() > give_up) {
        const std::string errors = ReadFile(directory_ / "stderr");
        const size_t skip = errors.size() > kErrorTailBytes ? errors.size() - kErrorTailBytes : 0;
        throw std::runtime_error(std::string("the daemon ") + (ended ? "ended" : "hung") + " before it was ready:\n" +
                                 errors.substr(skip));
      }
      std::this_thread::sleep_for(kDaemonPollEvery);
    }
  }

  // Reaps the daemon if it has ended. True if it has.
  bool Reap() {
    int status = 0;
    if (pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        std::cerr << "armature-bench: the daemon ended with " << (WIFEXITED(status) ? "exit code " : "signal ")
                  << (WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status)) << "\n";
      }
    }
    return pid_ < 0;
  }

  void Stop() {
    if (pid_ > 0) {
      kill(pid_, SIGTERM);
      const Clock::time_point give_up = Clock::now() + kStopMax;
      while (!Reap()) {
        if (Clock::now() > give_up) {
          std::cerr << "armature-bench: the daemon ignores SIGTERM, killing it\n";
          kill(pid_, SIGKILL);
          waitpid(pid_, nullptr, 0);
          pid_ = -1;
          break;
        }
        std::this_thread::sleep_for(kDaemonPollEvery);
      }
    }
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  std::filesystem::path directory_;
  pid_t pid_ = -1;
  std::string address_;
};

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
  if (options.Wants("get") || options.Wants("scan") || options.Wants("overwrite") || options.Wants("hot") ||
      options.Wants("update")) {
    Load(channels, LoadItems(options, table.name()), options);
  }
  if (options.Wants("query")) Load(channels, LoadPages(options, table.name()), options);

  std::vector<Comparison> comparisons;
  bool failed = false;
  for (const char* name :
       {"put", "get", "query", "scan", "overwrite", "hot", "update", "batch", "transact", "pipeline"}) {
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
