#include "engine/partiql/parser.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "engine/expr/paths.h"
#include "engine/partiql/condition_parser.h"
#include "engine/partiql/expression_statement.h"
#include "engine/partiql/literals.h"
#include "engine/partiql/words.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/item_view.h"
#include "storage/model/limits.h"
#include "storage/model/wire.h"

namespace armature::engine::partiql {
namespace {

using Clause = Refusals::Clause;

constexpr std::string_view kUpdateFunctions[] = {"list_append", "set_add", "set_delete", "if_not_exists"};
bool IsSetFunction(const std::string& function) { return function == "set_add" || function == "set_delete"; }

class Parser {
 public:
  Parser(std::vector<Token> tokens, const std::vector<std::string>& parameters) : tokens_(std::move(tokens)) {
    context_.parameters = &parameters;
  }

  absl::StatusOr<Statement> Run() {
    ARM_RETURN_IF_ERROR(ReadStatement());
    ARM_RETURN_IF_ERROR(tokens_.TakeEnd());
    ARM_RETURN_IF_ERROR(context_.refusals.First());
    // Further parameters are ignored.
    if (context_.parameters_used > context_.parameters->size()) {
      return ValidationError("Number of parameters in request and statement don't match.");
    }
    return std::move(statement_);
  }

 private:
  absl::Status ReadStatement() {
    if (tokens_.TryWord("SELECT")) return ReadSelect();
    if (tokens_.TryWord("INSERT")) return ReadInsert();
    if (tokens_.TryWord("UPDATE")) return ReadUpdate();
    if (tokens_.TryWord("DELETE")) return ReadDelete();
    if (tokens_.IsWord("FROM") && IsName(tokens_.Peek(1))) return ReadFromFirst();
    if (tokens_.IsWord("EXISTS") && tokens_.IsSymbol("(", 1) && tokens_.IsWord("SELECT", 2)) {
      for (int i = 0; i < 3; ++i) tokens_.Take();
      ARM_RETURN_IF_ERROR(ReadSelect());
      statement_.kind = Statement::Kind::kExists;
      return tokens_.TakeSymbol(")");
    }
    return ExpressionStatementError(&tokens_);
  }

  absl::StatusOr<std::string> ReadName() {
    const Token token = tokens_.Peek();
    if (tokens_.AtEnd()) return tokens_.Unexpected();
    if (!IsName(token)) return MalformedError(Cat("Unexpected path component at ", Printed(token.position)));
    tokens_.Take();
    return token.text;
  }

  // Table, and index if there is one.
  absl::Status ReadTable() {
    const Position begin = tokens_.Peek().position;
    ARM_ASSIGN_OR_RETURN(statement_.table, ReadName());
    if (tokens_.TrySymbol(".")) {
      ARM_ASSIGN_OR_RETURN(statement_.index, ReadName());
      if (tokens_.IsSymbol(".")) {
        return ValidationError("A path may contain at most 2 components in the FROM clause");
      }
    }
    if (statement_.kind == Statement::Kind::kInsert) {
      if (!statement_.index.has_value()) return absl::OkStatus();
      return ValidationError(
          Cat("FROM clause may only contain a single table name in data manipulation statements at ", Printed(begin)));
    }
    if (tokens_.IsWord("AS") || IsName(tokens_.Peek())) return ValidationError("Aliasing is not supported");
    return absl::OkStatus();
  }

  absl::Status ReadSelect() {
    statement_.kind = Statement::Kind::kSelect;
    if (!tokens_.TrySymbol("*")) ARM_RETURN_IF_ERROR(ReadColumns());
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("FROM"));
    // ReadName refuses other keywords.
    if (IsAnyWord(tokens_, kClauseWords) || IsAnyWord(tokens_, kCaseWords) || tokens_.IsWord("CASE") ||
        tokens_.IsWord("EXISTS")) {
      return MalformedError(kUnexpectedKeyword);
    }
    ARM_RETURN_IF_ERROR(ReadTable());
    ARM_RETURN_IF_ERROR(ReadWhere());
    return tokens_.TryWord("ORDER") ? ReadOrder() : absl::OkStatus();
  }

  absl::Status ReadColumns() {
    if (tokens_.IsWord("FROM")) {
      return MalformedError(
          "Expected identifier or an expression but found unexpected keyword 'from' in a select list.");
    }
    do {
      const Token& token = tokens_.Peek();
      if (token.kind == TokenKind::kWord && tokens_.IsSymbol("(", 1)) {
        return ValidationError(Cat("Unexpected path component at ", Printed(token.position)));
      }
      ARM_ASSIGN_OR_RETURN(expr::DocumentPath path, ReadPath(&tokens_));
      // The projection has only their attributes, so that nobody else would find it.
      if (path.elements.size() > model::kDocumentPathDepthMax) {
        context_.refusals.NoteOperand(ValidationError(expr::PathDepthText(path.elements.size())));
      }
      statement_.columns.push_back(std::move(path));
    } while (tokens_.TrySymbol(","));
    return absl::OkStatus();
  }

  absl::Status ReadOrder() {
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("BY"));
    do {
      const Token token = tokens_.Peek();
      OrderKey key;
      if (token.kind == TokenKind::kString) {
        tokens_.Take();
        key.refused_type = token.text;
      } else {
        ARM_ASSIGN_OR_RETURN(const expr::DocumentPath path, ReadPath(&tokens_));
        key.attribute = path.attribute();
        if (path.nested()) key.refused_type = "PATH";
      }
      key.position = token.position;
      key.descending = tokens_.TryWord("DESC");
      if (!key.descending) tokens_.TryWord("ASC");
      // A key is never null.
      if (tokens_.TryWord("NULLS") && !tokens_.TryWord("FIRST")) ARM_RETURN_IF_ERROR(tokens_.TakeWord("LAST"));
      statement_.order.push_back(std::move(key));
    } while (tokens_.TrySymbol(","));
    return absl::OkStatus();
  }

  absl::Status ReadInsert() {
    statement_.kind = Statement::Kind::kInsert;
    if (!tokens_.TryWord("INTO")) return MalformedError(kUnexpectedKeyword);
    if (tokens_.AtEnd()) return MalformedError(kExpectedPath);
    ARM_RETURN_IF_ERROR(ReadTable());
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("VALUE"));
    context_.refusals.Enter(Clause::kValue);
    ARM_ASSIGN_OR_RETURN(statement_.item, ReadItemLiteral(&tokens_, &context_));
    return absl::OkStatus();
  }

  absl::Status ReadUpdate() {
    statement_.kind = Statement::Kind::kUpdate;
    const TokenKind kind = tokens_.Peek().kind;
    if (kind != TokenKind::kName && kind != TokenKind::kWord) return MalformedError(kExpectedPath);
    ARM_RETURN_IF_ERROR(ReadTable());
    ARM_RETURN_IF_ERROR(ReadActions());
    ARM_RETURN_IF_ERROR(ReadWhere());
    return ReadReturning();
  }

  // FROM, a table, and the actions of an UPDATE behind its condition.
  absl::Status ReadFromFirst() {
    statement_.kind = Statement::Kind::kUpdate;
    tokens_.Take();
    ARM_RETURN_IF_ERROR(ReadTable());
    ARM_RETURN_IF_ERROR(ReadWhere());
    if (!tokens_.IsWord("SET") && !tokens_.IsWord("REMOVE")) return MalformedError(kExpectedManipulation);
    ARM_RETURN_IF_ERROR(ReadActions());
    return ReadReturning();
  }

  absl::Status ReadDelete() {
    statement_.kind = Statement::Kind::kDelete;
    if (!tokens_.TryWord("FROM")) return MalformedError("Expected FROM after DELETE");
    if (tokens_.AtEnd() || !IsName(tokens_.Peek())) return MalformedError(kExpectedPath);
    ARM_RETURN_IF_ERROR(ReadTable());
    ARM_RETURN_IF_ERROR(ReadWhere());
    return ReadReturning();
  }

  absl::Status ReadWhere() {
    if (!tokens_.TryWord("WHERE")) return absl::OkStatus();
    context_.refusals.Enter(Clause::kWhere);
    ARM_ASSIGN_OR_RETURN(statement_.where, ReadCondition(&tokens_, &context_));
    return absl::OkStatus();
  }

  absl::Status ReadReturning() {
    if (!tokens_.TryWord("RETURNING")) return absl::OkStatus();
    const auto one_of = [this](std::string_view first, std::string_view second) -> absl::StatusOr<std::string> {
      if (tokens_.TryWord(first)) return std::string(first);
      ARM_RETURN_IF_ERROR(tokens_.TakeWord(second));
      return std::string(second);
    };
    ARM_ASSIGN_OR_RETURN(const std::string extent, one_of("ALL", "MODIFIED"));
    ARM_ASSIGN_OR_RETURN(const std::string time, one_of("OLD", "NEW"));
    statement_.returning = Cat(extent, " ", time);
    return tokens_.TakeSymbol("*");
  }

  // SET takes a list of assignments, REMOVE one path.
  absl::Status ReadActions() {
    context_.refusals.Enter(Clause::kSet);
    if (!tokens_.IsWord("SET") && !tokens_.IsWord("REMOVE")) return tokens_.Unexpected();
    for (;;) {
      if (tokens_.TryWord("REMOVE")) {
        if (tokens_.AtEnd()) return MalformedError(kExpectedPath);
        ARM_ASSIGN_OR_RETURN(expr::DocumentPath path, ReadPath(&tokens_));
        statement_.removes.push_back(std::move(path));
      } else if (tokens_.TryWord("SET")) {
        do {
          ARM_RETURN_IF_ERROR(ReadAssignment());
        } while (tokens_.TrySymbol(","));
      } else {
        return absl::OkStatus();
      }
    }
  }

  absl::Status ReadAssignment() {
    if (tokens_.AtEnd()) return MalformedError(kExpectedPath);
    Assignment assignment;
    ARM_ASSIGN_OR_RETURN(assignment.target, ReadPath(&tokens_));
    ARM_RETURN_IF_ERROR(tokens_.TakeSymbol("="));
    ARM_ASSIGN_OR_RETURN(assignment.left, ReadOperand(0));
    if (tokens_.IsSymbol("+") || tokens_.IsSymbol("-")) {
      assignment.sign = tokens_.Take().text[0];
      ARM_ASSIGN_OR_RETURN(assignment.right, ReadOperand(0));
    }
    CheckSetFunction(assignment);
    statement_.sets.push_back(std::move(assignment));
    return absl::OkStatus();
  }

  // SET_ADD and SET_DELETE are a whole right side, on their target and a set.
  void CheckSetFunction(const Assignment& assignment) {
    const Operand& call = assignment.left;
    if (assignment.right.has_value()) {
      for (const Operand* const operand : {&call, &*assignment.right}) RefuseSetFunctions(*operand);
      return;
    }
    for (const Operand& argument : call.arguments) RefuseSetFunctions(argument);
    if (!IsSetFunction(call.function)) return;
    const std::string name = absl::AsciiStrToUpper(call.function);
    const auto refuse = [&](std::string_view before, std::string_view after, const Position& position) {
      context_.refusals.NoteOperand(ValidationError(Cat(before, name, after, " at ", Printed(position))));
    };
    if (call.arguments.size() != 2) return refuse("", " must have exactly two arguments", call.position);
    const Operand& first = call.arguments[0];
    if (first.kind != Operand::Kind::kPath || first.path.elements != assignment.target.elements) {
      return refuse("The first argument to ", " must equal the assignment value", call.position);
    }
    const Operand& second = call.arguments[1];
    std::string_view rest = second.value;
    model::WireField field;
    const bool is_set = second.kind == Operand::Kind::kValue && model::TakeField(&rest, &field) &&
                        field.number >= static_cast<uint32_t>(model::ValueType::kStringSet) &&
                        field.number <= static_cast<uint32_t>(model::ValueType::kBinarySet);
    if (!is_set) refuse("The second argument to ", " must be a value with type SET", first.position);
  }

  void RefuseSetFunctions(const Operand& operand) {
    if (IsSetFunction(operand.function)) RefuseFunction(operand.function, operand.position);
    for (const Operand& argument : operand.arguments) RefuseSetFunctions(argument);
  }

  void RefuseFunction(std::string_view function, const Position& position) {
    context_.refusals.Note(ValidationError(Cat("Unrecognized function: ", function, " at ", Printed(position))));
  }

  // An operand of SET.
  absl::StatusOr<Operand> ReadOperand(int depth) {
    if (depth > kDepthMax) return MalformedError("The functions are nested too deeply");
    Operand operand;
    operand.position = tokens_.Peek().position;
    if (tokens_.Peek().kind == TokenKind::kWord && tokens_.IsSymbol("(", 1)) {
      operand.kind = Operand::Kind::kCall;
      operand.function = absl::AsciiStrToLower(tokens_.Peek().text);
      if (std::find(std::begin(kUpdateFunctions), std::end(kUpdateFunctions), operand.function) ==
          std::end(kUpdateFunctions)) {
        RefuseFunction(operand.function, operand.position);
        ARM_RETURN_IF_ERROR(SkipCall(&tokens_));
        return operand;
      }
      tokens_.Take();
      tokens_.Take();
      if (tokens_.TrySymbol(")")) {
        // Calls of set functions have a text of their own.
        if (!IsSetFunction(operand.function)) {
          context_.refusals.NoteOperand(ValidationError(expr::OperandCountText(operand.function, 0)));
        }
        return operand;
      }
      do {
        ARM_ASSIGN_OR_RETURN(Operand argument, ReadOperand(depth + 1));
        operand.arguments.push_back(std::move(argument));
      } while (tokens_.TrySymbol(","));
      ARM_RETURN_IF_ERROR(tokens_.TakeSymbol(")"));
      return operand;
    }
    if (BeginsLiteral(tokens_)) {
      operand.kind = Operand::Kind::kValue;
      ARM_ASSIGN_OR_RETURN(operand.value, ReadLiteral(&tokens_, &context_));
      return operand;
    }
    ARM_ASSIGN_OR_RETURN(operand.path, ReadPath(&tokens_));
    return operand;
  }

  TokenReader tokens_;
  StatementContext context_;
  Statement statement_;
};

}  // namespace

absl::StatusOr<Statement> ParseStatement(std::string_view text, const std::vector<std::string>& parameters) {
  ARM_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(text));
  return Parser(std::move(tokens), parameters).Run();
}

}  // namespace armature::engine::partiql
