#include "daemon/api/setting_messages.h"

namespace armature::daemon {

namespace v1 = ::armature::api::v1;

engine::TagResourceRequest ToTagResource(const v1::TagResourceRequest& request) {
  engine::TagResourceRequest to;
  to.resource_arn = request.resource_arn();
  if (request.tags_size() > 0) to.tags.emplace();
  for (const v1::Tag& tag : request.tags()) to.tags->emplace_back(tag.key(), tag.value());
  return to;
}

engine::UntagResourceRequest ToUntagResource(const v1::UntagResourceRequest& request) {
  engine::UntagResourceRequest to;
  to.resource_arn = request.resource_arn();
  if (request.tag_keys_size() > 0) to.tag_keys.emplace(request.tag_keys().begin(), request.tag_keys().end());
  return to;
}

engine::ListTagsOfResourceRequest ToListTagsOfResource(const v1::ListTagsOfResourceRequest& request) {
  engine::ListTagsOfResourceRequest to;
  to.resource_arn = request.resource_arn();
  if (request.has_next_token()) to.next_token = request.next_token();
  return to;
}

engine::UpdateTimeToLiveRequest ToUpdateTimeToLive(const v1::UpdateTimeToLiveRequest& request) {
  engine::UpdateTimeToLiveRequest to;
  to.table_name = request.table_name();
  if (!request.has_time_to_live_specification()) return to;
  const v1::TimeToLiveSpecification& specification = request.time_to_live_specification();
  to.specification.emplace();
  if (specification.has_enabled()) to.specification->enabled = specification.enabled();
  if (specification.has_attribute_name()) to.specification->attribute_name = specification.attribute_name();
  return to;
}

engine::UpdateContinuousBackupsRequest ToUpdateContinuousBackups(const v1::UpdateContinuousBackupsRequest& request) {
  engine::UpdateContinuousBackupsRequest to;
  to.table_name = request.table_name();
  if (!request.has_point_in_time_recovery_specification()) return to;
  const v1::PointInTimeRecoverySpecification& specification = request.point_in_time_recovery_specification();
  to.specification.emplace();
  if (specification.has_point_in_time_recovery_enabled()) {
    to.specification->enabled = specification.point_in_time_recovery_enabled();
  }
  if (specification.has_recovery_period_in_days()) {
    to.specification->period_days = specification.recovery_period_in_days();
  }
  return to;
}

void Fill(const engine::ListTagsOfResourceResult& result, v1::ListTagsOfResourceResponse* to) {
  for (const auto& [key, value] : result.tags) {
    v1::Tag* const tag = to->add_tags();
    tag->set_key(key);
    tag->set_value(value);
  }
  if (result.next_token.has_value()) to->set_next_token(*result.next_token);
}

void Fill(const engine::TimeToLiveSpecification& specification, v1::UpdateTimeToLiveResponse* to) {
  v1::TimeToLiveSpecification* const out = to->mutable_time_to_live_specification();
  out->set_enabled(specification.enabled.value_or(false));
  out->set_attribute_name(specification.attribute_name.value_or(""));
}

void Fill(const engine::TimeToLiveDescription& description, v1::DescribeTimeToLiveResponse* to) {
  v1::TimeToLiveDescription* const out = to->mutable_time_to_live_description();
  const bool on = !description.attribute_name.empty();
  out->set_time_to_live_status(on ? v1::TIME_TO_LIVE_STATUS_ENABLED : v1::TIME_TO_LIVE_STATUS_DISABLED);
  if (on) out->set_attribute_name(description.attribute_name);
}

void Fill(const engine::ContinuousBackupsDescription& description, v1::ContinuousBackupsDescription* to) {
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

void Fill(const engine::AccountLimits& limits, v1::DescribeLimitsResponse* to) {
  to->set_account_max_read_capacity_units(limits.account_read_units_max);
  to->set_account_max_write_capacity_units(limits.account_write_units_max);
  to->set_table_max_read_capacity_units(limits.table_read_units_max);
  to->set_table_max_write_capacity_units(limits.table_write_units_max);
}

}  // namespace armature::daemon
