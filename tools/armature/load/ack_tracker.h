#ifndef ARMATURE_TOOLS_ARMATURE_LOAD_ACK_TRACKER_H_
#define ARMATURE_TOOLS_ARMATURE_LOAD_ACK_TRACKER_H_

// Tracks the position in a file before which all records are done, while records are done in any order.

#include <cstddef>
#include <cstdint>
#include <deque>

#include "tools/armature/load/line_reader.h"

namespace armature::cli {

// Not thread-safe.
class AckTracker {
 public:
  explicit AckTracker(TextPosition begin) : position_(begin) {}

  // Begins the next record, which ends at `end`. Returns its ticket.
  uint64_t Begin(TextPosition end) {
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
  TextPosition position() const { return position_; }

 private:
  struct Record {
    TextPosition end;
    bool is_done = false;
  };

  std::deque<Record> open_;
  uint64_t first_ = 0;  // ticket of the first open record
  TextPosition position_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_LOAD_ACK_TRACKER_H_
