#ifndef ARMATURE_TOOLS_ARMATURE_INSPECT_INSPECTION_H_
#define ARMATURE_TOOLS_ARMATURE_INSPECT_INSPECTION_H_

// What all commands that inspect a directory share: the open directory, its tables, and what was wrong so far.

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
  // Errors: usage errors for a directory that holds no database, or that a process uses.
  static absl::StatusOr<std::unique_ptr<Inspection>> Open(const std::string& data_dir);

  const store::Inspector& store() const { return *store_; }
  // Empty before LoadTables.
  const Tables& tables() const { return tables_; }

  // Reads the family `meta`. Records that cannot be read become problems.
  void LoadTables();

  using Visit = absl::FunctionRef<store::RowVerdict(std::string_view key, std::string_view value)>;
  // Visits the rows of a family; what cannot be read becomes a problem, and so does a family that is not there.
  void Walk(std::string_view family, const store::KeyRange& range, Visit visit);

  void AddProblem(std::string problem) { problems_.push_back(std::move(problem)); }
  // Counts a record that is shown together with what is wrong with it.
  void AddDamagedRecord() { ++damaged_records_; }
  const std::vector<std::string>& problems() const { return problems_; }

  // OK if nothing was wrong, else the error that ends the command.
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
