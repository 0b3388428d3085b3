#ifndef ARMATURE_TOOLS_ARMATURE_LOAD_PUT_STREAM_H_
#define ARMATURE_TOOLS_ARMATURE_LOAD_PUT_STREAM_H_

// Puts of many items, repeated until each is in the table or has been refused for good.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "armature/client/client.h"
#include "armature/client/pipeline.h"

namespace armature::cli {

// One item on its way.
struct PendingPut {
  api::v1::Item item;
  uint64_t ticket = 0;  // the caller's
  int64_t line = 0;     // the caller's
  size_t bytes = 0;     // of the item
  int attempts = 0;
  absl::Time due{};  // of the next attempt
};

// What passes with time (throttling, a daemon that restarts) is tried again with growing pauses, during which nothing
// new is sent; a put may be repeated safely. It gives up when nothing has succeeded, or nothing has been answered at
// all, for `patience`.
//
// Not thread-safe: all calls on one thread, which also runs the callbacks.
class PutStream {
 public:
  // What is called; an error that they answer ends the work.
  struct Callbacks {
    // Once for each put: OK, or why the daemon refuses it.
    std::function<absl::Status(const PendingPut& put, const absl::Status& status)> settled;
    // While Put and Finish wait, some times a second.
    std::function<absl::Status()> tick;
  };

  PutStream(client::Client client, std::string table_name, absl::Duration patience, Callbacks callbacks);

  // Sends it; waits while too many are under way. Errors: that of the last attempt, after `patience`; the stream's, if
  // the daemon refuses it; what the callbacks answer. Then no further calls.
  absl::Status Put(PendingPut put);

  // Waits until all are settled. Errors: as of Put.
  absl::Status Finish();

 private:
  // Fewer than a stream takes, so that Ask does not block: a daemon that has stopped answering is noticed in Wait.
  static constexpr size_t kUnderWayMax = 256;
  static constexpr size_t kUnderWayBytesMax = 8 << 20;

  struct Answer {
    std::shared_ptr<PendingPut> put;
    absl::Status status;
  };
  // Shared with the callbacks.
  struct Inbox {
    absl::Mutex mutex;
    std::vector<Answer> answers ABSL_GUARDED_BY(mutex);
  };

  absl::Status Send(std::shared_ptr<PendingPut> put);
  absl::Status Reopen();
  // Settles what has been answered, sends again what is due.
  absl::Status HandleAnswers();
  absl::Status HandleAnswer(const Answer& answer);
  absl::Status SendDue();
  // Until there is an answer, or something is due, or it is time for a tick; then handles it. Errors: as of Put.
  absl::Status Wait();
  bool HasRoom() const { return under_way_ < kUnderWayMax && under_way_bytes_ < kUnderWayBytesMax; }

  const client::Client client_;
  const std::string table_name_;
  const absl::Duration patience_;
  const Callbacks callbacks_;
  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::deque<std::shared_ptr<PendingPut>> waiting_;  // for their next attempt
  size_t under_way_ = 0;                             // sent and not answered
  size_t under_way_bytes_ = 0;
  absl::Time heard_ = absl::InfinitePast();     // when something was answered last, or nothing was under way
  std::optional<absl::Time> failing_since_;     // nothing has succeeded since
  std::unique_ptr<client::Pipeline> pipeline_;  // last: its callbacks use the others
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_LOAD_PUT_STREAM_H_
