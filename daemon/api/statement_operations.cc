// The operations on PartiQL statements, on their messages.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "armature/api/v1/statements.pb.h"
#include "daemon/api/message_parts.h"
#include "daemon/api/unary_operation.h"
#include "daemon/message_json/given_fields.h"
#include "engine/partiql/statements.h"
#include "storage/base/api_error.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

engine::RequestContext ContextOf(const OperationContext& context) {
  engine::RequestContext made;
  made.deadline = context.deadline;
  made.memory = context.memory;
  return made;
}

engine::StatementOptions OptionsOf(const OperationContext& context) {
  engine::StatementOptions options;
  options.multi_attribute_indexes = !context.is_original_protocol;
  options.gate = context.allow;
  return options;
}

template <class Message>
engine::StatementRequest ToStatement(const Message& message) {
  engine::StatementRequest statement;
  statement.statement = GivenText(message, Message::kStatementFieldNumber);
  if (IsListGiven(message, Message::kParametersFieldNumber)) {
    statement.parameters.emplace();
    for (const v1::AttributeValue& value : message.parameters()) {
      // A statement has fewer question marks than characters; further parameters would only take memory.
      if (statement.parameters->size() == engine::kStatementMaxChars) break;
      statement.parameters->push_back(GivenValue(value));
    }
  }
  if constexpr (requires { message.consistent_read(); }) statement.consistent_read = message.consistent_read();
  statement.return_values_on_condition_check_failure =
      GivenEnum(message, Message::kReturnValuesOnConditionCheckFailureFieldNumber).value_or("");
  return statement;
}

template <class Messages>
std::vector<engine::StatementRequest> ToStatements(const Messages& messages) {
  std::vector<engine::StatementRequest> statements;
  for (const auto& each : messages) statements.push_back(ToStatement(each));
  return statements;
}

template <class Message>
std::string CapacityReportOf(const Message& message) {
  return GivenEnum(message, Message::kReturnConsumedCapacityFieldNumber).value_or("");
}

void FillStatement(const engine::ExecuteStatementResult& result, v1::ExecuteStatementResponse* to) {
  for (const std::string& item : result.items) to->add_items()->ParseFromString(item);
  if (result.next_token.has_value()) to->set_next_token(*result.next_token);
  if (result.last_evaluated_key.has_value()) {
    to->mutable_last_evaluated_key()->ParseFromString(*result.last_evaluated_key);
  }
  if (result.capacity.has_value()) FillCapacity(*result.capacity, to->mutable_consumed_capacity());
  if (!result.plan.empty()) to->set_plan(result.plan);
  if (result.change_sequence != 0) to->set_change_sequence(result.change_sequence);
}

void ExecuteStatement(const OperationContext& context, const v1::ExecuteStatementRequest& request,
                      v1::ExecuteStatementResponse* response, Finished done) {
  engine::ExecuteStatementRequest from;
  from.statement = ToStatement(request);
  from.next_token = GivenText(request, request.kNextTokenFieldNumber);
  from.limit = GivenInteger(request, request.kLimitFieldNumber);
  from.return_consumed_capacity = CapacityReportOf(request);
  from.explain_only = request.explain_only();
  from.at_least_sequence = std::max(request.at_least_sequence(), context.at_least_sequence);
  engine::ExecuteStatement(context.engine, ContextOf(context), OptionsOf(context), std::move(from),
                           AnswerIn<engine::ExecuteStatementResult>(response, std::move(done), FillStatement));
}

void FillError(const absl::Status& error, v1::BatchStatementError* to) {
  const std::optional<ApiError> api_error = GetApiError(error);
  to->set_code(std::string(engine::StatementErrorCode(error)));
  to->set_message(api_error.has_value() ? api_error->message : "Internal server error");
  if (api_error.has_value() && !api_error->item.empty()) to->mutable_item()->ParseFromString(api_error->item);
}

void FillBatch(const engine::BatchStatementResult& result, v1::BatchExecuteStatementResponse* to) {
  for (const engine::BatchStatementResult::Response& each : result.responses) {
    v1::BatchStatementResponse* const response = to->add_responses();
    response->set_table_name(each.table_name);
    if (!each.error.ok()) FillError(each.error, response->mutable_error());
    if (each.item.has_value()) response->mutable_item()->ParseFromString(*each.item);
  }
  for (const engine::ConsumedCapacity& each : result.capacity) FillCapacity(each, to->add_consumed_capacity());
  if (result.change_sequence != 0) to->set_change_sequence(result.change_sequence);
}

void BatchExecuteStatement(const OperationContext& context, const v1::BatchExecuteStatementRequest& request,
                           v1::BatchExecuteStatementResponse* response, Finished done) {
  engine::BatchStatementRequest from;
  if (IsListGiven(request, request.kStatementsFieldNumber)) from.statements = ToStatements(request.statements());
  from.return_consumed_capacity = CapacityReportOf(request);
  engine::BatchExecuteStatement(context.engine, ContextOf(context), OptionsOf(context), std::move(from),
                                AnswerIn<engine::BatchStatementResult>(response, std::move(done), FillBatch));
}

void FillTransaction(const engine::TransactStatementsResult& result, v1::ExecuteTransactionResponse* to) {
  for (const std::optional<std::string>& item : result.items) {
    v1::StatementItem* const response = to->add_responses();
    if (item.has_value()) response->mutable_item()->ParseFromString(*item);
  }
  for (const engine::ConsumedCapacity& each : result.capacity) FillCapacity(each, to->add_consumed_capacity());
  if (result.change_sequence != 0) to->set_change_sequence(result.change_sequence);
}

void ExecuteTransaction(const OperationContext& context, const v1::ExecuteTransactionRequest& request,
                        v1::ExecuteTransactionResponse* response, Finished done) {
  engine::TransactStatementsRequest from;
  if (IsListGiven(request, request.kTransactStatementsFieldNumber)) {
    from.statements = ToStatements(request.transact_statements());
  }
  from.client_request_token = GivenText(request, request.kClientRequestTokenFieldNumber);
  from.token_scope = context.principal;
  from.return_consumed_capacity = CapacityReportOf(request);
  from.message_bytes = request.ByteSizeLong();
  engine::ExecuteTransaction(context.engine, ContextOf(context), OptionsOf(context), std::move(from),
                             AnswerIn<engine::TransactStatementsResult>(response, std::move(done), FillTransaction));
}

}  // namespace

void AddStatementOperations(std::vector<UnaryOperation>* operations) {
  AddOperations(operations, ExecuteStatement, BatchExecuteStatement, ExecuteTransaction);
}

}  // namespace armature::daemon
