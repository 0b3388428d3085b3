#ifndef ARMATURE_TOOLS_ARMATURE_COPY_COPY_STATE_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_COPY_STATE_H_

// The save points of a copy, and the file that keeps them so that a copy that was killed continues.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tools/armature/copy/wire_json.h"

namespace armature::cli::copy {

// A part of the items of a table, as Scan divides them.
struct SegmentState {
  Wire next = nullptr;  // the target has all items up to this key; null at the begin
  bool is_done = false;
};

// A shard of the source's stream.
struct ShardState {
  std::string after;  // the target has all changes up to this sequence number; empty: the shard is read from its begin
  std::string parent{};  // empty: none
  bool is_done = false;  // read to its end, or ended before the copy began
  int64_t clear_ms = 0;  // a time before all changes of the shard that the target lacks
};

struct StreamState {
  std::string arn;
  int64_t began_ms = 0;   // time at which the positions of the shards were taken
  int64_t listed_ms = 0;  // time at which the list of shards was read last
  std::map<std::string, ShardState> shards;
};

enum class Phase { kItems, kSettings, kFollow, kDone };

struct TableState {
  std::string source;
  std::string target;
  bool is_made = false;  // by this copy: the target had no such table
  Phase phase = Phase::kItems;
  int64_t items = 0;    // copied; those of a page that was copied twice count once
  int64_t changes = 0;  // records of the stream that were applied
  std::vector<SegmentState> segments{};
  std::optional<StreamState> stream{};
};

struct CopyState {
  std::string from;  // addresses
  std::string to;
  std::string hash;  // check of the key and the attributes of --hash; empty without
  std::vector<TableState> tables;
};

Wire ToWire(const CopyState& state);
// Nullopt if the document is not a state.
std::optional<CopyState> StateOf(const Wire& json);

// Keeps the state in memory and writes it to the file. Thread-safe.
class StateKeeper {
 public:
  // Reads the file, if there is one, which must be of the copy that `begin` describes. Errors: InputError for a file
  // that cannot be read, or is of another copy.
  static absl::StatusOr<std::unique_ptr<StateKeeper>> Open(std::string path, CopyState begin);

  // True if the file was there.
  bool is_resumed() const { return is_resumed_; }

  // All tables, by their names at the source.
  std::vector<std::string> Sources() const;
  // The state of the table; nullopt before Add.
  std::optional<TableState> Table(const std::string& source) const;
  void Add(TableState table);

  void SetSegment(const std::string& source, size_t segment, SegmentState state, int64_t items);
  void SetPhase(const std::string& source, Phase phase);
  void SetStream(const std::string& source, StreamState stream, int64_t changes);

  // Items and changes of all tables.
  int64_t items() const;
  int64_t changes() const;

  // Writes the file if something has changed. SaveSometimes: at most five times a second. Errors: InputError.
  absl::Status Save();
  absl::Status SaveSometimes();
  // The copy is complete.
  void Remove();

 private:
  StateKeeper(std::string path, CopyState state, bool is_resumed);
  TableState& Find(const std::string& source) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;
  const bool is_resumed_;
  mutable absl::Mutex mutex_;
  CopyState state_ ABSL_GUARDED_BY(mutex_);
  bool is_changed_ ABSL_GUARDED_BY(mutex_) = true;
  absl::Time last_saved_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_COPY_STATE_H_
