#ifndef ARMATURE_STORAGE_RADOS_LEASE_H_
#define ARMATURE_STORAGE_RADOS_LEASE_H_

// Ownership of a volume in RADOS: one process at a time, for as long as it renews its lease. Inside this component
// only.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/base/monotonic_wait.h"
#include "storage/rados/rados_session.h"

namespace armature::rados {

// The object that carries the lock.
inline constexpr char kLeaseObject[] = "lease";

// The lease of this process, renewed by a thread of its own.
//
// Safety does not depend on clocks: a new owner blocks its predecessor's connection and takes over its open files
// before it reads them, and every write requires the epoch of its owner. The lease tells when a predecessor may be
// replaced, and for how long answers from memory are still those of the only owner.
//
// Thread-safety: thread-safe.
class Lease {
 public:
  // Waits for the lease of another owner to end, replaces that owner, and gives the session its epoch. Makes the volume
  // if there is none. Returns the volume's size of stripes in `stripe_bytes`. Errors: FailedPrecondition if another
  // owner keeps the lease, or the volume's format is unknown; Unavailable.
  static absl::StatusOr<std::unique_ptr<Lease>> Take(std::shared_ptr<RadosSession> session, uint64_t* stripe_bytes);
  // Gives the lease back.
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  // True while no other process can have become the owner.
  bool IsCertain() const { return !session_->is_lost() && MonotonicNs() < certain_until_ns_.load(); }
  // Ends the renewals and leaves the lease to run out, as the death of the process would.
  void Abandon();

 private:
  explicit Lease(std::shared_ptr<RadosSession> session);
  // Takes or renews the lock. `until_ns`: until when nobody else can have it then.
  int Lock(uint8_t flags, int64_t* until_ns);
  absl::Status WaitForLock();
  // Errors: DataLoss if the namespace of a volume that is to be made holds objects.
  absl::Status CheckUnused();
  absl::Status Replace(uint64_t* stripe_bytes);
  absl::Status Block(const std::string& address);
  // ECANCELED if there was another owner meanwhile.
  int CheckEpoch();
  void RenewOnce();
  void Renew();
  void EndRenewals();

  const std::shared_ptr<RadosSession> session_;
  const std::string cookie_;
  std::atomic<int64_t> certain_until_ns_ = 0;
  std::atomic<uint64_t> epoch_ = 0;  // 0: not the owner yet
  bool is_abandoned_ = false;
  StopSignal stop_;
  std::thread renewals_;
};

// The address of the owner that holds the lease now; empty: nobody.
std::string FindOwner(RadosSession* session);

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_LEASE_H_
