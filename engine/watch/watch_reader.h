#ifndef ARMATURE_ENGINE_WATCH_WATCH_READER_H_
#define ARMATURE_ENGINE_WATCH_WATCH_READER_H_

// The records of a stream behind a position, those of all shards in one order.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/base/strong_type.h"
#include "storage/model/stream_descriptor.h"
#include "storage/store/stream/stream_log.h"

namespace armature::engine {

// The start of a watch.
enum class WatchStart : uint8_t { kNow, kOldest, kAfterSequence };

// The position from which a watch of `stream`, which is enabled, begins: the records behind it are read. `sequence`:
// for kAfterSequence. Errors: ValidationException for a sequence that the daemon has not reached;
// TrimmedDataAccessException if changes behind it are no longer kept, or were never recorded.
absl::StatusOr<ChangeSequence> StartOfWatch(const store::StreamLog& log, const model::StreamDescriptor& stream,
                                            WatchStart start, ChangeSequence sequence);

// Keeps nothing but a position, so it may rest for any time. Records that are trimmed meanwhile make the next Read
// fail.
//
// Thread-safety: one thread at a time. Lifetime: the log must outlive it.
class WatchReader {
 public:
  // `hash`: reads only the slots of rows with this StreamHashOf.
  WatchReader(const store::StreamLog* log, const model::StreamDescriptor& stream, std::optional<uint8_t> hash,
              ChangeSequence position)
      : log_(log), stream_(stream), hash_(hash), position_(position) {}

  struct Entry {
    ChangeSequence sequence;
    std::string record;  // codec::StreamRecord
  };
  struct Page {
    std::vector<Entry> entries;  // in ascending order
    bool has_more = false;       // more may be read at once
    bool has_ended = false;      // the stream has ended, and was read to its end
  };

  // Reads on behind the position and moves it to the end of the page. A page holds about `bytes_max` bytes, four times
  // as much while it is read, or one record. Blocks: it reads from disk. Errors: TrimmedDataAccessException if records
  // behind the position may have been trimmed; DataLoss.
  absl::StatusOr<Page> Read(size_t bytes_max);

  // Moves the position back to a record of the last page: those behind it will be read again.
  void GoBackTo(ChangeSequence sequence) { position_ = sequence; }

  // All records up to this sequence were read.
  ChangeSequence position() const { return position_; }

 private:
  // A segment and the sequences in it that are to be read.
  struct Part {
    SegmentId segment;
    ChangeSequence last;
    uint32_t slots = 1;
    bool is_current = false;
  };
  std::vector<Part> PartsUpTo(const std::vector<store::StreamSegment>& segments, const model::StreamDescriptor& stream,
                              ChangeSequence end) const;
  absl::Status ReadPart(const Part& part, size_t bytes_max, Page* page);
  // Adds the records of a slot up to `*last`. Lowers `*last` to the last one read if there is no room for all.
  absl::Status ReadSlot(const Part& part, uint8_t slot, size_t bytes_max, ChangeSequence* last, Page* page) const;
  bool HasNewRecords() const;

  const store::StreamLog* const log_;
  const model::StreamDescriptor stream_;
  const std::optional<uint8_t> hash_;
  ChangeSequence position_;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_WATCH_WATCH_READER_H_
