#ifndef ARMATURE_TOOLS_ARMATURE_INSPECT_TABLES_H_
#define ARMATURE_TOOLS_ARMATURE_INSPECT_TABLES_H_

// Whose family is whose, by the table records that can be read.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "storage/base/strong_type.h"
#include "storage/model/table_descriptor.h"
#include "storage/store/inspector.h"
#include "tools/armature/inspect/key_layout.h"

namespace armature::cli {

enum class FamilyKind : uint8_t { kOther, kMeta, kLog, kTable, kLocalIndex, kGlobalIndex, kCollections };

std::string_view FamilyKindName(FamilyKind kind);

// The kind of a family, by its name.
FamilyKind KindOfFamily(std::string_view name);

// The owner of a family. Lifetime: the pointers point into the Tables.
struct FamilyOwner {
  const model::TableDescriptor* table = nullptr;
  const model::IndexDescriptor* index = nullptr;  // null for the table itself
};

// The tables and indexes recorded in the family `meta`, as far as the records can be read. Thread-safety:
// thread-compatible.
class Tables {
 public:
  // Adds a record.
  void Add(const store::MetaRecord& record);

  // All tables by id.
  const std::map<TableId, model::TableDescriptor>& all() const { return tables_; }
  // The table with this name. Prefers a table that is not being deleted. Null if there is none.
  const model::TableDescriptor* Find(std::string_view name) const;
  const model::TableDescriptor* Find(TableId id) const;
  // Null if the table or its index is unknown.
  const model::IndexDescriptor* FindIndex(TableId table, IndexId index) const;
  FamilyOwner OwnerOf(std::string_view family) const;
  // The layout of the keys of a family. Has no attributes if the owner is unknown.
  KeyLayout LayoutOf(std::string_view family) const;

  std::optional<store::StatsDelta> TotalsOf(const std::string& family) const;
  std::optional<uint64_t> CursorOf(TableId table, IndexId index) const;
  const store::BuildState* BuildOf(TableId table, IndexId index) const;

 private:
  using Key = std::pair<TableId, IndexId>;

  std::map<TableId, model::TableDescriptor> tables_;
  std::map<std::string, store::StatsDelta, std::less<>> totals_;
  std::map<Key, uint64_t> cursors_;
  std::map<Key, store::BuildState> builds_;
};

// The family of an index.
std::string FamilyOf(const model::TableDescriptor& table, const model::IndexDescriptor& index);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_INSPECT_TABLES_H_
