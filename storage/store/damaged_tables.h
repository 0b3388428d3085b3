#ifndef ARMATURE_STORAGE_STORE_DAMAGED_TABLES_H_
#define ARMATURE_STORAGE_STORE_DAMAGED_TABLES_H_

// Damaged tables and indexes: their names, and the errors of requests for them.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "storage/model/table_descriptor.h"
#include "storage/store/damaged_families.h"
#include "storage/store/keyspace.h"

namespace armature::store {

class Catalog;
class WriteUnit;
struct Table;

// A table or an index with a damaged file, or, without a name, the streams or another part that tables share.
struct DamagedPart {
  std::string table;  // empty: a part that tables share
  std::string index;  // empty: the table itself
  FamilyDamage damage;
};
// "table Orders", "index by_date of table Orders", "the streams".
std::string NameOf(const DamagedPart& part);
DamagedPart PartOf(const std::vector<model::TableDescriptor>& tables, FamilyDamage damage);

// Damage that was found in table files while they were compacted. A damaged table is set apart, so that the others go
// on: its reads and writes fail. A damaged index fails its reads; if it is a global one, it may be deleted and added
// again.
//
// Thread-safety: thread-safe. Cost: an atomic load without damage.
class DamagedTables {
 public:
  // Both must outlive the object.
  DamagedTables(const DamagedFamilies* families, const Catalog* catalog) : families_(*families), catalog_(*catalog) {}

  std::vector<DamagedPart> All() const;
  bool any() const { return families_.any(); }
  // Errors: DataLoss in the words of the API, naming table and file, if files of the table are damaged.
  absl::Status CheckWhole(const Table& table) const;
  // Errors: those of CheckWhole, for the rows or entries of a keyspace, and for the rows that a unit writes.
  absl::Status CheckReadable(const Keyspace& keyspace) const;
  absl::Status CheckWritable(const WriteUnit& unit) const;

 private:
  const DamagedFamilies& families_;
  const Catalog& catalog_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_DAMAGED_TABLES_H_
