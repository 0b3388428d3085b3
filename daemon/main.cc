// armatured: flags, logging, start, signals; nothing else.

#include <malloc.h>
#include <signal.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/config.h"
#include "daemon/server.h"
#include "daemon/version.h"
#include "glog/logging.h"
#include "storage/base/strings.h"

ABSL_FLAG(std::string, data_dir, "", "Directory that holds the database; made if it does not exist. Fixed at start.");
ABSL_FLAG(std::string, grpc_listen, "127.0.0.1:7700",
          "Address for gRPC: HOST:PORT, [IPV6]:PORT, unix:PATH, or off. Port 0 picks a free one. Fixed at start.");
ABSL_FLAG(std::string, http_listen, "127.0.0.1:7701",
          "Address for the original HTTP/JSON protocol: HOST:PORT, [IPV6]:PORT, or off. Port 0 picks a free one. Fixed "
          "at start.");
ABSL_FLAG(std::string, credentials_file, "",
          "File with access keys, names of certificates and policies, of mode 600 (docs/SECURITY.md). Empty: whoever "
          "reaches the daemon may do everything. Read again on SIGHUP.");
ABSL_FLAG(std::string, tls_cert, "",
          "PEM file with the server's certificate and those between it and the root. Empty: "
          "no TLS. Read again on SIGHUP.");
ABSL_FLAG(std::string, tls_key, "", "PEM file with the key of --tls_cert, of mode 600. Read again on SIGHUP.");
ABSL_FLAG(std::string, tls_client_ca, "",
          "PEM file with authorities whose certificates of gRPC clients are believed. Empty: clients are not asked for "
          "certificates. Read again on SIGHUP.");
ABSL_FLAG(std::string, audit_log, "",
          "File to which a line is appended for each operation on tables and each of the admin service. Empty: none. "
          "Opened anew on SIGHUP.");
ABSL_FLAG(
    std::string, durability, "sync",
    "When a write is acknowledged: sync (after fsync), interval:<ms> (fsync every so often; a crash of the machine "
    "may lose that much), os (when the system likes). Fixed at start.");
ABSL_FLAG(int64_t, cache_mb, 256, "Block cache in MiB, 8 to 1048576. Fixed at start.");
ABSL_FLAG(int64_t, read_threads, 2, "Threads for queries, scans and reads from disk, 1 to 256. Fixed at start.");
ABSL_FLAG(int64_t, column_families_max, 2000,
          "Ceiling on column families, about one per table and index, 1 to 10000. Fixed at start.");
ABSL_FLAG(int64_t, item_collection_mb_max, 10'240,
          "Ceiling in MiB on an item collection (items and local index entries of one partition key value; tables "
          "without local indexes have none), 1 to 1048576. A write that would make one grow beyond it is refused. "
          "Fixed at start.");
ABSL_FLAG(int64_t, gsi_backlog_max, 1'000'000,
          "Changes that may wait for one global index, 1 to 2^40. Writes that touch an index beyond it are throttled "
          "until it has caught up. Fixed at start.");
ABSL_FLAG(int64_t, gsi_backlog_mb_max, 1024, "The same in MiB of index rows, 1 to 1048576. Fixed at start.");
ABSL_FLAG(absl::Duration, transaction_wait, absl::Seconds(5),
          "How long a transaction waits for items that other requests hold, and a write of one item for a transaction "
          "that holds it, before it gets a conflict; 1ms to 1h. Fixed at start.");
ABSL_FLAG(bool, enforce_throughput, true,
          "Refuse what goes beyond the provisioned throughput of tables and global indexes, or beyond the maxima that "
          "are set for tables billed per request. Fixed at start.");
ABSL_FLAG(bool, insecure, false,
          "Allow an address that other machines can reach without TLS and credentials, and secrets in clear text.");

namespace {

// Free memory at the end of a heap that is kept instead of given back to the system, and the size from which a block
// has a mapping of its own. With glibc's 128 KiB every larger page of a Query is faulted in anew: a fifth of its CPU.
constexpr int kHeapTrimBytes = 8 << 20;
constexpr int kHeapMapBytes = 4 << 20;

constexpr absl::Duration kDrainTime = absl::Seconds(10);

// One line for the operator, whatever else went to the log.
int Refuse(const absl::Status& status) {
  const std::string message(status.message());
  std::fprintf(stderr, "armatured: %s\n", message.c_str());
  return 1;
}

armature::daemon::RawConfig FromFlags() {
  armature::daemon::RawConfig raw;
  raw.data_dir = absl::GetFlag(FLAGS_data_dir);
  raw.grpc_listen = absl::GetFlag(FLAGS_grpc_listen);
  raw.durability = absl::GetFlag(FLAGS_durability);
  raw.cache_mb = absl::GetFlag(FLAGS_cache_mb);
  raw.read_threads = absl::GetFlag(FLAGS_read_threads);
  raw.column_families_max = absl::GetFlag(FLAGS_column_families_max);
  raw.item_collection_mb_max = absl::GetFlag(FLAGS_item_collection_mb_max);
  raw.gsi_backlog_max = absl::GetFlag(FLAGS_gsi_backlog_max);
  raw.gsi_backlog_mb_max = absl::GetFlag(FLAGS_gsi_backlog_mb_max);
  raw.transaction_wait = absl::GetFlag(FLAGS_transaction_wait);
  raw.enforce_throughput = absl::GetFlag(FLAGS_enforce_throughput);
  raw.insecure = absl::GetFlag(FLAGS_insecure);
  raw.http_listen = absl::GetFlag(FLAGS_http_listen);
  raw.credentials_file = absl::GetFlag(FLAGS_credentials_file);
  raw.tls_cert = absl::GetFlag(FLAGS_tls_cert);
  raw.tls_key = absl::GetFlag(FLAGS_tls_key);
  raw.tls_client_ca = absl::GetFlag(FLAGS_tls_client_ca);
  raw.audit_log = absl::GetFlag(FLAGS_audit_log);
  return raw;
}

// Serves until a signal says stop. That one is returned.
int WaitForEnd(armature::daemon::Server* server, const sigset_t& signals) {
  // glibc gives back the ends of its heaps only; after a burst of large answers most of what is free lies in between.
  const timespec trim_interval = {.tv_sec = 60, .tv_nsec = 0};
  while (true) {
    const int received = sigtimedwait(&signals, nullptr, &trim_interval);
    if (received < 0) {
      malloc_trim(0);
    } else if (received == SIGHUP) {
      LOG(INFO) << "server: got SIGHUP, reading credentials and certificates again";
      server->Reload();
    } else {
      return received;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  mallopt(M_TRIM_THRESHOLD, kHeapTrimBytes);
  mallopt(M_MMAP_THRESHOLD, kHeapMapBytes);
#ifdef NDEBUG
  // The packaged Abseil looks for lock cycles at every lock unless told otherwise: a tenth of a small write's CPU.
  // Other builds keep the watch.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
#endif
  absl::SetProgramUsageMessage(
      "armatured serves tables of items over gRPC.\n  armatured --data_dir=DIR [--grpc_listen=127.0.0.1:7700]\n"
      "Prints one line on standard output when it serves: ready grpc=ADDRESS. Stops cleanly on SIGTERM or SIGINT; "
      "reads "
      "credentials and certificates again on SIGHUP.");
  absl::FlagsUsageConfig usage;
  usage.version_string = [] { return armature::Cat("armatured ", armature::daemon::kVersion, "\n"); };
  absl::SetFlagsUsageConfig(usage);
  const std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  FLAGS_logtostderr = true;
  google::InitGoogleLogging(argv[0]);
  if (rest.size() > 1) {
    return Refuse(absl::InvalidArgumentError(armature::Cat("unexpected argument: ", rest[1])));
  }

  const armature::daemon::RawConfig raw = FromFlags();
  const absl::StatusOr<armature::daemon::Config> config = armature::daemon::MakeConfig(raw);
  if (!config.ok()) return Refuse(config.status());

  // Blocked before any thread starts, so that only this one takes them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);

  absl::StatusOr<std::unique_ptr<armature::daemon::Server>> server = armature::daemon::Server::Start(*config);
  if (!server.ok()) return Refuse(server.status());
  if (raw.insecure) LOG(WARNING) << "server: insecure, anybody who reaches the address may read and write";
  std::printf("ready grpc=%s", (*server)->grpc_address().c_str());
  if (!(*server)->http_address().empty()) std::printf(" http=%s", (*server)->http_address().c_str());
  std::printf("\n");
  std::fflush(stdout);

  const int received = WaitForEnd(server->get(), signals);
  LOG(INFO) << "server: got signal=" << received;
  (*server)->Stop(kDrainTime);
  return 0;
}
