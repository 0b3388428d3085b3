#include "storage/store/keyspace.h"

#include "storage/base/status_macros.h"
#include "storage/model/wire.h"
#include "storage/store/rocks_db.h"

namespace armature::store {
namespace {

constexpr char kStatsVersion = 1;

}  // namespace

std::string NameOf(const Keyspace& keyspace) { return keyspace.family->name(); }

std::string EncodeStats(StatsDelta totals) {
  std::string value(1, kStatsVersion);
  model::AppendVarint(static_cast<uint64_t>(totals.items), &value);
  model::AppendVarint(static_cast<uint64_t>(totals.bytes), &value);
  return value;
}

absl::StatusOr<StatsDelta> ParseStats(std::string_view value) {
  if (value.empty() || value[0] != kStatsVersion) {
    return DataLossError("totals record: expected version 1");
  }
  value.remove_prefix(1);
  uint64_t items = 0;
  uint64_t bytes = 0;
  if (!model::TakeVarint(&value, &items) || !model::TakeVarint(&value, &bytes) || !value.empty()) {
    return DataLossError("totals record: expected two varints");
  }
  return StatsDelta{static_cast<int64_t>(items), static_cast<int64_t>(bytes)};
}

}  // namespace armature::store
