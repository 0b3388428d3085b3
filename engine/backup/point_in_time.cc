#include "engine/backup/point_in_time.h"

#include <memory>
#include <string_view>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/backup/restored_table.h"
#include "engine/backup/table_backup_requests.h"
#include "engine/backup/table_restore.h"
#include "engine/parts.h"
#include "engine/tables/resource_arn.h"
#include "engine/tables/table_settings.h"
#include "storage/archive/shipper.h"
#include "storage/archive/table_past.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

// Time for the archive to be read after a start, and to get what was written last.
constexpr absl::Duration kArchivePatience = absl::Seconds(5);
// Bytes of segments that are checked before the answer; the restore checks the others before it writes anything.
constexpr uint64_t kCheckedBytes = uint64_t{16} << 20;

absl::Status CheckShape(const RestoreToPointInTimeRequest& request) {
  model::ConstraintList faults;
  CheckTargetShape(request.restore, &faults);
  if (request.source_table_name.has_value()) {
    faults.CheckName(*request.source_table_name, "sourceTableName", model::kTableNameMinChars);
  }
  CheckOverrideShapes(request.restore, &faults);
  return faults.ToStatus();
}

// Checks that the request has one source and one time.
absl::Status CheckAlternatives(const RestoreToPointInTimeRequest& request) {
  const bool has_name = request.source_table_name.has_value();
  const bool has_arn = request.source_table_arn.has_value();
  if (has_name && has_arn) return InvalidRequestError("Must provide exactly one of: sourceTableArn, sourceTableName");
  if (!has_name && !has_arn) {
    return ValidationError("The parameter 'TableName' is required but was not present in the request");
  }
  const bool is_latest = request.use_latest_time.value_or(false);
  if (is_latest && request.time_ms.has_value()) {
    return InvalidRequestError(
        "Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time restore request. Please "
        "specify either RestoreDateTime time or UseLatestRestorableTime");
  }
  if (is_latest || request.time_ms.has_value()) return absl::OkStatus();
  return InvalidRequestError(
      "Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both");
}

absl::Status CheckSourceArn(const RestoreToPointInTimeRequest& request) {
  if (!request.source_table_arn.has_value()) return absl::OkStatus();
  model::Arn arn;
  if (!model::IsTableArn(*request.source_table_arn) || !model::ParseArn(*request.source_table_arn, &arn).ok()) {
    return InvalidParameterError("sourceTableArn is not a valid ARN");
  }
  if (!arn.is_of_this_account()) return OtherOwnerError();
  if (arn.is_of_this_region() || request.restore.sse.has_value()) return absl::OkStatus();
  return InvalidRequestError("sseSpecificationOverride must be provided for cross-region restores");
}

// The table to restore: as FindTable, but also one whose files are damaged. A table of another region is not here.
absl::StatusOr<PinnedTable> FindSource(const store::Database& database, std::string_view name_or_arn) {
  PinnedTable pinned{database.catalog()->Hold(model::LocalTableName(name_or_arn))};
  const bool is_usable = pinned.table != nullptr && pinned.table->lease != nullptr;
  if (is_usable && !pinned.table->descriptor.is_being_restored()) return pinned;
  return TableNotFoundError(Cat("Table not found: ", model::TableNamePart(name_or_arn)));
}

// "2026-01-31T12:00:00Z".
std::string SecondText(int64_t ms) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixMillis(ms), absl::UTCTimeZone());
}

// The moment to restore, within the window of the table.
absl::StatusOr<int64_t> MomentOf(const RestoreToPointInTimeRequest& request, const archive::Span& window) {
  const int64_t at_ms = request.time_ms.value_or(window.until_ms);
  if (window.from_ms <= at_ms && at_ms <= window.until_ms) return at_ms;
  return InvalidRestoreTimeError(Cat("RestoreDateTime '", SecondText(at_ms),
                                     "' must be within EarliestRestorableDateTime '", SecondText(window.from_ms),
                                     "' and LatestRestorableDateTime '", SecondText(window.until_ms), "'"));
}

// The window of a table with the setting. Errors: PointInTimeRecoveryUnavailableException.
absl::StatusOr<archive::Span> WindowOf(const Parts& parts, const model::TableDescriptor& table) {
  archive::Shipper* const archive = parts.options.archive;
  if (archive == nullptr) {
    return PointInTimeRecoveryUnavailableError(
        Cat("Point in time recovery is enabled for table '", table.name,
            "', but this server keeps no history of tables, as it has no archive (--archive_dir); restore a backup of "
            "the table instead"));
  }
  // After a start of the server the archive is read first.
  static_cast<void>(archive->AwaitArchived(0, kArchivePatience));
  const std::optional<archive::Span> window =
      RestorableWindow(*table.settings.point_in_time_recovery, archive, absl::Now());
  if (window.has_value()) return *window;
  return PointInTimeRecoveryUnavailableError(
      Cat("Point in time recovery is enabled for table '", table.name,
          "', but the archive of this server has nothing yet from which the table can be restored"));
}

// An error of an archive that cannot restore the moment, without the directory.
absl::Status BrokenArchiveError(const absl::Status& status, std::string_view directory) {
  // It is away, or retention has just removed the base.
  if (absl::IsNotFound(status)) return UnavailableError(Sv(status.message()));
  if (!absl::IsFailedPrecondition(status)) return status;
  while (directory.ends_with('/')) directory.remove_suffix(1);
  const std::string prefix = Cat(directory, "/");
  std::string text(Sv(status.message()));
  for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) text.erase(at, prefix.size());
  return InvalidRestoreTimeError(text);
}

}  // namespace

absl::StatusOr<TableDescription> RestoreTableToPointInTime(Parts* parts, const RestoreToPointInTimeRequest& request) {
  ARM_RETURN_IF_ERROR(CheckShape(request));
  ARM_RETURN_IF_ERROR(CheckAlternatives(request));
  ARM_RETURN_IF_ERROR(CheckSourceArn(request));
  const std::string& given =
      request.source_table_name.has_value() ? *request.source_table_name : *request.source_table_arn;
  const std::string_view name = model::TableNamePart(given);
  ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindSource(*parts->database, given));
  const model::TableDescriptor& source = pinned.table->descriptor;
  if (!source.settings.point_in_time_recovery.has_value()) {
    return PointInTimeRecoveryUnavailableError(Cat("Point in time recovery is not enabled for table '", name, "'"));
  }
  ARM_ASSIGN_OR_RETURN(const archive::Span window, WindowOf(*parts, source));
  ARM_ASSIGN_OR_RETURN(const int64_t at_ms, MomentOf(request, window));
  ARM_RETURN_IF_ERROR(CheckRestoreTarget(*parts, *request.restore.target_table_name));
  ARM_ASSIGN_OR_RETURN(model::TableDescriptor target, RestoredTable(source, request.restore));
  target.restore->time_ms = at_ms;
  if (!parts->restores.HasRoom()) return TooManyRestoresError();
  archive::Shipper* const archive = parts->options.archive;
  if (!archive->AwaitArchived(at_ms, kArchivePatience)) {
    return InvalidRestoreTimeError(Cat("RestoreDateTime '", SecondText(at_ms), "' is not in the archive yet"));
  }
  absl::StatusOr<std::unique_ptr<archive::TablePast>> past =
      archive::TablePast::Open(archive->directory(), source.id, at_ms, kCheckedBytes);
  if (!past.ok()) return BrokenArchiveError(past.status(), archive->directory());
  const TableId source_id = source.id;
  return StartRestore(parts, {.past = *std::move(past), .source = source_id}, std::move(target));
}

}  // namespace armature::engine
