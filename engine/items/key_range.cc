#include "engine/items/key_range.h"

#include "storage/codec/key_codec.h"

namespace armature::engine {
namespace {

using codec::PrefixSuccessor;

std::string WithComponent(const std::string& prefix, const model::KeyAttribute& attribute,
                          const model::ValueView& value) {
  std::string key = prefix;
  codec::AppendKeyComponent(attribute.type, value.scalar(), &key);
  return key;
}

// `prefix` is the encoded key up to the attribute that `term` restricts.
store::KeyRange RangeOfTerm(const std::string& prefix, const expr::KeyConditionTerm& term,
                            const model::KeyAttribute& attribute) {
  const std::string end = PrefixSuccessor(prefix);
  switch (term.op) {
    case expr::KeyOperator::kBeginsWith: {
      std::string begin = prefix;
      codec::AppendKeyComponentPrefix(attribute.type, term.first.scalar(), &begin);
      std::string after = PrefixSuccessor(begin);
      return {std::move(begin), std::move(after)};
    }
    case expr::KeyOperator::kBetween:
      return {WithComponent(prefix, attribute, term.first),
              PrefixSuccessor(WithComponent(prefix, attribute, *term.second))};
    case expr::KeyOperator::kLess:
      return {prefix, WithComponent(prefix, attribute, term.first)};
    case expr::KeyOperator::kLessOrEqual:
      return {prefix, PrefixSuccessor(WithComponent(prefix, attribute, term.first))};
    case expr::KeyOperator::kGreater:
      return {PrefixSuccessor(WithComponent(prefix, attribute, term.first)), end};
    case expr::KeyOperator::kGreaterOrEqual:
      return {WithComponent(prefix, attribute, term.first), end};
    case expr::KeyOperator::kEqual:
      break;
  }
  std::string begin = WithComponent(prefix, attribute, term.first);
  std::string after = PrefixSuccessor(begin);
  return {std::move(begin), std::move(after)};
}

}  // namespace

PartitionRange RangeOfCondition(const expr::MatchedKeyCondition& condition, const model::KeySchema& schema) {
  std::string components;
  for (size_t i = 0; i < condition.partition.size(); ++i) {
    codec::AppendKeyComponent(schema.partition[i].type, condition.partition[i].scalar(), &components);
  }
  PartitionRange result;
  codec::AppendPartitionHash(codec::PartitionHash(components), &result.partition);
  result.partition += components;
  std::string prefix = result.partition;
  for (size_t i = 0; i < condition.sort_equal.size(); ++i) {
    codec::AppendKeyComponent(schema.sort[i].type, condition.sort_equal[i].scalar(), &prefix);
  }
  if (condition.sort_range.has_value()) {
    result.range = RangeOfTerm(prefix, *condition.sort_range, schema.sort[condition.sort_equal.size()]);
  } else {
    result.range = {prefix, PrefixSuccessor(prefix)};
  }
  return result;
}

store::KeyRange RangeOfSegment(uint32_t segment, uint32_t total) {
  const codec::HashRange hashes = codec::SegmentHashRange(segment, total);
  store::KeyRange range;
  codec::AppendPartitionHash(static_cast<uint32_t>(hashes.begin), &range.begin);
  // The last segment extends to the end of the keyspace.
  if (hashes.end <= UINT32_MAX) codec::AppendPartitionHash(static_cast<uint32_t>(hashes.end), &range.end);
  return range;
}

void StartAfter(std::string_view key, store::Direction direction, store::KeyRange* range) {
  if (direction == store::Direction::kForward) {
    std::string begin(key);
    begin.push_back('\0');  // the next possible key
    if (begin > range->begin) range->begin = std::move(begin);
  } else if (range->end.empty() || key < range->end) {
    range->end = std::string(key);
  }
}

}  // namespace armature::engine
