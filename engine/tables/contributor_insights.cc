#include "engine/tables/contributor_insights.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/parts.h"
#include "engine/tables/table_settings.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

using model::ContributorInsights;
using model::InsightsMode;

constexpr int64_t kSummariesMax = 100;  // also the default
constexpr std::string_view kActions[] = {"ENABLE", "DISABLE"};
constexpr std::string_view kModes[] = {"ACCESSED_AND_THROTTLED_KEYS", "THROTTLED_KEYS"};

void CheckInsightsIndexShape(const std::optional<std::string>& index_name, model::ConstraintList* constraints) {
  if (index_name.has_value()) constraints->CheckName(*index_name, "indexName", model::kTableNameMinChars);
}

// The place of the setting of a table or index. Errors: ResourceNotFoundException.
absl::StatusOr<std::optional<ContributorInsights>*> FindInsights(const std::optional<std::string>& index_name,
                                                                 model::TableDescriptor* table) {
  if (!index_name.has_value()) return &table->settings.contributor_insights;
  for (model::IndexDescriptor& index : table->global_indexes) {
    if (index.name == *index_name && index.state != model::IndexState::kDeleting) return &index.contributor_insights;
  }
  return NoInsightsIndexError(*index_name, table->name);
}

size_t CountEnabled(const store::CatalogSnapshot& catalog) {
  size_t count = 0;
  for (const auto& [name, table] : catalog.tables()) {
    if (model::AreEnabled(table->descriptor.settings.contributor_insights)) ++count;
    for (const model::IndexDescriptor& index : table->descriptor.global_indexes) {
      if (model::AreEnabled(index.contributor_insights)) ++count;
    }
  }
  return count;
}

absl::Status CheckCountOfInsights(const store::CatalogSnapshot& catalog) {
  if (CountEnabled(catalog) < kInsightsMax) return absl::OkStatus();
  return LimitExceededError(Cat("Contributor insights are enabled for ", kInsightsMax,
                                " tables and indexes, the most there can be. Disable them for other ones first."));
}

// Sets the wanted state and returns true if insights are enabled or disabled by it.
absl::StatusOr<bool> ApplyAction(const UpdateContributorInsightsRequest& request, const store::Database& database,
                                 std::optional<ContributorInsights>* insights) {
  const bool enable = *request.action == "ENABLE";
  const bool were_enabled = model::AreEnabled(*insights);
  if (!enable && !were_enabled) return false;
  ContributorInsights next = insights->value_or(ContributorInsights());
  next.enabled = enable;
  if (enable && !were_enabled) {
    ARM_RETURN_IF_ERROR(CheckCountOfInsights(*database.catalog()));
    next.mode = InsightsMode::kAccessedAndThrottledKeys;
  }
  if (enable && request.mode.has_value()) {
    next.mode =
        *request.mode == "THROTTLED_KEYS" ? InsightsMode::kThrottledKeys : InsightsMode::kAccessedAndThrottledKeys;
  }
  if (next != insights->value_or(ContributorInsights())) next.changed_ms = absl::ToUnixMillis(absl::Now());
  *insights = next;
  return enable != were_enabled;
}

// The descriptions of a table and its global indexes.
std::vector<InsightsDescription> SummariesOf(const model::TableDescriptor& table) {
  std::vector<InsightsDescription> summaries;
  summaries.push_back({table.name, std::nullopt, table.settings.contributor_insights});
  for (const model::IndexDescriptor& index : table.global_indexes) {
    summaries.push_back({table.name, index.name, index.contributor_insights});
  }
  return summaries;
}

// Where a page begins: behind the first `done` descriptions of the table, or with the next table if it is gone.
struct ListPosition {
  std::string table;
  int64_t done = 0;
};

std::string TokenOf(const ListPosition& position) {
  return absl::WebSafeBase64Escape(Cat(position.table, "/", position.done));
}

absl::StatusOr<ListPosition> PositionOf(const std::optional<std::string>& token) {
  ListPosition position;
  if (!token.has_value()) return position;
  std::string text;
  const bool is_text = absl::WebSafeBase64Unescape(*token, &text);
  const size_t slash = text.find('/');
  if (!is_text || slash == std::string::npos || !absl::SimpleAtoi(text.substr(slash + 1), &position.done) ||
      position.done < 0 || slash == 0) {
    return ValidationError("The provided NextToken is invalid");
  }
  position.table = text.substr(0, slash);
  return position;
}

// Adds the descriptions of one table behind `position` until the page is full.
void AddSummaries(const model::TableDescriptor& table, const ListPosition& position, size_t max,
                  ListContributorInsightsResult* result) {
  std::vector<InsightsDescription> all = SummariesOf(table);
  const auto begin = position.table == table.name ? static_cast<size_t>(position.done) : 0;
  for (size_t i = begin; i < all.size(); ++i) {
    if (result->summaries.size() == max) {
      result->next_token = TokenOf({table.name, static_cast<int64_t>(i)});
      return;
    }
    result->summaries.push_back(std::move(all[i]));
  }
}

}  // namespace

absl::Status NoInsightsIndexError(std::string_view index_name, std::string_view table_name) {
  return ResourceNotFoundError(
      Cat("Requested resource not found: Index: ", index_name, " not found for table: ", table_name));
}

absl::StatusOr<InsightsDescription> UpdateContributorInsights(store::Database* database,
                                                              const UpdateContributorInsightsRequest& request) {
  model::ConstraintList constraints;
  model::CheckTableReferenceShape(request.table_name, &constraints);
  CheckInsightsIndexShape(request.index_name, &constraints);
  if (request.action.has_value()) {
    constraints.CheckEnum(*request.action, "contributorInsightsAction", kActions);
  } else {
    constraints.AddNull("contributorInsightsAction");
  }
  if (request.mode.has_value()) constraints.CheckEnum(*request.mode, "contributorInsightsMode", kModes);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  ARM_RETURN_IF_ERROR(model::CheckTableReference(*request.table_name));
  InsightsDescription description{std::string(model::TableNamePart(*request.table_name)), request.index_name, {}};
  ARM_ASSIGN_OR_RETURN(
      const std::optional<model::TableDescriptor> updated,
      UpdateSettings(database, model::LocalTableName(*request.table_name),
                     [&](model::TableDescriptor* table) -> absl::Status {
                       ARM_RETURN_IF_ERROR(CheckSettingsMayChange(*table));
                       ARM_ASSIGN_OR_RETURN(auto* const insights, FindInsights(request.index_name, table));
                       ARM_ASSIGN_OR_RETURN(description.has_changed, ApplyAction(request, *database, insights));
                       description.insights = *insights;
                       return absl::OkStatus();
                     }));
  if (!updated.has_value()) return NoSuchTableError(*request.table_name);
  return description;
}

absl::StatusOr<InsightsDescription> DescribeContributorInsights(const store::Database& database,
                                                                const std::optional<std::string>& table_name,
                                                                const std::optional<std::string>& index_name) {
  model::ConstraintList constraints;
  model::CheckTableReferenceShape(table_name, &constraints);
  CheckInsightsIndexShape(index_name, &constraints);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  ARM_RETURN_IF_ERROR(model::CheckTableReference(*table_name));
  ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindTableWithSettings(database, *table_name));
  const model::TableDescriptor& table = pinned.table->descriptor;
  if (!index_name.has_value()) return InsightsDescription{table.name, {}, table.settings.contributor_insights};
  const model::IndexDescriptor* const index = table.FindIndex(*index_name);
  if (index == nullptr || index->kind == model::IndexKind::kLocal) {
    return NoInsightsIndexError(*index_name, table.name);
  }
  return InsightsDescription{table.name, index->name, index->contributor_insights};
}

absl::StatusOr<ListContributorInsightsResult> ListContributorInsights(const store::Database& database,
                                                                      const ListContributorInsightsRequest& request) {
  model::ConstraintList constraints;
  if (request.table_name.has_value()) model::CheckTableReferenceShape(request.table_name, &constraints);
  if (request.max_results.has_value()) {
    constraints.CheckMinimum(*request.max_results, "maxResults", 1);
    constraints.CheckMaximum(*request.max_results, "maxResults", kSummariesMax);
  }
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  ARM_ASSIGN_OR_RETURN(const ListPosition position, PositionOf(request.next_token));
  const auto max = static_cast<size_t>(request.max_results.value_or(kSummariesMax));
  ListContributorInsightsResult result;
  if (request.table_name.has_value()) {
    ARM_RETURN_IF_ERROR(model::CheckTableReference(*request.table_name));
    ARM_ASSIGN_OR_RETURN(const PinnedTable pinned, FindTableInAnyState(database, *request.table_name));
    AddSummaries(pinned.table->descriptor, position, max, &result);
    return result;
  }
  const std::shared_ptr<const store::CatalogSnapshot> catalog = database.catalog();
  const auto& tables = catalog->tables();
  for (auto table = tables.lower_bound(position.table); table != tables.end(); ++table) {
    if (result.next_token.has_value()) break;
    AddSummaries(table->second->descriptor, position, max, &result);
  }
  return result;
}

}  // namespace armature::engine
