#include "engine/expr/parser_core.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "engine/expr/lexer.h"
#include "engine/expr/parser.h"
#include "engine/expr/paths.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"

namespace armature::expr {
namespace {

constexpr std::string_view kRedundantParentheses = "The expression has redundant parentheses;";

}  // namespace

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

bool ParserCore::Start() {
  if (text_.size() > model::kExpressionMaxBytes) {
    return Refuse(Cat("Expression size has exceeded the maximum allowed size; expression size: ", text_.size()));
  }
  if (text_.empty()) return Refuse("The expression can not be empty;");
  tokens_ = Tokenize(kind_, text_);
  return true;
}

bool ParserCore::Finish() {
  if (!At(TokenKind::kEnd)) return SyntaxError();
  if (const size_t count = CountOperators(); count > model::kExpressionOperatorsMax) {
    faults_->Add(Fault::kOperatorCount, Cat("The expression contains too many operators; operator count: ", count));
  }
  return true;
}

const Token& ParserCore::Peek(size_t ahead) const { return tokens_[std::min(next_ + ahead, tokens_.size() - 1)]; }

bool ParserCore::Accept(TokenKind kind) {
  if (!At(kind)) return false;
  if (kind != TokenKind::kEnd) ++next_;
  return true;
}

bool ParserCore::Refuse(std::string_view detail) {
  status_ = InvalidExpressionError(kind_, detail);
  return false;
}

// The error names the next token and quotes the text from the token before it to the token after it.
bool ParserCore::SyntaxError() {
  const Token& token = Peek();
  const Token& before = next_ > 0 ? tokens_[next_ - 1] : token;
  const Token& after = Peek(1);
  const bool at_end = token.kind == TokenKind::kEnd;
  const Token& last = at_end ? before : (after.kind == TokenKind::kEnd ? token : after);
  const size_t end = last.position + last.text.size();
  return Refuse(Cat("Syntax error; token: \"", at_end ? "<EOF>" : token.text, "\", near: \"",
                    text_.substr(before.position, end - before.position), "\""));
}

bool ParserCore::EnterNesting(std::string_view function) { return ++nesting_ <= kNestingMax || TooDeep(function); }

// A text nested this deeply violates some rule. Finds out which one without descending further.
bool ParserCore::TooDeep(std::string_view function) {
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

// Counts comparators, AND, OR, NOT, BETWEEN (including its AND), IN, + and -.
size_t ParserCore::CountOperators() const {
  size_t count = 0;
  for (const Token& token : tokens_) {
    switch (token.kind) {
      case TokenKind::kEqual:  // an assignment in an update
        if (kind_ != ExpressionKind::kUpdate) ++count;
        break;
      case TokenKind::kNotEqual:
      case TokenKind::kLess:
      case TokenKind::kLessOrEqual:
      case TokenKind::kGreater:
      case TokenKind::kGreaterOrEqual:
      case TokenKind::kPlus:
      case TokenKind::kMinus:
      case TokenKind::kAnd:
      case TokenKind::kOr:
      case TokenKind::kNot:
      case TokenKind::kIn:
        ++count;
        break;
      default:
        break;
    }
  }
  return count;
}

bool ParserCore::ParsePathName(DocumentPath* out) {
  const Token token = Peek();
  if (Accept(TokenKind::kIdentifier)) {
    out->elements.push_back({PathElement::Kind::kName, std::string(token.text)});
    return true;
  }
  if (Accept(TokenKind::kNamePlaceholder)) {
    out->elements.push_back({PathElement::Kind::kPlaceholder, std::string(token.text)});
    return true;
  }
  return SyntaxError();
}

bool ParserCore::ParseListIndex(DocumentPath* out) {
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

bool ParserCore::ParsePath(DocumentPath* out) {
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
    faults_->Add(Fault::kPathLimit,
                 Cat("The document path has too many nesting levels; nesting levels: ", out->elements.size()));
  }
  return true;
}

bool ParserCore::ParseValue(ValueOperand* out) {
  out->placeholder = std::string(Peek().text);
  return Expect(TokenKind::kValuePlaceholder);
}

bool ParserCore::ParseFunction(FunctionCall* out) {
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

bool ParserCore::ParseBareOperand(Operand* out) {
  if (At(TokenKind::kValuePlaceholder)) return ParseValue(&out->node.emplace<ValueOperand>());
  if (At(TokenKind::kIdentifier) && Peek(1).kind == TokenKind::kOpenParenthesis) {
    return ParseFunction(&out->node.emplace<FunctionCall>());
  }
  return ParsePath(&out->node.emplace<DocumentPath>());
}

bool ParserCore::ParseOperand(Operand* out) {
  size_t pairs = 0;
  while (Accept(TokenKind::kOpenParenthesis)) ++pairs;
  if (!ParseBareOperand(out)) return false;
  for (size_t i = 0; i < pairs; ++i) {
    if (!Expect(TokenKind::kCloseParenthesis)) return false;
  }
  if (pairs > 1) AddRedundantParentheses();
  return true;
}

void ParserCore::AddRedundantParentheses() { faults_->Add(Fault::kParentheses, std::string(kRedundantParentheses)); }

bool ParserCore::ParsePathList(std::vector<DocumentPath>* out) {
  do {
    out->emplace_back();
    if (!ParsePath(&out->back())) return false;
  } while (Accept(TokenKind::kComma));
  return true;
}

}  // namespace armature::expr
