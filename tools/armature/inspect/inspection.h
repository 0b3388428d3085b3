#ifndef ARMATURE_TOOLS_ARMATURE_INSPECT_INSPECTION_H_
#define ARMATURE_TOOLS_ARMATURE_INSPECT_INSPECTION_H_

// Opens a data directory for the inspect commands, and collects the problems found in it.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/store/inspector.h"
#include "tools/armature/inspect/tables.h"

namespace armature::cli {

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
  explicit Inspection(std::unique_ptr<store::Inspector> store) : store_(std::move(store)) {}

  const std::unique_ptr<store::Inspector> store_;
  Tables tables_;
  std::vector<std::string> problems_;
  int64_t damaged_records_ = 0;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_INSPECT_INSPECTION_H_
