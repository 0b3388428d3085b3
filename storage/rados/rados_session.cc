#include "storage/rados/rados_session.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::rados {
namespace {

// Entries of a directory that are read at once.
constexpr uint64_t kEntriesAtOnce = 1000;
// Ceph's own limit.
constexpr size_t kAttributeBytesMax = size_t{64} << 10;
// Limits of librados on what a client has under way, beyond which calls wait: far above what files and compactions
// have, so that a renewal of the lease never waits behind them.
constexpr char kInflightBytesMax[] = "1073741824";
constexpr char kInflightOpsMax[] = "16384";

constexpr size_t kSettingBytesMax = size_t{16} << 10;

bool IsFull(int result) { return result == -ENOSPC || result == -EDQUOT; }

// Ceph takes whole seconds only. 0: no limit.
std::string SecondsText(absl::Duration time) { return Cat(absl::ToInt64Seconds(absl::Ceil(time, absl::Seconds(1)))); }

std::string ErrnoText(int result) {
  if (result == -ETIMEDOUT) return "the cluster did not answer in time: the outcome is unknown";
  return std::strerror(-result);
}

absl::Status Refuse(std::string_view what, int result) {
  return FailedPreconditionError(Cat("RADOS: ", what, ": ", std::strerror(-result)));
}

// The library writes some reasons to standard error whatever its settings are. They go nowhere while this exists.
//
// Thread-safety: one at a time in a process; other threads must not write to standard error.
class SilentStandardError {
 public:
  explicit SilentStandardError(bool is_silent) {
    if (!is_silent) return;
    std::fflush(stderr);
    kept_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (kept_ >= 0 && nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    if (nowhere >= 0) close(nowhere);
  }
  ~SilentStandardError() {
    if (kept_ < 0) return;
    dup2(kept_, STDERR_FILENO);
    close(kept_);
  }
  SilentStandardError(const SilentStandardError&) = delete;
  SilentStandardError& operator=(const SilentStandardError&) = delete;

 private:
  int kept_ = -1;
};

}  // namespace

void WriteOp::SetEntry(const std::string& key, const std::string& value) {
  const char* const keys[] = {key.data()};
  const char* const values[] = {value.data()};
  const size_t key_sizes[] = {key.size()};
  const size_t value_sizes[] = {value.size()};
  rados_write_op_omap_set2(op_, keys, values, key_sizes, value_sizes, 1);
}

void WriteOp::RemoveEntries(const std::vector<std::string>& keys) {
  std::vector<const char*> starts;
  std::vector<size_t> sizes;
  for (const std::string& key : keys) {
    starts.push_back(key.data());
    sizes.push_back(key.size());
  }
  rados_write_op_omap_rm_keys2(op_, starts.data(), sizes.data(), keys.size());
}

absl::StatusOr<std::shared_ptr<RadosSession>> RadosSession::Connect(const RadosVolumeOptions& options) {
  auto session = std::shared_ptr<RadosSession>(new RadosSession(options));
  ARM_RETURN_IF_ERROR(session->Open());
  return session;
}

std::string RadosSession::Access() const {
  const auto setting = [this](const char* name) {
    std::string value(kSettingBytesMax, '\0');
    if (rados_conf_get(cluster_, name, value.data(), value.size()) < 0) return std::string();
    value.resize(std::strlen(value.c_str()));
    while (value.ends_with(',')) value.pop_back();
    return value;
  };
  const std::string monitors = setting("mon_host");
  const std::string given = options_.conf_file.empty() ? "" : Cat("configuration ", options_.conf_file, ", ");
  return Cat("client.", options_.user, " (", given, "mon_host ", monitors.empty() ? "not set" : monitors, ", keyring ",
             setting("keyring"), ")");
}

absl::Status RadosSession::ReadConfiguration() {
  const char* const file = options_.conf_file.empty() ? nullptr : options_.conf_file.c_str();
  const int read = rados_conf_read_file(cluster_, file);
  if (read >= 0) return absl::OkStatus();
  if (file != nullptr) return Refuse(Cat("cannot read the configuration file ", file), read);
  const char* const variable = std::getenv("CEPH_CONF");
  if (variable != nullptr && *variable != 0)
    return Refuse(Cat("cannot read the configuration file ", variable, " of CEPH_CONF"), read);
  return Refuse(
      "cannot read a configuration file: none is named, and /etc/ceph/ceph.conf, ~/.ceph/ceph.conf and "
      "ceph.conf in the working directory were tried",
      read);
}

absl::Status RadosSession::Connect() {
  const SilentStandardError silent(options_.is_quiet);
  const int connected = rados_connect(cluster_);
  if (connected >= 0) return absl::OkStatus();
  const std::string what = Cat("cannot connect as ", Access());
  if (connected != -ETIMEDOUT) return Refuse(what, connected);
  return UnavailableError(
      Cat("RADOS: ", what, ": no monitor answered in ", absl::FormatDuration(options_.monitor_timeout)));
}

absl::Status RadosSession::Open() {
  if (options_.pool.empty() || options_.name_space.empty()) {
    return FailedPreconditionError("RADOS: a pool and a namespace must be named");
  }
  const std::string user = Cat("client.", options_.user);
  {
    const SilentStandardError silent(options_.is_quiet);
    if (const int made = rados_create2(&cluster_, "ceph", user.c_str(), 0); made < 0) return Refuse(user, made);
    ARM_RETURN_IF_ERROR(ReadConfiguration());
  }
  const std::string op_seconds = SecondsText(options_.op_timeout);
  const std::string monitor_seconds = SecondsText(options_.monitor_timeout);
  const std::pair<const char*, const char*> settings[] = {
      {"rados_mon_op_timeout", monitor_seconds.c_str()},
      {"client_mount_timeout", monitor_seconds.c_str()},
      {"rados_osd_op_timeout", op_seconds.c_str()},
      // By default it looks every five seconds for operations that have waited ten, and asks for new maps then:
      // operations with a shorter timeout would never learn of restarted OSDs.
      {"objecter_tick_interval", "1"},
      {"objecter_timeout", "2"},
      {"objecter_inflight_op_bytes", kInflightBytesMax},
      {"objecter_inflight_ops", kInflightOpsMax},
      // The client's own log and socket would be files of another program in this process.
      {"admin_socket", ""},
      {"log_file", ""},
      {"log_to_stderr", "false"},
      {options_.is_quiet ? "err_to_stderr" : "log_to_stderr", "false"},
  };
  for (const auto& [name, value] : settings) {
    if (const int set = rados_conf_set(cluster_, name, value); set < 0) return Refuse(Cat(name, "=", value), set);
  }
  ARM_RETURN_IF_ERROR(Connect());
  if (const int opened = rados_ioctx_create(cluster_, options_.pool.c_str(), &io_); opened < 0) {
    if (opened == -ETIMEDOUT) return Error("open", Cat("pool ", options_.pool), opened);
    return Refuse(Cat("pool ", options_.pool, ", as ", Access()), opened);
  }
  rados_ioctx_set_namespace(io_, options_.name_space.c_str());
  // Without it, a full pool blocks writes, removals and renewals of the lease until it has space again.
  rados_set_pool_full_try(io_);
  char* address = nullptr;
  if (const int got = rados_getaddrs(cluster_, &address); got < 0) return Refuse("own address", got);
  address_ = address;
  rados_buffer_free(address);
  return absl::OkStatus();
}

RadosSession::~RadosSession() {
  if (io_ != nullptr) {
    rados_aio_flush(io_);
    rados_ioctx_destroy(io_);
  }
  if (cluster_ != nullptr) rados_shutdown(cluster_);
}

int RadosSession::Operate(const WriteOp& op, const std::string& object) {
  return rados_write_op_operate2(op.get(), io_, object.c_str(), nullptr, LIBRADOS_OPERATION_NOFLAG);
}

int RadosSession::Start(const WriteOp& op, const std::string& object, const Flight& flight) {
  return rados_aio_write_op_operate(op.get(), io_, flight.get(), object.c_str(), nullptr, LIBRADOS_OPERATION_NOFLAG);
}

int RadosSession::Stat(const std::string& object, uint64_t* size) {
  time_t changed = 0;
  return rados_stat(io_, object.c_str(), size, &changed);
}

int RadosSession::ReadChangeTime(const std::string& object, int64_t* changed_s) {
  uint64_t size = 0;
  time_t changed = 0;
  const int told = rados_stat(io_, object.c_str(), &size, &changed);
  *changed_s = changed;
  return told;
}

int RadosSession::ReadAttribute(const std::string& object, const char* attribute, std::string* value) {
  value->resize(kAttributeBytesMax);
  const int size = rados_getxattr(io_, object.c_str(), attribute, value->data(), value->size());
  value->resize(size < 0 ? 0 : static_cast<size_t>(size));
  return size < 0 ? size : 0;
}

int RadosSession::ReadEntry(const std::string& object, const std::string& key, std::string* value) {
  const rados_read_op_t op = rados_create_read_op();
  rados_omap_iter_t at = nullptr;
  int result = 0;
  const char* const keys[] = {key.data()};
  const size_t sizes[] = {key.size()};
  rados_read_op_omap_get_vals_by_keys2(op, keys, 1, sizes, &at, &result);
  const int operated = rados_read_op_operate(op, io_, object.c_str(), LIBRADOS_OPERATION_NOFLAG);
  char* found = nullptr;
  char* bytes = nullptr;
  size_t found_size = 0;
  size_t size = 0;
  const bool is_read = operated >= 0 && result >= 0;
  if (is_read) rados_omap_get_next2(at, &found, &bytes, &found_size, &size);
  if (found != nullptr) value->assign(bytes, size);
  if (at != nullptr) rados_omap_get_end(at);
  rados_release_read_op(op);
  if (!is_read) return operated < 0 ? operated : result;
  return found == nullptr ? -ENODATA : 0;
}

int RadosSession::ReadEntries(const std::string& object, std::map<std::string, std::string>* entries) {
  std::string after;
  unsigned char has_more = 1;
  while (has_more != 0) {
    const rados_read_op_t op = rados_create_read_op();
    rados_omap_iter_t at = nullptr;
    int result = 0;
    rados_read_op_omap_get_vals2(op, after.c_str(), "", kEntriesAtOnce, &at, &has_more, &result);
    // Ordered, because a change that was not answered may still be on its way.
    const int operated = rados_read_op_operate(op, io_, object.c_str(), LIBRADOS_OPERATION_ORDER_READS_WRITES);
    if (operated >= 0 && result >= 0) {
      while (true) {
        char* key = nullptr;
        char* value = nullptr;
        size_t key_size = 0;
        size_t value_size = 0;
        if (rados_omap_get_next2(at, &key, &value, &key_size, &value_size) < 0 || key == nullptr) break;
        after.assign(key, key_size);
        (*entries)[after] = std::string(value, value_size);
      }
    }
    if (at != nullptr) rados_omap_get_end(at);
    rados_release_read_op(op);
    if (operated < 0 || result < 0) return operated < 0 ? operated : result;
  }
  return 0;
}

int RadosSession::Command(const std::string& command, std::string* answer) {
  const char* commands[] = {command.c_str()};
  char* out = nullptr;
  char* text = nullptr;
  size_t out_size = 0;
  size_t text_size = 0;
  const int result = rados_mon_command(cluster_, commands, 1, nullptr, 0, &out, &out_size, &text, &text_size);
  if (result >= 0 && answer != nullptr) answer->assign(out, out_size);
  rados_buffer_free(out);
  rados_buffer_free(text);
  return result;
}

absl::Status RadosSession::CheckOwned() const {
  if (!is_lost()) return absl::OkStatus();
  const absl::MutexLock lock(&mutex_);
  return UnavailableError(Cat("the volume is not ours any more: ", reason_));
}

void RadosSession::Lose(std::string_view reason) {
  {
    const absl::MutexLock lock(&mutex_);
    if (is_lost_.exchange(true)) return;
    reason_ = reason;
  }
  LOG(ERROR) << "rados: lost the volume pool=" << options_.pool << " namespace=" << options_.name_space
             << " address=" << address_ << " reason=" << reason;
  if (options_.on_lost) options_.on_lost(reason);
}

void RadosSession::Abandon() {
  const absl::MutexLock lock(&mutex_);
  is_lost_.store(true);
  reason_ = "given up";
}

absl::Status RadosSession::Error(std::string_view what, std::string_view path, int result) {
  if (result == -ESHUTDOWN) Lose("the cluster has blocked this client: another process took the volume");
  const std::string text = Cat("RADOS: cannot ", what, " ", path, ": ", ErrnoText(result));
  return IsFull(result) ? absl::ResourceExhaustedError(text) : UnavailableError(text);
}

absl::Status RadosSession::GuardedError(std::string_view what, std::string_view path, int result) {
  if (result == -ECANCELED || result == -ENOENT || result == -ENODATA) {
    Lose(Cat("object ", path, " was taken by another owner or removed"));
  }
  return Error(what, path, result);
}

}  // namespace armature::rados
