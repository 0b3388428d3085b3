#include "engine/streams/stream_shards.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "storage/base/strings.h"
#include "storage/model/table_name.h"
#include "storage/model/wire.h"

namespace armature::engine {
namespace {

constexpr std::string_view kShardPrefix = "shardId-";
constexpr size_t kSegmentDigits = 20;
constexpr size_t kSlotDigits = 8;
// All texts of sequences have this digit in front, because 64 bits have 20 digits at most and 21 are wanted.
constexpr std::string_view kSequencePrefix = "1";
constexpr size_t kSequenceDigits = 20;
constexpr size_t kSequenceTextMax = 40;
constexpr std::string_view kIteratorInfix = "|1|";
constexpr std::string_view kStreamInfix = "/stream/";

bool IsDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

template <class T>
std::optional<T> ParseWhole(std::string_view text, int base) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string ShardIdText(ShardKey shard) {
  return absl::StrFormat("%s%020d-%08x", std::string(kShardPrefix), shard.segment.value(), shard.slot);
}

std::optional<ShardKey> ParseShardId(std::string_view text) {
  if (text.size() != kShardPrefix.size() + kSegmentDigits + 1 + kSlotDigits || !text.starts_with(kShardPrefix)) {
    return std::nullopt;
  }
  text.remove_prefix(kShardPrefix.size());
  const std::string_view digits = text.substr(0, kSegmentDigits);
  const std::optional<uint32_t> segment = IsDigits(digits) ? ParseWhole<uint32_t>(digits, 10) : std::nullopt;
  const std::optional<uint32_t> slot = ParseWhole<uint32_t>(text.substr(kSegmentDigits + 1), 16);
  if (!segment.has_value() || !slot.has_value() || *slot >= store::kStreamSlotsMax) return std::nullopt;
  const ShardKey shard{SegmentId(*segment), static_cast<uint8_t>(*slot)};
  // Only one text names a shard.
  if (!ShardIdText(shard).ends_with(text)) return std::nullopt;
  return shard;
}

std::string SequenceText(ChangeSequence sequence) {
  return absl::StrFormat("%s%020d", std::string(kSequencePrefix), sequence.value());
}

std::optional<ChangeSequence> ParseSequenceText(std::string_view text) {
  constexpr size_t kWhole = kSequencePrefix.size() + kSequenceDigits;
  if (text.size() < kWhole || text.size() > kSequenceTextMax || !IsDigits(text)) return std::nullopt;
  while (text.size() > kWhole && text.front() == '0') text.remove_prefix(1);
  if (text.size() == kWhole && text < kSequencePrefix) return ChangeSequence(0);
  const std::optional<uint64_t> value = text.size() == kWhole && text.starts_with(kSequencePrefix)
                                            ? ParseWhole<uint64_t>(text.substr(kSequencePrefix.size()), 10)
                                            : std::nullopt;
  return ChangeSequence(value.value_or(std::numeric_limits<uint64_t>::max() - 1));
}

std::string EventId(ChangeSequence sequence) { return absl::StrFormat("%032x", sequence.value()); }

std::vector<ShardRange> ShardsOf(const store::StreamState& state) {
  const auto& [stream, segments] = state;
  std::vector<ShardRange> shards;
  for (size_t i = 0; i < segments.size(); ++i) {
    const SegmentId segment = segments[i].id;
    if (segment < stream.first_segment || (!stream.is_enabled() && segment > stream.last_segment)) continue;
    const ChangeSequence first = std::max(segments[i].first_sequence, stream.first_sequence);
    std::optional<ChangeSequence> last;
    if (i + 1 < segments.size()) last = ChangeSequence(segments[i + 1].first_sequence.value() - 1);
    if (segment == stream.last_segment) last = stream.last_sequence;
    if (last.has_value()) last = std::max(*last, first);  // of a shard without records
    // An epoch begins with a segment that continues none: their numbers have a gap.
    const bool continues = i == 0 || segments[i - 1].id.value() + 1 == segment.value();
    const SegmentId before(segment.value() - 1);
    const uint32_t parents = segment != stream.first_segment && continues ? stream.ShardsIn(before) : 0;
    for (uint32_t slot = 0; slot < stream.ShardsIn(segment); ++slot) {
      const ShardKey key{segment, static_cast<uint8_t>(slot)};  // below kStreamSlotsMax
      std::optional<ShardKey> parent;
      if (parents > 0) parent = ShardKey{before, store::StreamSlotOf(key.slot, parents)};
      shards.push_back({key, first, last, parent});
    }
  }
  return shards;
}

bool IsShardOf(const store::StreamState& state, ShardKey shard) {
  const auto& [stream, segments] = state;
  const SegmentId last = !stream.is_enabled() ? stream.last_segment
                         : segments.empty()   ? stream.first_segment
                                              : segments.back().id;
  return shard.segment >= stream.first_segment && shard.segment <= last && shard.slot < stream.ShardsIn(shard.segment);
}

std::string EncodeIterator(const ShardIterator& iterator) {
  std::string position;
  model::AppendVarint(iterator.shard.segment.value(), &position);
  position.push_back(static_cast<char>(iterator.shard.slot));
  model::AppendVarint(iterator.after.value(), &position);
  model::AppendVarint(static_cast<uint64_t>(iterator.issued_ms), &position);
  // Databases from before the epochs have none, and few iterators begin at a time.
  const bool has_time = iterator.not_before_ms != 0;
  if (has_time || iterator.epoch_base != ChangeSequence()) model::AppendVarint(iterator.epoch_base.value(), &position);
  if (has_time) model::AppendVarint(static_cast<uint64_t>(iterator.not_before_ms), &position);
  return Cat(iterator.stream_arn, kIteratorInfix, absl::Base64Escape(position));
}

std::optional<ShardIterator> ParseIterator(std::string_view text) {
  const size_t infix = text.find(kIteratorInfix);
  if (infix == std::string_view::npos) return std::nullopt;
  ShardIterator iterator;
  iterator.stream_arn = std::string(text.substr(0, infix));
  std::string position;
  if (!absl::Base64Unescape(std::string(text.substr(infix + kIteratorInfix.size())), &position)) return std::nullopt;
  std::string_view in = position;
  uint64_t segment = 0;
  uint64_t after = 0;
  uint64_t issued_ms = 0;
  if (!model::TakeVarint(&in, &segment) || segment > std::numeric_limits<uint32_t>::max() || in.empty()) {
    return std::nullopt;
  }
  iterator.shard = {SegmentId(static_cast<uint32_t>(segment)), static_cast<uint8_t>(in.front())};
  in.remove_prefix(1);
  uint64_t epoch_base = 0;
  uint64_t not_before_ms = 0;
  if (!model::TakeVarint(&in, &after) || !model::TakeVarint(&in, &issued_ms)) return std::nullopt;
  if (!in.empty() && !model::TakeVarint(&in, &epoch_base)) return std::nullopt;
  if (!in.empty() && (!model::TakeVarint(&in, &not_before_ms) || !in.empty())) return std::nullopt;
  if (after == std::numeric_limits<uint64_t>::max()) return std::nullopt;
  iterator.after = ChangeSequence(after);
  iterator.issued_ms = static_cast<int64_t>(issued_ms);
  iterator.epoch_base = ChangeSequence(epoch_base);
  iterator.not_before_ms = static_cast<int64_t>(not_before_ms);
  if (EncodeIterator(iterator) != text) return std::nullopt;  // one text for each position
  return iterator;
}

std::optional<StreamName> ParseStreamArn(std::string_view arn) {
  if (!arn.starts_with(model::kTableArnPrefix)) return std::nullopt;
  arn.remove_prefix(model::kTableArnPrefix.size());
  const size_t infix = arn.find(kStreamInfix);
  if (infix == std::string_view::npos) return std::nullopt;
  return StreamName{arn.substr(0, infix), arn.substr(infix + kStreamInfix.size())};
}

}  // namespace armature::engine
