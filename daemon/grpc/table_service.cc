#include "daemon/grpc/table_service.h"

#include <string>
#include <utility>

#include "daemon/api/setting_messages.h"
#include "daemon/api/table_backup_messages.h"
#include "daemon/api/table_messages.h"
#include "daemon/grpc/table_calls.h"
#include "storage/base/api_error.h"

namespace armature::daemon {
namespace {

using Reactor = grpc::ServerUnaryReactor;
using Context = grpc::CallbackServerContext;
namespace v1 = ::armature::api::v1;

// Answers with the result of the engine.
template <class Result, class Message>
engine::Callback<Result> AnswerIn(const AuditedCall& call, Message* to) {
  return [call, to](const absl::StatusOr<Result>& result) {
    if (result.ok()) Fill(*result, to);
    call.Finish(result.status());
  };
}

engine::Callback<engine::Nothing> AnswerNothing(const AuditedCall& call) {
  return [call](const absl::StatusOr<engine::Nothing>& result) { call.Finish(result.status()); };
}

}  // namespace

Reactor* TableService::CreateTable(Context* context, const v1::CreateTableRequest* request,
                                   v1::CreateTableResponse* response) {
  return RunAudited(*gate_, context, "CreateTable", request->table_name(), [=](const AuditedCall& call, auto& engine) {
    if (request->has_resource_policy()) {
      return call.Finish(UnknownOperationError("ResourcePolicy is not available in this version"));
    }
    engine.CreateTable(ToTableDefinition(*request),
                       AnswerIn<engine::TableDescription>(call, response->mutable_table_description()));
  });
}

Reactor* TableService::DescribeTable(Context* context, const v1::DescribeTableRequest* request,
                                     v1::DescribeTableResponse* response) {
  return RunAudited(*gate_, context, "DescribeTable", request->table_name(),
                    [=](const AuditedCall& call, auto& engine) {
                      engine.DescribeTable(request->table_name(),
                                           AnswerIn<engine::TableDescription>(call, response->mutable_table()));
                    });
}

Reactor* TableService::ListTables(Context* context, const v1::ListTablesRequest* request,
                                  v1::ListTablesResponse* response) {
  return RunAudited(*gate_, context, "ListTables", "", [=](const AuditedCall& call, auto& engine) {
    std::optional<std::string> start_after;
    std::optional<int64_t> limit;
    if (request->has_exclusive_start_table_name()) start_after = request->exclusive_start_table_name();
    if (request->has_limit()) limit = request->limit();
    engine.ListTables(start_after, limit, AnswerIn<engine::ListTablesResult>(call, response));
  });
}

Reactor* TableService::DeleteTable(Context* context, const v1::DeleteTableRequest* request,
                                   v1::DeleteTableResponse* response) {
  return RunAudited(*gate_, context, "DeleteTable", request->table_name(), [=](const AuditedCall& call, auto& engine) {
    engine.DeleteTable(request->table_name(),
                       AnswerIn<engine::TableDescription>(call, response->mutable_table_description()));
  });
}

Reactor* TableService::UpdateTable(Context* context, const v1::UpdateTableRequest* request,
                                   v1::UpdateTableResponse* response) {
  return RunAudited(*gate_, context, "UpdateTable", request->table_name(), [=](const AuditedCall& call, auto& engine) {
    engine.UpdateTable(ToTableUpdate(*request),
                       AnswerIn<engine::TableDescription>(call, response->mutable_table_description()));
  });
}

Reactor* TableService::UpdateTimeToLive(Context* context, const v1::UpdateTimeToLiveRequest* request,
                                        v1::UpdateTimeToLiveResponse* response) {
  return RunAudited(*gate_, context, "UpdateTimeToLive", request->table_name(),
                    [=](const AuditedCall& call, auto& engine) {
                      engine.UpdateTimeToLive(ToUpdateTimeToLive(*request),
                                              AnswerIn<engine::TimeToLiveSpecification>(call, response));
                    });
}

Reactor* TableService::DescribeTimeToLive(Context* context, const v1::DescribeTimeToLiveRequest* request,
                                          v1::DescribeTimeToLiveResponse* response) {
  return RunAudited(
      *gate_, context, "DescribeTimeToLive", request->table_name(), [=](const AuditedCall& call, auto& engine) {
        engine.DescribeTimeToLive(request->table_name(), AnswerIn<engine::TimeToLiveDescription>(call, response));
      });
}

Reactor* TableService::TagResource(Context* context, const v1::TagResourceRequest* request,
                                   v1::TagResourceResponse* /*response*/) {
  return RunAudited(
      *gate_, context, "TagResource", request->resource_arn(),
      [=](const AuditedCall& call, auto& engine) { engine.TagResource(ToTagResource(*request), AnswerNothing(call)); });
}

Reactor* TableService::UntagResource(Context* context, const v1::UntagResourceRequest* request,
                                     v1::UntagResourceResponse* /*response*/) {
  return RunAudited(*gate_, context, "UntagResource", request->resource_arn(),
                    [=](const AuditedCall& call, auto& engine) {
                      engine.UntagResource(ToUntagResource(*request), AnswerNothing(call));
                    });
}

Reactor* TableService::ListTagsOfResource(Context* context, const v1::ListTagsOfResourceRequest* request,
                                          v1::ListTagsOfResourceResponse* response) {
  return RunAudited(*gate_, context, "ListTagsOfResource", request->resource_arn(),
                    [=](const AuditedCall& call, auto& engine) {
                      engine.ListTagsOfResource(ToListTagsOfResource(*request),
                                                AnswerIn<engine::ListTagsOfResourceResult>(call, response));
                    });
}

Reactor* TableService::DescribeLimits(Context* context, const v1::DescribeLimitsRequest* /*request*/,
                                      v1::DescribeLimitsResponse* response) {
  return RunAudited(*gate_, context, "DescribeLimits", "", [=](const AuditedCall& call, auto& /*engine*/) {
    Fill(engine::AccountLimits(), response);
    call.Finish(absl::OkStatus());
  });
}

Reactor* TableService::DescribeEndpoints(Context* context, const v1::DescribeEndpointsRequest* /*request*/,
                                         v1::DescribeEndpointsResponse* response) {
  // Where the client has found the daemon is where it will find it again.
  const grpc::string_ref authority = context->ExperimentalGetAuthority();
  v1::Endpoint* const endpoint = response->add_endpoints();
  endpoint->set_address(authority.data(), authority.size());
  endpoint->set_cache_period_in_minutes(engine::kEndpointCacheMinutes);
  return RunAudited(*gate_, context, "DescribeEndpoints", "",
                    [](const AuditedCall& call, auto& /*engine*/) { call.Finish(absl::OkStatus()); });
}

Reactor* TableService::DescribeContinuousBackups(Context* context, const v1::DescribeContinuousBackupsRequest* request,
                                                 v1::DescribeContinuousBackupsResponse* response) {
  return RunAudited(
      *gate_, context, "DescribeContinuousBackups", request->table_name(), [=](const AuditedCall& call, auto& engine) {
        engine.DescribeContinuousBackups(
            request->table_name(),
            AnswerIn<engine::ContinuousBackupsDescription>(call, response->mutable_continuous_backups_description()));
      });
}

Reactor* TableService::UpdateContinuousBackups(Context* context, const v1::UpdateContinuousBackupsRequest* request,
                                               v1::UpdateContinuousBackupsResponse* response) {
  return RunAudited(
      *gate_, context, "UpdateContinuousBackups", request->table_name(), [=](const AuditedCall& call, auto& engine) {
        engine.UpdateContinuousBackups(
            ToUpdateContinuousBackups(*request),
            AnswerIn<engine::ContinuousBackupsDescription>(call, response->mutable_continuous_backups_description()));
      });
}

Reactor* TableService::CreateBackup(Context* context, const v1::CreateBackupRequest* request,
                                    v1::CreateBackupResponse* response) {
  return RunAudited(*gate_, context, "CreateBackup", request->table_name(), [=](const AuditedCall& call, auto& engine) {
    engine.CreateBackup(ToCreateBackup(*request),
                        AnswerIn<engine::TableBackup>(call, response->mutable_backup_details()));
  });
}

// What is done with a backup is done with the table that it was made of.
Reactor* TableService::DescribeBackup(Context* context, const v1::DescribeBackupRequest* request,
                                      v1::DescribeBackupResponse* response) {
  return RunAudited(
      *gate_, context, "DescribeBackup", request->backup_arn(), [=](const AuditedCall& call, auto& engine) {
        engine.DescribeBackup(request->backup_arn(),
                              AnswerIn<engine::TableBackup>(call, response->mutable_backup_description()));
      });
}

Reactor* TableService::ListBackups(Context* context, const v1::ListBackupsRequest* request,
                                   v1::ListBackupsResponse* response) {
  return RunAudited(*gate_, context, "ListBackups", request->table_name(), [=](const AuditedCall& call, auto& engine) {
    engine.ListTableBackups(ToListTableBackups(*request), AnswerIn<engine::ListTableBackupsResult>(call, response));
  });
}

Reactor* TableService::DeleteBackup(Context* context, const v1::DeleteBackupRequest* request,
                                    v1::DeleteBackupResponse* response) {
  return RunAudited(*gate_, context, "DeleteBackup", request->backup_arn(), [=](const AuditedCall& call, auto& engine) {
    engine.DeleteBackup(request->backup_arn(),
                        AnswerIn<engine::TableBackup>(call, response->mutable_backup_description()));
  });
}

Reactor* TableService::RestoreTableFromBackup(Context* context, const v1::RestoreTableFromBackupRequest* request,
                                              v1::RestoreTableFromBackupResponse* response) {
  const auto run = [=](const AuditedCall& call) {
    // Who restores a table reads what is in the backup, so rights on the new table alone are not enough.
    if (const absl::Status status = call.AllowAlso(request->backup_arn()); !status.ok()) return call.Finish(status);
    const absl::StatusOr<engine::Engine*> engine = call.Allow();
    if (!engine.ok()) return call.Finish(engine.status());
    absl::StatusOr<engine::RestoreTableRequest> restore = ToRestoreTable(*request);
    if (!restore.ok()) return call.Finish(restore.status());
    (*engine)->RestoreTableFromBackup(*std::move(restore),
                                      AnswerIn<engine::TableDescription>(call, response->mutable_table_description()));
  };
  return gate_->AdmitAudited(context, "RestoreTableFromBackup", request->target_table_name(), run);
}

}  // namespace armature::daemon
