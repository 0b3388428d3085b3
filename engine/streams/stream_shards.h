#ifndef ARMATURE_ENGINE_STREAMS_STREAM_SHARDS_H_
#define ARMATURE_ENGINE_STREAMS_STREAM_SHARDS_H_

// Shards, sequence numbers and iterators of streams, as clients see them.
//
//   iterator := stream_arn "|1|" base64(position)
//   position := segment slot after issued (epoch not_before?)?
//   segment, after, issued, epoch, not_before := varint
//   slot := byte

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/strong_type.h"
#include "storage/model/stream_descriptor.h"
#include "storage/store/stream/stream_log.h"

namespace armature::engine {

// One slot of a stream in one segment. Ordered as their ids are, parents before children.
struct ShardKey {
  SegmentId segment;
  uint8_t slot = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy takes the 0 of a defaulted <=> for a pointer.
  friend auto operator<=>(const ShardKey&, const ShardKey&) = default;
};

// "shardId-" and 20 digits of the segment, "-" and 8 hexadecimal digits of the slot.
std::string ShardIdText(ShardKey shard);
// Nullopt for a text that is no shard's id.
std::optional<ShardKey> ParseShardId(std::string_view text);

// A decimal text of 21 digits, which sorts as the sequences do.
std::string SequenceText(ChangeSequence sequence);
// For 21 to 40 digits. A number that no change can have becomes the greatest sequence, or 0 if it is too small. Nullopt
// for another text.
std::optional<ChangeSequence> ParseSequenceText(std::string_view text);

struct ShardRange {
  ShardKey key;
  ChangeSequence first;                // least sequence of a record
  std::optional<ChangeSequence> last;  // greatest sequence; nullopt: the shard is open
  std::optional<ShardKey> parent;      // the shard before, which had all of its partition keys
};

// 32 hexadecimal digits, unique in a stream.
std::string EventId(ChangeSequence sequence);

// The segments of a stream that are kept, as shards in ascending order.
std::vector<ShardRange> ShardsOf(const store::StreamState& state);
// True for a shard that the stream has or had.
bool IsShardOf(const store::StreamState& state, ShardKey shard);

// A position in a shard.
struct ShardIterator {
  std::string stream_arn;
  ShardKey shard;
  ChangeSequence after;  // the next record has a greater sequence
  int64_t issued_ms = 0;
  ChangeSequence epoch_base;  // of the epoch in which it was issued; in a later one, it is no position
  int64_t not_before_ms = 0;  // records are passed over up to the first one of this time or later; 0: none
};

// The ARN is in the clear, because access rights depend on it: "<stream ARN>|1|<base64>".
std::string EncodeIterator(const ShardIterator& iterator);
// Nullopt for a text that is no iterator.
std::optional<ShardIterator> ParseIterator(std::string_view text);

// The parts of the ARN of a stream of this daemon. Views into the text.
struct StreamName {
  std::string_view table;
  std::string_view label;
};
// Nullopt for the ARN of another region or account, or of something else.
std::optional<StreamName> ParseStreamArn(std::string_view arn);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_STREAMS_STREAM_SHARDS_H_
