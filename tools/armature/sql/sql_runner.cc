#include "tools/armature/sql/sql_runner.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/sql/bulk_write.h"
#include "tools/armature/sql/insert_rows.h"
#include "tools/armature/sql/quoted_texts.h"
#include "tools/armature/sql/run_statement.h"
#include "tools/armature/sql/select_run.h"
#include "tools/armature/sql/select_statement.h"
#include "tools/armature/sql/table_run.h"
#include "tools/armature/sql/table_statement.h"

namespace armature::cli {
namespace {

// A statement that begins and ends a transaction.
enum class Bracket : uint8_t { kNone, kBegin, kCommit, kRollback };

// The bracket, if the statement is nothing else.
absl::StatusOr<Bracket> ReadBracket(SqlTokenReader tokens) {
  Bracket bracket = Bracket::kNone;
  if (tokens.TryWord("BEGIN") ||
      (tokens.IsWord("START") && tokens.IsWord("TRANSACTION", 1) && tokens.TryWord("START"))) {
    bracket = Bracket::kBegin;
  } else if (tokens.TryWord("COMMIT") || tokens.TryWord("END")) {
    bracket = Bracket::kCommit;
  } else if (tokens.TryWord("ROLLBACK") || tokens.TryWord("ABORT")) {
    bracket = Bracket::kRollback;
  }
  if (bracket == Bracket::kNone) return bracket;
  if (!tokens.TryWord("TRANSACTION")) tokens.TryWord("WORK");
  ARM_RETURN_IF_ERROR(tokens.TakeEnd());
  return bracket;
}

// True if a SELECT whose only clause of ours is ORDER BY is PartiQL, since the daemon reads in this order.
bool DaemonTakes(const SqlContext& context, std::string_view statement, const std::vector<SqlToken>& tokens) {
  const bool has_order = std::any_of(tokens.begin(), tokens.end(), [](const SqlToken& token) {
    return token.kind == SqlTokenKind::kWord && absl::EqualsIgnoreCase(token.text, "ORDER");
  });
  if (!has_order) return false;
  SqlContext explaining = context;
  explaining.settings.explain = true;
  return RunPartiql(explaining, statement).ok();
}

}  // namespace

absl::StatusOr<SqlResult> SqlRunner::Run(const SqlContext& context, std::string_view statement) {
  ARM_ASSIGN_OR_RETURN(const std::vector<SqlToken> tokens, TokenizeSql(statement));
  SqlTokenReader reader(tokens);
  if (reader.AtEnd()) return SqlError("there is no statement", {0, 0});
  if (reader.IsWord("EXPLAIN")) {
    SqlContext explaining = context;
    explaining.settings.explain = true;
    // Places stay those of the whole statement.
    std::string rest(statement);
    const TextPlace word = reader.Take().place;
    rest.replace(word.begin, word.end - word.begin, word.end - word.begin, ' ');
    if (reader.AtEnd() || reader.IsWord("EXPLAIN")) return reader.Expected("a statement");
    return Run(explaining, rest);
  }
  ARM_ASSIGN_OR_RETURN(const Bracket bracket, ReadBracket(reader));
  if (bracket != Bracket::kNone && context.settings.explain) {
    return PlanResult("COMMIT sends the statements since BEGIN as one ExecuteTransaction");
  }
  switch (bracket) {
    case Bracket::kBegin:
      return transaction_.Begin();
    case Bracket::kCommit:
      return transaction_.Commit(context);
    case Bracket::kRollback:
      return transaction_.Rollback();
    case Bracket::kNone:
      break;
  }
  if (transaction_.is_open() && !context.settings.explain) return AddToTransaction(context, statement, tokens);
  return RunOwn(context, statement, tokens);
}

absl::StatusOr<SqlResult> SqlRunner::RunOwn(const SqlContext& context, std::string_view statement,
                                            const std::vector<SqlToken>& tokens) {
  const SqlTokenReader reader(tokens);
  if (IsTableStatement(reader)) {
    ARM_ASSIGN_OR_RETURN(const TableStatement parsed, ParseTableStatement(tokens));
    return RunTableStatement(context, parsed);
  }
  if (IsInsertOfRows(reader)) {
    ARM_ASSIGN_OR_RETURN(const InsertRows parsed, ParseInsertRows(statement, tokens));
    return RunInsertRows(context, parsed);
  }
  if (HasClausesOfOurs(tokens)) {
    ARM_RETURN_IF_ERROR(CheckQuotedTexts(tokens));
    if (!DaemonTakes(context, statement, tokens)) {
      ARM_ASSIGN_OR_RETURN(const SelectStatement parsed, ParseSelect(tokens));
      return RunSelect(context, statement, parsed);
    }
  }
  if (reader.IsWord("UPDATE") || reader.IsWord("DELETE")) return RunWrite(context, statement, tokens);
  absl::StatusOr<SqlResult> result = RunPartiql(context, statement);
  if (!result.ok() || !result->is_read) return result;
  // The columns come in the order of the statement.
  const absl::StatusOr<SelectStatement> parsed = ParseSelect(tokens);
  if (!parsed.ok()) return result;
  for (const SelectColumn& column : parsed->columns) result->columns.push_back(column.name);
  return result;
}

absl::StatusOr<SqlResult> SqlRunner::RunWrite(const SqlContext& context, std::string_view statement,
                                              const std::vector<SqlToken>& tokens) {
  ARM_RETURN_IF_ERROR(CheckQuotedTexts(tokens));
  ARM_ASSIGN_OR_RETURN(const std::optional<BulkStatement> bulk, ParseBulk(tokens));
  if (bulk.has_value() && bulk->options.has_value()) return RunBulk(context, statement, *bulk);
  absl::StatusOr<SqlResult> result = RunPartiql(context, statement);
  if (result.ok() || !bulk.has_value() || !LacksWholeKey(result.status())) return result;
  return RunBulk(context, statement, *bulk);
}

absl::StatusOr<SqlResult> SqlRunner::AddToTransaction(const SqlContext& context, std::string_view statement,
                                                      const std::vector<SqlToken>& tokens) {
  const SqlTokenReader reader(tokens);
  if (IsTableStatement(reader) || reader.IsWord("REPLACE") || HasClausesOfOurs(tokens)) {
    return SqlError("the statement cannot be part of a transaction; COMMIT or ROLLBACK ends it", tokens[0].place);
  }
  if (IsInsertOfRows(reader)) {
    ARM_ASSIGN_OR_RETURN(const InsertRows parsed, ParseInsertRows(statement, tokens));
    if (transaction_.size() + parsed.rows.size() > kTransactionMax) {
      return SqlError(Cat("a transaction has at most ", kTransactionMax, " statements, and each row is one"),
                      tokens[0].place);
    }
    SqlResult result;
    for (const InsertRows::Row& row : parsed.rows) {
      ARM_ASSIGN_OR_RETURN(const auto parameters, ParametersOf(row, context));
      absl::StatusOr<SqlResult> added = transaction_.Add(context, row.statement, parameters);
      if (!added.ok()) return WithPlaceAt(added.status(), row.place);
      result = *std::move(added);
    }
    return result;
  }
  return transaction_.Add(context, statement, context.parameters);
}

absl::Status SqlRunner::CheckEnd() const {
  if (!transaction_.is_open()) return absl::OkStatus();
  return UsageError("the transaction has no COMMIT: its statements were not executed");
}

}  // namespace armature::cli
