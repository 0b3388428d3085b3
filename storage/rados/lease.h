#ifndef ARMATURE_STORAGE_RADOS_LEASE_H_
#define ARMATURE_STORAGE_RADOS_LEASE_H_

// Ownership of a volume in RADOS: one process at a time, for as long as it renews its lease. Inside this component
// only.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/worker.h"
#include "storage/rados/rados_session.h"
#include "storage/rados/takeover_check.h"
#include "storage/rados/volume_record.h"

namespace armature::rados {

// The object that carries the lock.
inline constexpr char kLeaseObject[] = "lease";

// The lease of this process, renewed by a thread of its own.
//
// Safety does not depend on clocks: a new owner blocks its predecessor's connection and takes over its open files
// before it reads them, and every write requires the epoch of its owner. The lease tells when a predecessor may be
// replaced, and for how long answers from memory are still those of the only owner.
//
// The loss of the lease is noticed by the answer to a renewal. Should the session get none any more, it is noticed
// nevertheless: an owner that has not renewed its lease for two leases looks at the epoch over a new connection, again
// and again. An owner that nobody has replaced goes on for as long as an outage of the cluster takes.
//
// Thread-safety: thread-safe, except Take and Announce, which one thread calls.
class Lease {
 public:
  // Waits for the lease of another owner to end, replaces that owner, and gives the session its epoch. Makes the volume
  // if there is none. Faults of the cluster that may pass are waited for likewise. `*record`: the volume as it was
  // found. Errors: FailedPrecondition if another owner keeps the lease, or the volume's format is unknown; DataLoss;
  // Unavailable.
  // With the option checks_takeover, problems of a takeover are looked for while it waits, and once in any case. With
  // must_exist, NotFound if there is no volume.
  static absl::StatusOr<std::unique_ptr<Lease>> Take(std::shared_ptr<RadosSession> session, VolumeRecord* record);
  // Gives the lease back.
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  // True while no other process can have become the owner.
  bool IsCertain() const;
  // Seconds for which IsCertain stays true without a renewal; 0 if it is false.
  double LeftSeconds() const;
  // Notes in the cluster where this owner serves: OwnerRecord::service. Errors: Unavailable.
  absl::Status Announce(std::string_view service);
  // Ends the renewals and leaves the lease to run out, as the death of the process would.
  void Abandon();

 private:
  explicit Lease(std::shared_ptr<RadosSession> session);
  // Takes or renews the lock. `until_ns`: until when nobody else can have it then, by the clock of IsCertain.
  int Lock(uint8_t flags, int64_t* until_ns);
  // If the last owner was asked to hand over and nobody has followed it yet, waits while others may take the lock.
  void LeaveToOthers();
  absl::Status WaitForLock(int64_t end_ns);
  // False if the wait for the lease, which ends at `end_ns`, is over.
  bool MayWait(int64_t end_ns);
  // Tells the options' on_waiting where the owner serves.
  void TellOwner();
  absl::Status Replace(VolumeRecord* record);
  // Errors: Unavailable if the lock, or since the epoch was taken the epoch, is another process's.
  absl::Status RenewForReplacement();
  absl::Status Block(const std::string& address);
  // ECANCELED if there is another owner.
  int CheckEpoch();
  // False if the lease was not renewed.
  bool RenewOnce();
  // Begins to give the lease back, and waits for the answer for a moment only.
  void GiveBackSoon();
  // Tells the options' on_handover if this owner was asked to end.
  void LookForHandover();
  Worker::Next Renew();
  // Loses the volume if a connection of its own tells that there is another owner.
  void LookAnew();
  Worker::Next WatchSilence();
  void EndRenewals();

  const std::shared_ptr<RadosSession> session_;
  const std::string cookie_;
  std::atomic<int64_t> certain_until_ns_ = 0;
  std::atomic<uint64_t> epoch_ = 0;  // 0: not the owner yet
  OwnerRecord self_;                 // as it was noted last
  int64_t next_look_ns_ = 0;         // at the owner's record
  VolumeWait told_;
  std::unique_ptr<TakeoverCheck> check_;  // may be null
  bool is_abandoned_ = false;
  bool was_asked_ = false;  // to end; of the thread of the renewals
  StopSignal stop_;
  Worker renewals_{"arm-lease", [this] { return Renew(); }};
  Worker silence_watch_{"arm-lease-watch", [this] { return WatchSilence(); }};
};

// OK if there is a volume. Errors: NotFound if there is none; DataLoss if its directory is lost; Unavailable. Any other
// fault of the volume is found by its owner.
absl::Status CheckThere(RadosSession* session);

// The holder of the lease now, for messages; empty: nobody.
std::string FindHolder(RadosSession* session);

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_LEASE_H_
