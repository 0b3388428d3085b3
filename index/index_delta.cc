#include "index/index_delta.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "storage/codec/change_codec.h"
#include "storage/codec/key_codec.h"
#include "storage/codec/stored_item.h"
#include "storage/model/limits.h"

namespace armature::index {
namespace {

using Group = std::vector<model::KeyAttribute>;

int64_t StoredGrowth(store::StatsDelta delta) {
  return delta.bytes + delta.items * static_cast<int64_t>(model::kStorageOverheadBytes);
}

void PutEntry(const store::Keyspace& keyspace, std::string_view key, const codec::ItemExcerpt& item,
              store::WriteUnit* unit) {
  std::string head;
  codec::AppendStoredItemHead(item.api_size, item.compact_numbers, &head);
  if (item.is_whole) return unit->Put(keyspace, key, head, item.parts.front());
  unit->Put(keyspace, key, head, item.Join());
}

}  // namespace

// The attributes of an item, to be found by name, and its part of all keys of entries.
class ItemDelta::Fields {
 public:
  // Values of the key attributes of an index, in the order of the key.
  using KeyValues = absl::InlinedVector<model::ValueView, 3>;

  // Null if the item lacks a key attribute of its table, as a damaged one may: it has no entries.
  static std::unique_ptr<const Fields> Of(const model::KeySchema& table_key, const ItemImage& image) {
    auto fields = std::make_unique<Fields>(image);
    if (!fields->AppendComponents(table_key.partition, &fields->table_components_)) return nullptr;
    fields->partition_bytes_ = fields->table_components_.size();
    if (!fields->AppendComponents(table_key.sort, &fields->table_components_)) return nullptr;
    return fields;
  }

  explicit Fields(const ItemImage& image) : image_(image) {
    fields_.reserve(kReservedFields);
    std::string_view rest = image_.item.bytes();
    model::RawAttribute attribute;
    while (model::ItemView::TakeRaw(&rest, &attribute)) fields_.push_back({attribute});
  }

  // Nullopt if the item has no entry in an index with this key.
  std::optional<KeyValues> FindKey(const model::KeySchema& key) const {
    KeyValues values;
    if (!FindGroup(key.partition, model::kPartitionKeyMaxBytes, &values) ||
        !FindGroup(key.sort, model::kSortKeyMaxBytes, &values)) {
      return std::nullopt;
    }
    return values;
  }

  // The key of the entry in `index`. Nullopt if a value is damaged. As EncodeIndexKey (index_entry.h).
  std::optional<std::string> EncodeKey(const model::IndexDescriptor& index, const KeyValues& values) const {
    const std::string_view end = index.kind == model::IndexKind::kGlobal
                                     ? std::string_view(table_components_)
                                     : std::string_view(table_components_).substr(partition_bytes_);
    std::string components;
    size_t partition_bytes = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (i == index.key.partition.size()) partition_bytes = components.size();
      const model::KeyAttribute& attribute =
          i < index.key.partition.size() ? index.key.partition[i] : index.key.sort[i - index.key.partition.size()];
      if (!codec::AppendKeyComponent(attribute.type, values[i].scalar(), &components)) return std::nullopt;
    }
    if (index.key.sort.empty()) partition_bytes = components.size();
    std::string key;
    key.reserve(codec::kPartitionHashBytes + components.size() + end.size());
    codec::AppendPartitionHash(codec::PartitionHash(std::string_view(components).substr(0, partition_bytes)), &key);
    key.append(components).append(end);
    return key;
  }

  codec::ItemExcerpt Excerpt(const store::Index& index) const {
    codec::ItemExcerpt excerpt;
    const model::Projection& projection = index.descriptor.projection;
    if (projection.type == model::ProjectionType::kAll) {
      excerpt.is_whole = true;
      excerpt.parts.push_back(image_.item.bytes());
      if (!image_.measure.has_value()) image_.measure = model::Measure(image_.item);
      excerpt.api_size = image_.measure->api_size;
      excerpt.compact_numbers = image_.measure->compact_numbers;
      return excerpt;
    }
    absl::InlinedVector<const Field*, 8> chosen;
    const auto choose = [&](const std::vector<std::string>& names) {
      for (const std::string& name : names) {
        if (const Field* const field = Find(name); field != nullptr) chosen.push_back(field);
      }
    };
    choose(index.key_names);
    if (projection.type == model::ProjectionType::kInclude) choose(projection.non_key_attributes);
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (const Field* const field : chosen) {
      Measure(*field);
      excerpt.parts.push_back(field->attribute.entry);
      excerpt.api_size += field->api_size;
      excerpt.compact_numbers = excerpt.compact_numbers || field->compact_numbers;
    }
    return excerpt;
  }

 private:
  static constexpr size_t kReservedFields = 16;
  // Up to so many fields, looking at each is faster than a binary search.
  static constexpr size_t kScannedFields = 24;

  // Small, because an item may have a hundred thousand attributes.
  struct Field {
    model::RawAttribute attribute;
    mutable uint32_t api_size = 0;  // 0: not measured
    mutable bool compact_numbers = false;
  };

  const Field* Find(std::string_view name) const {
    if (fields_.size() <= kScannedFields) {
      for (const Field& field : fields_) {
        if (field.attribute.name == name) return &field;
      }
      return nullptr;
    }
    const auto found =
        std::lower_bound(fields_.begin(), fields_.end(), name,
                         [](const Field& field, std::string_view wanted) { return field.attribute.name < wanted; });
    return found != fields_.end() && found->attribute.name == name ? &*found : nullptr;
  }

  std::optional<model::ValueView> ValueOf(const model::KeyAttribute& attribute) const {
    const Field* const field = Find(attribute.name);
    if (field == nullptr) return std::nullopt;
    const std::optional<model::ValueView> value = field->attribute.Value();
    if (!value.has_value() || value->type() != model::ToValueType(attribute.type)) return std::nullopt;
    return value;
  }

  bool AppendComponents(const Group& group, std::string* out) const {
    for (const model::KeyAttribute& attribute : group) {
      const std::optional<model::ValueView> value = ValueOf(attribute);
      if (!value.has_value() || !codec::AppendKeyComponent(attribute.type, value->scalar(), out)) return false;
    }
    return true;
  }

  // Returns false if an attribute is missing or has one of the faults of FindKeyFault (index_entry.h).
  bool FindGroup(const Group& group, size_t bytes_max, KeyValues* values) const {
    size_t bytes = 0;
    for (const model::KeyAttribute& attribute : group) {
      const std::optional<model::ValueView> value = ValueOf(attribute);
      if (!value.has_value()) return false;
      if (attribute.type != model::ScalarType::kNumber) {
        bytes += value->scalar().size();
        if (value->scalar().empty() || bytes > bytes_max) return false;
      }
      values->push_back(*value);
    }
    return true;
  }

  static void Measure(const Field& field) {
    if (field.api_size > 0) return;
    const model::ItemMeasure measure = model::Measure(model::ItemView(field.attribute.entry));
    field.api_size = static_cast<uint32_t>(measure.api_size);
    field.compact_numbers = measure.compact_numbers;
  }

  mutable ItemImage image_;
  std::vector<Field> fields_;
  std::string table_components_;
  size_t partition_bytes_ = 0;
};

ItemDelta::ItemDelta(const model::KeySchema& table_key, const std::optional<ItemImage>& before,
                     const std::optional<ItemImage>& after)
    : before_(before.has_value() ? Fields::Of(table_key, *before) : nullptr),
      after_(after.has_value() ? Fields::Of(table_key, *after) : nullptr) {}

ItemDelta::~ItemDelta() = default;

std::optional<EntryChange> ItemDelta::ChangeOf(const store::Index& index) const {
  std::optional<Fields::KeyValues> old_values;
  std::optional<Fields::KeyValues> new_values;
  if (before_ != nullptr) old_values = before_->FindKey(index.descriptor.key);
  if (after_ != nullptr) new_values = after_->FindKey(index.descriptor.key);
  if (!old_values.has_value() && !new_values.has_value()) return std::nullopt;
  // The key of the table's row is the same before and after.
  const bool same_key = old_values == new_values;
  EntryChange change;
  change.index = &index;
  std::optional<codec::ItemExcerpt> old_item;
  if (old_values.has_value()) old_item = before_->Excerpt(index);
  if (new_values.has_value()) {
    change.put_item = after_->Excerpt(index);
    if (same_key && old_item->parts == change.put_item.parts) return std::nullopt;
    change.put_key = after_->EncodeKey(index.descriptor, *new_values);
    if (change.put_key.has_value()) change.new_size = change.put_item.api_size;
  }
  if (old_item.has_value()) {
    std::optional<std::string> old_key = same_key ? change.put_key : before_->EncodeKey(index.descriptor, *old_values);
    if (old_key.has_value()) change.old_size = old_item->api_size;
    if (!same_key) change.removed_key = std::move(old_key);
  }
  if (!change.removed_key.has_value() && !change.put_key.has_value()) return std::nullopt;
  return change;
}

std::vector<EntryChange> ItemDelta::ChangesOf(const std::vector<store::Index>& indexes) const {
  std::vector<EntryChange> changes;
  if (before_ == nullptr && after_ == nullptr) return changes;
  for (const store::Index& index : indexes) {
    if (!index.is_maintained()) continue;
    if (std::optional<EntryChange> change = ChangeOf(index)) changes.push_back(*std::move(change));
  }
  return changes;
}

std::vector<EntryChange> IndexDelta(const std::vector<store::Index>& indexes, const model::KeySchema& table_key,
                                    const std::optional<ItemImage>& before, const std::optional<ItemImage>& after) {
  if (indexes.empty()) return {};
  return ItemDelta(table_key, before, after).ChangesOf(indexes);
}

void RecordGlobalIndexChanges(const store::Table& table, std::string_view base_key, int64_t now_ms,
                              const std::vector<EntryChange>& changes, store::WriteUnit* unit) {
  if (changes.empty()) return;
  codec::ItemChange record;
  record.time_ms = now_ms;
  record.base_key = base_key;
  record.indexes.reserve(changes.size());
  for (const EntryChange& change : changes) {
    codec::IndexChange& recorded = record.indexes.emplace_back();
    recorded.index = change.index->descriptor.id;
    recorded.item_delta = change.item_delta();
    recorded.byte_delta = change.byte_delta();
    uint64_t row_bytes = 0;
    if (change.removed_key.has_value()) {
      recorded.removed_key = *change.removed_key;
      row_bytes += change.removed_key->size();
    }
    if (change.put_key.has_value()) {
      recorded.put_key = *change.put_key;
      recorded.put_item = &change.put_item;
      row_bytes += change.put_key->size() + change.put_item.stored_bytes();
    }
    if (change.index->progress == nullptr) continue;
    unit->AddIndexChange({change.index->descriptor.id, change.index->keyspace, &change.index->progress->backlog(),
                          row_bytes, /*is_built=*/change.index->build == nullptr});
  }
  unit->SetChangeRecord(table.descriptor.id, codec::EncodeItemChange(record));
}

std::string CollectionKey(const store::Table& table, std::string_view row_key) {
  if (row_key.size() < codec::kPartitionHashBytes) return std::string(row_key);  // damaged
  std::string_view rest = row_key.substr(codec::kPartitionHashBytes);
  for (size_t i = 0; i < table.descriptor.key.partition.size(); ++i) {
    static_cast<void>(codec::TakeKeyComponent(&rest));
  }
  return std::string(row_key.substr(0, row_key.size() - rest.size()));
}

int64_t AddLocalIndexChanges(const store::Table& table, std::string_view row_key, store::StatsDelta base_delta,
                             const std::vector<EntryChange>& changes, store::WriteUnit* unit) {
  if (table.local_indexes.empty()) return 0;
  int64_t growth = StoredGrowth(base_delta);
  for (const EntryChange& change : changes) {
    const store::Keyspace& keyspace = change.index->keyspace;
    if (change.removed_key.has_value()) unit->Delete(keyspace, *change.removed_key);
    if (change.put_key.has_value()) PutEntry(keyspace, *change.put_key, change.put_item, unit);
    const store::StatsDelta delta{change.item_delta(), change.byte_delta()};
    unit->AddStats(keyspace, delta);
    growth += StoredGrowth(delta);
  }
  unit->AddCounter(table.collections, CollectionKey(table, row_key), growth);
  return growth;
}

}  // namespace armature::index
