#ifndef ARMATURE_TOOLS_ARMATURE_INSPECT_INSPECTION_H_
#define ARMATURE_TOOLS_ARMATURE_INSPECT_INSPECTION_H_

// Opens a data directory for the inspect commands, and collects its tables and the problems found in it.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/base/strong_type.h"
#include "storage/model/table_descriptor.h"
#include "storage/place/place.h"
#include "storage/store/inspector.h"

namespace armature::cli {

// The structure of the keys of a family, according to the catalog.
struct KeyLayout {
  std::vector<model::KeyAttribute> attributes;  // one for each component, in order; empty: unknown
  size_t partition_count = 0;                   // number of attributes in the hash
};

KeyLayout LayoutOfTable(const model::TableDescriptor& table);
KeyLayout LayoutOfIndex(const model::TableDescriptor& table, const model::IndexDescriptor& index);
// The layout of the family of item collections: the partition attributes only.
KeyLayout LayoutOfCollections(const model::TableDescriptor& table);

enum class FamilyKind : uint8_t {
  kOther,
  kMeta,
  kLog,
  kTable,
  kLocalIndex,
  kGlobalIndex,
  kCollections,
  kStream,
  kExpiry
};

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

  // Null if unknown.
  const store::StatsDelta* TotalsOf(const std::string& family) const;
  const store::BuildState* BuildOf(TableId table, IndexId index) const;
  // 0 if unknown.
  uint64_t CursorOf(TableId table, IndexId index) const;

 private:
  using Key = std::pair<TableId, IndexId>;

  std::map<TableId, model::TableDescriptor> tables_;
  std::map<std::string, store::StatsDelta, std::less<>> totals_;
  std::map<Key, uint64_t> cursors_;
  std::map<Key, store::BuildState> builds_;
};

// The family of an index.
std::string FamilyOf(const model::TableDescriptor& table, const model::IndexDescriptor& index);

// Thread-safety: thread-compatible.
class Inspection {
 public:
  // Errors: UsageError for a directory without a database, or in use by a process.
  static absl::StatusOr<std::unique_ptr<Inspection>> Open(const std::string& data_dir);

  const store::Inspector& store() const { return *store_; }
  // Empty before LoadTables.
  const Tables& tables() const { return tables_; }

  // Reads the family `meta`. Records that cannot be read become problems.
  void LoadTables();

  using Visit = absl::FunctionRef<store::RowVerdict(std::string_view key, std::string_view value)>;
  // Visits the rows of a family. Unreadable parts, and a missing family, become problems.
  void Walk(std::string_view family, const store::KeyRange& range, Visit visit);

  void AddProblem(std::string problem) { problems_.push_back(std::move(problem)); }
  // Counts a record that is printed together with its problems.
  void AddDamagedRecord() { ++damaged_records_; }
  const std::vector<std::string>& problems() const { return problems_; }

  // OK without problems, otherwise the error that ends the command.
  absl::Status Conclude() const;

 private:
  Inspection(std::unique_ptr<place::Place> place, std::unique_ptr<store::Inspector> store)
      : place_(std::move(place)), store_(std::move(store)) {}

  const std::unique_ptr<place::Place> place_;
  const std::unique_ptr<store::Inspector> store_;
  Tables tables_;
  std::vector<std::string> problems_;
  int64_t damaged_records_ = 0;
};

// Bytes in lower case.
std::string Hex(std::string_view bytes);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_INSPECT_INSPECTION_H_
