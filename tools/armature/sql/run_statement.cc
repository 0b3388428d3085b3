#include "tools/armature/sql/run_statement.h"

#include <utility>
#include <vector>

#include "armature/api/v1/statements.pb.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/sql/quoted_texts.h"
#include "tools/armature/sql/sql_token.h"

namespace armature::cli {
namespace {

api::v1::ExecuteStatementRequest StatementRequest(const SqlContext& context, std::string_view statement) {
  api::v1::ExecuteStatementRequest request;
  request.set_statement(std::string(statement));
  for (const api::v1::AttributeValue& value : context.parameters) *request.add_parameters() = value;
  if (context.settings.consistent_read) request.set_consistent_read(true);
  return request;
}

}  // namespace

absl::StatusOr<SqlResult> RunPartiql(const SqlContext& context, std::string_view statement) {
  ARM_ASSIGN_OR_RETURN(const std::vector<SqlToken> tokens, TokenizeSql(statement));
  ARM_RETURN_IF_ERROR(CheckQuotedTexts(tokens));
  const SqlTokenReader reader(tokens);
  api::v1::ExecuteStatementRequest request = StatementRequest(context, statement);
  if (context.settings.explain) request.set_explain_only(true);
  SqlResult result;
  result.is_read = reader.IsWord("SELECT");
  const auto is_full = [&] {
    return context.settings.limit > 0 && static_cast<int64_t>(result.items.size()) >= context.settings.limit;
  };
  while (true) {
    ARM_ASSIGN_OR_RETURN(auto page, context.client.ExecuteStatement(request));
    if (page.has_plan()) return PlanResult(page.plan());
    for (api::v1::Item& item : *page.mutable_items()) {
      if (is_full()) {
        result.has_more = true;
        return result;
      }
      result.items.push_back(std::move(item));
    }
    if (!page.has_next_token()) break;
    if (is_full() || context.is_interrupted()) {
      result.has_more = true;
      return result;
    }
    request.set_next_token(page.next_token());
  }
  // The items of RETURNING.
  if (!result.items.empty()) result.is_read = true;
  if (!result.is_read) result.text = "ok\n";
  return result;
}

absl::Status ForEachItem(const SqlContext& context, std::string_view statement, int page_limit, const ItemSink& sink) {
  api::v1::ExecuteStatementRequest request = StatementRequest(context, statement);
  if (page_limit > 0) request.set_limit(page_limit);
  while (true) {
    if (context.is_interrupted()) return InterruptedError("the statement");
    ARM_ASSIGN_OR_RETURN(auto page, context.client.ExecuteStatement(request));
    for (api::v1::Item& item : *page.mutable_items()) {
      ARM_ASSIGN_OR_RETURN(const bool goes_on, sink(std::move(item)));
      if (!goes_on) return absl::OkStatus();
    }
    if (!page.has_next_token()) return absl::OkStatus();
    request.set_next_token(page.next_token());
  }
}

absl::Status InterruptedError(std::string_view done) {
  return absl::CancelledError(Av(Cat("interrupted: ", done, " was ended")));
}

}  // namespace armature::cli
