#ifndef ARMATURE_DAEMON_API_SETTING_MESSAGES_H_
#define ARMATURE_DAEMON_API_SETTING_MESSAGES_H_

// Requests and answers about tags, time to live, continuous backups and limits between the wire and the engine.
//
// A repeated field cannot tell "empty" from "absent"; absent is what clients mean.

#include "armature/api/v1/tables.pb.h"
#include "engine/tables/account_limits.h"
#include "engine/tables/continuous_backups.h"
#include "engine/tables/tags.h"
#include "engine/tables/time_to_live.h"

namespace armature::daemon {

engine::TagResourceRequest ToTagResource(const api::v1::TagResourceRequest& request);
engine::UntagResourceRequest ToUntagResource(const api::v1::UntagResourceRequest& request);
engine::ListTagsOfResourceRequest ToListTagsOfResource(const api::v1::ListTagsOfResourceRequest& request);
engine::UpdateTimeToLiveRequest ToUpdateTimeToLive(const api::v1::UpdateTimeToLiveRequest& request);
engine::UpdateContinuousBackupsRequest ToUpdateContinuousBackups(
    const api::v1::UpdateContinuousBackupsRequest& request);

void Fill(const engine::ListTagsOfResourceResult& result, api::v1::ListTagsOfResourceResponse* to);
void Fill(const engine::TimeToLiveSpecification& specification, api::v1::UpdateTimeToLiveResponse* to);
void Fill(const engine::TimeToLiveDescription& description, api::v1::DescribeTimeToLiveResponse* to);
void Fill(const engine::ContinuousBackupsDescription& description, api::v1::ContinuousBackupsDescription* to);
void Fill(const engine::AccountLimits& limits, api::v1::DescribeLimitsResponse* to);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_SETTING_MESSAGES_H_
