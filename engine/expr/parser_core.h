#ifndef ARMATURE_ENGINE_EXPR_PARSER_CORE_H_
#define ARMATURE_ENGINE_EXPR_PARSER_CORE_H_

// Common base of all parsers: the token stream, its errors, paths and operands.

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "engine/expr/ast.h"
#include "engine/expr/fault_log.h"
#include "engine/expr/kind.h"
#include "engine/expr/token.h"

namespace armature::expr {

// Recursive descent over the tokens of one expression. Functions return false once the text is refused; status() holds
// the error.
//
// Thread-safety: owned by one thread.
// Lifetime: `text` and `faults` outlive it.
class ParserCore {
 public:
  ParserCore(ExpressionKind kind, std::string_view text, FaultLog* faults)
      : kind_(kind), text_(text), faults_(faults) {}

  // Checks the text's size and splits it into tokens. Must be called first.
  bool Start();
  // Checks that the whole text was parsed, and the limits on the whole text. Must be called last.
  bool Finish();

  // path ( "," path )*
  bool ParsePathList(std::vector<DocumentPath>* out);

  const absl::Status& status() const { return status_; }

 protected:
  // The next token, or the token `ahead` places behind it; kEnd if there is none.
  const Token& Peek(size_t ahead = 0) const;
  bool At(TokenKind kind) const { return Peek().kind == kind; }
  // Consumes the next token if it is of `kind`.
  bool Accept(TokenKind kind);
  // Consumes a token of `kind`, or reports a syntax error.
  bool Expect(TokenKind kind) { return Accept(kind) || SyntaxError(); }
  // Consumes the next token of any kind.
  void Skip() { ++next_; }

  // Both refuse the text and return false. SyntaxError names the next token.
  bool SyntaxError();
  bool Refuse(std::string_view detail);

  // Enters a nesting level: a call of `function`, or a pair of parentheses if `function` is empty.
  bool EnterNesting(std::string_view function);
  void LeaveNesting() { --nesting_; }
  void AddRedundantParentheses();

  bool ParsePath(DocumentPath* out);
  bool ParseValue(ValueOperand* out);
  bool ParseBareOperand(Operand* out);
  // An operand in any number of parentheses. More than one pair is a fault.
  bool ParseOperand(Operand* out);

  FaultLog* faults() { return faults_; }

 private:
  bool TooDeep(std::string_view function);
  size_t CountOperators() const;
  bool ParsePathName(DocumentPath* out);
  bool ParseListIndex(DocumentPath* out);
  bool ParseFunction(FunctionCall* out);

  const ExpressionKind kind_;
  const std::string_view text_;
  FaultLog* const faults_;
  std::vector<Token> tokens_;
  size_t next_ = 0;
  int nesting_ = 0;
  absl::Status status_;
};

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_PARSER_CORE_H_
