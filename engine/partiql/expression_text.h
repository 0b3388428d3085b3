#ifndef ARMATURE_ENGINE_PARTIQL_EXPRESSION_TEXT_H_
#define ARMATURE_ENGINE_PARTIQL_EXPRESSION_TEXT_H_

// Parts of a statement as the expressions of the operations on items, which evaluate them.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/items/request.h"
#include "engine/partiql/statement.h"

namespace armature::engine::partiql {

// Writes expressions whose names and values are all placeholders. The texts of one object belong into one request.
//
// Thread-safety: thread-compatible. Cost: linear in what is written.
class ExpressionText {
 public:
  std::string Name(const std::string& attribute);
  std::string Path(const expr::DocumentPath& path);
  // `wire`: of an AttributeValue.
  std::string Value(const std::string& wire);
  std::string Text(const Operand& operand);
  // `is_inner`: the text is part of a larger condition, so OR stands in parentheses.
  std::string Text(const Condition& condition, bool is_inner = false);

  // Sets the placeholders of everything written so far.
  void FillPlaceholders(ExpressionParameters* to) const;

 private:
  std::string Call(std::string_view function, std::span<const Operand> arguments);

  std::map<std::string, std::string> names_;   // placeholder by attribute
  std::map<std::string, std::string> values_;  // placeholder by value
};

// True if all that `condition` does is to compare paths with values for equality, so that no operand can be wrong.
bool HasPlainOperands(const Condition& condition);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_EXPRESSION_TEXT_H_
