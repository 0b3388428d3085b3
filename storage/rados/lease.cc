#include "storage/rados/lease.h"

#include <sys/random.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/time/time.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/time_histogram.h"
#include "storage/rados/name_table.h"

namespace armature::rados {
namespace {

using Fence = RadosVolumeOptions::Fence;

constexpr char kLockName[] = "owner";
// Experimental: it changes without a migration (docs/RADOS.md).
constexpr std::string_view kFormat = "0";
constexpr absl::Duration kLockPoll = absl::Milliseconds(100);
constexpr int kRenewalsInLease = 4;
// A blocked client never recovers, it has to connect again. So this only has to outlive every process that is paused.
constexpr uint32_t kBlockedSeconds = 24 * 60 * 60;
// Part of the lease during which its holder is certain: clocks of machines do not run at exactly the same speed.
constexpr double kCertainPart = 0.9;

std::string RandomCookie() {
  uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) std::abort();
  return Cat("armature-", bits);
}

}  // namespace

std::string FindOwner(RadosSession* session) {
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

Lease::Lease(std::shared_ptr<RadosSession> session) : session_(std::move(session)), cookie_(RandomCookie()) {}

absl::StatusOr<std::unique_ptr<Lease>> Lease::Take(std::shared_ptr<RadosSession> session, uint64_t* stripe_bytes) {
  auto lease = std::unique_ptr<Lease>(new Lease(std::move(session)));
  ARM_RETURN_IF_ERROR(lease->WaitForLock());
  lease->renewals_ = std::thread([&lease = *lease] { lease.Renew(); });
  ARM_RETURN_IF_ERROR(lease->Replace(stripe_bytes));
  return lease;
}

int Lease::Lock(uint8_t flags, int64_t* until_ns) {
  const absl::Duration time = session_->options().lease;
  timeval duration = absl::ToTimeval(time);
  // From before the request: the cluster's clock begins later.
  const int64_t now_ns = MonotonicNs();
  const int result = rados_lock_exclusive(session_->io(), kLeaseObject, kLockName, cookie_.c_str(),
                                          session_->address().c_str(), &duration, flags);
  *until_ns = now_ns + absl::ToInt64Nanoseconds(time * kCertainPart);
  return result;
}

absl::Status Lease::WaitForLock() {
  const RadosVolumeOptions& options = session_->options();
  const int64_t end_ns = MonotonicAfter(options.owner_wait);
  bool is_told = false;
  while (true) {
    int64_t until_ns = 0;
    const int result = Lock(0, &until_ns);
    if (result == 0) {
      certain_until_ns_.store(until_ns);
      return absl::OkStatus();
    }
    if (result != -EBUSY) return session_->Error("take", kLeaseObject, result);
    const bool is_cancelled = options.is_cancelled && options.is_cancelled();
    if (is_cancelled || MonotonicNs() >= end_ns) {
      return FailedPreconditionError(Cat("the volume rados://", options.pool, "/", options.name_space,
                                         " is in use by another process (", FindOwner(session_.get()), ")"));
    }
    if (!std::exchange(is_told, true)) {
      LOG(INFO) << "rados: waiting for the lease of the volume pool=" << options.pool
                << " namespace=" << options.name_space << " holder=" << FindOwner(session_.get());
    }
    stop_.WaitFor(kLockPoll);
  }
}

absl::Status Lease::Block(const std::string& address) {
  std::string text = address;
  const int blocked = rados_blocklist_add(session_->cluster(), text.data(), kBlockedSeconds);
  if (blocked == -EACCES || blocked == -EPERM) {
    return FailedPreconditionError(Cat("RADOS: client.", session_->options().user, " may not block the former owner ",
                                       address, " of the volume: its capabilities need mon 'profile rbd'"));
  }
  if (blocked < 0) return session_->Error("block", address, blocked);
  const int seen = rados_wait_for_latest_osdmap(session_->cluster());
  return seen < 0 ? session_->Error("block", address, seen) : absl::OkStatus();
}

absl::Status Lease::CheckUnused() {
  rados_list_ctx_t list = nullptr;
  if (const int opened = rados_nobjects_list_open(session_->io(), &list); opened < 0) {
    return session_->Error("list", session_->options().name_space, opened);
  }
  std::string found;
  const char* name = nullptr;
  int next = 0;
  while (found.empty() && (next = rados_nobjects_list_next(list, &name, nullptr, nullptr)) == 0) {
    if (std::string_view(name) != kLeaseObject) found = name;
  }
  rados_nobjects_list_close(list);
  if (next < 0 && next != -ENOENT) return session_->Error("list", session_->options().name_space, next);
  if (found.empty()) return absl::OkStatus();
  return DataLossError(Cat("RADOS: namespace ", session_->options().name_space, " of pool ", session_->options().pool,
                           " holds objects, such as ", found, ", and no object ", kDirectoryObject,
                           "; nothing was changed"));
}

absl::Status Lease::Replace(uint64_t* stripe_bytes) {
  const RadosVolumeOptions& options = session_->options();
  std::string format;
  std::string epoch;
  std::string owner;
  std::string stripe;
  const int known = session_->ReadAttribute(kDirectoryObject, kFormatAttribute, &format);
  if (known == -ENOENT) {
    // A lost directory must not become an empty one.
    ARM_RETURN_IF_ERROR(CheckUnused());
    WriteOp make;
    make.CreateNew();
    make.SetAttribute(kFormatAttribute, kFormat);
    make.SetAttribute(kEpochAttribute, "0");
    make.SetAttribute(kOwnerAttribute, "");
    make.SetAttribute(kStripeAttribute, Cat(options.stripe_bytes));
    const int made = session_->Operate(make, kDirectoryObject);
    if (made < 0) return session_->Error("make", kDirectoryObject, made);
  } else if (known < 0 && known != -ENODATA) {
    return session_->Error("read", kDirectoryObject, known);
  } else if (format != kFormat) {
    return FailedPreconditionError(Cat("RADOS: namespace ", options.name_space, " of pool ", options.pool,
                                       " holds no volume of this build's format ", kFormat));
  }
  int read = session_->ReadAttribute(kDirectoryObject, kEpochAttribute, &epoch);
  if (read >= 0) read = session_->ReadAttribute(kDirectoryObject, kOwnerAttribute, &owner);
  if (read >= 0) read = session_->ReadAttribute(kDirectoryObject, kStripeAttribute, &stripe);
  if (read < 0) return session_->Error("read", kDirectoryObject, read);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(epoch.data(), epoch.data() + epoch.size(), number);
  const auto [stripe_end, stripe_error] = std::from_chars(stripe.data(), stripe.data() + stripe.size(), *stripe_bytes);
  if (error != std::errc() || stripe_error != std::errc() || *stripe_bytes == 0) {
    return DataLossError(Cat("RADOS: the attributes of ", kDirectoryObject, " are damaged"));
  }
  const bool blocks = options.fence == Fence::kFull || options.fence == Fence::kBlock;
  if (!owner.empty() && blocks) ARM_RETURN_IF_ERROR(Block(owner));
  WriteOp take;
  take.Require(kEpochAttribute, epoch);
  take.SetAttribute(kEpochAttribute, Cat(number + 1));
  take.SetAttribute(kOwnerAttribute, session_->address());
  const int taken = session_->Operate(take, kDirectoryObject);
  if (taken < 0) return session_->Error("take", kDirectoryObject, taken);
  session_->set_epoch(Cat(number + 1));
  epoch_.store(number + 1);
  LOG(INFO) << "rados: owner of the volume pool=" << options.pool << " namespace=" << options.name_space
            << " epoch=" << number + 1 << " address=" << session_->address()
            << " former=" << (owner.empty() ? "none" : owner);
  return absl::OkStatus();
}

int Lease::CheckEpoch() {
  const uint64_t mine = epoch_.load();
  if (mine == 0) return 0;  // not the owner yet: taking the epoch tells
  std::string epoch;
  const int read = session_->ReadAttribute(kDirectoryObject, kEpochAttribute, &epoch);
  if (read < 0) return read;
  return epoch == Cat(mine) ? 0 : -ECANCELED;
}

void Lease::RenewOnce() {
  int64_t until_ns = 0;
  int result = Lock(LIBRADOS_LOCK_FLAG_MAY_RENEW, &until_ns);
  // After an outage that was longer than the lease, the lock may have been another process's.
  if (result == 0 && MonotonicNs() >= certain_until_ns_.load()) result = CheckEpoch();
  if (result == 0) {
    certain_until_ns_.store(until_ns);
  } else if (result == -EBUSY && session_->options().fence == Fence::kNone) {
    // A test lets it do its harm.
  } else if (result == -EBUSY) {
    session_->Lose(Cat("another process holds its lease: ", FindOwner(session_.get())));
  } else if (result == -ESHUTDOWN) {
    session_->Lose("the cluster has blocked this client: another process took the volume");
  } else if (result == -ECANCELED) {
    rados_unlock(session_->io(), kLeaseObject, kLockName, cookie_.c_str());
    session_->Lose("another process owned the volume after the lease had run out");
  } else {
    LOG(WARNING) << "rados: the lease was not renewed error=" << std::strerror(-result);
  }
}

void Lease::Renew() {
  const absl::Duration pause = session_->options().lease / kRenewalsInLease;
  while (!stop_.WaitFor(pause) && !session_->is_lost()) RenewOnce();
}

void Lease::EndRenewals() {
  stop_.Stop();
  if (renewals_.joinable()) renewals_.join();
}

void Lease::Abandon() {
  is_abandoned_ = true;
  EndRenewals();
}

Lease::~Lease() {
  EndRenewals();
  if (is_abandoned_ || session_->is_lost()) return;
  if (!session_->epoch().empty()) {
    // Nobody has to be blocked after an orderly end.
    WriteOp leave;
    leave.Require(kEpochAttribute, session_->epoch());
    leave.SetAttribute(kOwnerAttribute, "");
    session_->Operate(leave, kDirectoryObject);
  }
  rados_unlock(session_->io(), kLeaseObject, kLockName, cookie_.c_str());
}

}  // namespace armature::rados
