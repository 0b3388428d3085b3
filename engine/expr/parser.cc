#include "engine/expr/parser.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "engine/expr/lexer.h"
#include "engine/expr/paths.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"

namespace armature::expr {
namespace {

constexpr std::string_view kRedundantParentheses = "The expression has redundant parentheses;";

// "attribute_exists" and so on; kUnknown for any other name. Case matters.
Function FunctionByName(std::string_view name) {
  if (name == "attribute_exists") return Function::kAttributeExists;
  if (name == "attribute_not_exists") return Function::kAttributeNotExists;
  if (name == "attribute_type") return Function::kAttributeType;
  if (name == "begins_with") return Function::kBeginsWith;
  if (name == "contains") return Function::kContains;
  if (name == "size") return Function::kSize;
  if (name == "if_not_exists") return Function::kIfNotExists;
  if (name == "list_append") return Function::kListAppend;
  return Function::kUnknown;
}

// Common base of all parsers: recursive descent over the tokens of one expression, with its errors, paths and operands.
// Functions return false once the text is refused; status() holds the error.
//
// Lifetime: `text` and `faults` outlive it.
class ParserCore {
 public:
  ParserCore(ExpressionKind kind, std::string_view text, FaultLog* faults)
      : kind_(kind), text_(text), faults_(faults) {}

  // Checks the text's size and splits it into tokens. Must be called first.
  bool Start(size_t bytes_max) {
    if (text_.size() > bytes_max) {
      return Refuse(Cat("Expression size has exceeded the maximum allowed size; expression size: ", text_.size()));
    }
    if (text_.empty()) return Refuse("The expression can not be empty;");
    tokens_ = Tokenize(kind_, text_);
    return true;
  }

  // Checks that the whole text was parsed, and the limits on the whole text. Must be called last.
  bool Finish() {
    if (!At(TokenKind::kEnd)) return SyntaxError();
    if (const size_t count = CountOperators(); count > model::kExpressionOperatorsMax) {
      faults_->Add(Fault::kOperatorCount, Cat("The expression contains too many operators; operator count: ", count));
    }
    return true;
  }

  // path ( "," path )*
  bool ParsePathList(std::vector<DocumentPath>* out) {
    do {
      out->emplace_back();
      if (!ParsePath(&out->back())) return false;
    } while (Accept(TokenKind::kComma));
    return true;
  }

  const absl::Status& status() const { return status_; }

 protected:
  // The next token, or the token `ahead` places behind it; kEnd if there is none.
  const Token& Peek(size_t ahead = 0) const { return tokens_[std::min(next_ + ahead, tokens_.size() - 1)]; }
  bool At(TokenKind kind) const { return Peek().kind == kind; }
  // Consumes the next token if it is of `kind`.
  bool Accept(TokenKind kind) {
    if (!At(kind)) return false;
    if (kind != TokenKind::kEnd) ++next_;
    return true;
  }
  // Consumes a token of `kind`, or reports a syntax error.
  bool Expect(TokenKind kind) { return Accept(kind) || SyntaxError(); }
  // Consumes the next token of any kind.
  void Skip() { ++next_; }

  // Refuses the text.
  bool Refuse(std::string_view detail) {
    status_ = InvalidExpressionError(kind_, detail);
    return false;
  }

  // Refuses the text. The error names the next token and quotes the text from the token before it to the token after
  // it, and a text of blanks as a whole.
  bool SyntaxError() {
    const Token& token = Peek();
    const Token& before = next_ > 0 ? tokens_[next_ - 1] : token;
    const Token& after = Peek(1);
    const bool at_end = token.kind == TokenKind::kEnd;
    const Token& last = at_end ? before : (after.kind == TokenKind::kEnd ? token : after);
    const size_t end = last.position + last.text.size();
    const std::string_view near = tokens_.size() == 1 ? text_ : text_.substr(before.position, end - before.position);
    return Refuse(Cat("Syntax error; token: \"", at_end ? "<EOF>" : token.text, "\", near: \"", near, "\""));
  }

  // Enters a nesting level: a call of `function`, or a pair of parentheses if `function` is empty.
  bool EnterNesting(std::string_view function) { return ++nesting_ <= kNestingMax || TooDeep(function); }
  void LeaveNesting() { --nesting_; }
  void AddRedundantParentheses() { faults_->Add(Fault::kParentheses, std::string(kRedundantParentheses)); }

  bool ParsePath(DocumentPath* out) {
    out->position = Peek().position;
    if (!ParsePathName(out)) return false;
    while (true) {
      if (Accept(TokenKind::kDot)) {
        if (!ParsePathName(out)) return false;
      } else if (Accept(TokenKind::kOpenBracket)) {
        if (!ParseListIndex(out)) return false;
      } else {
        break;
      }
    }
    if (out->elements.size() > model::kDocumentPathDepthMax) {
      faults_->Add(Fault::kPathLimit, PathDepthText(out->elements.size()));
    }
    return true;
  }

  bool ParseValue(ValueOperand* out) {
    out->placeholder = std::string(Peek().text);
    return Expect(TokenKind::kValuePlaceholder);
  }

  bool ParseBareOperand(Operand* out) {
    if (At(TokenKind::kValuePlaceholder)) return ParseValue(&out->node.emplace<ValueOperand>());
    if (At(TokenKind::kIdentifier) && Peek(1).kind == TokenKind::kOpenParenthesis) {
      return ParseFunction(&out->node.emplace<FunctionCall>());
    }
    return ParsePath(&out->node.emplace<DocumentPath>());
  }

  // An operand in any number of parentheses. More than one pair is a fault.
  bool ParseOperand(Operand* out) {
    size_t pairs = 0;
    while (Accept(TokenKind::kOpenParenthesis)) ++pairs;
    if (!ParseBareOperand(out)) return false;
    for (size_t i = 0; i < pairs; ++i) {
      if (!Expect(TokenKind::kCloseParenthesis)) return false;
    }
    if (pairs > 1) AddRedundantParentheses();
    return true;
  }

  FaultLog* faults() { return faults_; }

 private:
  // A text nested this deeply violates some rule. Finds out which one without descending further.
  bool TooDeep(std::string_view function) {
    int open = 0;
    for (const Token& token : tokens_) {
      if (token.kind == TokenKind::kOpenParenthesis) ++open;
      if (token.kind == TokenKind::kCloseParenthesis) --open;
    }
    if (open > 0) {
      next_ = tokens_.size() - 1;
      return SyntaxError();
    }
    if (const size_t count = CountOperators(); count > model::kExpressionOperatorsMax) {
      return Refuse(Cat("The expression contains too many operators; operator count: ", count));
    }
    return Refuse(function.empty() ? std::string(kRedundantParentheses) : MisusedFunctionText(function));
  }

  size_t CountOperators() const {
    return static_cast<size_t>(std::count_if(tokens_.begin(), tokens_.end(), [this](const Token& token) {
      const bool compares = token.kind == TokenKind::kEqual && kind_ != ExpressionKind::kUpdate;
      return compares || IsOperator(token.kind);
    }));
  }

  bool ParsePathName(DocumentPath* out) {
    const Token token = Peek();
    const bool is_name = Accept(TokenKind::kIdentifier);
    if (!is_name && !Accept(TokenKind::kNamePlaceholder)) return SyntaxError();
    out->elements.push_back(
        {is_name ? PathElement::Kind::kName : PathElement::Kind::kPlaceholder, std::string(token.text)});
    return true;
  }

  bool ParseListIndex(DocumentPath* out) {
    const std::string_view digits = Peek().text;
    if (!Expect(TokenKind::kDigits) || !Expect(TokenKind::kCloseBracket)) return false;
    constexpr uint32_t kIndexMax = std::numeric_limits<int32_t>::max();
    uint64_t index = 0;
    for (const char digit : digits) {
      index = index * 10 + static_cast<uint64_t>(digit - '0');
      if (index > kIndexMax) {
        faults_->Add(Fault::kPathLimit, Cat("List index is not within the allowable range; index: [", digits, "]"));
        index = kIndexMax;
        break;
      }
    }
    out->elements.push_back({PathElement::Kind::kIndex, {}, static_cast<uint32_t>(index)});
    return true;
  }

  bool ParseFunction(FunctionCall* out) {
    out->name = std::string(Peek().text);
    out->function = FunctionByName(out->name);
    if (!EnterNesting(out->name)) return false;
    Skip();  // the name
    Skip();  // the parenthesis
    do {
      out->arguments.emplace_back();
      if (!ParseOperand(&out->arguments.back())) return false;
    } while (Accept(TokenKind::kComma));
    LeaveNesting();
    return Expect(TokenKind::kCloseParenthesis);
  }

  const ExpressionKind kind_;
  const std::string_view text_;
  FaultLog* const faults_;
  std::vector<Token> tokens_;
  size_t next_ = 0;
  int nesting_ = 0;
  absl::Status status_;
};

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

  bool ParseWholeCondition(Condition* out) {
    Term term;
    if (!ParseOr(&term) || !RequireCondition(&term)) return false;
    out->root = std::move(*term.condition);
    return true;
  }

 private:
  // Turns a term into a condition where one is required. Only a function call can be turned into one.
  bool RequireCondition(Term* term) {
    if (term->condition != nullptr) return true;
    auto* call = std::get_if<FunctionCall>(&term->operand->node);
    if (call == nullptr) return SyntaxError();
    term->condition = std::make_unique<ConditionNode>(ConditionNode{std::move(*call)});
    term->operand = nullptr;
    return true;
  }

  template <class ParseTerm>
  bool ParseJunction(Junction::Kind kind, TokenKind separator, ParseTerm parse_term, Term* out) {
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

  bool ParseOr(Term* out) {
    return ParseJunction(
        Junction::Kind::kOr, TokenKind::kOr, [this](Term* term) { return ParseAnd(term); }, out);
  }

  bool ParseAnd(Term* out) {
    return ParseJunction(
        Junction::Kind::kAnd, TokenKind::kAnd, [this](Term* term) { return ParseNot(term); }, out);
  }

  bool ParseNot(Term* out) {
    int times = 0;
    while (Accept(TokenKind::kNot)) ++times;
    if (!ParsePrimary(out)) return false;
    if (times == 0) return true;
    if (!RequireCondition(out)) return false;
    Negation negation(times, std::move(*out->condition));
    *out = Term{nullptr, std::make_unique<ConditionNode>(ConditionNode{std::move(negation)})};
    return true;
  }

  bool ParsePrimary(Term* out) {
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
  bool ParseGroup(Term* out) {
    if (!EnterNesting("") || !ParseOr(out) || !Expect(TokenKind::kCloseParenthesis)) return false;
    LeaveNesting();
    if (out->in_parentheses) AddRedundantParentheses();
    out->in_parentheses = true;
    return true;
  }

  // Parses the comparison, BETWEEN or IN behind an operand, and replaces the operand by that condition.
  bool ParseComparisonTail(Term* term) {
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
};

class UpdateParser : public ParserCore {
 public:
  using ParserCore::ParserCore;

  bool ParseClauses(Update* out) {
    do {
      if (!ParseClause(out)) return false;
    } while (!At(TokenKind::kEnd));
    return true;
  }

 private:
  void CheckFirstSection(bool* seen, std::string_view section) {
    if (std::exchange(*seen, true)) {
      faults()->Add(Fault::kSection,
                    Cat("The \"", section, "\" section can only be used once in an update expression;"));
    }
  }

  bool ParseClause(Update* out) {
    if (Accept(TokenKind::kSet)) {
      CheckFirstSection(&seen_set_, "SET");
      return ParseSets(&out->sets);
    }
    if (Accept(TokenKind::kRemove)) {
      CheckFirstSection(&seen_remove_, "REMOVE");
      return ParsePathList(&out->removes);
    }
    if (Accept(TokenKind::kAdd)) {
      CheckFirstSection(&seen_add_, "ADD");
      return ParseOperandActions(&out->adds);
    }
    if (Accept(TokenKind::kDelete)) {
      CheckFirstSection(&seen_delete_, "DELETE");
      return ParseOperandActions(&out->deletes);
    }
    return SyntaxError();
  }

  bool ParseSets(std::vector<SetAction>* out) {
    do {
      SetAction& action = out->emplace_back();
      bool in_parentheses = false;
      if (!ParsePath(&action.target) || !Expect(TokenKind::kEqual) ||
          !ParseUpdateValue(&action.value, &in_parentheses)) {
        return false;
      }
    } while (Accept(TokenKind::kComma));
    return true;
  }

  bool ParseOperandActions(std::vector<OperandAction>* out) {
    do {
      OperandAction& action = out->emplace_back();
      if (!ParsePath(&action.target) || !ParseValue(&action.operand)) return false;
    } while (Accept(TokenKind::kComma));
    return true;
  }

  // Parses an operand, a sum or a difference, with or without parentheses. A sum in parentheses is not an operand of
  // another sum.
  bool ParseUpdateValue(UpdateValue* out, bool* in_parentheses) {
    if (Accept(TokenKind::kOpenParenthesis)) {
      bool inner = false;
      if (!EnterNesting("") || !ParseUpdateValue(out, &inner) || !Expect(TokenKind::kCloseParenthesis)) {
        return false;
      }
      LeaveNesting();
      if (inner) AddRedundantParentheses();
      *in_parentheses = true;
      if (out->operation != UpdateValue::Operation::kNone) return true;
    } else if (!ParseBareOperand(&out->left)) {
      return false;
    }
    if (Accept(TokenKind::kPlus)) {
      out->operation = UpdateValue::Operation::kPlus;
    } else if (Accept(TokenKind::kMinus)) {
      out->operation = UpdateValue::Operation::kMinus;
    } else {
      return true;
    }
    *in_parentheses = false;
    return ParseOperand(&out->right.emplace());
  }

  bool seen_set_ = false;
  bool seen_remove_ = false;
  bool seen_add_ = false;
  bool seen_delete_ = false;
};

}  // namespace

absl::StatusOr<Condition> ParseCondition(ExpressionKind kind, std::string_view text, FaultLog* faults,
                                         size_t bytes_max) {
  ConditionParser parser(kind, text, faults);
  Condition condition;
  if (!parser.Start(bytes_max) || !parser.ParseWholeCondition(&condition) || !parser.Finish()) {
    return parser.status();
  }
  return condition;
}

absl::StatusOr<std::vector<DocumentPath>> ParseProjection(std::string_view text, FaultLog* faults, size_t bytes_max) {
  ParserCore parser(ExpressionKind::kProjection, text, faults);
  std::vector<DocumentPath> paths;
  if (!parser.Start(bytes_max) || !parser.ParsePathList(&paths) || !parser.Finish()) {
    return parser.status();
  }
  return paths;
}

absl::StatusOr<Update> ParseUpdate(std::string_view text, FaultLog* faults, size_t bytes_max) {
  UpdateParser parser(ExpressionKind::kUpdate, text, faults);
  Update update;
  if (!parser.Start(bytes_max) || !parser.ParseClauses(&update) || !parser.Finish()) {
    return parser.status();
  }
  return update;
}

}  // namespace armature::expr
