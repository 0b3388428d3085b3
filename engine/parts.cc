#include "engine/parts.h"

#include <utility>

#include "engine/tables/table_settings.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/time_histogram.h"
#include "storage/model/table_name.h"

namespace armature::engine {

int64_t NowNs(const Parts& parts) {
  return parts.options.monotonic_ns != nullptr ? parts.options.monotonic_ns() : MonotonicNs();
}

absl::StatusOr<PinnedTable> FindTable(const store::Database& database, std::string_view name_or_arn) {
  PinnedTable pinned{database.catalog()->Hold(model::LocalTableName(name_or_arn))};
  const bool is_usable = pinned.table != nullptr && pinned.table->lease != nullptr;
  if (!is_usable || pinned.table->descriptor.is_being_restored()) {
    return ResourceNotFoundError("Requested resource not found");
  }
  ARM_RETURN_IF_ERROR(database.damages().CheckWhole(*pinned.table));
  return pinned;
}

absl::StatusOr<PinnedTable> FindTableInAnyState(const store::Database& database, std::string_view name_or_arn) {
  PinnedTable pinned{database.catalog()->Hold(model::LocalTableName(name_or_arn))};
  if (pinned.table == nullptr) return NoSuchTableError(name_or_arn);
  return pinned;
}

absl::StatusOr<PinnedTable> FindTableWithSettings(const store::Database& database, std::string_view name_or_arn) {
  ARM_ASSIGN_OR_RETURN(PinnedTable pinned, FindTableInAnyState(database, name_or_arn));
  if (!HasSettings(pinned.table->descriptor)) return NoSuchTableError(pinned.table->descriptor.name);
  return pinned;
}

absl::Status NoSuchTableError(std::string_view name_or_arn) {
  return ResourceNotFoundError(
      Cat("Requested resource not found: Table: ", model::TableNamePart(name_or_arn), " not found"));
}

void RunOnReadPool(Parts* parts, Task task, absl::AnyInvocable<void(absl::Status) &&> refused) {
  parts->read_pool.Run(std::move(task), std::move(refused));
}

void RunHolder(Parts* parts, Task task, absl::AnyInvocable<void(absl::Status) &&> refused) {
  RunOnPool(&parts->holder_pool, std::move(task), std::move(refused));
}

void RunOnPool(ThreadPool* pool, Task task, absl::AnyInvocable<void(absl::Status) &&> refused) {
  if (!pool->TryRun(task)) std::move(refused)(TooManyWaitError());
}

absl::Status CheckStillWanted(const RequestContext& context) {
  if (context.deadline.has_passed()) {
    return DeadlineExceededError("The deadline of the request has passed");
  }
  if (context.cancelled && context.cancelled()) return CancelledError("The client has gone");
  return absl::OkStatus();
}

}  // namespace armature::engine
