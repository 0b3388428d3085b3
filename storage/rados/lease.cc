#include "storage/rados/lease.h"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "absl/time/time.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/time_histogram.h"
#include "storage/rados/volume_record.h"
#include "storage/store/data_directory.h"

namespace armature::rados {
namespace {

using Fence = RadosVolumeOptions::Fence;

constexpr char kLockName[] = "owner";
constexpr absl::Duration kLockPoll = absl::Milliseconds(100);
constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int64_t kSlowLockNs = 2 * kNsPerSecond;
constexpr absl::Duration kOwnerPoll = absl::Milliseconds(500);
// Time that a process which begins to wait leaves to those that wait, after a handover.
constexpr absl::Duration kHandoverGrace = absl::Milliseconds(500);
constexpr absl::Duration kReplacePoll = absl::Seconds(1);
constexpr absl::Duration kReplaceTime = absl::Minutes(2);
constexpr int kRenewalsInLease = 4;
constexpr absl::Duration kGiveBackTime = absl::Seconds(1);
constexpr absl::Duration kGiveBackPoll = absl::Milliseconds(10);
// Between looks at the epoch over new connections, and limits of each: together the time, after the cluster has become
// reachable again, within which a replaced owner knows it. docs/operate/rados.md has the sum.
constexpr absl::Duration kLookPause = absl::Seconds(10);
constexpr absl::Duration kLookConnectTime = absl::Seconds(10);
constexpr absl::Duration kLookReadTime = absl::Seconds(5);
// A blocked client never recovers, it has to connect again. So this only has to outlive every process that is paused.
constexpr uint32_t kBlockedSeconds = 24 * 60 * 60;
// Part of the lease during which its holder is certain: clocks of machines do not run at exactly the same speed.
constexpr double kCertainPart = 0.9;

// Unlike MonotonicNs, it goes on while the machine sleeps, as the clocks of the cluster do.
int64_t BootNs() {
  timespec now = {};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// Errors: DataLoss if the namespace of a volume that is to be made holds objects.
absl::Status CheckUnused(RadosSession* session) {
  rados_list_ctx_t list = nullptr;
  if (const int opened = rados_nobjects_list_open(session->io(), &list); opened < 0) {
    return session->Error("list", session->options().name_space, opened);
  }
  std::string found;
  const char* name = nullptr;
  int next = 0;
  while (found.empty() && (next = rados_nobjects_list_next(list, &name, nullptr, nullptr)) == 0) {
    // The directory is there if an attempt to make it was not answered.
    if (std::string_view(name) != kLeaseObject && std::string_view(name) != kDirectoryObject) found = name;
  }
  rados_nobjects_list_close(list);
  if (next < 0 && next != -ENOENT) return session->Error("list", session->options().name_space, next);
  if (found.empty()) return absl::OkStatus();
  return DataLossError(Cat("RADOS: namespace ", session->options().name_space, " of pool ", session->options().pool,
                           " holds objects, such as ", found, ", and no object ", kDirectoryObject,
                           "; nothing was changed"));
}

}  // namespace

absl::Status CheckThere(RadosSession* session) {
  const absl::Status read = ReadVolumeRecord(session).status();
  if (absl::IsUnavailable(read)) return read;
  if (!absl::IsNotFound(read)) return absl::OkStatus();
  ARM_RETURN_IF_ERROR(CheckUnused(session));
  return read;
}

std::string FindHolder(RadosSession* session) {
  int exclusive = 0;
  char tag[64];
  char clients[1024];
  char cookies[1024];
  char addresses[1024] = {};
  size_t tag_size = sizeof tag;
  size_t clients_size = sizeof clients;
  size_t cookies_size = sizeof cookies;
  size_t addresses_size = sizeof addresses;
  const ssize_t holders =
      rados_list_lockers(session->io(), kLeaseObject, kLockName, &exclusive, tag, &tag_size, clients, &clients_size,
                         cookies, &cookies_size, addresses, &addresses_size);
  return holders > 0 ? Cat(clients, " at ", addresses) : std::string();
}

Lease::Lease(std::shared_ptr<RadosSession> session)
    : session_(std::move(session)), cookie_(Cat("armature-", store::RandomUuid())) {}

absl::StatusOr<std::unique_ptr<Lease>> Lease::Take(std::shared_ptr<RadosSession> session, VolumeRecord* record) {
  // Before the lease, which would make an object.
  if (session->options().must_exist) ARM_RETURN_IF_ERROR(CheckThere(session.get()));
  auto lease = std::unique_ptr<Lease>(new Lease(std::move(session)));
  if (lease->session_->options().checks_takeover) {
    lease->check_ = std::make_unique<TakeoverCheck>(lease->session_->options(), lease->session_->address());
  }
  const int64_t end_ns = MonotonicAfter(lease->session_->options().owner_wait);
  const absl::Status locked = lease->WaitForLock(end_ns);
  if (lease->check_ != nullptr) lease->check_->Stop();
  ARM_RETURN_IF_ERROR(locked);
  const absl::Duration time = lease->session_->options().lease;
  lease->renewals_.Start(Worker::Next::WhenWoken(time / kRenewalsInLease));
  lease->silence_watch_.Start(Worker::Next::WhenWoken(time));
  // An error that does not pass must not keep the lease for ever.
  const int64_t replaced_by_ns = std::min(end_ns, MonotonicAfter(kReplaceTime));
  while (true) {
    absl::Status replaced = lease->Replace(record);
    if (replaced.ok()) return lease;
    // The monitors may be away, for one.
    if (!absl::IsUnavailable(replaced) || lease->session_->is_lost() || !lease->MayWait(replaced_by_ns)) {
      return replaced;
    }
    LOG(WARNING) << "rados: the former owner is not replaced yet: " << replaced;
    lease->stop_.WaitFor(kReplacePoll);
  }
}

bool Lease::IsCertain() const { return !session_->is_lost() && BootNs() < certain_until_ns_.load(); }

double Lease::LeftSeconds() const {
  if (!IsCertain()) return 0;
  return absl::ToDoubleSeconds(absl::Nanoseconds(std::max<int64_t>(0, certain_until_ns_.load() - BootNs())));
}

int Lease::Lock(uint8_t flags, int64_t* until_ns) {
  const absl::Duration time = session_->options().lease;
  timeval duration = absl::ToTimeval(time);
  // From before the request: the cluster's clock begins later.
  const int64_t now_ns = BootNs();
  const int result = rados_lock_exclusive(session_->io(), kLeaseObject, kLockName, cookie_.c_str(),
                                          session_->address().c_str(), &duration, flags);
  *until_ns = now_ns + absl::ToInt64Nanoseconds(time * kCertainPart);
  return result;
}

bool Lease::MayWait(int64_t end_ns) {
  const RadosVolumeOptions& options = session_->options();
  const bool is_cancelled = options.is_cancelled && options.is_cancelled();
  return !is_cancelled && MonotonicNs() < end_ns;
}

void Lease::TellOwner() {
  if (!session_->options().on_waiting) return;
  // Without a record there is an owner that makes the volume just now. A failed read means nothing.
  if (MonotonicNs() >= next_look_ns_) {
    next_look_ns_ = MonotonicAfter(kOwnerPoll);
    const absl::StatusOr<VolumeRecord> record = ReadVolumeRecord(session_.get());
    if (record.ok()) {
      told_.service = ServiceFor(record->owner, HostName());
      told_.is_same_machine = record->owner.host == HostName();
    }
  }
  if (check_ != nullptr) told_.problems = check_->problems();
  session_->options().on_waiting(told_);
}

void Lease::LeaveToOthers() {
  // The former owner, started again at once, would often be the first to find the lock free.
  std::string asked;
  std::string epoch;
  if (session_->ReadAttribute(kDirectoryObject, kHandoverAttribute, &asked) < 0) return;
  if (session_->ReadAttribute(kDirectoryObject, kEpochAttribute, &epoch) < 0 || asked != epoch) return;
  stop_.WaitFor(kHandoverGrace);
}

absl::Status Lease::WaitForLock(int64_t end_ns) {
  const RadosVolumeOptions& options = session_->options();
  LOG(INFO) << "rados: asking for the lease of the volume pool=" << options.pool << " namespace=" << options.name_space;
  LeaveToOthers();
  bool is_logged = false;
  while (true) {
    int64_t until_ns = 0;
    const int64_t begin_ns = MonotonicNs();
    // Renewed, if an attempt that was not answered took it.
    const int result = Lock(LIBRADOS_LOCK_FLAG_MAY_RENEW, &until_ns);
    if (const int64_t taken_ns = MonotonicNs() - begin_ns; taken_ns > kSlowLockNs) {
      // Also the refusal of an attempt is stored by all replicas before it is answered.
      LOG(WARNING) << "rados: the cluster answered an attempt to take the lease after " << taken_ns / kNsPerSecond
                   << " s: an OSD that died is waited for until it is marked down (osd_heartbeat_grace)";
    }
    if (result == 0) {
      certain_until_ns_.store(until_ns);
      LOG(INFO) << "rados: has the lease, replaces the former owner pool=" << options.pool
                << " namespace=" << options.name_space;
      return absl::OkStatus();
    }
    const bool may_pass = result == -EBUSY || result == -ETIMEDOUT || result == -EAGAIN;
    if (!may_pass) return session_->Error("take", kLeaseObject, result);
    if (!MayWait(end_ns)) {
      if (result != -EBUSY) return session_->Error("take", kLeaseObject, result);
      return FailedPreconditionError(Cat("the volume rados://", options.pool, "/", options.name_space,
                                         " is in use by another process (", FindHolder(session_.get()), ")"));
    }
    if (!std::exchange(is_logged, true)) {
      LOG(INFO) << "rados: waiting for the lease of the volume pool=" << options.pool
                << " namespace=" << options.name_space << " holder=" << FindHolder(session_.get());
    }
    TellOwner();
    stop_.WaitFor(kLockPoll);
  }
}

absl::Status Lease::Block(const std::string& address) {
  std::string text = address;
  int blocked = rados_blocklist_add(session_->cluster(), text.data(), kBlockedSeconds);
  if (blocked == -EACCES) {
    // This connection has the rights that the user had when it was made.
    RadosVolumeOptions options = session_->options();
    options.on_lost = nullptr;
    ARM_ASSIGN_OR_RETURN(const std::shared_ptr<RadosSession> anew, RadosSession::Connect(options));
    blocked = rados_blocklist_add(anew->cluster(), text.data(), kBlockedSeconds);
  }
  if (blocked == -EACCES || blocked == -EPERM) {
    return FailedPreconditionError(Cat("RADOS: client.", session_->options().user, " may not block the former owner ",
                                       address, " of the volume: its capabilities need mon 'profile rbd'"));
  }
  if (blocked < 0) return session_->Error("block", address, blocked);
  const int seen = rados_wait_for_latest_osdmap(session_->cluster());
  return seen < 0 ? session_->Error("block", address, seen) : absl::OkStatus();
}

absl::Status Lease::RenewForReplacement() {
  int64_t until_ns = 0;
  int result = Lock(LIBRADOS_LOCK_FLAG_MAY_RENEW, &until_ns);
  if (result == 0) result = CheckEpoch();
  if (result < 0) return session_->Error("keep", kLeaseObject, result);
  certain_until_ns_.store(until_ns);
  return absl::OkStatus();
}

absl::Status Lease::Replace(VolumeRecord* record) {
  const RadosVolumeOptions& options = session_->options();
  // A pause of this process, or an error before, may have cost the lease: its new holder must not be blocked.
  ARM_RETURN_IF_ERROR(RenewForReplacement());
  absl::StatusOr<VolumeRecord> known = ReadVolumeRecord(session_.get());
  if (absl::IsNotFound(known.status())) {
    // A lost directory must not become an empty one.
    ARM_RETURN_IF_ERROR(CheckUnused(session_.get()));
    const absl::Status made = MakeVolumeRecord(session_.get());
    if (!made.ok() && !absl::IsAlreadyExists(made)) return made;
    known = ReadVolumeRecord(session_.get());
  }
  ARM_RETURN_IF_ERROR(known.status());
  const std::string& former = known->owner.client;
  const bool blocks = options.fence == Fence::kFull || options.fence == Fence::kBlock;
  // Its own address stands there after an attempt that was not answered.
  if (blocks && !former.empty() && former != session_->address()) ARM_RETURN_IF_ERROR(Block(former));
  const uint64_t epoch = known->epoch + 1;
  self_ = {.client = session_->address(),
           .service = "",
           .host = HostName(),
           .since_s = static_cast<uint64_t>(std::time(nullptr)),
           .lease_ms = static_cast<uint64_t>(absl::ToInt64Milliseconds(options.lease))};
  // A renewal in between must not take a repeated attempt for another owner.
  epoch_.store(0);
  WriteOp take;
  take.Require(kEpochAttribute, EpochText(known->epoch));
  take.SetAttribute(kEpochAttribute, EpochText(epoch));
  take.SetAttribute(kOwnerAttribute, EncodeOwner(self_));
  const int taken = session_->Operate(take, kDirectoryObject);
  if (taken < 0) return session_->Error("take", kDirectoryObject, taken);
  *record = *known;
  session_->set_epoch(epoch, EpochText(epoch));
  epoch_.store(epoch);
  // Since then nobody else can have become the owner, or this process is not.
  ARM_RETURN_IF_ERROR(RenewForReplacement());
  LOG(INFO) << "rados: owner of the volume pool=" << options.pool << " namespace=" << options.name_space
            << " id=" << known->id << " epoch=" << epoch << " address=" << session_->address()
            << " former=" << (former.empty() ? "none" : former);
  return absl::OkStatus();
}

absl::Status Lease::Announce(std::string_view service) {
  ARM_RETURN_IF_ERROR(session_->CheckOwned());
  self_.service = service;
  WriteOp announce;
  announce.Require(kEpochAttribute, session_->epoch_text());
  announce.SetAttribute(kOwnerAttribute, EncodeOwner(self_));
  const int announced = session_->Operate(announce, kDirectoryObject);
  return announced < 0 ? session_->GuardedError("announce the owner in", kDirectoryObject, announced)
                       : absl::OkStatus();
}

int Lease::CheckEpoch() {
  const uint64_t mine = epoch_.load();
  if (mine == 0) return 0;  // not the owner yet: Replace finds out when it takes the epoch
  std::string epoch;
  const int read = session_->ReadAttribute(kDirectoryObject, kEpochAttribute, &epoch);
  if (read < 0) return read;
  // A repeated attempt to take the epoch may have raised it meanwhile.
  return epoch == EpochText(mine) || epoch_.load() != mine ? 0 : -ECANCELED;
}

bool Lease::RenewOnce() {
  int64_t until_ns = 0;
  int result = Lock(LIBRADOS_LOCK_FLAG_MAY_RENEW, &until_ns);
  // The lock may have been another process's meanwhile: after an outage that was longer than the lease, with clocks of
  // OSDs that differ, or by the hand of an operator.
  if (result == 0) result = CheckEpoch();
  if (result == 0) {
    certain_until_ns_.store(until_ns);
  } else if (result == -EBUSY && (session_->options().fence == Fence::kNone || epoch_.load() == 0)) {
    // A test lets it do its harm; or it is not the owner yet, and tries again.
  } else if (result == -EBUSY) {
    // Its name would have to be asked for, and the end must not wait for an answer.
    session_->Lose("another process holds its lease");
  } else if (result == -ESHUTDOWN) {
    session_->Lose("the cluster has blocked this client: another process took the volume");
  } else if (result == -ECANCELED) {
    GiveBackSoon();
    session_->Lose("another process owned the volume after the lease had run out");
  } else {
    LOG(WARNING) << "rados: the lease was not renewed error=" << std::strerror(-result);
  }
  return result == 0;
}

void Lease::GiveBackSoon() {
  const Flight flight;
  if (rados_aio_unlock(session_->io(), kLeaseObject, kLockName, cookie_.c_str(), flight.get()) < 0) return;
  const int64_t end_ns = MonotonicAfter(kGiveBackTime);
  while (!flight.has_landed() && MonotonicNs() < end_ns && !stop_.WaitFor(kGiveBackPoll)) {
  }
}

void Lease::LookForHandover() {
  const uint64_t mine = epoch_.load();
  if (mine == 0 || was_asked_ || !session_->options().on_handover) return;
  std::string asked;
  if (session_->ReadAttribute(kDirectoryObject, kHandoverAttribute, &asked) < 0 || asked != EpochText(mine)) return;
  LOG(INFO) << "rados: asked to hand the volume over epoch=" << mine;
  was_asked_ = true;
  session_->options().on_handover();
}

Worker::Next Lease::Renew() {
  if (session_->is_lost()) return Worker::Next::Never();
  if (RenewOnce()) LookForHandover();
  return Worker::Next::WhenWoken(session_->options().lease / kRenewalsInLease);
}

void Lease::LookAnew() {
  const uint64_t mine = epoch_.load();
  RadosVolumeOptions options = session_->options();
  options.op_timeout = kLookReadTime;
  options.monitor_timeout = kLookConnectTime;
  options.on_lost = nullptr;
  LOG(WARNING) << "rados: the lease was not renewed in time, looking for another owner over a new connection";
  const absl::StatusOr<std::shared_ptr<RadosSession>> anew = RadosSession::Connect(options);
  std::string text;
  uint64_t epoch = 0;
  if (!anew.ok() || (*anew)->ReadAttribute(kDirectoryObject, kEpochAttribute, &text) < 0) return;
  // A repeated attempt to take the epoch may have raised it meanwhile.
  if (!ParseEpoch(text, &epoch) || epoch <= mine || epoch_.load() != mine) return;
  session_->Lose(Cat("another process is the owner with epoch ", epoch, ", as a new connection tells"));
}

Worker::Next Lease::WatchSilence() {
  if (session_->is_lost()) return Worker::Next::Never();
  const absl::Duration lease = session_->options().lease;
  const bool is_silent = BootNs() >= certain_until_ns_.load() + absl::ToInt64Nanoseconds(lease);
  if (!is_silent || epoch_.load() == 0 || session_->options().fence == Fence::kNone) {
    return Worker::Next::WhenWoken(lease);
  }
  LookAnew();
  return Worker::Next::WhenWoken(std::max(lease, kLookPause));
}

void Lease::EndRenewals() {
  stop_.Stop();
  silence_watch_.RequestStop();
  renewals_.Stop();
  silence_watch_.Stop();
}

void Lease::Abandon() {
  is_abandoned_ = true;
  EndRenewals();
}

Lease::~Lease() {
  EndRenewals();
  if (is_abandoned_ || session_->is_lost()) return;
  if (session_->epoch() != 0) {
    // Nobody has to be blocked after an orderly end.
    WriteOp leave;
    leave.Require(kEpochAttribute, session_->epoch_text());
    leave.SetAttribute(kOwnerAttribute, "");
    session_->Operate(leave, kDirectoryObject);
  }
  rados_unlock(session_->io(), kLeaseObject, kLockName, cookie_.c_str());
}

}  // namespace armature::rados
