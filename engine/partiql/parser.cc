#include "engine/partiql/parser.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "engine/partiql/literals.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/item_view.h"
#include "storage/model/wire.h"

namespace armature::engine::partiql {
namespace {

constexpr std::string_view kConditionFunctions[] = {"attribute_exists", "attribute_not_exists", "attribute_type",
                                                    "begins_with", "contains"};
constexpr std::string_view kComparators[] = {"=", "<>", "<", "<=", ">", ">="};
constexpr std::string_view kUpdateFunctions[] = {"list_append", "set_add", "set_delete", "if_not_exists"};

class Parser {
 public:
  Parser(std::vector<Token> tokens, const std::vector<std::string>& parameters)
      : tokens_(std::move(tokens)), parameters_{&parameters, 0} {}

  absl::StatusOr<Statement> Run() {
    ARM_RETURN_IF_ERROR(ReadStatement());
    if (!tokens_.AtEnd()) return tokens_.Unexpected();
    if (parameters_.used != parameters_.values->size()) {
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
    if (tokens_.TryWord("FROM")) return ReadFromFirst();
    if (tokens_.IsWord("EXISTS") && tokens_.IsSymbol("(", 1)) {
      tokens_.Take();
      tokens_.Take();
      ARM_RETURN_IF_ERROR(tokens_.TakeWord("SELECT"));
      ARM_RETURN_IF_ERROR(ReadSelect());
      statement_.kind = Statement::Kind::kExists;
      return tokens_.TakeSymbol(")");
    }
    return MalformedError("Expected data manipulation");
  }

  absl::StatusOr<std::string> ReadName() {
    const Token token = tokens_.Peek();
    if (tokens_.AtEnd()) return tokens_.Unexpected();
    const bool is_name = token.kind == TokenKind::kName || (token.kind == TokenKind::kWord && !IsKeyword(token.text));
    if (!is_name) return MalformedError(Cat("Unexpected path component at ", Printed(token.position)));
    tokens_.Take();
    return token.text;
  }

  // Table, and index if `may_have_index`.
  absl::Status ReadTable(bool may_have_index) {
    ARM_ASSIGN_OR_RETURN(statement_.table, ReadName());
    if (may_have_index && tokens_.TrySymbol(".")) {
      ARM_ASSIGN_OR_RETURN(statement_.index, ReadName());
    }
    const Token& next = tokens_.Peek();
    const bool is_alias = next.kind == TokenKind::kName || (next.kind == TokenKind::kWord && !IsKeyword(next.text));
    if (tokens_.IsWord("AS") || (is_alias && statement_.kind != Statement::Kind::kInsert)) {
      return ValidationError("Aliasing is not supported");
    }
    return absl::OkStatus();
  }

  absl::Status ReadSelect() {
    statement_.kind = Statement::Kind::kSelect;
    if (!tokens_.TrySymbol("*")) {
      do {
        ARM_ASSIGN_OR_RETURN(expr::DocumentPath path, ReadPath(&tokens_));
        statement_.columns.push_back(std::move(path));
      } while (tokens_.TrySymbol(","));
    }
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("FROM"));
    ARM_RETURN_IF_ERROR(ReadTable(/*may_have_index=*/true));
    ARM_RETURN_IF_ERROR(ReadWhere(/*required=*/false));
    if (!tokens_.TryWord("ORDER")) return absl::OkStatus();
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("BY"));
    do {
      OrderKey key;
      ARM_ASSIGN_OR_RETURN(key.attribute, ReadName());
      key.descending = tokens_.TryWord("DESC");
      if (!key.descending) tokens_.TryWord("ASC");
      statement_.order.push_back(std::move(key));
    } while (tokens_.TrySymbol(","));
    return absl::OkStatus();
  }

  absl::Status ReadInsert() {
    statement_.kind = Statement::Kind::kInsert;
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("INTO"));
    ARM_RETURN_IF_ERROR(ReadTable(/*may_have_index=*/false));
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("VALUE"));
    ARM_ASSIGN_OR_RETURN(statement_.item, ReadItemLiteral(&tokens_, &parameters_));
    return absl::OkStatus();
  }

  absl::Status ReadUpdate() {
    statement_.kind = Statement::Kind::kUpdate;
    ARM_RETURN_IF_ERROR(ReadTable(/*may_have_index=*/false));
    ARM_RETURN_IF_ERROR(ReadActions());
    ARM_RETURN_IF_ERROR(ReadWhere(/*required=*/true));
    return ReadReturning();
  }

  absl::Status ReadFromFirst() {
    statement_.kind = Statement::Kind::kUpdate;
    ARM_RETURN_IF_ERROR(ReadTable(/*may_have_index=*/false));
    ARM_RETURN_IF_ERROR(ReadWhere(/*required=*/true));
    ARM_RETURN_IF_ERROR(ReadActions());
    return ReadReturning();
  }

  absl::Status ReadDelete() {
    statement_.kind = Statement::Kind::kDelete;
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("FROM"));
    ARM_RETURN_IF_ERROR(ReadTable(/*may_have_index=*/false));
    ARM_RETURN_IF_ERROR(ReadWhere(/*required=*/true));
    ARM_RETURN_IF_ERROR(ReadReturning());
    if (statement_.returning.empty() || statement_.returning == "ALL OLD") return absl::OkStatus();
    return ValidationError(Cat("Invalid returning clause: RETURNING ", statement_.returning,
                               " *. Only RETURNING ALL OLD * is allowed in DELETE statements."));
  }

  absl::Status ReadWhere(bool required) {
    if (!required && !tokens_.IsWord("WHERE")) return absl::OkStatus();
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("WHERE"));
    ARM_ASSIGN_OR_RETURN(statement_.where, ReadJunction(Condition::Kind::kOr, 0));
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

  absl::Status ReadActions() {
    bool is_first = true;
    for (;;) {
      if (tokens_.TryWord("REMOVE")) {
        do {
          ARM_ASSIGN_OR_RETURN(expr::DocumentPath path, ReadPath(&tokens_));
          statement_.removes.push_back(std::move(path));
        } while (tokens_.TrySymbol(","));
      } else if (tokens_.TryWord("SET") || (!is_first && !statement_.sets.empty() && tokens_.TrySymbol(","))) {
        ARM_RETURN_IF_ERROR(ReadAssignment());
      } else if (is_first) {
        return tokens_.Unexpected();
      } else {
        return absl::OkStatus();
      }
      is_first = false;
    }
  }

  absl::Status ReadAssignment() {
    Assignment assignment;
    ARM_ASSIGN_OR_RETURN(assignment.target, ReadPath(&tokens_));
    ARM_RETURN_IF_ERROR(tokens_.TakeSymbol("="));
    ARM_ASSIGN_OR_RETURN(assignment.left, ReadOperand(kUpdateFunctions, 0));
    if (tokens_.IsSymbol("+") || tokens_.IsSymbol("-")) {
      assignment.sign = tokens_.Take().text[0];
      ARM_ASSIGN_OR_RETURN(assignment.right, ReadOperand(kUpdateFunctions, 0));
    }
    statement_.sets.push_back(std::move(assignment));
    return absl::OkStatus();
  }

  absl::StatusOr<Condition> ReadJunction(Condition::Kind kind, int depth) {
    const bool is_or = kind == Condition::Kind::kOr;
    Condition junction;
    junction.kind = kind;
    do {
      ARM_ASSIGN_OR_RETURN(Condition term, is_or ? ReadJunction(Condition::Kind::kAnd, depth) : ReadTerm(depth));
      junction.children.push_back(std::move(term));
    } while (tokens_.TryWord(is_or ? "OR" : "AND"));
    if (junction.children.size() > 1) return junction;
    Condition only = std::move(junction.children.front());
    return only;
  }

  absl::StatusOr<Condition> ReadTerm(int depth) {
    if (depth > kDepthMax) return MalformedError("The conditions are nested too deeply");
    if (tokens_.TryWord("NOT")) {
      ARM_ASSIGN_OR_RETURN(Condition inner, ReadTerm(depth + 1));
      return Negated(std::move(inner));
    }
    if (tokens_.TrySymbol("(")) {
      ARM_ASSIGN_OR_RETURN(Condition inner, ReadJunction(Condition::Kind::kOr, depth + 1));
      ARM_RETURN_IF_ERROR(tokens_.TakeSymbol(")"));
      return inner;
    }
    return ReadPredicate();
  }

  static Condition Negated(Condition inner) {
    Condition negation;
    negation.kind = Condition::Kind::kNot;
    negation.children.push_back(std::move(inner));
    return negation;
  }

  static Condition CallOn(std::string_view function, std::vector<Operand> arguments) {
    Condition condition;
    condition.kind = Condition::Kind::kCall;
    Operand& call = condition.operands.emplace_back();
    call.kind = Operand::Kind::kCall;
    call.function = std::string(function);
    call.arguments = std::move(arguments);
    return condition;
  }

  absl::StatusOr<Condition> ReadPredicate() {
    ARM_ASSIGN_OR_RETURN(Operand left, ReadOperand(kConditionFunctions, 0));
    Condition condition;
    if (left.kind == Operand::Kind::kCall && left.function != "size") {
      condition.kind = Condition::Kind::kCall;
      condition.operands.push_back(std::move(left));
      return condition;
    }
    if (tokens_.TryWord("IS")) return ReadIs(std::move(left));
    const bool negated = tokens_.TryWord("NOT");
    condition.operands.push_back(std::move(left));
    if (tokens_.TryWord("BETWEEN")) {
      condition.kind = Condition::Kind::kBetween;
      ARM_RETURN_IF_ERROR(AddOperand(&condition));
      ARM_RETURN_IF_ERROR(tokens_.TakeWord("AND"));
      ARM_RETURN_IF_ERROR(AddOperand(&condition));
    } else if (tokens_.TryWord("IN")) {
      condition.kind = Condition::Kind::kIn;
      ARM_RETURN_IF_ERROR(ReadChoices(&condition));
    } else {
      const Token comparator = tokens_.Peek();
      const std::string text = comparator.text == "!=" ? "<>" : comparator.text;
      const bool is_comparator =
          comparator.kind == TokenKind::kSymbol &&
          std::find(std::begin(kComparators), std::end(kComparators), text) != std::end(kComparators);
      if (negated || !is_comparator) return tokens_.Unexpected();
      tokens_.Take();
      condition.comparator = text;
      ARM_RETURN_IF_ERROR(AddOperand(&condition));
    }
    return negated ? Negated(std::move(condition)) : std::move(condition);
  }

  absl::Status AddOperand(Condition* condition) {
    ARM_ASSIGN_OR_RETURN(Operand operand, ReadOperand(kConditionFunctions, 0));
    if (operand.kind == Operand::Kind::kCall && operand.function != "size") return tokens_.Unexpected();
    condition->operands.push_back(std::move(operand));
    return absl::OkStatus();
  }

  absl::Status ReadChoices(Condition* condition) {
    const std::string_view end = tokens_.IsSymbol("[") ? "]" : ")";
    if (!tokens_.TrySymbol("[")) ARM_RETURN_IF_ERROR(tokens_.TakeSymbol("("));
    do {
      ARM_RETURN_IF_ERROR(AddOperand(condition));
    } while (tokens_.TrySymbol(","));
    return tokens_.TakeSymbol(end);
  }

  // IS [NOT] MISSING, IS [NOT] NULL.
  absl::StatusOr<Condition> ReadIs(Operand tested) {
    const bool negated = tokens_.TryWord("NOT");
    if (tokens_.TryWord("MISSING")) {
      return CallOn(negated ? "attribute_exists" : "attribute_not_exists", {std::move(tested)});
    }
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("NULL"));
    Operand type;
    type.kind = Operand::Kind::kValue;
    model::AppendBytesField(static_cast<uint32_t>(model::ValueType::kString), "NULL", &type.value);
    Condition is_null = CallOn("attribute_type", {std::move(tested), std::move(type)});
    return negated ? Negated(std::move(is_null)) : std::move(is_null);
  }

  template <class Functions>
  absl::StatusOr<Operand> ReadOperand(const Functions& functions, int depth) {
    if (depth > kDepthMax) return MalformedError("The functions are nested too deeply");
    Operand operand;
    operand.position = tokens_.Peek().position;
    if (tokens_.Peek().kind == TokenKind::kWord && tokens_.IsSymbol("(", 1)) {
      const Token name = tokens_.Take();
      operand.kind = Operand::Kind::kCall;
      operand.function = absl::AsciiStrToLower(name.text);
      if (operand.function != "size" &&
          std::find(std::begin(functions), std::end(functions), operand.function) == std::end(functions)) {
        return ValidationError(Cat("Unrecognized function: ", name.text, " at ", Printed(name.position)));
      }
      tokens_.Take();
      if (tokens_.TrySymbol(")")) return operand;
      do {
        ARM_ASSIGN_OR_RETURN(Operand argument, ReadOperand(functions, depth + 1));
        operand.arguments.push_back(std::move(argument));
      } while (tokens_.TrySymbol(","));
      ARM_RETURN_IF_ERROR(tokens_.TakeSymbol(")"));
      return operand;
    }
    if (BeginsLiteral(tokens_)) {
      operand.kind = Operand::Kind::kValue;
      ARM_ASSIGN_OR_RETURN(operand.value, ReadLiteral(&tokens_, &parameters_));
      return operand;
    }
    ARM_ASSIGN_OR_RETURN(operand.path, ReadPath(&tokens_));
    return operand;
  }

  TokenReader tokens_;
  Parameters parameters_;
  Statement statement_;
};

}  // namespace

absl::StatusOr<Statement> ParseStatement(std::string_view text, const std::vector<std::string>& parameters) {
  ARM_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(text));
  return Parser(std::move(tokens), parameters).Run();
}

}  // namespace armature::engine::partiql
