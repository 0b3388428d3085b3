#ifndef ARMATURE_STORAGE_RADOS_TAKEOVER_CHECK_H_
#define ARMATURE_STORAGE_RADOS_TAKEOVER_CHECK_H_

// Reasons for which a process that waits for a volume could not take it over, found before the takeover. Inside this
// component only.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "storage/base/worker.h"
#include "storage/rados/rados_options.h"
#include "storage/rados/rados_session.h"
#include "storage/rados/volume_record.h"

namespace armature::rados {

// Looks again and again, over a connection of its own with time limits, because a takeover must not wait for an answer
// that does not come. Nothing is changed in the cluster. A problem is logged when it begins and when it ends.
//
// The rights are tried with a block of something that is no address: the monitors refuse it for the lack of rights
// first, and then because it cannot be parsed. The clock of the owner is the time that its renewals leave at the
// lease's object.
//
// Thread-safety: thread-safe.
class TakeoverCheck {
 public:
  // `own_address`: of the client that is to become the owner.
  TakeoverCheck(const RadosVolumeOptions& options, std::string own_address);
  // The destructor waits for an answer under way, for some seconds at most.
  TakeoverCheck(const TakeoverCheck&) = delete;
  TakeoverCheck& operator=(const TakeoverCheck&) = delete;

  // Ends the looks after the first one, without a wait.
  void Stop() { worker_.RequestStop(); }
  // The problems that the last look found, each reason at most once.
  std::vector<TakeoverProblem> problems() const;

 private:
  Worker::Next Work();
  // Sets or, with an empty text, removes the problem of a reason.
  void Set(std::string_view reason, std::string text);
  void Look();
  // False if the cluster did not answer.
  bool LookAtRights();
  bool LookAtRecord();
  bool LookAtFiles();
  bool LookAtClock(bool has_other_owner);

  const RadosVolumeOptions options_;
  const std::string own_address_;
  // Used by the thread alone.
  std::shared_ptr<RadosSession> session_;
  int64_t next_rare_look_ns_ = 0;
  std::optional<TakeoverProblem> files_problem_;
  int64_t last_change_s_ = 0;  // of the lease's object
  int64_t last_change_look_ns_ = 0;
  mutable absl::Mutex mutex_;
  std::vector<TakeoverProblem> problems_ ABSL_GUARDED_BY(mutex_);
  Worker worker_{"arm-takeover", [this] { return Work(); }, [this] { session_.reset(); }};
};

// The difference between this machine's clock and the owner's, in words; empty if it is small, or not known for
// certain. `changed_s`: the owner's clock at a moment that was at most `age_s_max` seconds before `now_s`.
std::string ClockDifference(int64_t changed_s, int64_t now_s, int64_t age_s_max);

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_TAKEOVER_CHECK_H_
