#ifndef ARMATURE_ENGINE_EXPR_PARSER_CORE_H_
#define ARMATURE_ENGINE_EXPR_PARSER_CORE_H_

// What the parsers of all kinds share: the token stream, its errors, paths and operands.

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "engine/expr/ast.h"
#include "engine/expr/fault_log.h"
#include "engine/expr/kind.h"
#include "engine/expr/token.h"

namespace armature::expr {

// Recursive descent over the tokens of one expression. Functions return false once the text is
// refused; status() says why.
//
// Thread-safety: owned by one thread.
// Lifetime: `text` and `faults` outlive it.
class ParserCore {
 public:
  ParserCore(ExpressionKind kind, std::string_view text, FaultLog* faults)
      : kind_(kind), text_(text), faults_(faults) {}

  // Checks the text's size and cuts it into tokens. Comes first.
  bool Start();
  // Checks that the whole text has been read and what only a whole text shows. Comes last.
  bool Finish();

  // path ( "," path )*
  bool ParsePathList(std::vector<DocumentPath>* out);

  const absl::Status& status() const { return status_; }

 protected:
  // The next token, or one behind it; the end if there are not so many.
  const Token& Peek(size_t ahead = 0) const;
  bool At(TokenKind kind) const { return Peek().kind == kind; }
  // Takes the next token if it is of `kind`.
  bool Accept(TokenKind kind);
  // The same, and a syntax error if it is not.
  bool Expect(TokenKind kind) { return Accept(kind) || SyntaxError(); }
  // Takes the next token, whatever it is.
  void Skip() { ++next_; }

  // Both refuse the text and return false. SyntaxError names the next token.
  bool SyntaxError();
  bool Refuse(std::string_view detail);

  // Counts one more pair of parentheses, or call of `function` if that is not empty.
  bool EnterNesting(std::string_view function);
  void LeaveNesting() { --nesting_; }
  void AddRedundantParentheses();

  bool ParsePath(DocumentPath* out);
  bool ParseValue(ValueOperand* out);
  bool ParseBareOperand(Operand* out);
  // An operand with any number of parentheses around it, of which one pair is in order.
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
