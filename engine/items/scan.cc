#include <utility>

#include "engine/items/key_range.h"
#include "engine/items/page_reader.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/limits.h"

namespace armature::engine {
namespace {

absl::Status CheckBounds(int64_t value, std::string_view name, int64_t minimum, int64_t maximum) {
  if (value >= minimum && value <= maximum) return absl::OkStatus();
  const bool low = value < minimum;
  return ValidationError(Cat("1 validation error detected: Value '", value, "' at '", name,
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

absl::StatusOr<std::shared_ptr<ReadPlan>> PlanScan(Parts* parts, ReadRequest request) {
  auto plan = std::make_shared<ReadPlan>();
  plan->kind = ReadKind::kScan;
  plan->request = std::move(request);
  ARM_RETURN_IF_ERROR(CheckReadRequest(plan.get()));
  ARM_RETURN_IF_ERROR(CheckSegments(plan->request));
  ARM_RETURN_IF_ERROR(
      BindExpressionParameters(plan->request.expressions, expr::kScanKinds, &parts->parse_cache, &plan->expressions));
  ARM_RETURN_IF_ERROR(FindKeyspace(*parts->database, plan.get()));
  const auto segment = static_cast<uint32_t>(plan->request.segment.value_or(0));
  const auto total = static_cast<uint32_t>(plan->request.total_segments.value_or(1));
  plan->range = RangeOfSegment(segment, total);
  if (plan->start_key.has_value()) {
    ARM_ASSIGN_OR_RETURN(const std::string key, EncodeStartKey(ReadKind::kScan, plan->table(), plan->index,
                                                               model::ItemView(*plan->start_key)));
    if (key < plan->range.begin || (!plan->range.end.empty() && key >= plan->range.end)) {
      return ValidationError(
          Cat("The provided starting key is invalid: Invalid ExclusiveStartKey. Please use "
              "ExclusiveStartKey with correct Segment. TotalSegments: ",
              total, " Segment: ", segment));
    }
    StartAfter(key, plan->direction, &plan->range);
  }
  ARM_RETURN_IF_ERROR(CheckSelect(plan.get()));
  return plan;
}

}  // namespace armature::engine
