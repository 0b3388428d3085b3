#include "engine/partiql/condition_parser.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "engine/expr/paths.h"
#include "engine/partiql/boolean_terms.h"
#include "engine/partiql/words.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/item_view.h"
#include "storage/model/limits.h"
#include "storage/model/wire.h"

namespace armature::engine::partiql {
namespace {

constexpr std::string_view kConditionFunctions[] = {"attribute_exists", "attribute_not_exists", "attribute_type",
                                                    "begins_with", "contains"};
constexpr char kMissingCompared[] = "MISSING must be compared using IS operator";

// A type that IS tests: by its word, the type of an AttributeValue.
struct TestedType {
  std::string_view word;
  std::string_view type;
};
constexpr TestedType kTestedTypes[] = {
    {"NULL", "NULL"}, {"BOOL", "BOOL"}, {"BOOLEAN", "BOOL"}, {"BLOB", "B"}, {"STRING", "S"},
    {"NUMERIC", "N"}, {"STRUCT", "M"},  {"TUPLE", "M"},      {"LIST", "L"},
};
// A type of PartiQL that no attribute has, by its first word and, if it has one, its second.
struct OtherType {
  std::string_view word;
  std::string_view second;
  std::string_view name;
};
constexpr OtherType kOtherTypes[] = {
    {"SMALLINT", "", "SmallintType"},
    {"INT", "", "IntegerType"},
    {"INTEGER", "", "IntegerType"},
    {"INT4", "", "Integer4Type"},
    {"INT8", "", "Integer8Type"},
    {"BIGINT", "", "Integer8Type"},
    {"FLOAT", "", "FloatType"},
    {"REAL", "", "RealType"},
    {"DOUBLE", "PRECISION", "DoublePrecisionType"},
    {"DECIMAL", "", "DecimalType"},
    {"TIMESTAMP", "", "TimestampType"},
    {"DATE", "", "DateType"},
    {"TIME", "", "TimeType"},
    {"CHARACTER", "VARYING", "CharacterVaryingType"},
    {"CHARACTER", "", "CharacterType"},
    {"CHAR", "", "CharacterType"},
    {"VARCHAR", "", "CharacterVaryingType"},
    {"SYMBOL", "", "SymbolType"},
    {"CLOB", "", "ClobType"},
    {"SEXP", "", "SexpType"},
    {"BAG", "", "BagType"},
    {"ANY", "", "AnyType"},
};

Operand TextOperand(std::string_view text) {
  Operand operand;
  operand.kind = Operand::Kind::kValue;
  model::AppendBytesField(static_cast<uint32_t>(model::ValueType::kString), text, &operand.value);
  return operand;
}

class ConditionParser {
 public:
  ConditionParser(TokenReader* tokens, StatementContext* context) : tokens_(tokens), context_(context) {}

  absl::StatusOr<Condition> Run() {
    ARM_ASSIGN_OR_RETURN(Term term, ReadJunction(Condition::Kind::kOr, 0));
    ARM_RETURN_IF_ERROR(RequireCondition(&term, ""));
    if (terms_.is_too_large()) Refuse("The conditions that are compared with each other are too large");
    return std::move(term.condition);
  }

 private:
  static Term TermOf(Condition condition) {
    Term term;
    term.is_condition = true;
    term.condition = std::move(condition);
    return term;
  }
  static Term TermOf(Operand operand) {
    Term term;
    term.operand = std::move(operand);
    return term;
  }

  void Refuse(std::string_view text) { context_->refusals.Note(ValidationError(text)); }
  void RefuseOperators(size_t count) {
    Refuse(Cat("The expression contains too many operators; operator count: ", count));
  }
  void RefuseType(std::string_view operation, std::string_view type) {
    context_->refusals.NoteOperand(
        ValidationError(Cat("Incorrect operand type for operator or function; operator or function: ", operation,
                            ", operand type: ", type)));
  }

  void CountOperator() {
    if (++context_->operators == model::kExpressionOperatorsMax + 1) RefuseOperators(context_->operators);
  }

  // A size is no condition, which is refused; a path or value without an operator is not of the grammar.
  absl::Status RequireCondition(Term* term, std::string_view operation) {
    if (term->is_condition) return absl::OkStatus();
    if (term->operand.kind != Operand::Kind::kCall) return tokens_->Unexpected();
    if (operation.empty()) {
      context_->refusals.NoteOperand(
          ValidationError("WHERE clause must contain an expression that resolves to a boolean"));
    } else {
      RefuseType(operation, "N");
    }
    *term = TermOf(Never());
    return absl::OkStatus();
  }

  // Terms joined by OR or by AND; a single one stays as it is.
  absl::StatusOr<Term> ReadJunction(Condition::Kind kind, int depth) {
    const bool is_or = kind == Condition::Kind::kOr;
    const std::string_view word = is_or ? "OR" : "AND";
    const auto read = [&] { return is_or ? ReadJunction(Condition::Kind::kAnd, depth) : ReadNegation(depth); };
    ARM_ASSIGN_OR_RETURN(Term first, read());
    if (!tokens_->IsWord(word)) return first;
    ARM_RETURN_IF_ERROR(RequireCondition(&first, word));
    std::vector<Condition> terms;
    terms.push_back(std::move(first.condition));
    while (tokens_->TryWord(word)) {
      CountOperator();
      if (tokens_->AtEnd()) return MalformedError(kMissingRightHandSide);
      ARM_ASSIGN_OR_RETURN(Term next, read());
      ARM_RETURN_IF_ERROR(RequireCondition(&next, word));
      terms.push_back(std::move(next.condition));
    }
    return TermOf(Joined(kind, std::move(terms)));
  }

  // Any number of NOTs: only whether it is odd matters.
  absl::StatusOr<Term> ReadNegation(int depth) {
    size_t count = 0;
    for (; tokens_->TryWord("NOT"); ++count) CountOperator();
    ARM_ASSIGN_OR_RETURN(Term term, ReadComparison(depth));
    if (count == 0) return term;
    ARM_RETURN_IF_ERROR(RequireCondition(&term, "NOT"));
    return count % 2 == 0 ? std::move(term) : TermOf(Negated(std::move(term.condition)));
  }

  absl::StatusOr<Term> ReadComparison(int depth) {
    const Position begin = tokens_->Peek().position;
    ARM_ASSIGN_OR_RETURN(Term left, ReadTerm(depth));
    if (tokens_->IsWord("IS")) return ReadIs(std::move(left), begin);
    const bool negated = tokens_->IsWord("NOT");
    if (negated && !tokens_->IsWord("IN", 1) && !tokens_->IsWord("BETWEEN", 1)) {
      return MalformedError(kUnexpectedToken);
    }
    if (negated) {
      tokens_->Take();
      CountOperator();
    }
    absl::StatusOr<Term> compared = ReadOperator(std::move(left), depth);
    if (!negated || !compared.ok()) return compared;
    return TermOf(Negated(std::move(compared->condition)));
  }

  absl::StatusOr<Term> ReadOperator(Term left, int depth) {
    if (tokens_->TryWord("BETWEEN")) return ReadBetween(std::move(left), depth);
    if (tokens_->TryWord("IN")) return ReadIn(std::move(left), depth);
    if (!IsComparator(*tokens_)) return left;
    const std::string symbol = tokens_->Take().text;
    const std::string_view comparator = symbol == "!=" ? "<>" : std::string_view(symbol);
    CountOperator();
    ARM_ASSIGN_OR_RETURN(Term right, ReadRightSide(depth));
    if (!left.is_condition && !right.is_condition) {
      const bool has_size = left.operand.kind == Operand::Kind::kCall || right.operand.kind == Operand::Kind::kCall;
      // A value without a size differs from all sizes, as a missing attribute does from all values.
      if (comparator == "<>" && has_size) {
        return TermOf(Negated(Compared(std::move(left.operand), "=", std::move(right.operand))));
      }
      return TermOf(Compared(std::move(left.operand), comparator, std::move(right.operand)));
    }
    if (comparator != "=" && comparator != "<>") {
      RefuseType(comparator, "BOOL");
      return TermOf(Never());
    }
    Condition equal = terms_.Equal(left, right);
    return TermOf(comparator == "=" ? std::move(equal) : Negated(std::move(equal)));
  }

  absl::StatusOr<Term> ReadRightSide(int depth) {
    if (tokens_->AtEnd()) return MalformedError(kMissingRightHandSide);
    return ReadTerm(depth);
  }

  absl::StatusOr<Term> ReadBetween(Term tested, int depth) {
    CountOperator();
    ARM_ASSIGN_OR_RETURN(Term lower, ReadRightSide(depth));
    if (!tokens_->TryWord("AND")) return MalformedError(kExpectedAnd);
    if (tokens_->AtEnd()) return MalformedError(kExpectedBehindAnd);
    ARM_ASSIGN_OR_RETURN(Term upper, ReadTerm(depth));
    Condition between;
    between.kind = Condition::Kind::kBetween;
    for (Term* const term : {&tested, &lower, &upper}) {
      if (term->is_condition) {
        RefuseType("BETWEEN", "BOOL");
        return TermOf(Never());
      }
      between.operands.push_back(std::move(term->operand));
    }
    return TermOf(std::move(between));
  }

  absl::StatusOr<Term> ReadIn(Term tested, int depth) {
    CountOperator();
    if (tokens_->AtEnd()) return MalformedError(kMissingRightHandSide);
    const std::string_view end = tokens_->IsSymbol("[") ? "]" : ")";
    if (!tokens_->TrySymbol("[")) ARM_RETURN_IF_ERROR(tokens_->TakeSymbol("("));
    std::vector<Term> choices;
    do {
      ARM_ASSIGN_OR_RETURN(Term choice, ReadTerm(depth));
      choices.push_back(std::move(choice));
    } while (tokens_->TrySymbol(","));
    if (!tokens_->AtEnd() && !tokens_->IsSymbol(end)) {
      return MalformedError(end == "]" ? "Expected RIGHT_BRACKET" : "Expected RIGHT_PAREN");
    }
    ARM_RETURN_IF_ERROR(tokens_->TakeSymbol(end));
    return TermOf(Chosen(tested, std::move(choices)));
  }

  Condition Chosen(const Term& tested, std::vector<Term> choices) {
    // A path among its own choices is refused first, where operands are checked.
    const bool is_among = std::any_of(choices.begin(), choices.end(), [&tested](const Term& choice) {
      return !tested.is_condition && !choice.is_condition && choice.operand.kind == Operand::Kind::kPath &&
             choice.operand == tested.operand;
    });
    if (choices.size() > model::kInOperandsMax && !is_among) {
      context_->refusals.NoteOperand(ValidationError(
          Cat("The IN operator is provided with too many operands; number of operands: ", choices.size())));
    }
    if (tested.is_condition ||
        std::any_of(choices.begin(), choices.end(), [](const Term& each) { return each.is_condition; })) {
      return terms_.Among(tested, choices);
    }
    Condition in;
    in.kind = Condition::Kind::kIn;
    in.operands.push_back(tested.operand);
    for (Term& choice : choices) in.operands.push_back(std::move(choice.operand));
    return in;
  }

  // IS [NOT] and the name of a type.
  absl::StatusOr<Term> ReadIs(Term tested, const Position& begin) {
    tokens_->Take();
    CountOperator();
    const bool negated = tokens_->TryWord("NOT");
    if (negated) CountOperator();
    ARM_ASSIGN_OR_RETURN(const std::optional<std::string_view> type, ReadType(begin));
    if (tested.is_condition || tested.operand.kind == Operand::Kind::kCall) {
      context_->refusals.NoteOperand(
          ValidationError("The left hand side argument to IS must be a Variable Reference, Literal, or Path"));
      return TermOf(Never());
    }
    if (!type.has_value()) return TermOf(Never());
    const bool is_missing = *type == "MISSING";
    if (is_missing && tested.operand.kind == Operand::Kind::kPath) {
      return TermOf(CallOn(negated ? "attribute_exists" : "attribute_not_exists", {std::move(tested.operand)}));
    }
    Condition is = is_missing ? Never() : CallOn("attribute_type", {std::move(tested.operand), TextOperand(*type)});
    return TermOf(negated ? Negated(std::move(is)) : std::move(is));
  }

  // The type of an AttributeValue, or MISSING; nullopt for a type that is refused.
  absl::StatusOr<std::optional<std::string_view>> ReadType(const Position& begin) {
    const Token word = tokens_->Peek();
    if (word.kind != TokenKind::kWord) return MalformedError(kExpectedType);
    tokens_->Take();
    std::optional<std::string_view> type;
    if (SameWord(word.text, "MISSING")) type = "MISSING";
    for (const TestedType& each : kTestedTypes) {
      if (SameWord(word.text, each.word)) type = each.type;
    }
    if (!type.has_value()) {
      const auto* const other =
          std::find_if(std::begin(kOtherTypes), std::end(kOtherTypes), [&](const OtherType& each) {
            return SameWord(word.text, each.word) && (each.second.empty() || tokens_->TryWord(each.second));
          });
      if (other == std::end(kOtherTypes)) return MalformedError(kExpectedType);
      Refuse(Cat("Unsupported data type for IS operator: ", other->name,
                 ". Supported data types are [MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST] at ",
                 Printed(begin)));
    }
    if (!tokens_->TrySymbol("(")) return type;
    // Its length, or precision and scale.
    while (!tokens_->TrySymbol(")")) {
      if (tokens_->Peek().kind != TokenKind::kNumber && !tokens_->IsSymbol(",")) {
        return MalformedError(kExpectedType);
      }
      tokens_->Take();
    }
    return type;
  }

  absl::StatusOr<Term> ReadTerm(int depth) {
    if (depth > kDepthMax) return MalformedError("The conditions are nested too deeply");
    if (tokens_->AtEnd()) return MalformedError(kUnexpectedTerm);
    if (tokens_->TrySymbol("(")) return ReadParenthesized(depth);
    const Token& token = tokens_->Peek();
    if (token.kind == TokenKind::kWord && tokens_->IsSymbol("(", 1)) return ReadCall(depth);
    if (IsAnyWord(*tokens_, kOperatorWords) || tokens_->IsWord("NOT") || IsComparator(*tokens_)) {
      return MalformedError(kUnexpectedOperator);
    }
    if (IsAnyWord(*tokens_, kClauseWords)) return MalformedError(kUnexpectedKeyword);
    Operand operand;
    operand.position = token.position;
    if (tokens_->TryWord("MISSING")) {
      Refuse(kMissingCompared);
      return TermOf(Never().operands.front());
    }
    if (BeginsLiteral(*tokens_)) {
      operand.kind = Operand::Kind::kValue;
      ARM_ASSIGN_OR_RETURN(operand.value, ReadLiteral(tokens_, context_));
    } else {
      ARM_ASSIGN_OR_RETURN(operand.path, ReadPath(tokens_));
    }
    return TermOf(std::move(operand));
  }

  absl::StatusOr<Term> ReadParenthesized(int depth) {
    ARM_ASSIGN_OR_RETURN(Term inner, ReadJunction(Condition::Kind::kOr, depth + 1));
    if (!tokens_->AtEnd() && !tokens_->IsSymbol(")")) return MalformedError("Expected RIGHT_PAREN");
    ARM_RETURN_IF_ERROR(tokens_->TakeSymbol(")"));
    return inner;
  }

  absl::StatusOr<Term> ReadCall(int depth) {
    const Token name = tokens_->Peek();
    CountOperator();
    if (SameWord(name.text, "EXISTS") && tokens_->IsWord("SELECT", 2)) {
      Refuse(Cat("Unsupported token in expression: SELECT at ", Printed(tokens_->Peek(2).position)));
      ARM_RETURN_IF_ERROR(SkipCall(tokens_));
      return TermOf(Never());
    }
    const std::string function = absl::AsciiStrToLower(name.text);
    const bool is_condition = std::find(std::begin(kConditionFunctions), std::end(kConditionFunctions), function) !=
                              std::end(kConditionFunctions);
    if (!is_condition && function != "size") {
      Refuse(Cat("Unrecognized function: ", function, " at ", Printed(name.position)));
      ARM_RETURN_IF_ERROR(SkipCall(tokens_));
      return TermOf(Never());
    }
    tokens_->Take();
    tokens_->Take();
    std::vector<Operand> arguments;
    if (!tokens_->TrySymbol(")")) {
      do {
        ARM_ASSIGN_OR_RETURN(Term argument, ReadTerm(depth + 1));
        if (argument.is_condition) {
          RefuseType(function, "BOOL");
          argument = TermOf(Never().operands.front());
        }
        arguments.push_back(std::move(argument.operand));
      } while (tokens_->TrySymbol(","));
      ARM_RETURN_IF_ERROR(tokens_->TakeSymbol(")"));
    }
    if (arguments.empty()) {
      context_->refusals.NoteOperand(ValidationError(expr::OperandCountText(function, 0)));
    }
    Condition call = CallOn(function, std::move(arguments));
    call.operands.front().position = name.position;
    return is_condition ? TermOf(std::move(call)) : TermOf(std::move(call.operands.front()));
  }

  TokenReader* const tokens_;
  StatementContext* const context_;
  BooleanTerms terms_;
};

}  // namespace

absl::StatusOr<Condition> ReadCondition(TokenReader* tokens, StatementContext* context) {
  return ConditionParser(tokens, context).Run();
}

}  // namespace armature::engine::partiql
