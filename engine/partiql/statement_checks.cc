#include "engine/partiql/statement_checks.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/expr/binder.h"
#include "engine/items/constraints.h"
#include "engine/items/expressions.h"
#include "engine/partiql/expression_text.h"
#include "engine/partiql/parser.h"
#include "engine/partiql/select_run.h"
#include "engine/partiql/words.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"

namespace armature::engine::partiql {
namespace {

constexpr size_t kNextTokenMaxChars = 32'768;
constexpr size_t kBatchStatementsMax = 25;

void CheckText(const StatementRequest& request, std::string_view prefix, model::ConstraintList* list) {
  const std::string path = Cat(prefix, "statement");
  if (!request.statement.has_value()) return list->AddNull(path);
  const std::string printed = model::PrintedValue(model::Shown(*request.statement));
  const size_t length = model::CharacterCount(*request.statement);
  list->CheckLengthMin(printed, length, path, 1);
  list->CheckLengthMax(printed, length, path, kStatementMaxChars);
}

void CheckParameterCount(const StatementRequest& request, std::string_view prefix, model::ConstraintList* list) {
  if (!request.parameters.has_value()) return;
  list->CheckLengthMin("'[]'", request.parameters->size(), Cat(prefix, "parameters"), 1);
}

void CheckReturnValues(const StatementRequest& request, std::string_view prefix, model::ConstraintList* list) {
  CheckOptionalEnum(request.return_values_on_condition_check_failure,
                    Cat(prefix, "returnValuesOnConditionCheckFailure"), kReturnValuesOnFailureValues, list);
}

// A statement of a batch or of a transaction, whose members have the path `prefix`.
void CheckMemberShape(const StatementRequest& request, std::string_view prefix, model::ConstraintList* list) {
  CheckReturnValues(request, prefix, list);
  CheckText(request, prefix, list);
  CheckParameterCount(request, prefix, list);
}

// The operands of the condition, which the operations on items would refuse later.
absl::Status CheckOperands(const Statement& statement) {
  if (!statement.where.has_value() || HasPlainOperands(*statement.where)) return absl::OkStatus();
  ExpressionParameters expressions;
  ExpressionText text;
  expressions.condition = text.Text(*statement.where);
  text.FillPlaceholders(&expressions);
  return StatementError(
      BindRequestExpressions(expressions, expr::kDeleteKinds, ValidationLayer::kOlder, nullptr).status(),
      PlanKind::kCheck);
}

}  // namespace

absl::Status CheckParameters(const StatementRequest& request) {
  if (!request.parameters.has_value()) return absl::OkStatus();
  for (const std::string& parameter : *request.parameters) {
    ARM_RETURN_IF_ERROR(codec::CanonicalizeValue(parameter).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<Statement> ParseChecked(const StatementRequest& request) {
  static const auto* const kNone = new std::vector<std::string>;
  ARM_ASSIGN_OR_RETURN(
      Statement statement,
      ParseStatement(*request.statement, request.parameters.has_value() ? *request.parameters : *kNone));
  ARM_RETURN_IF_ERROR(CheckOperands(statement));
  return statement;
}

absl::StatusOr<Statement> ParseRequest(const StatementRequest& request) {
  ARM_RETURN_IF_ERROR(CheckParameters(request));
  return ParseChecked(request);
}

absl::Status CheckForm(const Statement& statement) {
  if (statement.kind == Statement::Kind::kExists) {
    return ValidationError(kExistsOutside);
  }
  if (!statement.is_read() && statement.index.has_value()) return ValidationError(kIndexInWrite);
  if (statement.kind != Statement::Kind::kDelete || statement.returning.empty() || statement.returning == "ALL OLD") {
    return absl::OkStatus();
  }
  return ValidationError(Cat("Invalid returning clause: RETURNING ", statement.returning,
                             " *. Only RETURNING ALL OLD * is allowed in DELETE statements."));
}

absl::Status RefusedMember(size_t i, std::string_view why) {
  return ValidationError(Cat("Validation failed in TransactStatements[", i, "]: ", why));
}

absl::Status MemberError(size_t i, const absl::Status& error) {
  const std::optional<ApiError> api_error = GetApiError(error);
  const bool is_refused = api_error.has_value() && api_error->type == ApiErrorType::kValidation;
  return is_refused ? RefusedMember(i, api_error->message) : error;
}

absl::Status CheckExecuteStatement(const ExecuteStatementRequest& request) {
  model::ConstraintList list;
  CheckReturnValues(request.statement, "", &list);
  if (request.limit.has_value()) list.CheckMinimum(*request.limit, "limit", 1);
  CheckText(request.statement, "", &list);
  CheckCapacityReport(request.return_consumed_capacity, &list);
  CheckParameterCount(request.statement, "", &list);
  if (request.next_token.has_value()) {
    const std::string printed = model::PrintedValue(model::Shown(*request.next_token));
    list.CheckLengthMin(printed, request.next_token->size(), "nextToken", 1);
    list.CheckLengthMax(printed, request.next_token->size(), "nextToken", kNextTokenMaxChars);
  }
  return list.ToStatus();
}

absl::Status CheckBatch(const BatchStatementRequest& request) {
  model::ConstraintList list;
  CheckCapacityReport(request.return_consumed_capacity, &list);
  if (!request.statements.has_value()) {
    list.AddNull("statements");
  } else {
    list.CheckLengthMin("'[]'", request.statements->size(), "statements", 1);
    list.CheckLengthMax("'[...]'", request.statements->size(), "statements", kBatchStatementsMax);
    for (size_t i = 0; i < std::min(request.statements->size(), kBatchStatementsMax); ++i) {
      CheckMemberShape((*request.statements)[i], Cat("statements.", i + 1, ".member."), &list);
    }
  }
  return list.ToStatus();
}

absl::Status CheckTransaction(const TransactStatementsRequest& request) {
  model::ConstraintList list;
  CheckClientRequestToken(request.client_request_token, &list);
  CheckCapacityReport(request.return_consumed_capacity, &list);
  if (!request.statements.has_value()) {
    list.AddNull("transactStatements");
  } else {
    list.CheckLengthMin("'[]'", request.statements->size(), "transactStatements", 1);
    list.CheckLengthMax("'[...]'", request.statements->size(), "transactStatements", model::kTransactActionsMax);
    for (size_t i = 0; i < std::min(request.statements->size(), model::kTransactActionsMax); ++i) {
      CheckMemberShape((*request.statements)[i], Cat("transactStatements.", i + 1, ".member."), &list);
    }
  }
  return list.ToStatus();
}

}  // namespace armature::engine::partiql
