#ifndef ARMATURE_ENGINE_PARTIQL_BOOLEAN_TERMS_H_
#define ARMATURE_ENGINE_PARTIQL_BOOLEAN_TERMS_H_

// Conditions as operands: `attribute_exists(a) = false`, `(n > 5) IN [true, b]`.
//
// The expressions that execute a statement compare values only. A condition that is compared becomes conditions joined
// by AND, OR and NOT with the same result: it has two values, true and false, also for missing attributes.

#include <cstddef>
#include <string_view>
#include <vector>

#include "engine/partiql/statement.h"

namespace armature::engine::partiql {

// A part of a WHERE clause: a condition, or an operand that needs an operator to become one.
struct Term {
  bool is_condition = false;
  Condition condition;
  Operand operand;
};

// Builds the conditions of one statement. Each comparison may repeat the conditions in it, so the work is bounded.
//
// Thread-safety: owned by one thread.
class BooleanTerms {
 public:
  // At least one side is a condition.
  Condition Equal(const Term& left, const Term& right);
  // `tested` or one of `choices` is a condition.
  Condition Among(const Term& tested, const std::vector<Term>& choices);

  // True once a condition became too large. It has no meaning then.
  bool is_too_large() const { return work_ > kWorkMax; }

 private:
  // Far above the number of operators that an expression may have, and 5 MB of values.
  static constexpr size_t kWorkMax = 20'000;

  Condition Copied(const Condition& condition);
  Condition ConditionIs(const Condition& condition, const Operand& operand);

  size_t work_ = 0;  // of all copies
};

Condition Negated(Condition inner);
// All or one of `terms`, of which there is at least one.
Condition Joined(Condition::Kind kind, std::vector<Condition> terms);
Condition Compared(Operand left, std::string_view comparator, Operand right);
// `function` as a condition.
Condition CallOn(std::string_view function, std::vector<Operand> arguments);
// A condition that holds for no item.
Condition Never();

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_BOOLEAN_TERMS_H_
