#include "engine/items/read_plan.h"

#include <utility>

#include "engine/expr/condition_eval.h"
#include "engine/expr/key_condition.h"
#include "engine/expr/projection.h"
#include "engine/items/constraints.h"
#include "engine/items/item_key.h"
#include "index/index_entry.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"
#include "storage/codec/key_codec.h"
#include "storage/model/limits.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

using codec::PrefixSuccessor;

constexpr char kInvalid[] = "The provided starting key is invalid";
// Errors of numbers and of duplicate set elements have the same text as elsewhere. All other errors get the prefix
// kInvalid. The API documents no reason for the difference.
constexpr std::string_view kToldWithoutPrefix[] = {
    "cannot be converted to a numeric value", "Number overflow.", "Number underflow.",
    "more than 38 significant digits",        "Input collection",
};

constexpr ValidationLayer LayerOf(ReadKind kind) {
  return LayerOf(kind == ReadKind::kQuery ? ItemOperation::kQuery : ItemOperation::kScan);
}

// The values of a matched condition have the types of the schema, and are canonical.
absl::Status NoKeyValueError() { return absl::InternalError("A value of a key condition is no value of the key"); }

absl::StatusOr<std::string> WithComponent(const std::string& prefix, const model::KeyAttribute& attribute,
                                          const model::ValueView& value) {
  std::string key = prefix;
  if (!codec::AppendKeyComponent(attribute.type, value.scalar(), &key)) return NoKeyValueError();
  return key;
}

// `prefix` is the encoded key up to the attribute that `term` restricts.
absl::StatusOr<store::KeyRange> RangeOfTerm(const std::string& prefix, const expr::KeyConditionTerm& term,
                                            const model::KeyAttribute& attribute) {
  if (term.op == expr::KeyOperator::kBeginsWith) {
    std::string begin = prefix;
    if (!codec::AppendKeyComponentPrefix(attribute.type, term.first.scalar(), &begin)) return NoKeyValueError();
    std::string after = PrefixSuccessor(begin);
    return store::KeyRange{std::move(begin), std::move(after)};
  }
  ARM_ASSIGN_OR_RETURN(std::string first, WithComponent(prefix, attribute, term.first));
  std::string after = PrefixSuccessor(first);
  const std::string end = PrefixSuccessor(prefix);
  switch (term.op) {
    case expr::KeyOperator::kBetween: {
      if (!term.second.has_value()) return NoKeyValueError();
      ARM_ASSIGN_OR_RETURN(const std::string last, WithComponent(prefix, attribute, *term.second));
      return store::KeyRange{std::move(first), PrefixSuccessor(last)};
    }
    case expr::KeyOperator::kLess:
      return store::KeyRange{prefix, std::move(first)};
    case expr::KeyOperator::kLessOrEqual:
      return store::KeyRange{prefix, std::move(after)};
    case expr::KeyOperator::kGreater:
      return store::KeyRange{std::move(after), end};
    case expr::KeyOperator::kGreaterOrEqual:
      return store::KeyRange{std::move(first), end};
    default:
      return store::KeyRange{std::move(first), std::move(after)};
  }
}

// The rows of one partition that satisfy `condition`. Every condition that the API allows is one contiguous range,
// because key components are self-delimiting and ordered.
struct PartitionRange {
  std::string partition;  // hash and partition components
  store::KeyRange range;
};
absl::StatusOr<PartitionRange> RangeOfCondition(const expr::MatchedKeyCondition& condition,
                                                const model::KeySchema& schema) {
  std::string components;
  for (size_t i = 0; i < condition.partition.size(); ++i) {
    ARM_ASSIGN_OR_RETURN(components, WithComponent(components, schema.partition[i], condition.partition[i]));
  }
  PartitionRange result;
  codec::AppendPartitionHash(codec::PartitionHash(components), &result.partition);
  result.partition += components;
  std::string prefix = result.partition;
  for (size_t i = 0; i < condition.sort_equal.size(); ++i) {
    ARM_ASSIGN_OR_RETURN(prefix, WithComponent(prefix, schema.sort[i], condition.sort_equal[i]));
  }
  if (condition.sort_range.has_value()) {
    ARM_ASSIGN_OR_RETURN(result.range,
                         RangeOfTerm(prefix, *condition.sort_range, schema.sort[condition.sort_equal.size()]));
  } else {
    result.range = {prefix, PrefixSuccessor(prefix)};
  }
  return result;
}

// The rows of segment `segment` of `total`. Requires segment < total.
store::KeyRange RangeOfSegment(uint32_t segment, uint32_t total) {
  const codec::HashRange hashes = codec::SegmentHashRange(segment, total);
  store::KeyRange range;
  codec::AppendPartitionHash(static_cast<uint32_t>(hashes.begin), &range.begin);
  // The last segment extends to the end of the keyspace.
  if (hashes.end <= UINT32_MAX) codec::AppendPartitionHash(static_cast<uint32_t>(hashes.end), &range.end);
  return range;
}

// Narrows `range` to the rows behind `key` in reading direction.
void StartAfter(std::string_view key, store::Direction direction, store::KeyRange* range) {
  if (direction == store::Direction::kForward) {
    std::string begin(key);
    begin.push_back('\0');  // the next possible key
    if (begin > range->begin) range->begin = std::move(begin);
  } else if (range->end.empty() || key < range->end) {
    range->end = std::string(key);
  }
}

bool HasExactly(const model::ItemView& key, const std::vector<std::string>& sorted_names) {
  auto wanted = sorted_names.begin();
  bool same = true;
  key.ForEach([&](const model::AttributeView& attribute) {
    same = wanted != sorted_names.end() && *wanted == attribute.name;
    if (same) ++wanted;
    return same;
  });
  return same && wanted == sorted_names.end();
}

// Canonical bytes of the start key: a key of the table or index, not an opaque token. It need not exist and may be made
// up by the client. Checks the values without knowledge of the table.
absl::StatusOr<std::string> CanonicalizeStartKey(const std::string& wire, ValidationLayer layer) {
  absl::StatusOr<codec::CanonicalItem> key = codec::CanonicalizeItem(wire, ValueTextsOf(layer));
  if (key.ok()) return std::move(key->bytes);
  const std::optional<ApiError> error = GetApiError(key.status());
  if (!error.has_value() || error->type != ApiErrorType::kValidation) return key.status();
  for (const std::string_view part : kToldWithoutPrefix) {
    if (error->message.find(part) != std::string::npos) return key.status();
  }
  return ValidationError(Cat(kInvalid, ": ", error->message));
}

// Checks that the plan's start key holds exactly the key attributes of table and index with their types, and encodes it
// as a row key. Errors: ValidationException, with the text of the operation.
absl::StatusOr<std::string> EncodeStartKey(const ReadPlan& plan) {
  const store::Index* const index = plan.index;
  const model::ItemView key(*plan.start_key);
  const bool table_scan = plan.kind == ReadKind::kScan && index == nullptr;
  const absl::Status wrong_shape = ValidationError(table_scan ? Cat(kInvalid, ": ", kKeyMismatch) : kInvalid);
  if (!HasExactly(key, plan.key_names())) return wrong_shape;
  const model::KeySchema& table_key = plan.table().descriptor.key;
  std::optional<std::string> encoded;
  if (index == nullptr) {
    encoded = codec::EncodeTableKey(table_key, key);
  } else {
    encoded = index::EncodeIndexKey(index->descriptor.kind, index->descriptor.key, table_key, key);
  }
  if (!encoded.has_value()) return plan.kind == ReadKind::kScan ? wrong_shape : ValidationError(kKeyMismatch);
  ARM_RETURN_IF_ERROR(CheckKeyValues(table_key, key));
  if (index != nullptr) ARM_RETURN_IF_ERROR(CheckKeyValues(index->descriptor.key, key));
  return *std::move(encoded);
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
  const std::string_view envelope = plan.kind == ReadKind::kQuery ? kEnvelope : "";
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
    return ValidationError(Cat(envelope, "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"));
  }
  return absl::OkStatus();
}

void CheckSelectValue(const ReadRequest& request, model::ConstraintList* constraints) {
  CheckOptionalEnum(request.select, "select", kSelectValues, constraints);
}

// A request without a table is left to the older layer, which gathers in another order.
absl::Status CheckReadWithoutTable(const ReadRequest& request) {
  model::ConstraintList constraints;
  CheckSelectValue(request, &constraints);
  model::CheckTableReferenceShape(request.table_name, &constraints);
  CheckCapacityReport(request.return_consumed_capacity, &constraints);
  CheckLegacyShapes(request.expressions.legacy, RulesOf(ValidationLayer::kOlder), &constraints);
  if (request.limit.has_value()) constraints.CheckMinimum(*request.limit, "limit", 1);
  return constraints.ToStatus();
}

// Checks common to both operations that need no table: names, enumerations, Limit, parameter styles, legacy parameters
// except KeyConditions, the start key's values.
absl::Status CheckReadRequest(ReadPlan* plan) {
  const ReadRequest& request = plan->request;
  const LayerRules& rules = RulesOf(LayerOf(plan->kind));
  // With short texts for enumerations, Select follows the mix of parameters and ConditionalOperator.
  if (rules.short_enums && !request.table_name.has_value()) return CheckReadWithoutTable(request);
  const bool select_later = rules.short_enums;
  ARM_RETURN_IF_ERROR(CheckShape(request.table_name, {}, [&](model::ConstraintList* constraints) {
    if (request.index_name.has_value()) {
      constraints->CheckName(*request.index_name, "indexName", model::kTableNameMinChars);
    }
    CheckCapacityReport(request.return_consumed_capacity, constraints);
    if (!select_later) CheckSelectValue(request, constraints);
    CheckLegacyShapes(request.expressions.legacy, rules, constraints);
    if (plan->kind == ReadKind::kScan && request.limit.has_value()) {
      constraints->CheckMinimum(*request.limit, "limit", 1);
    }
  }));
  // Query checks it in a later layer, without the value.
  if (request.limit.has_value() && *request.limit < 1) {
    return ValidationError(Cat(
        kEnvelope, "Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1"));
  }
  ARM_RETURN_IF_ERROR(CheckParameterStyles(request.expressions, LayerOf(plan->kind)));
  if (select_later) {
    model::ConstraintList constraints;
    CheckSelectValue(request, &constraints);
    ARM_RETURN_IF_ERROR(constraints.ToStatus());
  }
  ARM_ASSIGN_OR_RETURN(plan->expressions, BindLegacyParameters(request.expressions, LayerOf(plan->kind)));
  if (request.exclusive_start_key_wire.has_value()) {
    ARM_ASSIGN_OR_RETURN(plan->start_key, CanonicalizeStartKey(*request.exclusive_start_key_wire, LayerOf(plan->kind)));
  }
  return absl::OkStatus();
}

// Finds table and index.
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
  if (plan->is_global() && plan->request.consistent_read) {
    return ValidationError("Consistent reads are not supported on global secondary indexes");
  }
  return absl::OkStatus();
}

// Refuses paths into the keys of the index and of the table.
absl::Status CheckKeyPaths(const ReadPlan& plan) {
  if (plan.index != nullptr) {
    ARM_RETURN_IF_ERROR(CheckKeysAreWhole(plan.expressions.get(), plan.index->descriptor.key, /*index_keys=*/true));
  }
  return CheckKeysAreWhole(plan.expressions.get(), plan.table().descriptor.key, /*index_keys=*/false);
}

// Checks Select and projection against the attributes of the index. Sets `plan->fetch`.
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

// True if the condition selects a single sort key, equal to the start key's.
bool HasTheOnlySortKey(const ReadPlan& plan, const expr::MatchedKeyCondition& matched) {
  const std::vector<model::KeyAttribute>& sort = plan.key_schema().sort;
  if (sort.empty() || matched.sort_equal.size() != sort.size()) return false;
  const model::ItemView start_key(*plan.start_key);
  for (size_t i = 0; i < sort.size(); ++i) {
    const std::optional<model::ValueView> value = start_key.Find(sort[i].name);
    if (!value.has_value() || value->scalar() != matched.sort_equal[i].scalar()) return false;
  }
  return true;
}

// Narrows the plan's range to the rows behind the start key.
absl::Status ApplyStartKey(const PartitionRange& wanted, const expr::MatchedKeyCondition& matched, ReadPlan* plan) {
  if (!plan->start_key.has_value()) return absl::OkStatus();
  ARM_ASSIGN_OR_RETURN(const std::string key, EncodeStartKey(*plan));
  if (!key.starts_with(wanted.partition)) {
    if (plan->key_schema().partition.size() == 1 && HasTheOnlySortKey(*plan, matched)) {
      return ValidationError("The query can return at most one row and cannot be restarted");
    }
    return ValidationError("The provided starting key is outside query boundaries based on provided conditions");
  }
  if (key < wanted.range.begin || (!wanted.range.end.empty() && key >= wanted.range.end)) {
    return ValidationError("The provided starting key does not match the range key predicate");
  }
  StartAfter(key, plan->direction, &plan->range);
  return absl::OkStatus();
}

absl::Status CheckBounds(int64_t value, std::string_view name, int64_t minimum, int64_t maximum) {
  if (value >= minimum && value <= maximum) return absl::OkStatus();
  const bool low = value < minimum;
  return ValidationError(Cat(kEnvelope, "Value '", value, "' at '", name,
                             "' failed to satisfy constraint: Member must have value ", low ? "greater" : "less",
                             " than or equal to ", low ? minimum : maximum));
}

absl::Status CheckSegments(const ReadRequest& request) {
  if (request.segment.has_value()) {
    ARM_RETURN_IF_ERROR(CheckBounds(*request.segment, "segment", 0, model::kTotalSegmentsMax - 1));
  }
  if (request.total_segments.has_value()) {
    ARM_RETURN_IF_ERROR(CheckBounds(*request.total_segments, "totalSegments", 1, model::kTotalSegmentsMax));
  }
  if (request.segment.has_value() && !request.total_segments.has_value()) {
    return ValidationError(
        "The TotalSegments parameter is required but was not present in the request when Segment parameter is present");
  }
  if (!request.segment.has_value() && request.total_segments.has_value()) {
    return ValidationError(
        "The Segment parameter is required but was not present in the request when parameter TotalSegments is present");
  }
  if (request.segment.has_value() && *request.segment >= *request.total_segments) {
    return ValidationError(
        Cat("The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: ",
            *request.segment, " is not less than TotalSegments: ", *request.total_segments));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<ReadPlan>> PlanQuery(Parts* parts, ReadRequest request) {
  auto plan = std::make_shared<ReadPlan>();
  plan->kind = ReadKind::kQuery;
  plan->request = std::move(request);
  plan->direction = plan->request.scan_index_forward ? store::Direction::kForward : store::Direction::kReverse;
  ARM_RETURN_IF_ERROR(CheckReadRequest(plan.get()));
  const ExpressionParameters& parameters = plan->request.expressions;
  const bool legacy = parameters.legacy.key_conditions.has_value() && !parameters.legacy.key_conditions->empty();
  if (!parameters.key_condition.has_value() && !legacy) {
    return ValidationError(
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.");
  }
  ARM_RETURN_IF_ERROR(BindExpressionParameters(parameters, expr::kQueryKinds, LayerOf(plan->kind), &parts->parse_cache,
                                               &plan->expressions));
  ARM_RETURN_IF_ERROR(FindKeyspace(*parts->database, plan.get()));
  const model::KeySchema& schema = plan->key_schema();
  if (plan->start_key.has_value()) {
    // The shape of the start key is checked before the key condition.
    ARM_RETURN_IF_ERROR(EncodeStartKey(*plan).status());
  }
  ARM_ASSIGN_OR_RETURN(const expr::MatchedKeyCondition matched,
                       expr::MatchKeyCondition(*plan->expressions->bound.key_condition, schema));
  ARM_ASSIGN_OR_RETURN(const PartitionRange wanted, RangeOfCondition(matched, schema));
  plan->partition = wanted.partition;
  plan->range = wanted.range;
  ARM_RETURN_IF_ERROR(ApplyStartKey(wanted, matched, plan.get()));
  ARM_RETURN_IF_ERROR(CheckKeyPaths(*plan));
  if (plan->filter() != nullptr && !plan->request.filter_may_use_keys) {
    const std::string_view name = parameters.legacy.query_filter.has_value() ? "QueryFilter" : "Filter Expression";
    ARM_RETURN_IF_ERROR(expr::CheckFilterAvoidsKeys(name, *plan->filter(), schema));
  }
  ARM_RETURN_IF_ERROR(CheckSelect(plan.get()));
  return plan;
}

absl::StatusOr<std::shared_ptr<ReadPlan>> PlanScan(Parts* parts, ReadRequest request) {
  auto plan = std::make_shared<ReadPlan>();
  plan->kind = ReadKind::kScan;
  plan->request = std::move(request);
  ARM_RETURN_IF_ERROR(CheckReadRequest(plan.get()));
  ARM_RETURN_IF_ERROR(CheckSegments(plan->request));
  ARM_RETURN_IF_ERROR(BindExpressionParameters(plan->request.expressions, expr::kScanKinds, LayerOf(plan->kind),
                                               &parts->parse_cache, &plan->expressions));
  ARM_RETURN_IF_ERROR(FindKeyspace(*parts->database, plan.get()));
  const auto segment = static_cast<uint32_t>(plan->request.segment.value_or(0));
  const auto total = static_cast<uint32_t>(plan->request.total_segments.value_or(1));
  plan->range = RangeOfSegment(segment, total);
  if (plan->start_key.has_value()) {
    ARM_ASSIGN_OR_RETURN(const std::string key, EncodeStartKey(*plan));
    if (key < plan->range.begin || (!plan->range.end.empty() && key >= plan->range.end)) {
      return ValidationError(
          Cat("The provided starting key is invalid: Invalid ExclusiveStartKey. Please use "
              "ExclusiveStartKey with correct Segment. TotalSegments: ",
              total, " Segment: ", segment));
    }
    StartAfter(key, plan->direction, &plan->range);
  }
  ARM_RETURN_IF_ERROR(CheckKeyPaths(*plan));
  ARM_RETURN_IF_ERROR(CheckSelect(plan.get()));
  return plan;
}

}  // namespace armature::engine
