#include "storage/store/commit/write_unit.h"

#include <utility>

namespace armature::store {

void WriteUnit::Append(OpKind kind, const Keyspace& keyspace, std::string_view key, int64_t delta) {
  const auto key_offset = static_cast<uint32_t>(bytes_.size());
  bytes_.append(key);
  const auto key_size = static_cast<uint32_t>(key.size());
  ops_.push_back(Op{kind, keyspace.family, key_offset, key_size, key_offset + key_size, /*value_size=*/0, delta});
}

void WriteUnit::Put(const Keyspace& keyspace, std::string_view key, std::string_view value_begin,
                    std::string_view value_end) {
  Append(OpKind::kPut, keyspace, key, 0);
  bytes_.append(value_begin).append(value_end);
  ops_.back().value_size = static_cast<uint32_t>(value_begin.size() + value_end.size());
}

void WriteUnit::Delete(const Keyspace& keyspace, std::string_view key) { Append(OpKind::kDelete, keyspace, key, 0); }

void WriteUnit::AddCounter(const Keyspace& keyspace, std::string_view key, int64_t delta) {
  if (delta != 0) Append(OpKind::kCounter, keyspace, key, delta);
}

void WriteUnit::AddStats(const Keyspace& keyspace, StatsDelta delta) {
  if (delta.items != 0 || delta.bytes != 0) stats_.push_back(StatsOp{keyspace.stats, delta});
}

void WriteUnit::SetChangeRecord(TableId table, std::string record) {
  record_table_ = table;
  record_ = std::move(record);
}

}  // namespace armature::store
