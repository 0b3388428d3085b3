#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/expr/parser.h"
#include "engine/expr/parser_core.h"
#include "engine/expr/token.h"
#include "storage/base/strings.h"

namespace armature::expr {
namespace {

class UpdateParser : public ParserCore {
 public:
  using ParserCore::ParserCore;

  bool ParseClauses(Update* out);

 private:
  bool ParseClause(Update* out);
  bool ParseSets(std::vector<SetAction>* out);
  bool ParseOperandActions(std::vector<OperandAction>* out);
  bool ParseUpdateValue(UpdateValue* out, bool* in_parentheses);
  void CheckFirstSection(bool* seen, std::string_view section);

  bool seen_set_ = false;
  bool seen_remove_ = false;
  bool seen_add_ = false;
  bool seen_delete_ = false;
};

bool UpdateParser::ParseClauses(Update* out) {
  do {
    if (!ParseClause(out)) return false;
  } while (!At(TokenKind::kEnd));
  return true;
}

void UpdateParser::CheckFirstSection(bool* seen, std::string_view section) {
  if (std::exchange(*seen, true)) {
    faults()->Add(Fault::kSection, Cat("The \"", section, "\" section can only be used once in an update expression;"));
  }
}

bool UpdateParser::ParseClause(Update* out) {
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

bool UpdateParser::ParseSets(std::vector<SetAction>* out) {
  do {
    SetAction& action = out->emplace_back();
    bool in_parentheses = false;
    if (!ParsePath(&action.target) || !Expect(TokenKind::kEqual) || !ParseUpdateValue(&action.value, &in_parentheses)) {
      return false;
    }
  } while (Accept(TokenKind::kComma));
  return true;
}

bool UpdateParser::ParseOperandActions(std::vector<OperandAction>* out) {
  do {
    OperandAction& action = out->emplace_back();
    if (!ParsePath(&action.target) || !ParseValue(&action.operand)) return false;
  } while (Accept(TokenKind::kComma));
  return true;
}

// Parses an operand, a sum or a difference, with or without parentheses. A sum in parentheses is not an operand of
// another sum.
bool UpdateParser::ParseUpdateValue(UpdateValue* out, bool* in_parentheses) {
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

}  // namespace

absl::StatusOr<Update> ParseUpdate(std::string_view text, FaultLog* faults) {
  UpdateParser parser(ExpressionKind::kUpdate, text, faults);
  Update update;
  if (!parser.Start() || !parser.ParseClauses(&update) || !parser.Finish()) {
    return parser.status();
  }
  return update;
}

}  // namespace armature::expr
