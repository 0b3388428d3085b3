#include "storage/store/damaged_tables.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/catalog/catalog.h"
#include "storage/store/commit/write_unit.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"

namespace armature::store {
namespace {

absl::Status ErrorOf(const DamagedPart& part) {
  return DamagedError(Cat("Files of ", NameOf(part), " are damaged, so it is set apart: ", DamageText(part.damage)));
}

// Rows, and sizes of item collections: a write reads them.
bool BelongsToRows(std::string_view family) { return family.starts_with('t') || family.starts_with('c'); }

// For each request that is refused: only the names of one table are made.
DamagedPart PartOf(const CatalogSnapshot& catalog, FamilyDamage damage) {
  const std::optional<TableId> id = TableOfFamily(damage.family);
  const Table* const table = id.has_value() ? catalog.Find(*id) : nullptr;
  if (table == nullptr) return {"", "", std::move(damage)};
  return store::PartOf({table->descriptor}, std::move(damage));
}

}  // namespace

DamagedPart PartOf(const std::vector<model::TableDescriptor>& tables, FamilyDamage damage) {
  DamagedPart part;
  for (const model::TableDescriptor& table : tables) {
    const std::vector<std::string> families = Catalog::FamilyNames(table);
    if (std::find(families.begin(), families.end(), damage.family) == families.end()) continue;
    part.table = table.name;
    for (const model::IndexDescriptor* const index : table.indexes()) {
      const bool is_family = damage.family == LocalIndexFamilyName(table.id, index->id) ||
                             damage.family == GlobalIndexFamilyName(table.id, index->id);
      if (is_family) part.index = index->name;
    }
  }
  part.damage = std::move(damage);
  return part;
}

std::string NameOf(const DamagedPart& part) {
  if (!part.index.empty()) return Cat("index ", part.index, " of table ", part.table);
  if (!part.table.empty()) return Cat("table ", part.table);
  if (part.damage.family == kStreamFamily) return "the streams";
  if (part.damage.family == kLogFamily) return "the change log of global indexes";
  if (part.damage.family == kExpiryFamily) return "the expiry of items";
  return Cat("column family ", part.damage.family);
}

std::vector<DamagedPart> DamagedTables::All() const {
  if (!families_.any()) return {};
  const std::shared_ptr<const CatalogSnapshot> tables = catalog_.snapshot();
  std::vector<DamagedPart> parts;
  for (FamilyDamage& damage : families_.All()) parts.push_back(PartOf(*tables, std::move(damage)));
  return parts;
}

absl::Status DamagedTables::CheckWhole(const Table& table) const {
  if (!families_.any()) return absl::OkStatus();
  for (const std::string& family : {DataFamilyName(table.descriptor.id), CollectionFamilyName(table.descriptor.id)}) {
    std::optional<FamilyDamage> damage = families_.Find(family);
    if (damage.has_value()) return ErrorOf({table.descriptor.name, "", *std::move(damage)});
  }
  return absl::OkStatus();
}

absl::Status DamagedTables::CheckReadable(const Keyspace& keyspace) const {
  if (!families_.any() || !keyspace.family->is_of_table()) return absl::OkStatus();
  std::optional<FamilyDamage> damage = families_.Find(keyspace.family->name());
  return damage.has_value() ? ErrorOf(PartOf(*catalog_.snapshot(), *std::move(damage))) : absl::OkStatus();
}

absl::Status DamagedTables::CheckWritable(const WriteUnit& unit) const {
  if (!families_.any()) return absl::OkStatus();
  for (const WriteUnit::Op& op : unit.ops()) {
    if (op.family->is_of_table() && BelongsToRows(op.family->name())) {
      ARM_RETURN_IF_ERROR(CheckReadable(Keyspace{op.family}));
    }
  }
  return absl::OkStatus();
}

}  // namespace armature::store
