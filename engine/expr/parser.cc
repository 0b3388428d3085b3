#include "engine/expr/parser.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include "engine/expr/parser_core.h"
#include "engine/expr/token.h"

namespace armature::expr {
namespace {

// A parenthesis may enclose an operand, as in `(a) = :v`, or a condition, as in `(a = :v)`. Only the text behind it
// shows which, so the same functions parse both.
struct Term {
  std::unique_ptr<Operand> operand;          // set for an operand
  std::unique_ptr<ConditionNode> condition;  // set for a condition
  bool in_parentheses = false;               // the term is in one pair of parentheses
};

class ConditionParser : public ParserCore {
 public:
  using ParserCore::ParserCore;

  bool ParseWholeCondition(Condition* out);

 private:
  bool ParseOr(Term* out);
  bool ParseAnd(Term* out);
  bool ParseNot(Term* out);
  bool ParsePrimary(Term* out);
  bool ParseGroup(Term* out);
  bool ParseComparisonTail(Term* term);
  bool RequireCondition(Term* term);
  template <class ParseTerm>
  bool ParseJunction(Junction::Kind kind, TokenKind separator, ParseTerm parse_term, Term* out);
};

bool ConditionParser::ParseWholeCondition(Condition* out) {
  Term term;
  if (!ParseOr(&term) || !RequireCondition(&term)) return false;
  out->root = std::move(*term.condition);
  return true;
}

// Turns a term into a condition where one is required. Only a function call can be turned into one.
bool ConditionParser::RequireCondition(Term* term) {
  if (term->condition != nullptr) return true;
  auto* call = std::get_if<FunctionCall>(&term->operand->node);
  if (call == nullptr) return SyntaxError();
  term->condition = std::make_unique<ConditionNode>(ConditionNode{std::move(*call)});
  term->operand = nullptr;
  return true;
}

template <class ParseTerm>
bool ConditionParser::ParseJunction(Junction::Kind kind, TokenKind separator, ParseTerm parse_term, Term* out) {
  if (!parse_term(out)) return false;
  if (!At(separator)) return true;
  if (!RequireCondition(out)) return false;
  Junction junction;
  junction.kind = kind;
  junction.terms.push_back(std::move(*out->condition));
  while (Accept(separator)) {
    Term term;
    if (!parse_term(&term) || !RequireCondition(&term)) return false;
    junction.terms.push_back(std::move(*term.condition));
  }
  *out = Term{nullptr, std::make_unique<ConditionNode>(ConditionNode{std::move(junction)})};
  return true;
}

bool ConditionParser::ParseOr(Term* out) {
  return ParseJunction(
      Junction::Kind::kOr, TokenKind::kOr, [this](Term* term) { return ParseAnd(term); }, out);
}

bool ConditionParser::ParseAnd(Term* out) {
  return ParseJunction(
      Junction::Kind::kAnd, TokenKind::kAnd, [this](Term* term) { return ParseNot(term); }, out);
}

bool ConditionParser::ParseNot(Term* out) {
  int times = 0;
  while (Accept(TokenKind::kNot)) ++times;
  if (!ParsePrimary(out)) return false;
  if (times == 0) return true;
  if (!RequireCondition(out)) return false;
  Negation negation(times, std::move(*out->condition));
  *out = Term{nullptr, std::make_unique<ConditionNode>(ConditionNode{std::move(negation)})};
  return true;
}

bool ConditionParser::ParsePrimary(Term* out) {
  if (Accept(TokenKind::kOpenParenthesis)) {
    if (!ParseGroup(out)) return false;
  } else {
    out->operand = std::make_unique<Operand>();
    if (!ParseBareOperand(out->operand.get())) return false;
  }
  const bool compared = IsComparator(Peek().kind) || At(TokenKind::kBetween) || At(TokenKind::kIn);
  return out->operand == nullptr || !compared || ParseComparisonTail(out);
}

// Parses the inside of a group and its closing parenthesis.
bool ConditionParser::ParseGroup(Term* out) {
  if (!EnterNesting("") || !ParseOr(out) || !Expect(TokenKind::kCloseParenthesis)) return false;
  LeaveNesting();
  if (out->in_parentheses) AddRedundantParentheses();
  out->in_parentheses = true;
  return true;
}

// Parses the comparison, BETWEEN or IN behind an operand, and replaces the operand by that condition.
bool ConditionParser::ParseComparisonTail(Term* term) {
  auto node = std::make_unique<ConditionNode>();
  Operand tested = std::move(*term->operand);
  if (Accept(TokenKind::kBetween)) {
    auto& between = node->node.emplace<Between>();
    between.tested = std::move(tested);
    if (!ParseOperand(&between.lower) || !Expect(TokenKind::kAnd) || !ParseOperand(&between.upper)) {
      return false;
    }
  } else if (Accept(TokenKind::kIn)) {
    auto& membership = node->node.emplace<Membership>();
    membership.tested = std::move(tested);
    if (!Expect(TokenKind::kOpenParenthesis)) return false;
    do {
      membership.choices.emplace_back();
      if (!ParseOperand(&membership.choices.back())) return false;
    } while (Accept(TokenKind::kComma));
    if (!Expect(TokenKind::kCloseParenthesis)) return false;
  } else {
    auto& comparison = node->node.emplace<Comparison>();
    comparison.comparator =
        static_cast<Comparator>(static_cast<uint8_t>(Peek().kind) - static_cast<uint8_t>(TokenKind::kEqual));
    comparison.left = std::move(tested);
    Skip();
    if (!ParseOperand(&comparison.right)) return false;
  }
  *term = Term{nullptr, std::move(node)};
  return true;
}

}  // namespace

absl::StatusOr<Condition> ParseCondition(ExpressionKind kind, std::string_view text, FaultLog* faults) {
  ConditionParser parser(kind, text, faults);
  Condition condition;
  if (!parser.Start() || !parser.ParseWholeCondition(&condition) || !parser.Finish()) {
    return parser.status();
  }
  return condition;
}

absl::StatusOr<std::vector<DocumentPath>> ParseProjection(std::string_view text, FaultLog* faults) {
  ParserCore parser(ExpressionKind::kProjection, text, faults);
  std::vector<DocumentPath> paths;
  if (!parser.Start() || !parser.ParsePathList(&paths) || !parser.Finish()) {
    return parser.status();
  }
  return paths;
}

}  // namespace armature::expr
