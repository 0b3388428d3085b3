#include "client/src/scatter_continuation.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "storage/base/strings.h"

namespace armature::client {
namespace {

// The text is the base64 form of an AttributeValue: a list of the version, the query, and one value for each shard. The
// value is true for a finished shard, null for a shard that has not begun, and otherwise a map with the key of the last
// item.
constexpr std::string_view kVersion = "1";
constexpr int kHeadSize = 2;

AttributeValue ToValue(const ShardPosition& position) {
  if (position.is_done) return Bool(true);
  if (!position.start_after.has_value()) return Null();
  AttributeValue key;
  *key.mutable_m()->mutable_entries() = position.start_after->attributes();
  return key;
}

// Absent if the value does not encode a position.
std::optional<ShardPosition> ToPosition(AttributeValue* value) {
  ShardPosition position;
  if (value->has_m() && !value->m().entries().empty()) {
    position.start_after.emplace().mutable_attributes()->swap(*value->mutable_m()->mutable_entries());
    return position;
  }
  if (value->has_bool_() && value->bool_()) {
    position.is_done = true;
    return position;
  }
  if (value->has_null() && value->null()) return position;
  return std::nullopt;
}

}  // namespace

std::string EncodeContinuation(std::string_view query, const std::vector<ShardPosition>& shards) {
  AttributeValue all;
  all.mutable_l()->add_values()->set_n(std::string(kVersion));
  all.mutable_l()->add_values()->set_b(std::string(query));
  for (const ShardPosition& position : shards) *all.mutable_l()->add_values() = ToValue(position);
  return absl::WebSafeBase64Escape(all.SerializeAsString());
}

absl::StatusOr<std::vector<ShardPosition>> DecodeContinuation(std::string_view text, std::string_view query,
                                                              size_t shard_count) {
  const absl::Status none = absl::InvalidArgumentError("the continuation is not one of a scattered query");
  std::string bytes;
  AttributeValue all;
  if (!absl::WebSafeBase64Unescape(Av(text), &bytes) || !all.ParseFromString(bytes)) return none;
  auto& values = *all.mutable_l()->mutable_values();
  if (values.size() < kHeadSize || values[0].n() != kVersion) return none;
  if (values[1].b() != query || values.size() != kHeadSize + static_cast<int>(shard_count)) {
    return absl::InvalidArgumentError("the continuation is that of another query");
  }
  std::vector<ShardPosition> positions;
  positions.reserve(shard_count);
  for (int i = kHeadSize; i < values.size(); ++i) {
    std::optional<ShardPosition> position = ToPosition(&values[i]);
    if (!position.has_value()) return none;
    positions.push_back(*std::move(position));
  }
  return positions;
}

}  // namespace armature::client
