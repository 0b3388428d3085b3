#include "tools/armature/sql/transaction_buffer.h"

#include <optional>
#include <utility>

#include "armature/client/errors.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/sql/error_place.h"
#include "tools/armature/sql/quoted_texts.h"
#include "tools/armature/sql/sql_token.h"

namespace armature::cli {
namespace {

constexpr size_t kShownStatement = 60;  // bytes of a statement in an error

std::string Beginning(const std::string& statement) {
  std::string shown = statement.substr(0, kShownStatement);
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return statement.size() > kShownStatement ? shown + "..." : shown;
}

}  // namespace

absl::StatusOr<SqlResult> TransactionBuffer::Begin() {
  if (is_open_) return UsageError("a transaction is open already; COMMIT or ROLLBACK ends it");
  is_open_ = true;
  return TextResult(Cat("A transaction of at most ", kTransactionMax,
                        " reads, or as many writes, each of one item. "
                        "COMMIT executes it."),
                    {{"Transaction", "open"}});
}

absl::StatusOr<SqlResult> TransactionBuffer::Add(const SqlContext& context, std::string_view statement,
                                                 const std::vector<api::v1::AttributeValue>& parameters) {
  ARM_ASSIGN_OR_RETURN(const std::vector<SqlToken> tokens, TokenizeSql(statement));
  ARM_RETURN_IF_ERROR(CheckQuotedTexts(tokens));
  const SqlTokenReader reader(tokens);
  const bool is_read = reader.IsWord("SELECT");
  if (statements_.size() == kTransactionMax) {
    return UsageError(Cat("a transaction has at most ", kTransactionMax, " statements; this one is not part of it"));
  }
  if (!statements_.empty() && is_read != is_read_) {
    return UsageError(Cat("a transaction has either reads or writes, and this one has ", is_read_ ? "reads" : "writes",
                          "; the statement is not part of it"));
  }
  if (!reader.IsWord("EXISTS")) {
    api::v1::ExecuteStatementRequest request;
    request.set_statement(std::string(statement));
    for (const api::v1::AttributeValue& value : parameters) *request.add_parameters() = value;
    request.set_explain_only(true);
    ARM_RETURN_IF_ERROR(context.client.ExecuteStatement(request).status());
  }
  is_read_ = is_read;
  api::v1::ParameterizedStatement& added = statements_.emplace_back();
  added.set_statement(std::string(statement));
  for (const api::v1::AttributeValue& value : parameters) *added.add_parameters() = value;
  return TextResult(Cat("Statement ", statements_.size(), " of the transaction."), {{"Statement", statements_.size()}});
}

absl::StatusOr<SqlResult> TransactionBuffer::Commit(const SqlContext& context) {
  if (!is_open_) return UsageError("there is no transaction; BEGIN begins one");
  is_open_ = false;
  const std::vector<api::v1::ParameterizedStatement> statements = std::exchange(statements_, {});
  if (statements.empty()) return TextResult("The transaction was empty.", {{"Committed", 0}});
  api::v1::ExecuteTransactionRequest request;
  for (const api::v1::ParameterizedStatement& statement : statements) *request.add_transact_statements() = statement;
  auto response = context.client.ExecuteTransaction(request);
  if (!response.ok()) {
    std::string reasons;
    const std::optional<api::v1::ErrorDetail> detail = client::ErrorDetailOf(response.status());
    for (int i = 0; detail.has_value() && i < detail->cancellation_reasons_size(); ++i) {
      const auto& reason = detail->cancellation_reasons(i);
      if (reason.code() == "None" || static_cast<size_t>(i) >= statements.size()) continue;
      reasons += Cat("; statement ", i + 1, " (", Beginning(statements[static_cast<size_t>(i)].statement()),
                     "): ", reason.code());
    }
    return WithoutPlace(WithNote(response.status(), Cat(reasons, ". Nothing was changed")));
  }
  if (!is_read_) {
    return TextResult(Cat(statements.size(), statements.size() == 1 ? " statement" : " statements", " committed."),
                      {{"Committed", statements.size()}});
  }
  SqlResult result;
  result.is_read = true;
  for (api::v1::StatementItem& answer : *response->mutable_responses()) {
    if (answer.has_item()) result.items.push_back(std::move(*answer.mutable_item()));
  }
  return result;
}

absl::StatusOr<SqlResult> TransactionBuffer::Rollback() {
  if (!is_open_) return UsageError("there is no transaction; BEGIN begins one");
  is_open_ = false;
  const size_t count = std::exchange(statements_, {}).size();
  return TextResult(Cat("The transaction is dropped; its ", count, count == 1 ? " statement was" : " statements were",
                        " not executed."),
                    {{"RolledBack", count}});
}

}  // namespace armature::cli
