#include "engine/watch/watch_reader.h"

#include <algorithm>

#include "engine/streams/stream_shards.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::engine {
namespace {

using model::StreamDescriptor;

absl::Status FellBehindError(const StreamDescriptor& stream, ChangeSequence position) {
  return TrimmedDataAccessError(Cat("The watch of table ", stream.table_name, " fell behind: changes after sequence ",
                                    SequenceText(position), " are no longer kept"));
}

// True if all records of the stream behind `position` are kept.
bool IsKept(const StreamDescriptor& stream, const std::vector<store::StreamSegment>& segments,
            ChangeSequence position) {
  if (segments.empty()) return true;
  const ChangeSequence next(position.value() + 1);
  return std::max(next, stream.first_sequence) >= segments.front().first_sequence;
}

}  // namespace

absl::StatusOr<ChangeSequence> StartOfWatch(const store::StreamLog& log, const StreamDescriptor& stream,
                                            WatchStart start, ChangeSequence sequence) {
  const ChangeSequence before_first(stream.first_sequence.value() - 1);
  const ChangeSequence watermark = std::max(log.watermark(), before_first);
  if (start == WatchStart::kNow) return watermark;
  const std::vector<store::StreamSegment> segments = log.segments();
  if (start == WatchStart::kOldest) {
    if (segments.empty()) return before_first;
    return std::max(before_first, ChangeSequence(segments.front().first_sequence.value() - 1));
  }
  if (sequence > watermark) {
    return ValidationError(Cat("Sequence ", SequenceText(sequence), " is none of table ", stream.table_name,
                               ": its last change has ", SequenceText(watermark), " at most"));
  }
  if (sequence < log.epoch_base()) {
    return TrimmedDataAccessError(Cat("Sequence ", SequenceText(sequence), " is of another history of table ",
                                      stream.table_name, ": the database was restored, copied or made anew since"));
  }
  if (sequence < before_first) {
    return TrimmedDataAccessError(Cat("Sequence ", SequenceText(sequence), " is older than the stream of table ",
                                      stream.table_name, ": changes between them were not recorded"));
  }
  if (!IsKept(stream, segments, sequence)) return FellBehindError(stream, sequence);
  return sequence;
}

std::vector<WatchReader::Part> WatchReader::PartsUpTo(const std::vector<store::StreamSegment>& segments,
                                                      const StreamDescriptor& stream, ChangeSequence end) const {
  std::vector<Part> parts;
  for (size_t i = 0; i < segments.size(); ++i) {
    const bool is_current = i + 1 == segments.size();
    ChangeSequence last = end;
    if (!is_current) last = std::min(last, ChangeSequence(segments[i + 1].first_sequence.value() - 1));
    if (last > position_) parts.push_back({segments[i].id, last, stream.ShardsIn(segments[i].id), is_current});
  }
  return parts;
}

absl::Status WatchReader::ReadSlot(const Part& part, uint8_t slot, size_t bytes_max, ChangeSequence* last,
                                   Page* page) const {
  size_t bytes = 0;
  ChangeSequence taken = position_;
  return log_
      ->Read(part.segment, stream_.id, slot, position_,
             [&](ChangeSequence sequence, std::string_view record) -> absl::StatusOr<bool> {
               if (sequence > *last) return false;
               if (bytes >= bytes_max) {
                 *last = taken;
                 return false;
               }
               bytes += record.size();
               taken = sequence;
               page->entries.push_back({sequence, std::string(record)});
               return true;
             })
      .status();
}

absl::Status WatchReader::ReadPart(const Part& part, size_t bytes_max, Page* page) {
  // Records up to here were readable before the part was determined, so a slot without later ones need not be read.
  const store::SlotSequences appended = log_->LastAppended(stream_.id);
  ChangeSequence last = part.last;
  for (uint8_t slot = 0; slot < part.slots; ++slot) {
    if (hash_.has_value() && slot != store::StreamSlotOf(*hash_, part.slots)) continue;
    if (part.is_current && appended[slot] <= position_) continue;
    ARM_RETURN_IF_ERROR(ReadSlot(part, slot, bytes_max, &last, page));
  }
  // The slots are read one after another, so earlier ones may be ahead.
  std::erase_if(page->entries, [last](const Entry& entry) { return entry.sequence > last; });
  std::sort(page->entries.begin(), page->entries.end(),
            [](const Entry& a, const Entry& b) { return a.sequence < b.sequence; });
  // Records of a segment that was trimmed meanwhile may be missing.
  const std::vector<store::StreamSegment> left = log_->segments();
  if (left.empty() || left.front().id > part.segment) return FellBehindError(stream_, position_);
  position_ = last;
  return absl::OkStatus();
}

absl::StatusOr<WatchReader::Page> WatchReader::Read(size_t bytes_max) {
  const ChangeSequence watermark = log_->watermark();
  const std::optional<store::StreamState> state = log_->StateOf(stream_.table_name, stream_.label);
  // A stream is forgotten when all its records are.
  if (!state.has_value()) return FellBehindError(stream_, position_);
  const auto& [now, segments] = *state;
  const ChangeSequence end = now.is_enabled() ? watermark : now.last_sequence;
  Page page;
  if (!IsKept(stream_, segments, position_) && HasNewRecords()) return FellBehindError(stream_, position_);
  for (const Part& part : PartsUpTo(segments, now, end)) {
    ARM_RETURN_IF_ERROR(ReadPart(part, bytes_max, &page));
    if (!page.entries.empty()) break;
  }
  if (segments.empty()) position_ = std::max(position_, end);
  page.has_more = position_ < end;
  page.has_ended = !now.is_enabled() && !page.has_more;
  return page;
}

bool WatchReader::HasNewRecords() const {
  const store::SlotSequences appended = log_->LastAppended(stream_.id);
  // The slot of a hash depends on the number of slots, which may grow at any time.
  const auto may_be_of_hash = [this](uint8_t slot) {
    for (uint32_t slots = 1; slots <= store::kStreamSlotsMax; slots *= 2) {
      if (slot == store::StreamSlotOf(*hash_, slots)) return true;
    }
    return false;
  };
  for (uint8_t slot = 0; slot < store::kStreamSlotsMax; ++slot) {
    if (appended[slot] > position_ && (!hash_.has_value() || may_be_of_hash(slot))) return true;
  }
  return false;
}

}  // namespace armature::engine
