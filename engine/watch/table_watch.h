#ifndef ARMATURE_ENGINE_WATCH_TABLE_WATCH_H_
#define ARMATURE_ENGINE_WATCH_TABLE_WATCH_H_

// A watch: the changes of one table behind a position, in the order of their sequences, as they are made.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/items/access_facts.h"
#include "engine/items/expressions.h"
#include "engine/items/request.h"
#include "engine/streams/stream_ops.h"
#include "engine/watch/watch_hub.h"
#include "engine/watch/watch_reader.h"
#include "storage/model/stream_descriptor.h"

namespace armature::engine {

struct Parts;

inline constexpr absl::Duration kWatchHeartbeat = absl::Seconds(5);
inline constexpr absl::Duration kWatchHeartbeatMin = absl::Seconds(1);
inline constexpr absl::Duration kWatchHeartbeatMax = absl::Minutes(1);

struct WatchRequest {
  std::optional<std::string> table_name;  // name or ARN
  WatchStart start = WatchStart::kNow;
  std::string after_sequence;           // for kAfterSequence
  std::optional<std::string> key_wire;  // partition key attributes: changes of this item collection only
  std::string view;                     // as StreamViewType; empty: that of the stream
  ExpressionParameters expressions;     // filter only
  std::optional<int64_t> heartbeat_ms;  // kWatchHeartbeatMin to kWatchHeartbeatMax
  std::string client;                   // by whom the watch is counted
};

// The right that a watch needs: Watch on the table. Its facts are those of a Scan with the filter, or of a GetItem if
// it has a partition key.
absl::Status CheckRights(const WatchRequest& request, RightCheck check);

struct WatchPage {
  std::vector<ChangeOfItem> changes;  // may be empty
  model::StreamView view = model::StreamView::kKeysOnly;
  ChangeSequence position;  // all changes up to this sequence were delivered, or do not pass the filter
};

// Holds a position and no records. While nobody asks for the next page, it takes no memory for changes and no time.
//
// Thread-safety: thread-safe. Lifetime: shared; the engine must outlive it.
class TableWatch : public std::enable_shared_from_this<TableWatch> {
 public:
  // Does not block. Errors: ValidationException, ResourceNotFoundException, LimitExceededException,
  // TrimmedDataAccessException (see StartOfWatch).
  static absl::StatusOr<std::shared_ptr<TableWatch>> Open(Parts* parts, const WatchRequest& request);
  ~TableWatch();
  TableWatch(const TableWatch&) = delete;
  TableWatch& operator=(const TableWatch&) = delete;

  // Calls `done` with the next page when there are changes, or after the heartbeat interval without any; the first page
  // comes at once, with or without changes. One call at a time. Errors: TrimmedDataAccessException if the watch fell
  // behind what is kept; ResourceNotFoundException when the stream has ended and all its changes were delivered;
  // DataLoss; the status of Cancel. The watch ends with an error.
  void Next(Callback<WatchPage> done);

  // Ends the watch and gives its place back: the current call of Next and all later ones get `why`, an error. `done`
  // may run on this thread.
  void Cancel(const absl::Status& why);

 private:
  friend class WatchHub;

  // Everything about a watch that does not change.
  struct Terms {
    model::StreamDescriptor stream;
    model::StreamView view = model::StreamView::kKeysOnly;
    std::string partition;                            // key components; empty: all partitions
    std::optional<uint8_t> hash;                      // of the partition
    std::unique_ptr<RequestExpressions> expressions;  // null: no filter
    int64_t heartbeat_ns = 0;
  };
  enum class State : uint8_t {
    kIdle,     // nobody asks for a page
    kWaiting,  // there is nothing to read
    kQueued,   // Run is queued or runs
  };

  TableWatch(Parts* parts, Terms terms, ChangeSequence position, WatchPlace place);
  static absl::StatusOr<Terms> TermsOf(Parts* parts, const WatchRequest& request);

  // Called by the hub.
  void Wake();
  void WakeIfDue(int64_t now_ns);

  void Post();
  void Run();
  absl::StatusOr<WatchPage> ReadPage(bool* has_more, bool* has_ended);
  absl::StatusOr<bool> Passes(std::string_view record) const;
  void Answer(absl::StatusOr<WatchPage> page);
  void Close(const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Parts* const parts_;
  const Terms terms_;
  WatchReader reader_;  // used by Run

  absl::Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kIdle;
  bool is_woken_ ABSL_GUARDED_BY(mutex_) = false;  // while queued: there may be more to read
  int64_t due_ns_ ABSL_GUARDED_BY(mutex_) = 0;     // of the next heartbeat
  std::optional<Callback<WatchPage>> done_ ABSL_GUARDED_BY(mutex_);
  absl::Status closed_ ABSL_GUARDED_BY(mutex_);
  std::optional<WatchPlace> place_ ABSL_GUARDED_BY(mutex_);  // nullopt: the watch has ended
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_WATCH_TABLE_WATCH_H_
