#include "engine/tables/table_settings.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/escaping.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/parts.h"
#include "engine/tables/resource_arn.h"
#include "glog/logging.h"
#include "storage/archive/shipper.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/canonical_text.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

constexpr size_t kTagsPerPage = 10;

bool HasTags(const model::TableDescriptor& table) {
  return HasSettings(table) &&
         (table.state == model::TableState::kActive || table.state == model::TableState::kUpdating);
}

absl::Status ChangeTags(store::Database* database, const std::string& arn, std::string_view table,
                        absl::FunctionRef<absl::Status(model::Tags*)> change) {
  if (IsStreamResource(arn)) {
    ARM_ASSIGN_OR_RETURN(const bool is_there,
                         database->streams().ChangeSettings(
                             table, StreamLabelOf(arn), [&](model::StreamDescriptor* s) { return change(&s->tags); }));
    return is_there ? absl::OkStatus() : ResourceArnNotFoundError(arn);
  }
  ARM_ASSIGN_OR_RETURN(const std::optional<model::TableDescriptor> changed,
                       UpdateSettings(database, table, [&](model::TableDescriptor* descriptor) -> absl::Status {
                         if (!HasTags(*descriptor)) return ResourceArnNotFoundError(arn);
                         return change(&descriptor->settings.tags);
                       }));
  return changed.has_value() ? absl::OkStatus() : ResourceArnNotFoundError(arn);
}

absl::StatusOr<model::Tags> TagsOf(const store::Database& database, const std::string& arn, std::string_view table) {
  if (IsStreamResource(arn)) {
    const std::optional<model::StreamDescriptor> stream = database.streams().Find(table, StreamLabelOf(arn));
    return stream.has_value() ? absl::StatusOr<model::Tags>(stream->tags) : ResourceArnNotFoundError(arn);
  }
  const std::shared_ptr<const store::CatalogSnapshot> catalog = database.catalog();
  const store::Table* const found = catalog->Find(table);
  if (found == nullptr || !HasTags(found->descriptor)) return ResourceArnNotFoundError(arn);
  return found->descriptor.settings.tags;
}

// The key behind which the page begins; empty without a token, and for one that cannot have come from a page.
std::string KeyOf(const std::optional<std::string>& token) {
  std::string key;
  if (!token.has_value() || !absl::WebSafeBase64Unescape(*token, &key) || !codec::IsValidUtf8(key)) return {};
  return key;
}

constexpr std::string_view kTimeToLivePath = "timeToLiveSpecification";

void CheckSpecification(const std::optional<TimeToLiveSpecification>& specification,
                        model::ConstraintList* constraints) {
  if (!specification.has_value()) return constraints->AddNull(kTimeToLivePath);
  if (!specification->enabled.has_value()) constraints->AddNull(Cat(kTimeToLivePath, ".enabled"));
  const std::string path = Cat(kTimeToLivePath, ".attributeName");
  if (!specification->attribute_name.has_value()) return constraints->AddNull(path);
  const std::string& name = *specification->attribute_name;
  constraints->CheckLengthMin(model::PrintedValue(name), name.size(), path, 1);
  constraints->CheckLengthMax(model::PrintedValue(model::Shown(name, 2 * model::kKeyAttributeNameMaxBytes)),
                              name.size(), path, model::kKeyAttributeNameMaxBytes);
}

absl::Status Apply(bool enable, const std::string& attribute, model::TableDescriptor* table) {
  ARM_RETURN_IF_ERROR(CheckSettingsMayChange(*table));
  std::string& current = table->settings.time_to_live_attribute;
  if (!enable && current.empty()) return ValidationError("TimeToLive is already disabled");
  if (!current.empty() && current != attribute) {
    return ValidationError(
        Cat("TimeToLive is active on a different AttributeName: current AttributeName is ", current));
  }
  if (enable && !current.empty()) return ValidationError("TimeToLive is already enabled");
  current = enable ? attribute : "";
  ++table->settings.time_to_live_generation;
  return absl::OkStatus();
}

constexpr int64_t kPeriodDaysMin = 1;
constexpr int64_t kPeriodDaysMax = 35;  // also the default
constexpr int64_t kCatchUpMs = 60'000;
constexpr std::string_view kRecoveryPath = "pointInTimeRecoverySpecification";

absl::Status TableNotFound(std::string_view name_or_arn) {
  return TableNotFoundError(Cat("Table not found: ", model::TableNamePart(name_or_arn)));
}

void CheckSpecification(const std::optional<PointInTimeRecoverySpecification>& specification,
                        model::ConstraintList* constraints) {
  if (!specification.has_value()) return constraints->AddNull(kRecoveryPath);
  if (!specification->enabled.has_value()) {
    constraints->AddNull(Cat(kRecoveryPath, ".pointInTimeRecoveryEnabled"));
  }
  if (!specification->period_days.has_value()) return;
  const std::string path = Cat(kRecoveryPath, ".recoveryPeriodInDays");
  constraints->CheckMinimum(*specification->period_days, path, kPeriodDaysMin);
  constraints->CheckMaximum(*specification->period_days, path, kPeriodDaysMax);
}

int64_t WholeSecondMs(absl::Time time) { return absl::ToUnixSeconds(time) * 1000; }
// The second that begins at `ms` or behind it.
int64_t NextSecondMs(int64_t ms) { return (ms + 999) / 1000 * 1000; }

ContinuousBackupsDescription DescriptionOf(const model::TableDescriptor& table, const archive::Shipper* archive,
                                           absl::Time now) {
  ContinuousBackupsDescription description;
  description.enabled = table.state != model::TableState::kCreating;
  const std::optional<model::PointInTimeRecovery>& recovery = table.settings.point_in_time_recovery;
  if (!recovery.has_value()) return description;
  description.recovery_enabled = true;
  description.period_days = recovery->period_days;
  description.window = RestorableWindow(*recovery, archive, now);
  return description;
}

absl::Status Apply(const PointInTimeRecoverySpecification& specification, absl::Time now,
                   model::TableDescriptor* table) {
  if (table->state == model::TableState::kCreating) {
    return ContinuousBackupsUnavailableError(
        Cat("Backups are being enabled for the table: ", table->name, ". Please retry later"));
  }
  std::optional<model::PointInTimeRecovery>& recovery = table->settings.point_in_time_recovery;
  if (!*specification.enabled) {
    recovery.reset();
    return absl::OkStatus();
  }
  if (!recovery.has_value()) recovery = {absl::ToUnixMillis(now), static_cast<int32_t>(kPeriodDaysMax)};
  if (specification.period_days.has_value()) recovery->period_days = static_cast<int32_t>(*specification.period_days);
  return absl::OkStatus();
}

template <class Specification>
absl::Status CheckUpdateShape(const SettingUpdate<Specification>& request) {
  model::ConstraintList constraints;
  model::CheckTableReferenceShape(request.table_name, &constraints);
  CheckSpecification(request.specification, &constraints);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  return model::CheckTableReference(*request.table_name);
}

}  // namespace

int64_t EarliestRestorableMs(const model::PointInTimeRecovery& recovery, absl::Time now) {
  return std::max(WholeSecondMs(absl::FromUnixMillis(recovery.enabled_since_ms)),
                  WholeSecondMs(now - absl::Hours(24) * recovery.period_days));
}

std::optional<archive::Span> RestorableWindow(const model::PointInTimeRecovery& recovery,
                                              const std::vector<archive::Span>& spans, absl::Time now) {
  if (spans.empty()) return std::nullopt;
  const int64_t from_ms = EarliestRestorableMs(recovery, now);
  auto first = std::find_if(spans.begin(), spans.end(),
                            [from_ms](const archive::Span& span) { return span.until_ms >= from_ms; });
  // The archive is a little behind the time at which the setting was enabled, or it is away.
  if (first == spans.end() && from_ms > spans.back().until_ms + kCatchUpMs) return std::nullopt;
  if (first == spans.end()) --first;
  const int64_t earliest_ms = std::max(from_ms, NextSecondMs(first->from_ms));
  const int64_t latest_ms = WholeSecondMs(absl::FromUnixMillis(spans.back().until_ms));
  return archive::Span{.from_ms = earliest_ms, .until_ms = std::max(earliest_ms, latest_ms)};
}

std::optional<archive::Span> RestorableWindow(const model::PointInTimeRecovery& recovery,
                                              const archive::Shipper* archive, absl::Time now) {
  if (archive == nullptr) return std::nullopt;
  const std::optional<std::vector<archive::Span>> spans = archive->restorable();
  return spans.has_value() ? RestorableWindow(recovery, *spans, now) : std::nullopt;
}

bool HasSettings(const model::TableDescriptor& table) {
  return !table.is_being_restored() || table.is_being_imported();
}

absl::StatusOr<std::optional<model::TableDescriptor>> UpdateSettings(
    store::Database* database, std::string_view name, absl::FunctionRef<absl::Status(model::TableDescriptor*)> change) {
  // The database refuses to change a table that is being restored with an error of its own; to these operations it is
  // absent.
  const std::shared_ptr<const store::Table> table = database->catalog()->Hold(name);
  if (table != nullptr && !HasSettings(table->descriptor)) return std::nullopt;
  return database->tables().Update(name, change);
}

absl::Status CheckSettingsMayChange(const model::TableDescriptor& table) {
  constexpr std::string_view kInUse = "Attempt to change a resource which is still in use: Table ";
  if (table.state == model::TableState::kCreating) {
    return ResourceInUseError(Cat(kInUse, table.name, " is being created"));
  }
  if (table.state == model::TableState::kDeleting) {
    return ResourceInUseError(Cat(kInUse, table.name, " is being deleted"));
  }
  return absl::OkStatus();
}

absl::Status TagResource(store::Database* database, const TagResourceRequest& request) {
  model::ConstraintList constraints;
  CheckResourceArnShape(request.resource_arn, &constraints);
  if (!request.tags.has_value()) constraints.AddNull("tags");
  model::CheckTagValueGiven(request.tag_without_value, &constraints);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  ARM_ASSIGN_OR_RETURN(const std::string_view table, TableOfResource(request.resource_arn, ResourceUse::kTags));
  if (request.tags->empty()) return ValidationError("Atleast one Tag needs to be provided as Input.");
  ARM_RETURN_IF_ERROR(model::CheckTags(*request.tags));
  return ChangeTags(database, *request.resource_arn, table,
                    [&](model::Tags* tags) { return model::MergeTags(*request.tags, tags); });
}

absl::Status UntagResource(store::Database* database, const UntagResourceRequest& request) {
  model::ConstraintList constraints;
  CheckResourceArnShape(request.resource_arn, &constraints);
  if (!request.tag_keys.has_value()) constraints.AddNull("tagKeys");
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  ARM_ASSIGN_OR_RETURN(const std::string_view table, TableOfResource(request.resource_arn, ResourceUse::kTags));
  if (request.tag_keys->empty()) return ValidationError("Atleast one Tag Key needs to be provided as Input.");
  ARM_RETURN_IF_ERROR(model::CheckTagKeys(*request.tag_keys));
  return ChangeTags(database, *request.resource_arn, table, [&](model::Tags* tags) {
    model::RemoveTags(*request.tag_keys, tags);
    return absl::OkStatus();
  });
}

absl::StatusOr<ListTagsOfResourceResult> ListTagsOfResource(const store::Database& database,
                                                            const ListTagsOfResourceRequest& request) {
  model::ConstraintList constraints;
  CheckResourceArnShape(request.resource_arn, &constraints);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  ARM_ASSIGN_OR_RETURN(const std::string_view name, TableOfResource(request.resource_arn, ResourceUse::kTags));
  ARM_ASSIGN_OR_RETURN(model::Tags sorted, TagsOf(database, *request.resource_arn, name));
  std::sort(sorted.begin(), sorted.end());
  const std::string after = KeyOf(request.next_token);
  ListTagsOfResourceResult result;
  for (auto& tag : sorted) {
    if (!after.empty() && tag.first <= after) continue;
    if (result.tags.size() == kTagsPerPage) {
      result.next_token = absl::WebSafeBase64Escape(result.tags.back().first);
      break;
    }
    result.tags.push_back(std::move(tag));
  }
  return result;
}

absl::StatusOr<TimeToLiveSpecification> UpdateTimeToLive(store::Database* database,
                                                         const UpdateTimeToLiveRequest& request) {
  ARM_RETURN_IF_ERROR(CheckUpdateShape(request));
  ARM_ASSIGN_OR_RETURN(
      const std::optional<model::TableDescriptor> updated,
      UpdateSettings(database, model::LocalTableName(*request.table_name), [&](model::TableDescriptor* table) {
        return Apply(*request.specification->enabled, *request.specification->attribute_name, table);
      }));
  if (!updated.has_value()) return NoSuchTableError(*request.table_name);
  return *request.specification;
}

absl::StatusOr<TimeToLiveDescription> DescribeTimeToLive(const store::Database& database,
                                                         const std::optional<std::string>& table_name) {
  ARM_RETURN_IF_ERROR(model::CheckRequiredTableReference(table_name));
  ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindTableWithSettings(database, *table_name));
  const model::TableDescriptor& table = pinned.table->descriptor;
  if (!CheckSettingsMayChange(table).ok()) {
    const std::string_view state = model::TableStateName(table.state);
    return ValidationError(
        Cat("Cannot describe time to live while table is in ", state, " state: Current table state is ", state));
  }
  return TimeToLiveDescription{table.settings.time_to_live_attribute};
}

absl::StatusOr<ContinuousBackupsDescription> DescribeContinuousBackups(const store::Database& database,
                                                                       const archive::Shipper* archive,
                                                                       const std::optional<std::string>& table_name) {
  ARM_RETURN_IF_ERROR(model::CheckRequiredTableReference(table_name));
  const absl::StatusOr<PinnedTable> pinned = FindTableWithSettings(database, *table_name);
  if (!pinned.ok()) return TableNotFound(*table_name);
  return DescriptionOf(pinned->table->descriptor, archive, absl::Now());
}

absl::StatusOr<ContinuousBackupsDescription> UpdateContinuousBackups(store::Database* database,
                                                                     const archive::Shipper* archive,
                                                                     const UpdateContinuousBackupsRequest& request) {
  ARM_RETURN_IF_ERROR(CheckUpdateShape(request));
  const PointInTimeRecoverySpecification& specification = *request.specification;
  if (!*specification.enabled && specification.period_days.has_value()) {
    return InvalidRequestError("Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.");
  }
  const absl::Time now = absl::Now();
  bool was_enabled = false;
  ARM_ASSIGN_OR_RETURN(
      const std::optional<model::TableDescriptor> updated,
      UpdateSettings(database, model::LocalTableName(*request.table_name), [&](model::TableDescriptor* table) {
        was_enabled = table->settings.point_in_time_recovery.has_value();
        return Apply(specification, now, table);
      }));
  if (!updated.has_value()) return TableNotFound(*request.table_name);
  // Nobody should rely on backups that are not there.
  LOG_IF(WARNING, *specification.enabled && !was_enabled && archive == nullptr)
      << "continuous backups: point-in-time recovery was enabled, but without --archive_dir no history of tables is "
         "kept: the table cannot be restored to a point in time, make backups of it table="
      << updated->name;
  return DescriptionOf(*updated, archive, now);
}

}  // namespace armature::engine
