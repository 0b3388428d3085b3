#ifndef ARMATURE_TOOLS_ARMATURE_LOAD_PUT_STREAM_H_
#define ARMATURE_TOOLS_ARMATURE_LOAD_PUT_STREAM_H_

// Puts many items, and repeats each put until it succeeds or is refused for a lasting reason.

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

// A put without a final answer.
struct PendingPut {
  api::v1::Item item;
  uint64_t ticket = 0;  // for the caller
  int64_t line = 0;     // for the caller
  size_t bytes = 0;     // size of the item
  int attempts = 0;
  absl::Time due{};  // time of the next attempt
};

// Repeats puts after transient errors (throttling, a restarting daemon) with growing pauses, and sends nothing new
// meanwhile. Repeating a put is safe. Gives up if no put succeeds, or no answer arrives, for `patience`.
//
// Not thread-safe: all calls on one thread, which also runs the callbacks.
class PutStream {
 public:
  // An error that a callback returns ends the work.
  struct Callbacks {
    // Called once for each put with OK, or with the reason why the daemon refuses it.
    std::function<absl::Status(const PendingPut& put, const absl::Status& status)> settled;
    // Called several times a second while Put and Finish wait.
    std::function<absl::Status()> tick;
  };

  PutStream(client::Client client, std::string table_name, absl::Duration patience, Callbacks callbacks);

  // Sends the put. Blocks while too many puts are in flight. Errors: the error of the last attempt, after `patience`;
  // the error of a stream that the daemon refuses; an error of a callback. No calls are allowed after an error.
  absl::Status Put(PendingPut put);

  // Waits until all puts are settled. Errors: those of Put.
  absl::Status Finish();

 private:
  // Below the limits of a stream, so that Ask never blocks and Wait notices a daemon that stops answering.
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
  // Settles the answered puts, and sends the puts that are due.
  absl::Status HandleAnswers();
  absl::Status HandleAnswer(const Answer& answer);
  absl::Status SendDue();
  // Waits for an answer, a due put or the next tick, and handles it. Errors: those of Put.
  absl::Status Wait();
  bool HasRoom() const { return under_way_ < kUnderWayMax && under_way_bytes_ < kUnderWayBytesMax; }

  const client::Client client_;
  const std::string table_name_;
  const absl::Duration patience_;
  const Callbacks callbacks_;
  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::deque<std::shared_ptr<PendingPut>> waiting_;  // puts that wait for their next attempt
  size_t under_way_ = 0;                             // number of puts in flight
  size_t under_way_bytes_ = 0;
  absl::Time heard_ = absl::InfinitePast();     // time of the last answer, or of the first put in flight
  std::optional<absl::Time> failing_since_;     // no put has succeeded since then
  std::unique_ptr<client::Pipeline> pipeline_;  // destroyed first: its callbacks use the other members
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_LOAD_PUT_STREAM_H_
