#include "daemon/grpc/table_service.h"

#include <utility>

#include "daemon/api/error_map.h"
#include "daemon/api/table_messages.h"
#include "storage/base/api_error.h"

namespace armature::daemon {
namespace {

using Reactor = grpc::ServerUnaryReactor;
using Context = grpc::CallbackServerContext;
namespace v1 = ::armature::api::v1;

engine::Callback<engine::TableDescription> AnswerDescription(Reactor* reactor, v1::TableDescription* to) {
  return [reactor, to](const absl::StatusOr<engine::TableDescription>& result) {
    if (result.ok()) FillTableDescription(*result, to);
    reactor->Finish(ToGrpcStatus(result.status()));
  };
}

}  // namespace

Reactor* TableService::CreateTable(Context* context, const v1::CreateTableRequest* request,
                                   v1::CreateTableResponse* response) {
  Reactor* const reactor = context->DefaultReactor();
  if (request->has_resource_policy()) {
    reactor->Finish(ToGrpcStatus(UnknownOperationError("ResourcePolicy is not available in this version")));
    return reactor;
  }
  engine_->CreateTable(ToTableDefinition(*request), AnswerDescription(reactor, response->mutable_table_description()));
  return reactor;
}

Reactor* TableService::DescribeTable(Context* context, const v1::DescribeTableRequest* request,
                                     v1::DescribeTableResponse* response) {
  Reactor* const reactor = context->DefaultReactor();
  engine_->DescribeTable(request->table_name(), AnswerDescription(reactor, response->mutable_table()));
  return reactor;
}

Reactor* TableService::ListTables(Context* context, const v1::ListTablesRequest* request,
                                  v1::ListTablesResponse* response) {
  Reactor* const reactor = context->DefaultReactor();
  std::optional<std::string> start_after;
  std::optional<int64_t> limit;
  if (request->has_exclusive_start_table_name()) start_after = request->exclusive_start_table_name();
  if (request->has_limit()) limit = request->limit();
  engine_->ListTables(start_after, limit, [reactor, response](absl::StatusOr<engine::ListTablesResult> result) {
    if (result.ok()) {
      for (std::string& name : result->names) response->add_table_names(std::move(name));
      if (result->last_evaluated.has_value()) {
        response->set_last_evaluated_table_name(*result->last_evaluated);
      }
    }
    reactor->Finish(ToGrpcStatus(result.status()));
  });
  return reactor;
}

Reactor* TableService::DeleteTable(Context* context, const v1::DeleteTableRequest* request,
                                   v1::DeleteTableResponse* response) {
  Reactor* const reactor = context->DefaultReactor();
  engine_->DeleteTable(request->table_name(), AnswerDescription(reactor, response->mutable_table_description()));
  return reactor;
}

}  // namespace armature::daemon
