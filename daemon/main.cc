// armatured: start and signals.

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "armature/version.h"
#include "daemon/config.h"
#include "daemon/flags.h"
#include "daemon/live_settings.h"
#include "daemon/log_lines.h"
#include "daemon/machine_memory.h"
#include "daemon/metrics/metric_table.h"
#include "daemon/net/listening_socket.h"
#include "daemon/process_end.h"
#include "daemon/server.h"
#include "glog/logging.h"
#include "storage/base/lock_checks.h"
#include "storage/base/standard_files.h"
#include "storage/base/strings.h"
#include "storage/store/data_directory.h"

// Options read by jemalloc at process start: a background thread returns free memory to the system after ten seconds,
// even if nothing is allocated meanwhile. The environment variable MALLOC_CONF takes precedence.
extern "C" {
const char* malloc_conf = "background_thread:true";  // NOLINT: jemalloc's name and type
}

namespace {

constexpr char kUsage[] =
    "armatured serves tables of items over gRPC and the original HTTP/JSON protocol.\n"
    "\n"
    "  armatured --data_dir=DIRECTORY [--FLAG=VALUE ...]\n"
    "\n"
    "Prints one line on standard output when it serves: ready grpc=ADDRESS. With --store, a line that begins with\n"
    "standby may come before, while another daemon serves the database. Stops cleanly on SIGTERM or SIGINT;\n"
    "reads settings, credentials and certificates again on SIGHUP. A switch is turned off as --noNAME or "
    "--NAME=false.\n"
    "Sizes and times count in the unit of their flag, or have one of their own: K, M, G or T, and ms, s, m or h\n"
    "(--cache_mb=4G, --drain_seconds=2m). Flags are fixed at start, but for those marked as live: SIGHUP takes\n"
    "their new values from the file of --config.";

// Prints the error as one line for the operator, in addition to the log.
int Refuse(const absl::Status& status) {
  armature::daemon::TellOperator(armature::daemon::LogLevel::kError, armature::Sv(status.message()));
  return 1;
}

// True if an argument before "--" is one of `words`.
bool HasArgument(int argc, char** argv, std::initializer_list<std::string_view> words) {
  char** const end = std::find(argv + 1, argv + argc, std::string_view("--"));
  return std::find_first_of(argv + 1, end, words.begin(), words.end()) != end;
}

void PrintHelp() {
  std::printf("%s\n%s\n--help prints this text, --version the version.\n", kUsage,
              armature::daemon::FlagHelp().c_str());
}

// Prints the document that the command line asks for. False if it asks for none.
bool Prints(const armature::daemon::CommandLine& command_line) {
  if (command_line.prints_flags_doc) std::printf("%s", armature::daemon::FlagsDocument().c_str());
  if (command_line.prints_metrics_doc) std::printf("%s", armature::daemon::MetricsDocument().c_str());
  return command_line.prints_flags_doc || command_line.prints_metrics_doc;
}

// A Unix socket is no file of the database: its users are those that the operator's umask and its directory permit.
void OpenSocket(std::string_view address, unsigned given_umask) {
  if (!address.starts_with(armature::daemon::kUnixPrefix)) return;
  const std::string path(address.substr(armature::daemon::kUnixPrefix.size()));
  if (chmod(path.c_str(), 0777 & ~given_umask) != 0) PLOG(WARNING) << "server: cannot set the mode of " << path;
}

void PrintStandby(const armature::daemon::Standby& standby) {
  std::printf("standby");
  const std::pair<const char*, std::string> addresses[] = {
      {"grpc", standby.grpc_address()}, {"http", standby.http_address()}, {"metrics", standby.metrics_address()}};
  for (const auto& [name, address] : addresses) {
    if (!address.empty()) std::printf(" %s=%s", name, address.c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
}

void PrintReady(const armature::daemon::Server& server) {
  std::printf("ready grpc=%s", server.grpc_address().c_str());
  if (!server.http_address().empty()) std::printf(" http=%s", server.http_address().c_str());
  if (!server.metrics_address().empty()) std::printf(" metrics=%s", server.metrics_address().c_str());
  std::printf("\n");
  std::fflush(stdout);
}

// Sends `state` ("READY=1", "STOPPING=1") to systemd by the protocol of sd_notify(3): one datagram to the socket named
// by the environment variable NOTIFY_SOCKET. Does nothing without it. A failure is only logged.
void NotifyServiceManager(std::string_view state) {
  const char* const name = std::getenv("NOTIFY_SOCKET");
  if (name == nullptr) return;
  const std::string_view path = name;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() < 2 || path.size() > sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) {
    LOG(WARNING) << "server: NOTIFY_SOCKET is not a socket address";
    return;
  }
  path.copy(address.sun_path, path.size());
  // In an abstract name the first byte is zero for the kernel, '@' for systemd.
  if (path[0] == '@') address.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  if (fd < 0 ||
      sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), length) < 0) {
    LOG(WARNING) << "server: cannot notify the service manager: " << std::strerror(errno);
  }
  if (fd >= 0) close(fd);
}

// Serves until a signal stops the daemon. Returns the signal. `drain_time` is a setting that may change meanwhile.
int WaitForEnd(armature::daemon::Server* server, armature::daemon::LiveSettings* settings, const sigset_t& signals,
               absl::Duration* drain_time) {
  while (true) {
    const int received = sigwaitinfo(&signals, nullptr);
    if (received == SIGHUP) {
      LOG(INFO) << "server: got SIGHUP, reading settings, credentials and certificates again";
      settings->Reread([server, drain_time](const armature::daemon::Config& changed) {
        server->ChangeSettings(changed);
        *drain_time = changed.drain_time;
      });
      server->Reload();
    } else if (received >= 0) {
      return received;
    }
  }
}

// Starts the server, and serves until one of `signals` ends it. Returns the exit status.
int Run(armature::daemon::Config config, armature::daemon::LiveSettings settings, const sigset_t& signals) {
  const bool is_rados = !config.store.empty();
  config.place_options.on_lost = armature::daemon::EndLost;
  config.place_options.on_handover = armature::daemon::EndHandingOver;
  config.place_options.is_cancelled = armature::daemon::IsToldToEnd;
  config.takes_reload = armature::daemon::TakesHangup;
  if (is_rados) {
    // Another daemon, or this one after a new start, can write again.
    config.database.on_broken = [] {
      armature::daemon::EndLost("a write has failed, and only a new start can write again");
    };
  }
  const unsigned given_umask = armature::store::RestrictNewFiles();
  bool was_standby = false;
  const auto on_standby = [&was_standby](const armature::daemon::Standby* standby) {
    if (standby != nullptr) PrintStandby(*standby);
    // A service manager must not take the wait for a start that fails.
    if (!std::exchange(was_standby, true)) NotifyServiceManager("READY=1\nSTATUS=standby");
  };
  absl::StatusOr<std::unique_ptr<armature::daemon::Server>> server =
      armature::daemon::StartEndable(config, on_standby, is_rados);
  // Nothing was found wrong with the database: the wait was ended.
  const bool is_wait_over = absl::IsFailedPrecondition(server.status()) || absl::IsUnavailable(server.status());
  if (is_wait_over && is_rados && armature::daemon::IsToldToEnd()) return armature::daemon::EndStatus();
  if (!server.ok()) return Refuse(server.status());
  if (config.is_insecure) LOG(WARNING) << "server: insecure, every client that reaches the address can read and write";
  OpenSocket((*server)->grpc_address(), given_umask);
  PrintReady(**server);
  NotifyServiceManager(was_standby ? "STATUS=serving" : "READY=1");

  const int received = WaitForEnd(server->get(), &settings, signals, &config.drain_time);
  LOG(INFO) << "server: got signal=" << received;
  NotifyServiceManager("STOPPING=1");
  armature::daemon::StopWithin(server->get(), config.drain_time, is_rados);
  armature::daemon::TellHandover();
  return armature::daemon::EndStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (!armature::KeepStandardFiles()) return 1;
  armature::SkipLockChecks();
  if (HasArgument(argc, argv, {"--help", "-help", "-h"})) {
    PrintHelp();
    return 0;
  }
  if (HasArgument(argc, argv, {"--version", "-version"})) {
    std::printf("armatured %s\n", armature::kVersion);
    return 0;
  }
  const absl::StatusOr<armature::daemon::Config> given = armature::daemon::ReadFlags({argv + 1, argv + argc});
  armature::daemon::StartLog(argv[0], given.ok() ? given->log : armature::daemon::LogOptions());
  if (!given.ok()) return Refuse(given.status());
  if (Prints(given->command_line)) return 0;

  absl::StatusOr<armature::daemon::Config> config = armature::daemon::MakeConfig(*given);
  if (!config.ok()) return Refuse(config.status());
  if (armature::daemon::UsableMemory() < armature::daemon::kSmallMemory) armature::daemon::GiveBackSoon();
  if (given->command_line.prints_config) {
    std::printf("%s", armature::daemon::ConfigText(*given).c_str());
    return 0;
  }

  // Blocked before any thread starts, so that only the main thread receives them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);

  return Run(*std::move(config), {{argv + 1, argv + argc}, *given}, signals);
}
