#include "tools/armature/inspect/tables.h"

#include <vector>

#include "storage/store/meta_keys.h"

namespace armature::cli {
namespace {

template <class Map, class Key>
const typename Map::mapped_type* FindIn(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

std::string_view FamilyKindName(FamilyKind kind) {
  constexpr std::string_view kNames[] = {"OTHER", "META", "LOG", "TABLE", "LOCAL_INDEX", "GLOBAL_INDEX", "COLLECTIONS"};
  return kNames[static_cast<size_t>(kind)];
}

FamilyKind KindOfFamily(std::string_view name) {
  if (name == store::kMetaFamily) return FamilyKind::kMeta;
  if (name == store::kLogFamily) return FamilyKind::kLog;
  if (name.size() < 2 || name.find_first_not_of("0123456789.", 1) != std::string_view::npos) return FamilyKind::kOther;
  switch (name[0]) {
    case 't':
      return FamilyKind::kTable;
    case 'l':
      return FamilyKind::kLocalIndex;
    case 'g':
      return FamilyKind::kGlobalIndex;
    case 'c':
      return FamilyKind::kCollections;
    default:
      return FamilyKind::kOther;
  }
}

std::string FamilyOf(const model::TableDescriptor& table, const model::IndexDescriptor& index) {
  return index.kind == model::IndexKind::kLocal ? store::LocalIndexFamilyName(table.id, index.id)
                                                : store::GlobalIndexFamilyName(table.id, index.id);
}

void Tables::Add(const store::MetaRecord& record) {
  if (!record.status.ok()) return;
  switch (record.kind) {
    case store::MetaKind::kTable:
      tables_.insert_or_assign(record.table, record.descriptor);
      break;
    case store::MetaKind::kStats:
      totals_.insert_or_assign(record.name, record.totals);
      break;
    case store::MetaKind::kCursor:
      cursors_.insert_or_assign(Key(record.table, record.index), record.number);
      break;
    case store::MetaKind::kBuild:
      builds_.insert_or_assign(Key(record.table, record.index), record.build);
      break;
    default:
      break;
  }
}

const model::TableDescriptor* Tables::Find(std::string_view name) const {
  const model::TableDescriptor* found = nullptr;
  for (const auto& [id, table] : tables_) {
    if (table.name != name) continue;
    if (found == nullptr || table.state != model::TableState::kDeleting) found = &table;
  }
  return found;
}

const model::TableDescriptor* Tables::Find(TableId id) const { return FindIn(tables_, id); }

const model::IndexDescriptor* Tables::FindIndex(TableId table, IndexId index) const {
  const model::TableDescriptor* const owner = Find(table);
  if (owner == nullptr) return nullptr;
  for (const model::IndexDescriptor* const each : owner->indexes()) {
    if (each->id == index) return each;
  }
  return nullptr;
}

FamilyOwner Tables::OwnerOf(std::string_view family) const {
  for (const auto& [id, table] : tables_) {
    if (family == store::DataFamilyName(id) || family == store::CollectionFamilyName(id)) return {&table, nullptr};
    for (const model::IndexDescriptor* const index : table.indexes()) {
      if (family == FamilyOf(table, *index)) return {&table, index};
    }
  }
  return {};
}

KeyLayout Tables::LayoutOf(std::string_view family) const {
  const FamilyOwner owner = OwnerOf(family);
  if (owner.table == nullptr) return {};
  if (owner.index != nullptr) return LayoutOfIndex(*owner.table, *owner.index);
  return KindOfFamily(family) == FamilyKind::kCollections ? LayoutOfCollections(*owner.table)
                                                          : LayoutOfTable(*owner.table);
}

std::optional<store::StatsDelta> Tables::TotalsOf(const std::string& family) const {
  const store::StatsDelta* const totals = FindIn(totals_, family);
  return totals == nullptr ? std::nullopt : std::optional(*totals);
}

std::optional<uint64_t> Tables::CursorOf(TableId table, IndexId index) const {
  const uint64_t* const cursor = FindIn(cursors_, Key(table, index));
  return cursor == nullptr ? std::nullopt : std::optional(*cursor);
}

const store::BuildState* Tables::BuildOf(TableId table, IndexId index) const {
  return FindIn(builds_, Key(table, index));
}

}  // namespace armature::cli
