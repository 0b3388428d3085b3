#include "engine/partiql/boolean_terms.h"

#include <optional>
#include <string>
#include <utility>

#include "storage/model/item_view.h"
#include "storage/model/wire.h"

namespace armature::engine::partiql {
namespace {

Operand Flag(bool value) {
  Operand operand;
  operand.kind = Operand::Kind::kValue;
  operand.value = {
      static_cast<char>(model::WireTag(static_cast<uint32_t>(model::ValueType::kBool), model::WireType::kVarint)),
      static_cast<char>(value ? 1 : 0)};
  return operand;
}

size_t WorkOf(const Operand& operand) {
  size_t work = 1 + operand.value.size() / 256;
  for (const Operand& argument : operand.arguments) work += WorkOf(argument);
  return work;
}

// The work of a copy. Values may have megabytes.
size_t WorkOf(const Condition& condition) {
  size_t work = 1;
  for (const Operand& operand : condition.operands) work += WorkOf(operand);
  for (const Condition& child : condition.children) work += WorkOf(child);
  return work;
}

}  // namespace

Condition Negated(Condition inner) {
  Condition negation;
  negation.kind = Condition::Kind::kNot;
  negation.children.push_back(std::move(inner));
  return negation;
}

Condition Joined(Condition::Kind kind, std::vector<Condition> terms) {
  if (terms.size() == 1) return std::move(terms.front());
  Condition junction;
  junction.kind = kind;
  junction.children = std::move(terms);
  return junction;
}

Condition Compared(Operand left, std::string_view comparator, Operand right) {
  Condition condition;
  condition.kind = Condition::Kind::kComparison;
  condition.comparator = std::string(comparator);
  condition.operands.push_back(std::move(left));
  condition.operands.push_back(std::move(right));
  return condition;
}

Condition CallOn(std::string_view function, std::vector<Operand> arguments) {
  Condition condition;
  condition.kind = Condition::Kind::kCall;
  Operand& call = condition.operands.emplace_back();
  call.kind = Operand::Kind::kCall;
  call.function = std::string(function);
  call.arguments = std::move(arguments);
  return condition;
}

Condition Never() { return Compared(Flag(true), "=", Flag(false)); }

Condition BooleanTerms::Copied(const Condition& condition) {
  work_ += WorkOf(condition);
  return is_too_large() ? Never() : condition;
}

// True if `operand` has the value that `condition` has.
Condition BooleanTerms::ConditionIs(const Condition& condition, const Operand& operand) {
  if (operand.kind == Operand::Kind::kValue) {
    if (operand.value == Flag(true).value) return Copied(condition);
    if (operand.value == Flag(false).value) return Negated(Copied(condition));
    return Never();
  }
  if (operand.kind == Operand::Kind::kCall) return Never();  // a size is a number
  std::vector<Condition> both;
  for (const bool value : {true, false}) {
    std::vector<Condition> terms;
    terms.push_back(value ? Copied(condition) : Negated(Copied(condition)));
    terms.push_back(Compared(operand, "=", Flag(value)));
    both.push_back(Joined(Condition::Kind::kAnd, std::move(terms)));
  }
  return Joined(Condition::Kind::kOr, std::move(both));
}

Condition BooleanTerms::Equal(const Term& left, const Term& right) {
  if (!left.is_condition) return ConditionIs(right.condition, left.operand);
  if (!right.is_condition) return ConditionIs(left.condition, right.operand);
  std::vector<Condition> both;
  for (const bool value : {true, false}) {
    std::vector<Condition> terms;
    for (const Term* const term : {&left, &right}) {
      terms.push_back(value ? Copied(term->condition) : Negated(Copied(term->condition)));
    }
    both.push_back(Joined(Condition::Kind::kAnd, std::move(terms)));
  }
  return Joined(Condition::Kind::kOr, std::move(both));
}

Condition BooleanTerms::Among(const Term& tested, const std::vector<Term>& choices) {
  std::vector<Condition> any;
  Condition plain;  // of all choices that are no conditions, if `tested` is not one
  plain.kind = Condition::Kind::kIn;
  plain.operands.push_back(tested.operand);
  for (const Term& choice : choices) {
    if (tested.is_condition || choice.is_condition) {
      any.push_back(Equal(tested, choice));
    } else {
      plain.operands.push_back(choice.operand);
    }
  }
  if (plain.operands.size() > 1) any.push_back(std::move(plain));
  return Joined(Condition::Kind::kOr, std::move(any));
}

}  // namespace armature::engine::partiql
