// The operations on tables, their settings and their backups, on their messages.

#include <string>
#include <string_view>
#include <vector>

#include "armature/api/v1/tables.pb.h"
#include "daemon/api/table_messages.h"
#include "daemon/api/unary_operation.h"
#include "daemon/message_json/given_fields.h"
#include "engine/backup/point_in_time.h"
#include "engine/tables/contributor_insights.h"
#include "engine/tables/resource_policies.h"
#include "engine/tables/table_settings.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

void CreateTable(const OperationContext& context, const v1::CreateTableRequest& request,
                 v1::CreateTableResponse* response, Finished done) {
  // A table with a policy is created by a caller who may give it one.
  if (request.has_resource_policy() && context.allow) {
    const absl::Status status = context.allow({"PutResourcePolicy", request.table_name()});
    if (!status.ok()) return std::move(done)(status);
  }
  context.engine->CreateTable(
      ToTableDefinition(request),
      AnswerIn<engine::TableDescription>(response->mutable_table_description(), std::move(done), Fill),
      context.deadline);
}

void DescribeTable(const OperationContext& context, const v1::DescribeTableRequest& request,
                   v1::DescribeTableResponse* response, Finished done) {
  context.engine->DescribeTable(GivenText(request, request.kTableNameFieldNumber),
                                AnswerIn<engine::TableDescription>(response->mutable_table(), std::move(done), Fill),
                                context.deadline);
}

void ListTables(const OperationContext& context, const v1::ListTablesRequest& request, v1::ListTablesResponse* response,
                Finished done) {
  context.engine->ListTables(GivenText(request, request.kExclusiveStartTableNameFieldNumber),
                             GivenInteger(request, request.kLimitFieldNumber),
                             AnswerIn<engine::ListTablesResult>(response, std::move(done), Fill));
}

void DeleteTable(const OperationContext& context, const v1::DeleteTableRequest& request,
                 v1::DeleteTableResponse* response, Finished done) {
  context.engine->DeleteTable(
      GivenText(request, request.kTableNameFieldNumber),
      AnswerIn<engine::TableDescription>(response->mutable_table_description(), std::move(done), Fill),
      context.deadline);
}

void UpdateTable(const OperationContext& context, const v1::UpdateTableRequest& request,
                 v1::UpdateTableResponse* response, Finished done) {
  context.engine->UpdateTable(
      ToTableUpdate(request),
      AnswerIn<engine::TableDescription>(response->mutable_table_description(), std::move(done), Fill));
}

engine::TagResourceRequest ToEngine(const v1::TagResourceRequest& request) {
  engine::TagResourceRequest to;
  to.resource_arn = GivenText(request, request.kResourceArnFieldNumber);
  if (IsListGiven(request, request.kTagsFieldNumber)) to.tags = ToTags(request.tags(), &to.tag_without_value);
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

// Without a policy there is no revision.
template <class Response>
void FillRevision(const std::string& revision, Response* to) {
  if (!revision.empty()) to->set_revision_id(revision);
}

void FillPolicy(const model::ResourcePolicy& policy, v1::GetResourcePolicyResponse* to) {
  to->set_policy(policy.document);
  to->set_revision_id(policy.revision_id);
}

void PutResourcePolicy(const OperationContext& context, const v1::PutResourcePolicyRequest& request,
                       v1::PutResourcePolicyResponse* response, Finished done) {
  engine::PutResourcePolicyRequest from;
  from.resource_arn = GivenText(request, request.kResourceArnFieldNumber);
  from.policy = GivenText(request, request.kPolicyFieldNumber);
  from.expected_revision_id = GivenText(request, request.kExpectedRevisionIdFieldNumber);
  from.confirm_remove_self_resource_access = request.confirm_remove_self_resource_access();
  from.may_change = context.may_change_policy;
  context.engine->PutResourcePolicy(
      std::move(from), AnswerIn<std::string>(response, std::move(done), FillRevision<v1::PutResourcePolicyResponse>));
}

void GetResourcePolicy(const OperationContext& context, const v1::GetResourcePolicyRequest& request,
                       v1::GetResourcePolicyResponse* response, Finished done) {
  const engine::GetResourcePolicyRequest from = {GivenText(request, request.kResourceArnFieldNumber)};
  AnswerIn<model::ResourcePolicy>(response, std::move(done),
                                  FillPolicy)(engine::GetResourcePolicy(*context.engine->database(), from));
}

void DeleteResourcePolicy(const OperationContext& context, const v1::DeleteResourcePolicyRequest& request,
                          v1::DeleteResourcePolicyResponse* response, Finished done) {
  engine::DeleteResourcePolicyRequest from = {GivenText(request, request.kResourceArnFieldNumber),
                                              GivenText(request, request.kExpectedRevisionIdFieldNumber)};
  context.engine->DeleteResourcePolicy(
      std::move(from),
      AnswerIn<std::string>(response, std::move(done), FillRevision<v1::DeleteResourcePolicyResponse>));
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

// The members that describe the insights in all answers.
template <class Message>
void FillInsights(const engine::InsightsDescription& from, Message* to) {
  to->set_table_name(from.table_name);
  if (from.index_name.has_value()) to->set_index_name(*from.index_name);
  const bool is_on = model::AreEnabled(from.insights);
  if (is_on) to->set_contributor_insights_mode(static_cast<v1::ContributorInsightsMode>(from.insights->mode));
  if (from.has_changed) {
    to->set_contributor_insights_status(is_on ? v1::CONTRIBUTOR_INSIGHTS_STATUS_ENABLING
                                              : v1::CONTRIBUTOR_INSIGHTS_STATUS_DISABLING);
  } else {
    to->set_contributor_insights_status(is_on ? v1::CONTRIBUTOR_INSIGHTS_STATUS_ENABLED
                                              : v1::CONTRIBUTOR_INSIGHTS_STATUS_DISABLED);
  }
}

void FillSettings(const engine::InsightsDescription& description, v1::DescribeContributorInsightsResponse* to) {
  FillInsights(description, to);
  if (description.insights.has_value()) to->set_last_update_date_time_ms(description.insights->changed_ms);
}

void FillSettings(const engine::ListContributorInsightsResult& result, v1::ListContributorInsightsResponse* to) {
  for (const engine::InsightsDescription& each : result.summaries) {
    FillInsights(each, to->add_contributor_insights_summaries());
  }
  if (result.next_token.has_value()) to->set_next_token(*result.next_token);
}

void UpdateContributorInsights(const OperationContext& context, const v1::UpdateContributorInsightsRequest& request,
                               v1::UpdateContributorInsightsResponse* response, Finished done) {
  const engine::UpdateContributorInsightsRequest from = {
      GivenText(request, request.kTableNameFieldNumber), GivenText(request, request.kIndexNameFieldNumber),
      GivenEnum(request, request.kContributorInsightsActionFieldNumber),
      GivenEnum(request, request.kContributorInsightsModeFieldNumber)};
  context.engine->RunOnDatabase(AnswerIn<engine::InsightsDescription>(
                                    response, std::move(done), FillInsights<v1::UpdateContributorInsightsResponse>),
                                engine::UpdateContributorInsights, from);
}

void DescribeContributorInsights(const OperationContext& context, const v1::DescribeContributorInsightsRequest& request,
                                 v1::DescribeContributorInsightsResponse* response, Finished done) {
  AnswerIn<engine::InsightsDescription>(response, std::move(done), FillSettings)(engine::DescribeContributorInsights(
      *context.engine->database(), GivenText(request, request.kTableNameFieldNumber),
      GivenText(request, request.kIndexNameFieldNumber)));
}

void ListContributorInsights(const OperationContext& context, const v1::ListContributorInsightsRequest& request,
                             v1::ListContributorInsightsResponse* response, Finished done) {
  const engine::ListContributorInsightsRequest from = {GivenText(request, request.kTableNameFieldNumber),
                                                       GivenText(request, request.kNextTokenFieldNumber),
                                                       GivenInteger(request, request.kMaxResultsFieldNumber)};
  AnswerIn<engine::ListContributorInsightsResult>(
      response, std::move(done), FillSettings)(engine::ListContributorInsights(*context.engine->database(), from));
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
  if (!description.window.has_value()) return;
  recovery->set_earliest_restorable_date_time_ms(description.window->from_ms);
  recovery->set_latest_restorable_date_time_ms(description.window->until_ms);
}

void UpdateContinuousBackups(const OperationContext& context, const v1::UpdateContinuousBackupsRequest& request,
                             v1::UpdateContinuousBackupsResponse* response, Finished done) {
  const auto update = [archive = context.engine->archive()](store::Database* database,
                                                            const engine::UpdateContinuousBackupsRequest& wanted) {
    return engine::UpdateContinuousBackups(database, archive, wanted);
  };
  context.engine->RunOnDatabase(AnswerIn<engine::ContinuousBackupsDescription>(response, std::move(done), FillSettings),
                                update, ToEngine(request));
}

void DescribeContinuousBackups(const OperationContext& context, const v1::DescribeContinuousBackupsRequest& request,
                               v1::DescribeContinuousBackupsResponse* response, Finished done) {
  AnswerIn<engine::ContinuousBackupsDescription>(response, std::move(done),
                                                 FillSettings)(engine::DescribeContinuousBackups(
      *context.engine->database(), context.engine->archive(), GivenText(request, request.kTableNameFieldNumber)));
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

void CreateBackup(const OperationContext& context, const v1::CreateBackupRequest& request,
                  v1::CreateBackupResponse* response, Finished done) {
  context.engine->CreateBackup(ToCreateBackup(request), AnswerIn<engine::TableBackup>(
                                                            response->mutable_backup_details(), std::move(done), Fill));
}

void DescribeBackup(const OperationContext& context, const v1::DescribeBackupRequest& request,
                    v1::DescribeBackupResponse* response, Finished done) {
  context.engine->DescribeBackup(
      GivenText(request, request.kBackupArnFieldNumber),
      AnswerIn<engine::TableBackup>(response->mutable_backup_description(), std::move(done), Fill));
}

void ListBackups(const OperationContext& context, const v1::ListBackupsRequest& request,
                 v1::ListBackupsResponse* response, Finished done) {
  context.engine->ListTableBackups(ToListTableBackups(request),
                                   AnswerIn<engine::ListTableBackupsResult>(response, std::move(done), Fill));
}

void DeleteBackup(const OperationContext& context, const v1::DeleteBackupRequest& request,
                  v1::DeleteBackupResponse* response, Finished done) {
  context.engine->DeleteBackup(
      GivenText(request, request.kBackupArnFieldNumber),
      AnswerIn<engine::TableBackup>(response->mutable_backup_description(), std::move(done), Fill));
}

void RestoreTableFromBackup(const OperationContext& context, const v1::RestoreTableFromBackupRequest& request,
                            v1::RestoreTableFromBackupResponse* response, Finished done) {
  context.engine->RestoreTableFromBackup(
      ToRestoreTable(request),
      AnswerIn<engine::TableDescription>(response->mutable_table_description(), std::move(done), Fill));
}

void RestoreTableToPointInTime(const OperationContext& context, const v1::RestoreTableToPointInTimeRequest& request,
                               v1::RestoreTableToPointInTimeResponse* response, Finished done) {
  context.engine->RestoreTableToPointInTime(
      ToRestoreToPointInTime(request),
      AnswerIn<engine::TableDescription>(response->mutable_table_description(), std::move(done), Fill));
}

}  // namespace

void AddTableOperations(std::vector<UnaryOperation>* operations) {
  AddOperations(operations, CreateTable, DeleteTable, DescribeTable, ListTables, UpdateTable, DescribeContinuousBackups,
                DescribeEndpoints, DescribeLimits, DescribeTimeToLive, ListTagsOfResource, PutResourcePolicy,
                GetResourcePolicy, DeleteResourcePolicy, TagResource, UntagResource, UpdateContinuousBackups,
                UpdateTimeToLive, CreateBackup, DeleteBackup, DescribeBackup, ListBackups, RestoreTableFromBackup,
                RestoreTableToPointInTime, UpdateContributorInsights, DescribeContributorInsights,
                ListContributorInsights);
}

}  // namespace armature::daemon
