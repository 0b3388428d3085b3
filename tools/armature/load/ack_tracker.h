#ifndef ARMATURE_TOOLS_ARMATURE_LOAD_ACK_TRACKER_H_
#define ARMATURE_TOOLS_ARMATURE_LOAD_ACK_TRACKER_H_

// Up to which place of a file all is done, when things are done in any order.

#include <cstddef>
#include <cstdint>
#include <deque>

#include "tools/armature/load/line_reader.h"

namespace armature::cli {

// Not thread-safe.
class AckTracker {
 public:
  explicit AckTracker(TextPosition begin) : position_(begin) {}

  // The next record, which ends there. Answers its ticket.
  uint64_t Begin(TextPosition end) {
    open_.push_back({end, false});
    return first_ + open_.size() - 1;
  }

  // Once for each ticket, in any order.
  void Done(uint64_t ticket) {
    open_[static_cast<size_t>(ticket - first_)].is_done = true;
    while (!open_.empty() && open_.front().is_done) {
      position_ = open_.front().end;
      open_.pop_front();
      ++first_;
    }
  }

  // All records before it are done.
  TextPosition position() const { return position_; }

 private:
  struct Record {
    TextPosition end;
    bool is_done = false;
  };

  std::deque<Record> open_;
  uint64_t first_ = 0;  // the ticket of the first of them
  TextPosition position_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_LOAD_ACK_TRACKER_H_
