#include "storage/store/commit/write_unit.h"

#include <utility>

namespace armature::store {

void WriteUnit::Append(OpKind kind, const Keyspace& keyspace, std::string_view key, std::string_view value,
                       int64_t delta) {
  const size_t key_offset = bytes_.size();
  bytes_.append(key);
  const size_t value_offset = bytes_.size();
  bytes_.append(value);
  ops_.push_back(Op{kind, keyspace.family, static_cast<uint32_t>(key_offset), static_cast<uint32_t>(key.size()),
                    static_cast<uint32_t>(value_offset), static_cast<uint32_t>(value.size()), delta});
}

void WriteUnit::Put(const Keyspace& keyspace, std::string_view key, std::string_view value) {
  Append(OpKind::kPut, keyspace, key, value, 0);
}

void WriteUnit::Delete(const Keyspace& keyspace, std::string_view key) {
  Append(OpKind::kDelete, keyspace, key, {}, 0);
}

void WriteUnit::AddCounter(const Keyspace& keyspace, std::string_view key, int64_t delta) {
  if (delta != 0) Append(OpKind::kCounter, keyspace, key, {}, delta);
}

void WriteUnit::AddStats(const Keyspace& keyspace, StatsDelta delta) {
  if (delta.items != 0 || delta.bytes != 0) stats_.push_back(StatsOp{keyspace.stats, delta});
}

void WriteUnit::SetChangeRecord(TableId table, std::string record) {
  record_table_ = table;
  record_ = std::move(record);
}

}  // namespace armature::store
