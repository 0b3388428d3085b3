#include "storage/archive/table_past.h"

#include <limits>
#include <optional>
#include <utility>

#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/backup/backup_reader.h"

namespace armature::archive {
namespace {

absl::Status EndedError() { return absl::CancelledError("the restore was cancelled"); }

}  // namespace

absl::StatusOr<std::unique_ptr<TablePast>> TablePast::Open(const std::string& archive, TableId table, int64_t at_ms,
                                                           uint64_t checked_bytes) {
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<ArchiveDirectory> directory, ArchiveDirectory::OpenToRead(archive));
  absl::StatusOr<std::unique_ptr<store::BackupRepository>> bases =
      store::BackupRepository::Open(directory->bases_path(), {});
  if (!bases.ok() && !absl::IsNotFound(bases.status())) return bases.status();
  auto past = std::unique_ptr<TablePast>(new TablePast(std::move(directory), table));
  ARM_ASSIGN_OR_RETURN(
      past->plan_, RestorePlan::Make(past->directory_.get(), {.at_ms = at_ms}, bases.ok() ? bases->get() : nullptr));
  ARM_RETURN_IF_ERROR(past->plan_->Check(checked_bytes, nullptr).status());
  return past;
}

absl::Status TablePast::CheckAll(GoesOn goes_on) {
  const ArchiveObserver observe = [goes_on](std::string_view, uint64_t, uint64_t) { return goes_on(); };
  return plan_->Check(std::numeric_limits<uint64_t>::max(), observe).status();
}

absl::Status TablePast::ReadBase(store::RowVisitor visit) {
  // Opened here, as it takes memory, and restores wait for each other.
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<store::BackupReader> reader,
                       store::BackupReader::Open(directory_->volume(), directory_->bases_path(), base()));
  return reader->ReadRowsOf(table_, visit);
}

absl::Status TablePast::ReadChanges(store::RowChangeVisitor visit, GoesOn goes_on) {
  ChainWalk walk = plan_->Walk();
  while (walk.next_index() < plan_->end()) {
    if (!goes_on()) return EndedError();
    ARM_ASSIGN_OR_RETURN(const std::optional<Segment> segment, walk.Next());
    if (!segment.has_value()) return DataLossError("a segment has disappeared during the restore");
    const std::optional<uint32_t> family = store::FamilyOfTable(segment->facts.families, table_);
    if (!family.has_value()) continue;
    ARM_RETURN_IF_ERROR(ForEachBatch(*segment, [&](const ArchivedBatch& batch) -> absl::Status {
      if (!plan_->IsWanted(batch.sequence, batch.time_ms)) return absl::OkStatus();
      return store::ForEachRowChange(batch.bytes, *family, visit);
    }));
    ARM_FAULT_POINT("archive.read_segment");
  }
  return absl::OkStatus();
}

}  // namespace armature::archive
