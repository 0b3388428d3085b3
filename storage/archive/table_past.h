#ifndef ARMATURE_STORAGE_ARCHIVE_TABLE_PAST_H_
#define ARMATURE_STORAGE_ARCHIVE_TABLE_PAST_H_

// Rows of one table of an archived database as they were at a moment.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/archive/archive_directory.h"
#include "storage/archive/restore_plan.h"
#include "storage/base/strong_type.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/backup/batch_rows.h"
#include "storage/store/rows.h"

namespace armature::archive {

// The base is read where it lies, and of the segments only the rows of the table are taken: nothing is copied to disk.
// While it lives, retention removes nothing that it needs.
//
// Thread-safety: owned by one thread at a time. Memory: twice the batches of a segment, and the caches of the base.
class TablePast {
 public:
  // Called between segments; false ends the work with Cancelled.
  using GoesOn = absl::FunctionRef<bool()>;

  // Plans the reading of `table` at the end of the millisecond `at_ms`, and checks the first segments, of about
  // `checked_bytes` in all. Errors: FailedPrecondition, naming the broken file and what can be restored, if the archive
  // cannot restore the moment; Unavailable.
  static absl::StatusOr<std::unique_ptr<TablePast>> Open(const std::string& archive, TableId table, int64_t at_ms,
                                                         uint64_t checked_bytes);

  // Checks the other segments. Errors: as Open; Cancelled.
  absl::Status CheckAll(GoesOn goes_on);
  // Visits the rows that the base has. Errors: DataLoss; Unavailable.
  absl::Status ReadBase(store::RowVisitor visit);
  // Visits the changes behind the base in order, once CheckAll has succeeded. The base may have the first ones of them.
  // Errors: those of the visitor; DataLoss; Cancelled; Unavailable.
  absl::Status ReadChanges(store::RowChangeVisitor visit, GoesOn goes_on);

  store::BackupId base() const { return plan_->base().backup; }
  uint64_t segments() const { return plan_->end() - plan_->base().first_segment; }

 private:
  TablePast(std::unique_ptr<ArchiveDirectory> directory, TableId table)
      : directory_(std::move(directory)), table_(table) {}

  const std::unique_ptr<ArchiveDirectory> directory_;
  const TableId table_;
  std::unique_ptr<RestorePlan> plan_;
};

}  // namespace armature::archive

#endif  // ARMATURE_STORAGE_ARCHIVE_TABLE_PAST_H_
