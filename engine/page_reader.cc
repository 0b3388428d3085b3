#include "engine/page_reader.h"

#include <utility>
#include <vector>

#include "engine/capacity.h"
#include "engine/constraints.h"
#include "engine/expr/condition_eval.h"
#include "engine/expr/projection.h"
#include "engine/legacy.h"
#include "index/projection.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/codec/stored_item.h"
#include "storage/model/limits.h"

namespace armature::engine {
namespace {

// gRPC clients receive 4 MB unless told otherwise. A page of many tiny attributes grows up to fivefold on the wire, so
// it ends here; the item that crosses the border (below 2 MB encoded, unless made of huge numbers) is still whole.
constexpr size_t kPageMaxEncodedBytes = 2 << 20;
constexpr int64_t kRowsBetweenChecks = 64;

bool IsGlobal(const store::Index* index) {
  return index != nullptr && index->descriptor.kind == model::IndexKind::kGlobal;
}

// What Select says when nothing was said.
std::string_view EffectiveSelect(const ReadPlan& plan) {
  if (!plan.request.select.empty()) return plan.request.select;
  if (plan.projection() != nullptr) return "SPECIFIC_ATTRIBUTES";
  return plan.index == nullptr ? "ALL_ATTRIBUTES" : "ALL_PROJECTED_ATTRIBUTES";
}

std::vector<std::string> Unprojected(const store::Index& index, const expr::Projection& projection) {
  std::vector<std::string> names;
  for (std::string& name : expr::TopLevelNames(projection)) {
    if (!index::ProjectsAttribute(index, name)) names.push_back(std::move(name));
  }
  return names;
}

// Until the table itself is read for what a local index lacks.
absl::Status FetchNotAvailable(const store::Index& index) {
  return UnknownOperationError(Cat("Reading attributes that the local secondary index ", index.descriptor.name,
                                   " does not project is not available in this version"));
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

// Collects the rows of a page.
class Collector {
 public:
  Collector(const RequestContext& context, const ReadPlan& plan, PageWriter* page)
      : context_(context),
        plan_(plan),
        page_(page),
        count_only_(plan.request.select == "COUNT"),
        limit_(plan.request.limit.value_or(INT64_MAX)) {}

  store::RowVerdict Visit(std::string_view value) {
    absl::StatusOr<codec::StoredItemView> stored = codec::ParseStoredItem(value);
    if (stored.ok() && result_.scanned_count % kRowsBetweenChecks == kRowsBetweenChecks - 1) {
      if (const absl::Status wanted = CheckStillWanted(context_); !wanted.ok()) stored = wanted;
    }
    if (!stored.ok()) {
      status_ = stored.status();
      return store::RowVerdict::kStop;
    }
    ++result_.scanned_count;
    bytes_ += stored->api_size;
    if (plan_.filter() == nullptr || expr::Evaluate(*plan_.filter(), stored->item)) Keep(stored->item);
    if (result_.scanned_count < limit_ && bytes_ < model::kPageMaxBytes && encoded_ < kPageMaxEncodedBytes) {
      return store::RowVerdict::kContinue;
    }
    const std::vector<std::string>& names = plan_.index == nullptr ? plan_.table().key_names : plan_.index->key_names;
    result_.last_evaluated_key = model::PickAttributes(stored->item, names);
    return store::RowVerdict::kStop;
  }

  const absl::Status& status() const { return status_; }
  size_t bytes() const { return bytes_; }
  ReadResult TakeResult() { return std::move(result_); }

 private:
  void Keep(const model::ItemView& item) {
    ++result_.count;
    if (count_only_) return;
    if (plan_.projection() == nullptr) {
      encoded_ += item.bytes().size();
      page_->Add(item.bytes());
      return;
    }
    const std::string projected = expr::Project(*plan_.projection(), item);
    encoded_ += projected.size();
    page_->Add(projected);
  }

  const RequestContext& context_;
  const ReadPlan& plan_;
  PageWriter* const page_;
  const bool count_only_;
  const int64_t limit_;
  ReadResult result_;
  absl::Status status_;
  size_t bytes_ = 0;
  size_t encoded_ = 0;
};

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

absl::Status CheckSelect(const ReadPlan& plan) {
  const std::string_view select = EffectiveSelect(plan);
  ARM_RETURN_IF_ERROR(CheckSelectWord(plan, select));
  if (plan.index == nullptr) return absl::OkStatus();
  const model::IndexDescriptor& index = plan.index->descriptor;
  if (select == "ALL_ATTRIBUTES" && index.projection.type != model::ProjectionType::kAll) {
    if (index.kind == model::IndexKind::kLocal) return FetchNotAvailable(*plan.index);
    return InvalidParameterError(Cat("Select type ALL_ATTRIBUTES is not supported for global secondary index ",
                                     index.name, " because its projection type is not ALL"));
  }
  if (plan.projection() == nullptr) return absl::OkStatus();
  const std::vector<std::string> missing = Unprojected(*plan.index, *plan.projection());
  if (missing.empty()) return absl::OkStatus();
  if (index.kind == model::IndexKind::kLocal) return FetchNotAvailable(*plan.index);
  return InvalidParameterError(
      Cat("Global secondary index ", index.name, " does not project ", model::PrintedList(missing)));
}

absl::StatusOr<std::optional<ReadResult>> ReadPage(const Parts& parts, const RequestContext& context,
                                                   const ReadPlan& plan, store::ReadMode mode, PageWriter* page) {
  ARM_RETURN_IF_ERROR(CheckStillWanted(context));
  Collector collector(context, plan, page);
  ARM_ASSIGN_OR_RETURN(
      const store::RangeEnd end,
      parts.database->ReadRange(
          plan.keyspace(), plan.range, plan.direction,
          [&collector](std::string_view, std::string_view value) { return collector.Visit(value); }, mode));
  if (end == store::RangeEnd::kWouldBlock) {
    page->Clear();
    return std::nullopt;
  }
  ARM_RETURN_IF_ERROR(WithContext(collector.status(), plan.table().descriptor.name));
  ReadResult result = collector.TakeResult();
  ARM_ASSIGN_OR_RETURN(const CapacityReport report, ParseCapacityReport(plan.request.return_consumed_capacity));
  const bool consistent = plan.request.consistent_read && !IsGlobal(plan.index);
  result.capacity = ReportRead(report, *plan.request.table_name, plan.index, ReadUnits(collector.bytes(), consistent));
  return result;
}

}  // namespace armature::engine
