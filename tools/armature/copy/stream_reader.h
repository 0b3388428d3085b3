#ifndef ARMATURE_TOOLS_ARMATURE_COPY_STREAM_READER_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_STREAM_READER_H_

// Reads the changes of a table from its stream, in the order in which they may be applied. Decision 62 says why a copy
// by it converges.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tools/armature/copy/copy_state.h"
#include "tools/armature/copy/remote.h"
#include "tools/armature/copy/wire_json.h"

namespace armature::cli::copy {

// A stream keeps its records for this long.
inline constexpr absl::Duration kStreamRetention = absl::Hours(24);

// A change of an item.
struct Change {
  Wire key;
  Wire image = nullptr;  // the item after the change; null: it was deleted
};

// The last change of each key in the records, which are in order.
// Errors: DATA_LOSS for a record without the image that the stream's view promises.
absl::StatusOr<std::vector<Change>> LastChanges(const Wire& records);

// Shards of DescribeStream, and the shards that a state knows, as a new state. Errors: DATA_LOSS, with what was lost,
// if a shard is gone that was not read to its end, or a new one continues a shard that nobody has seen. `shards`: all
// shards of the stream, listed at `now`.
absl::Status MergeShards(const std::vector<Wire>& shards, absl::Time now, StreamState* state);

// The shards that may be read now: not done, and their parent is done or gone.
std::vector<std::string> ReadableShards(const StreamState& state);

// Not thread-safe. Lifetime: all arguments outlive it.
class StreamReader {
 public:
  // `apply`: applies changes of different keys; when it returns OK the target has them.
  using Apply = absl::FunctionRef<absl::Status(const std::vector<Change>& changes)>;

  // The positions from which a copy that begins now needs the changes. `arn`: an enabled stream with new images.
  static absl::StatusOr<StreamState> Begin(Remote* source, const std::string& arn, absl::Time now);

  StreamReader(Remote* source, std::string table, StreamState state)
      : source_(*source), table_(std::move(table)), state_(std::move(state)) {}

  struct Round {
    int64_t records = 0;
    bool is_empty = true;  // no shard had a record, and no shard has ended
    // Time of the newest record that was applied, in seconds since the epoch; 0 without a record.
    double newest_seconds = 0;
  };

  // Reads one page of each readable shard and applies it. The state has the positions behind the applied pages, also
  // after an error. Errors: those of the calls; DATA_LOSS, with what was lost, if records were trimmed before they were
  // read.
  absl::StatusOr<Round> ReadOnce(Apply apply, absl::Time now);

  // Errors: DATA_LOSS if the stream was turned off: later changes are in no stream, or in another one.
  absl::Status CheckEnabled();

  const StreamState& state() const { return state_; }

 private:
  absl::Status ReadShard(const std::string& id, Apply apply, absl::Time now, Round* round);
  absl::StatusOr<std::string> IteratorOf(const std::string& id, absl::Time now);
  absl::Status LostError(const std::string& id, std::string_view what) const;

  Remote& source_;
  const std::string table_;
  StreamState state_;
  std::map<std::string, std::string> iterators_;  // by shard
  absl::Time listed_ = absl::InfinitePast();
  bool must_list_ = true;
};

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_STREAM_READER_H_
