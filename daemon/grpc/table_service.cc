#include "daemon/grpc/table_service.h"

#include <utility>

#include "daemon/api/table_messages.h"
#include "storage/base/api_error.h"

namespace armature::daemon {
namespace {

using Reactor = grpc::ServerUnaryReactor;
using Context = grpc::CallbackServerContext;
namespace v1 = ::armature::api::v1;

engine::Callback<engine::TableDescription> AnswerDescription(const AuditedCall& call, v1::TableDescription* to) {
  return [call, to](const absl::StatusOr<engine::TableDescription>& result) {
    if (result.ok()) FillTableDescription(*result, to);
    call.Finish(result.status());
  };
}

engine::Callback<engine::ListTablesResult> AnswerNames(const AuditedCall& call, v1::ListTablesResponse* response) {
  return [call, response](absl::StatusOr<engine::ListTablesResult> result) {
    if (result.ok()) {
      for (std::string& name : result->names) response->add_table_names(std::move(name));
      if (result->last_evaluated.has_value()) {
        response->set_last_evaluated_table_name(*result->last_evaluated);
      }
    }
    call.Finish(result.status());
  };
}

}  // namespace

Reactor* TableService::CreateTable(Context* context, const v1::CreateTableRequest* request,
                                   v1::CreateTableResponse* response) {
  return gate_->AdmitAudited(context, "CreateTable", request->table_name(), [=](const AuditedCall& call) {
    const absl::StatusOr<engine::Engine*> engine = call.Allow();
    if (!engine.ok()) return call.Finish(engine.status());
    if (request->has_resource_policy()) {
      return call.Finish(UnknownOperationError("ResourcePolicy is not available in this version"));
    }
    (*engine)->CreateTable(ToTableDefinition(*request), AnswerDescription(call, response->mutable_table_description()));
  });
}

Reactor* TableService::DescribeTable(Context* context, const v1::DescribeTableRequest* request,
                                     v1::DescribeTableResponse* response) {
  return gate_->AdmitAudited(context, "DescribeTable", request->table_name(), [=](const AuditedCall& call) {
    const absl::StatusOr<engine::Engine*> engine = call.Allow();
    if (!engine.ok()) return call.Finish(engine.status());
    (*engine)->DescribeTable(request->table_name(), AnswerDescription(call, response->mutable_table()));
  });
}

Reactor* TableService::ListTables(Context* context, const v1::ListTablesRequest* request,
                                  v1::ListTablesResponse* response) {
  return gate_->AdmitAudited(context, "ListTables", "", [=](const AuditedCall& call) {
    const absl::StatusOr<engine::Engine*> engine = call.Allow();
    if (!engine.ok()) return call.Finish(engine.status());
    std::optional<std::string> start_after;
    std::optional<int64_t> limit;
    if (request->has_exclusive_start_table_name()) start_after = request->exclusive_start_table_name();
    if (request->has_limit()) limit = request->limit();
    (*engine)->ListTables(start_after, limit, AnswerNames(call, response));
  });
}

Reactor* TableService::DeleteTable(Context* context, const v1::DeleteTableRequest* request,
                                   v1::DeleteTableResponse* response) {
  return gate_->AdmitAudited(context, "DeleteTable", request->table_name(), [=](const AuditedCall& call) {
    const absl::StatusOr<engine::Engine*> engine = call.Allow();
    if (!engine.ok()) return call.Finish(engine.status());
    (*engine)->DeleteTable(request->table_name(), AnswerDescription(call, response->mutable_table_description()));
  });
}

}  // namespace armature::daemon
