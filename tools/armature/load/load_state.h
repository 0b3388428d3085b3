#ifndef ARMATURE_TOOLS_ARMATURE_LOAD_LOAD_STATE_H_
#define ARMATURE_TOOLS_ARMATURE_LOAD_LOAD_STATE_H_

// The position of a load in its file, before which all records are done, and the small file that keeps it so that an
// interrupted load can continue.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/files/line_reader.h"

namespace armature::cli {

// Tracks the position while records are done in any order. Not thread-safe.
class AckTracker {
 public:
  explicit AckTracker(files::TextPosition begin) : position_(begin) {}

  // Begins the next record, which ends at `end`. Returns its ticket.
  uint64_t Begin(files::TextPosition end) {
    open_.push_back({end, false});
    return first_ + open_.size() - 1;
  }

  // Marks a record as done. Called once for each ticket, in any order.
  void Done(uint64_t ticket) {
    open_[static_cast<size_t>(ticket - first_)].is_done = true;
    while (!open_.empty() && open_.front().is_done) {
      position_ = open_.front().end;
      open_.pop_front();
      ++first_;
    }
  }

  // All records before this position are done.
  files::TextPosition position() const { return position_; }

 private:
  struct Record {
    files::TextPosition end;
    bool is_done = false;
  };

  std::deque<Record> open_;
  uint64_t first_ = 0;  // ticket of the first open record
  files::TextPosition position_;
};

struct LoadState {
  std::string table_name;
  files::TextPosition position{};  // the table has all items before it
  int64_t items = 0;               // number of these items
};

// The path of the state file: "x.jsonl" -> "x.jsonl.load-state".
std::string StatePathOf(const std::string& input_path);

// Absent if the file does not exist. Errors: InputError if the file is not a state.
absl::StatusOr<std::optional<LoadState>> ReadLoadState(const std::string& path);

// Replaces the file atomically. Errors: InputError.
absl::Status WriteLoadState(const std::string& path, const LoadState& state);

// A missing file is not an error.
void RemoveLoadState(const std::string& path);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_LOAD_LOAD_STATE_H_
