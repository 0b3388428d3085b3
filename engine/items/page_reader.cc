#include "engine/items/page_reader.h"

#include <string_view>
#include <utility>
#include <vector>

#include "engine/capacity.h"
#include "engine/expr/condition_eval.h"
#include "engine/expr/projection.h"
#include "engine/items/constraints.h"
#include "engine/items/legacy_parameters.h"
#include "engine/items/page_collector.h"
#include "engine/throughput.h"
#include "index/index_entry.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"

namespace armature::engine {
namespace {

bool IsGlobal(const store::Index* index) {
  return index != nullptr && index->descriptor.kind == model::IndexKind::kGlobal;
}

// Name of the table or index for errors about damage.
std::string NameOf(const ReadPlan& plan) {
  const std::string& table = plan.table().descriptor.name;
  return plan.index == nullptr ? table : Cat(table, ", index ", plan.index->descriptor.name);
}

// The value of Select, or its default.
std::string_view EffectiveSelect(const ReadPlan& plan) {
  if (!plan.request.select.empty()) return plan.request.select;
  if (plan.projection() != nullptr) return "SPECIFIC_ATTRIBUTES";
  return plan.index == nullptr ? "ALL_ATTRIBUTES" : "ALL_PROJECTED_ATTRIBUTES";
}

// The members of `names` that are not projected into the index.
std::vector<std::string> Unprojected(const store::Index& index, std::vector<std::string> names) {
  std::erase_if(names, [&index](const std::string& name) { return index::ProjectsAttribute(index, name); });
  return names;
}

// The fetch mode of a read of a local index.
Fetch FetchFor(const ReadPlan& plan, bool wants_unprojected) {
  if (plan.filter() != nullptr && !Unprojected(*plan.index, expr::TopLevelNames(*plan.filter())).empty()) {
    return Fetch::kAll;
  }
  return wants_unprojected ? Fetch::kPassing : Fetch::kNone;
}

absl::Status CheckSelectWord(const ReadPlan& plan, std::string_view select) {
  const std::string_view envelope = plan.kind == ReadKind::kQuery ? "1 validation error detected: " : "";
  if (select == "SPECIFIC_ATTRIBUTES") {
    if (plan.projection() != nullptr) return absl::OkStatus();
    return ValidationError(Cat(
        envelope, "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES"));
  }
  if (plan.projection() != nullptr) {
    const bool legacy = plan.request.expressions.legacy.attributes_to_get.has_value();
    return ValidationError(Cat(envelope, "Cannot specify the ", legacy ? "AttributesToGet" : "ProjectionExpression",
                               " when choosing to get ", select == "COUNT" ? "only the Count" : select));
  }
  if (select == "ALL_PROJECTED_ATTRIBUTES" && plan.index == nullptr) {
    return ValidationError("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckReadRequest(ReadPlan* plan) {
  const ReadRequest& request = plan->request;
  ARM_RETURN_IF_ERROR(CheckShape(request.table_name, {}, [&request](model::ConstraintList* constraints) {
    if (request.index_name.has_value()) {
      constraints->CheckName(*request.index_name, "indexName", model::kTableNameMinChars);
    }
    CheckOptionalEnum(request.return_consumed_capacity, "returnConsumedCapacity", kReturnConsumedCapacityValues,
                      constraints);
    CheckOptionalEnum(request.select, "select", kSelectValues, constraints);
    CheckLegacyShapes(request.expressions.legacy, constraints);
  }));
  if (request.limit.has_value() && *request.limit < 1) {
    return ValidationError(
        "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have value greater "
        "than "
        "or equal to 1");
  }
  ARM_RETURN_IF_ERROR(CheckParameterStyles(request.expressions));
  ARM_ASSIGN_OR_RETURN(plan->expressions, BindLegacyParameters(request.expressions));
  if (request.exclusive_start_key_wire.has_value()) {
    ARM_ASSIGN_OR_RETURN(plan->start_key, CanonicalizeStartKey(*request.exclusive_start_key_wire));
  }
  return absl::OkStatus();
}

absl::Status FindKeyspace(const store::Database& database, ReadPlan* plan) {
  ARM_ASSIGN_OR_RETURN(plan->pinned, FindTable(database, *plan->request.table_name));
  if (!plan->request.index_name.has_value()) return absl::OkStatus();
  const std::string& name = *plan->request.index_name;
  plan->index = plan->table().FindIndex(name);
  if (plan->index == nullptr || plan->index->descriptor.state == model::IndexState::kDeleting) {
    return ValidationError(Cat("The table does not have the specified index: ", name));
  }
  if (plan->index->descriptor.state == model::IndexState::kCreating) {
    return ValidationError(Cat("Cannot read from backfilling global secondary index: ", name));
  }
  if (IsGlobal(plan->index) && plan->request.consistent_read) {
    return ValidationError("Consistent reads are not supported on global secondary indexes");
  }
  return absl::OkStatus();
}

absl::Status CheckSelect(ReadPlan* plan) {
  const std::string_view select = EffectiveSelect(*plan);
  ARM_RETURN_IF_ERROR(CheckSelectWord(*plan, select));
  if (plan->index == nullptr) return absl::OkStatus();
  const model::IndexDescriptor& index = plan->index->descriptor;
  const bool lacks_whole_items = select == "ALL_ATTRIBUTES" && index.projection.type != model::ProjectionType::kAll;
  std::vector<std::string> missing;
  if (plan->projection() != nullptr) missing = Unprojected(*plan->index, expr::TopLevelNames(*plan->projection()));
  if (index.kind == model::IndexKind::kLocal) {
    plan->fetch = FetchFor(*plan, lacks_whole_items || !missing.empty());
    return absl::OkStatus();
  }
  if (lacks_whole_items) {
    return InvalidParameterError(Cat("Select type ALL_ATTRIBUTES is not supported for global secondary index ",
                                     index.name, " because its projection type is not ALL"));
  }
  if (missing.empty()) return absl::OkStatus();
  return InvalidParameterError(
      Cat("Global secondary index ", index.name, " does not project ", model::PrintedList(missing)));
}

absl::StatusOr<std::optional<ReadResult>> ReadPage(const Parts& parts, const RequestContext& context,
                                                   const ReadPlan& plan, store::ReadMode mode, PageWriter* page) {
  ARM_RETURN_IF_ERROR(CheckStillWanted(context));
  PageCollector collector(context, plan, page);
  absl::StatusOr<store::RangeEnd> end = store::RangeEnd::kReached;
  if (plan.fetch == Fetch::kNone) {
    end = parts.database->ReadRange(
        plan.keyspace(), plan.range, plan.direction,
        [&collector](std::string_view, std::string_view value) { return collector.VisitRow(value); }, mode);
  } else {
    end = parts.database->ReadJoined(plan.keyspace(), plan.range, plan.direction, plan.table().data, &collector, mode);
  }
  if (end.ok() && !collector.status().ok()) end = collector.status();
  if (!end.ok()) return WithContext(end.status(), NameOf(plan));
  if (*end == store::RangeEnd::kWouldBlock) {
    page->Clear();
    return std::nullopt;
  }
  ReadResult result = collector.TakeResult();
  ARM_ASSIGN_OR_RETURN(const CapacityReport report, ParseCapacityReport(plan.request.return_consumed_capacity));
  const bool consistent = plan.request.consistent_read && !IsGlobal(plan.index);
  const double units = ReadUnits(ReadBlocks(collector.entry_bytes()), consistent);
  const double fetched_units = ReadUnits(collector.fetched_blocks(), consistent);
  ChargeRead(parts, plan.table(), plan.index, units + fetched_units);
  result.capacity = ReportRead(report, *plan.request.table_name, plan.index, units, fetched_units);
  return result;
}

}  // namespace armature::engine
