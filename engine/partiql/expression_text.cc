#include "engine/partiql/expression_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/partiql/statements.h"
#include "storage/base/strings.h"
#include "storage/model/wire.h"

namespace armature::engine::partiql {
namespace {

// Texts are longer than the statement, which is limited: a column of two characters, as in "a,", becomes "#n1000, ".
constexpr size_t kTextMaxBytes = 16 * kStatementMaxChars;

// The placeholder of `text`, new or old.
std::string PlaceholderOf(std::string_view prefix, const std::string& text, std::map<std::string, std::string>* all) {
  return all->try_emplace(text, Cat(prefix, all->size())).first->second;
}

}  // namespace

std::string ExpressionText::Name(const std::string& attribute) { return PlaceholderOf("#n", attribute, &names_); }

std::string ExpressionText::Path(const expr::DocumentPath& path) {
  std::string text;
  for (const expr::PathElement& element : path.elements) {
    if (element.kind == expr::PathElement::Kind::kIndex) {
      text += Cat("[", element.index, "]");
    } else {
      text += Cat(text.empty() ? "" : ".", Name(element.name));
    }
  }
  return text;
}

std::string ExpressionText::Value(const std::string& wire) { return PlaceholderOf(":v", wire, &values_); }

std::string ExpressionText::Call(std::string_view function, std::span<const Operand> arguments) {
  std::string text = Cat(function, "(");
  for (size_t i = 0; i < arguments.size(); ++i) text += Cat(i == 0 ? "" : ", ", Text(arguments[i]));
  return text + ")";
}

std::string ExpressionText::Text(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::kPath:
      return Path(operand.path);
    case Operand::Kind::kValue:
      return Value(operand.value);
    case Operand::Kind::kCall:
      break;
  }
  return Call(operand.function, operand.arguments);
}

std::string ExpressionText::Text(const Condition& condition, bool is_inner) {
  const std::vector<Operand>& operands = condition.operands;
  switch (condition.kind) {
    case Condition::Kind::kComparison: {
      const std::string left = Text(operands[0]);
      return Cat(left, " ", condition.comparator, " ", Text(operands[1]));
    }
    case Condition::Kind::kBetween: {
      const std::string tested = Text(operands[0]);
      const std::string lower = Text(operands[1]);
      return Cat(tested, " BETWEEN ", lower, " AND ", Text(operands[2]));
    }
    case Condition::Kind::kIn:
      return Cat(Text(operands[0]), Call(" IN ", std::span(operands).subspan(1)));
    case Condition::Kind::kCall:
      return Text(operands[0]);
    case Condition::Kind::kNot:
      return Cat("NOT (", Text(condition.children[0]), ")");
    case Condition::Kind::kAnd:
    case Condition::Kind::kOr:
      break;
  }
  std::string text;
  for (const Condition& child : condition.children) {
    text += Cat(text.empty() ? "" : condition.kind == Condition::Kind::kOr ? " OR " : " AND ", Text(child, true));
  }
  return is_inner ? Cat("(", text, ")") : text;
}

void ExpressionText::FillPlaceholders(ExpressionParameters* to) const {
  to->bytes_max = kTextMaxBytes;
  if (!names_.empty()) {
    to->names.emplace();
    for (const auto& [attribute, placeholder] : names_) to->names->emplace(placeholder, attribute);
  }
  if (values_.empty()) return;
  std::string& wire = to->values_wire.emplace();
  for (const auto& [value, placeholder] : values_) {
    std::string entry;
    model::AppendBytesField(1, placeholder, &entry);
    model::AppendBytesField(2, value, &entry);
    model::AppendBytesField(1, entry, &wire);
  }
}

bool HasPlainOperands(const Condition& condition) {
  if (!condition.children.empty()) {
    return std::all_of(condition.children.begin(), condition.children.end(), HasPlainOperands);
  }
  return condition.kind == Condition::Kind::kComparison &&
         (condition.comparator == "=" || condition.comparator == "<>") &&
         condition.operands[0].kind == Operand::Kind::kPath && condition.operands[1].kind == Operand::Kind::kValue;
}

}  // namespace armature::engine::partiql
