// The operations on tables, on their messages.

#include <optional>
#include <string>

#include "daemon/api/operation_lists.h"
#include "daemon/api/table_messages.h"
#include "daemon/message_json/given_fields.h"
#include "storage/base/api_error.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

void CreateTable(const OperationContext& context, const v1::CreateTableRequest& request,
                 v1::CreateTableResponse* response, Finished done) {
  if (request.has_resource_policy()) {
    return std::move(done)(UnknownOperationError("ResourcePolicy is not available in this version"));
  }
  context.engine->CreateTable(
      ToTableDefinition(request),
      AnswerIn<engine::TableDescription>(response->mutable_table_description(), std::move(done), Fill));
}

void DescribeTable(const OperationContext& context, const v1::DescribeTableRequest& request,
                   v1::DescribeTableResponse* response, Finished done) {
  context.engine->DescribeTable(GivenText(request, request.kTableNameFieldNumber),
                                AnswerIn<engine::TableDescription>(response->mutable_table(), std::move(done), Fill));
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
      AnswerIn<engine::TableDescription>(response->mutable_table_description(), std::move(done), Fill));
}

void UpdateTable(const OperationContext& context, const v1::UpdateTableRequest& request,
                 v1::UpdateTableResponse* response, Finished done) {
  context.engine->UpdateTable(
      ToTableUpdate(request),
      AnswerIn<engine::TableDescription>(response->mutable_table_description(), std::move(done), Fill));
}

}  // namespace

void AddTableOperations(std::vector<UnaryOperation>* to) {
  to->emplace_back(CreateTable);
  to->emplace_back(DeleteTable);
  to->emplace_back(DescribeTable);
  to->emplace_back(ListTables);
  to->emplace_back(UpdateTable);
}

}  // namespace armature::daemon
