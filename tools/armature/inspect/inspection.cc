#include "tools/armature/inspect/inspection.h"

#include "absl/strings/escaping.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/meta_keys.h"
#include "storage/store/recovery.h"
#include "tools/armature/data_place.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

void Append(const std::vector<model::KeyAttribute>& from, std::vector<model::KeyAttribute>* to) {
  to->insert(to->end(), from.begin(), from.end());
}

template <class Map, class Key>
const typename Map::mapped_type* FindIn(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

std::string GapText(std::string_view family, const store::ReadGap& gap) {
  const std::string from = gap.after.empty() ? "from its beginning" : Cat("behind key ", Hex(gap.after));
  const std::string to = gap.to.empty() ? "to its end" : Cat("up to key ", Hex(gap.to));
  return Cat("family ", family, ": rows ", from, " ", to, " cannot be read: ", Sv(gap.reason.message()));
}

}  // namespace

KeyLayout LayoutOfTable(const model::TableDescriptor& table) {
  KeyLayout layout = LayoutOfCollections(table);
  Append(table.key.sort, &layout.attributes);
  return layout;
}

KeyLayout LayoutOfIndex(const model::TableDescriptor& table, const model::IndexDescriptor& index) {
  KeyLayout layout{index.key.partition, index.key.partition.size()};
  Append(index.key.sort, &layout.attributes);
  if (index.kind == model::IndexKind::kGlobal) Append(table.key.partition, &layout.attributes);
  Append(table.key.sort, &layout.attributes);
  return layout;
}

KeyLayout LayoutOfCollections(const model::TableDescriptor& table) {
  return {table.key.partition, table.key.partition.size()};
}

std::string_view FamilyKindName(FamilyKind kind) {
  constexpr std::string_view kNames[] = {"OTHER",        "META",        "LOG",    "TABLE", "LOCAL_INDEX",
                                         "GLOBAL_INDEX", "COLLECTIONS", "STREAM", "EXPIRY"};
  return kNames[static_cast<size_t>(kind)];
}

FamilyKind KindOfFamily(std::string_view name) {
  if (name == store::kMetaFamily) return FamilyKind::kMeta;
  if (name == store::kLogFamily) return FamilyKind::kLog;
  if (name == store::kStreamFamily) return FamilyKind::kStream;
  if (name == store::kExpiryFamily) return FamilyKind::kExpiry;
  if (name.size() < 2 || name.find_first_not_of("0123456789.", 1) != std::string_view::npos) return FamilyKind::kOther;
  const size_t letter = std::string_view("tlgc").find(name[0]);  // in the order of FamilyKind
  if (letter == std::string_view::npos) return FamilyKind::kOther;
  return static_cast<FamilyKind>(static_cast<size_t>(FamilyKind::kTable) + letter);
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

const store::StatsDelta* Tables::TotalsOf(const std::string& family) const { return FindIn(totals_, family); }

const store::BuildState* Tables::BuildOf(TableId table, IndexId index) const {
  return FindIn(builds_, Key(table, index));
}

uint64_t Tables::CursorOf(TableId table, IndexId index) const {
  const uint64_t* const cursor = FindIn(cursors_, Key(table, index));
  return cursor == nullptr ? 0 : *cursor;
}

absl::StatusOr<std::unique_ptr<Inspection>> Inspection::Open(const std::string& data_dir) {
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<place::Place> place, OpenDataPlace(data_dir));
  absl::StatusOr<std::unique_ptr<store::Inspector>> store =
      store::Inspector::Open(place->volume(), place->data_dir(), store::Inspector::IfUnreadable::kReadFiles);
  if (!store.ok()) return UsageError(Sv(store.status().message()));
  auto inspection = std::unique_ptr<Inspection>(new Inspection(std::move(place), *std::move(store)));
  for (const std::string& problem : inspection->store().problems()) inspection->AddProblem(problem);
  // RocksDB reads the files of its log that are there. The register names those that should be there.
  const place::Place& opened = *inspection->place_;
  const absl::StatusOr<std::vector<store::Damage>> log = store::FindLogDamage(opened.volume(), opened.data_dir());
  if (!log.ok()) inspection->AddProblem(std::string(Sv(log.status().message())));
  for (const store::Damage& each : log.value_or(std::vector<store::Damage>())) inspection->AddProblem(each.fault);
  return inspection;
}

void Inspection::LoadTables() {
  Walk(store::kMetaFamily, {}, [this](std::string_view key, std::string_view value) {
    const store::MetaRecord record = store::ParseMetaRecord(key, value);
    tables_.Add(record);
    if (!record.status.ok()) {
      AddProblem(Cat("family meta: record ", Hex(key), ": ", Sv(record.status.message())));
    }
    return store::RowVerdict::kContinue;
  });
}

void Inspection::Walk(std::string_view family, const store::KeyRange& range, Visit visit) {
  const auto on_gap = [&](const store::ReadGap& gap) { AddProblem(GapText(family, gap)); };
  const absl::StatusOr<store::RangeEnd> end = store_->ForEachRow(family, range, visit, on_gap);
  // A missing database is reported already.
  if (!end.ok() && !store_->Families().empty()) AddProblem(std::string(Sv(end.status().message())));
}

absl::Status Inspection::Conclude() const {
  if (problems_.empty() && damaged_records_ == 0) return absl::OkStatus();
  return InputError(Cat(store_->path(), ": ", problems_.size(), " problems, ", damaged_records_,
                        " damaged records among those shown; all else was read"));
}

std::string Hex(std::string_view bytes) { return absl::BytesToHexString(Av(bytes)); }

}  // namespace armature::cli
