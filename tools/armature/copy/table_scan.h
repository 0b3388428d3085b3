#ifndef ARMATURE_TOOLS_ARMATURE_COPY_TABLE_SCAN_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_TABLE_SCAN_H_

// Reads all items of a table, or of one of its segments.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/armature/copy/rate_limit.h"
#include "tools/armature/copy/remote.h"
#include "tools/armature/copy/stop_signal.h"
#include "tools/armature/copy/wire_json.h"

namespace armature::cli::copy {

// Notices that pages go round in a circle, in constant memory (Brent's algorithm).
class PageCycle {
 public:
  // True if `key`, the start of the next page, was seen before. A circle is noticed within three times its length.
  bool Repeats(const Wire& key) {
    if (key == kept_) return true;
    if (++steps_ == limit_) {
      kept_ = key;
      steps_ = 0;
      limit_ *= 2;
    }
    return false;
  }

 private:
  Wire kept_ = nullptr;
  uint64_t steps_ = 0;
  uint64_t limit_ = 1;
};

struct SegmentToScan {
  std::string table;
  size_t segment = 0;
  size_t segments = 1;
  bool is_consistent = true;
  Wire start = nullptr;  // null: from the begin
};

// Calls `take` with the items of each page, and the start of the next one, which is null behind the last page. `rate`
// limits the capacity units that are consumed. Errors: those of Remote::Call and of `take`; DATA_LOSS for pages that do
// not end, or that are none.
absl::Status ScanSegment(Remote* remote, const SegmentToScan& segment, RateLimit* rate, StopSignal* stop,
                         absl::FunctionRef<absl::Status(const Wire& items, const Wire& next)> take);

// The items of these keys that exist, by the canonical text of their key. At most 25 keys. Reads are consistent.
absl::StatusOr<std::map<std::string, Wire>> GetItems(Remote* remote, const std::string& table,
                                                     const std::vector<Wire>& keys,
                                                     const std::vector<std::string>& key_names, const StopSignal& stop);

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_TABLE_SCAN_H_
