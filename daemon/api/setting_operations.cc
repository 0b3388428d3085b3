// Tags, time to live, continuous backups, limits and endpoints: from messages to engine requests, and from results to
// messages.

#include <string>

#include "armature/api/v1/tables.pb.h"
#include "daemon/api/operation_lists.h"
#include "daemon/message_json/given_fields.h"
#include "engine/tables/table_settings.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

engine::TagResourceRequest ToEngine(const v1::TagResourceRequest& request) {
  engine::TagResourceRequest to;
  to.resource_arn = GivenText(request, request.kResourceArnFieldNumber);
  if (IsListGiven(request, request.kTagsFieldNumber)) to.tags.emplace();
  for (const v1::Tag& tag : request.tags()) to.tags->emplace_back(tag.key(), tag.value());
  return to;
}

engine::UntagResourceRequest ToEngine(const v1::UntagResourceRequest& request) {
  engine::UntagResourceRequest to;
  to.resource_arn = GivenText(request, request.kResourceArnFieldNumber);
  if (IsListGiven(request, request.kTagKeysFieldNumber)) {
    to.tag_keys.emplace(request.tag_keys().begin(), request.tag_keys().end());
  }
  return to;
}

void FillSettings(const engine::ListTagsOfResourceResult& result, v1::ListTagsOfResourceResponse* to) {
  for (const auto& [key, value] : result.tags) {
    v1::Tag* const tag = to->add_tags();
    tag->set_key(key);
    tag->set_value(value);
  }
  if (result.next_token.has_value()) to->set_next_token(*result.next_token);
}

void TagResource(const OperationContext& context, const v1::TagResourceRequest& request, v1::TagResourceResponse*,
                 Finished done) {
  context.engine->RunOnDatabase(AnswerNothing(std::move(done)), engine::TagResource, ToEngine(request));
}

void UntagResource(const OperationContext& context, const v1::UntagResourceRequest& request, v1::UntagResourceResponse*,
                   Finished done) {
  context.engine->RunOnDatabase(AnswerNothing(std::move(done)), engine::UntagResource, ToEngine(request));
}

void ListTagsOfResource(const OperationContext& context, const v1::ListTagsOfResourceRequest& request,
                        v1::ListTagsOfResourceResponse* response, Finished done) {
  const engine::ListTagsOfResourceRequest from = {GivenText(request, request.kResourceArnFieldNumber),
                                                  GivenText(request, request.kNextTokenFieldNumber)};
  AnswerIn<engine::ListTagsOfResourceResult>(
      response, std::move(done), FillSettings)(engine::ListTagsOfResource(*context.engine->database(), from));
}

engine::UpdateTimeToLiveRequest ToEngine(const v1::UpdateTimeToLiveRequest& request) {
  engine::UpdateTimeToLiveRequest to;
  to.table_name = GivenText(request, request.kTableNameFieldNumber);
  if (!request.has_time_to_live_specification()) return to;
  const v1::TimeToLiveSpecification& from = request.time_to_live_specification();
  to.specification = {GivenBool(from, from.kEnabledFieldNumber), GivenText(from, from.kAttributeNameFieldNumber)};
  return to;
}

void FillSettings(const engine::TimeToLiveSpecification& specification, v1::UpdateTimeToLiveResponse* to) {
  v1::TimeToLiveSpecification* const out = to->mutable_time_to_live_specification();
  out->set_enabled(specification.enabled.value_or(false));
  out->set_attribute_name(specification.attribute_name.value_or(""));
}

void FillSettings(const engine::TimeToLiveDescription& description, v1::DescribeTimeToLiveResponse* to) {
  v1::TimeToLiveDescription* const out = to->mutable_time_to_live_description();
  const bool is_on = !description.attribute_name.empty();
  out->set_time_to_live_status(is_on ? v1::TIME_TO_LIVE_STATUS_ENABLED : v1::TIME_TO_LIVE_STATUS_DISABLED);
  if (is_on) out->set_attribute_name(description.attribute_name);
}

void UpdateTimeToLive(const OperationContext& context, const v1::UpdateTimeToLiveRequest& request,
                      v1::UpdateTimeToLiveResponse* response, Finished done) {
  context.engine->RunOnDatabase(AnswerIn<engine::TimeToLiveSpecification>(response, std::move(done), FillSettings),
                                engine::UpdateTimeToLive, ToEngine(request));
}

void DescribeTimeToLive(const OperationContext& context, const v1::DescribeTimeToLiveRequest& request,
                        v1::DescribeTimeToLiveResponse* response, Finished done) {
  AnswerIn<engine::TimeToLiveDescription>(response, std::move(done), FillSettings)(
      engine::DescribeTimeToLive(*context.engine->database(), GivenText(request, request.kTableNameFieldNumber)));
}

engine::UpdateContinuousBackupsRequest ToEngine(const v1::UpdateContinuousBackupsRequest& request) {
  engine::UpdateContinuousBackupsRequest to;
  to.table_name = GivenText(request, request.kTableNameFieldNumber);
  if (!request.has_point_in_time_recovery_specification()) return to;
  const v1::PointInTimeRecoverySpecification& from = request.point_in_time_recovery_specification();
  to.specification = {GivenBool(from, from.kPointInTimeRecoveryEnabledFieldNumber),
                      GivenInteger(from, from.kRecoveryPeriodInDaysFieldNumber)};
  return to;
}

// The answer of both operations.
template <class Response>
void FillSettings(const engine::ContinuousBackupsDescription& description, Response* response) {
  v1::ContinuousBackupsDescription* const to = response->mutable_continuous_backups_description();
  to->set_continuous_backups_status(description.enabled ? v1::CONTINUOUS_BACKUPS_STATUS_ENABLED
                                                        : v1::CONTINUOUS_BACKUPS_STATUS_DISABLED);
  v1::PointInTimeRecoveryDescription* const recovery = to->mutable_point_in_time_recovery_description();
  recovery->set_point_in_time_recovery_status(description.recovery_enabled
                                                  ? v1::POINT_IN_TIME_RECOVERY_STATUS_ENABLED
                                                  : v1::POINT_IN_TIME_RECOVERY_STATUS_DISABLED);
  if (!description.recovery_enabled) return;
  recovery->set_recovery_period_in_days(static_cast<int32_t>(description.period_days));
  recovery->set_earliest_restorable_date_time_ms(description.earliest_ms);
  recovery->set_latest_restorable_date_time_ms(description.latest_ms);
}

void UpdateContinuousBackups(const OperationContext& context, const v1::UpdateContinuousBackupsRequest& request,
                             v1::UpdateContinuousBackupsResponse* response, Finished done) {
  context.engine->RunOnDatabase(AnswerIn<engine::ContinuousBackupsDescription>(response, std::move(done), FillSettings),
                                engine::UpdateContinuousBackups, ToEngine(request));
}

void DescribeContinuousBackups(const OperationContext& context, const v1::DescribeContinuousBackupsRequest& request,
                               v1::DescribeContinuousBackupsResponse* response, Finished done) {
  AnswerIn<engine::ContinuousBackupsDescription>(response, std::move(done),
                                                 FillSettings)(engine::DescribeContinuousBackups(
      *context.engine->database(), GivenText(request, request.kTableNameFieldNumber)));
}

void DescribeLimits(const OperationContext&, const v1::DescribeLimitsRequest&, v1::DescribeLimitsResponse* response,
                    Finished done) {
  const engine::AccountLimits limits;
  response->set_account_max_read_capacity_units(limits.account_read_units_max);
  response->set_account_max_write_capacity_units(limits.account_write_units_max);
  response->set_table_max_read_capacity_units(limits.table_read_units_max);
  response->set_table_max_write_capacity_units(limits.table_write_units_max);
  std::move(done)(absl::OkStatus());
}

// Answers with the address by which the client has reached the daemon.
void DescribeEndpoints(const OperationContext& context, const v1::DescribeEndpointsRequest&,
                       v1::DescribeEndpointsResponse* response, Finished done) {
  v1::Endpoint* const endpoint = response->add_endpoints();
  endpoint->set_address(context.authority.empty() ? "localhost" : std::string(context.authority));
  endpoint->set_cache_period_in_minutes(engine::kEndpointCacheMinutes);
  std::move(done)(absl::OkStatus());
}

}  // namespace

void AddSettingOperations(std::vector<UnaryOperation>* to) {
  to->emplace_back(DescribeContinuousBackups);
  to->emplace_back(DescribeEndpoints);
  to->emplace_back(DescribeLimits);
  to->emplace_back(DescribeTimeToLive);
  to->emplace_back(ListTagsOfResource);
  to->emplace_back(TagResource);
  to->emplace_back(UntagResource);
  to->emplace_back(UpdateContinuousBackups);
  to->emplace_back(UpdateTimeToLive);
}

}  // namespace armature::daemon
