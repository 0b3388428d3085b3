#include "engine/expr/key_condition.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "engine/expr/fault_log.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"

namespace armature::expr {
namespace {

using model::KeyAttribute;
using model::KeySchema;
using model::ValueType;
using model::ValueView;

// Operators of `attribute op value` and of `value op attribute`, in the order of Comparator. kNotEqual has none.
constexpr KeyOperator kOperators[] = {KeyOperator::kEqual,       KeyOperator::kEqual,   KeyOperator::kLess,
                                      KeyOperator::kLessOrEqual, KeyOperator::kGreater, KeyOperator::kGreaterOrEqual};
constexpr KeyOperator kMirroredOperators[] = {KeyOperator::kEqual,   KeyOperator::kEqual,
                                              KeyOperator::kGreater, KeyOperator::kGreaterOrEqual,
                                              KeyOperator::kLess,    KeyOperator::kLessOrEqual};

absl::Status NotForKeys(std::string_view detail) {
  return InvalidExpressionError(ExpressionKind::kKeyCondition, detail);
}

absl::Status OperatorNotForKeys(std::string_view op) {
  return NotForKeys(Cat("Invalid operator used in KeyConditionExpression: ", op));
}

// Extracts the terms of a bound condition.
class Restrictor {
 public:
  // Recursion is bounded by the depth of the tree, which the parser limits.
  absl::Status Visit(const ConditionNode& condition) {
    return std::visit([this](const auto& node) { return VisitNode(node); }, condition.node);
  }

  KeyCondition Take() { return std::move(result_); }

 private:
  absl::Status VisitNode(const Comparison& comparison) {
    if (comparison.comparator == Comparator::kNotEqual) return OperatorNotForKeys("<>");
    const bool mirrored = comparison.left.path() == nullptr;
    const KeyOperator op = (mirrored ? kMirroredOperators : kOperators)[static_cast<size_t>(comparison.comparator)];
    return AddTerm(op, "", {&comparison.left, &comparison.right});
  }

  absl::Status VisitNode(const Between& between) {
    return AddTerm(KeyOperator::kBetween, "BETWEEN", {&between.tested, &between.lower, &between.upper});
  }

  absl::Status VisitNode(const Membership&) { return OperatorNotForKeys("IN"); }

  absl::Status VisitNode(const FunctionCall& call) {
    if (call.function != Function::kBeginsWith) return OperatorNotForKeys(call.name);
    return AddTerm(KeyOperator::kBeginsWith, call.name, {&call.arguments[0], &call.arguments[1]});
  }

  absl::Status VisitNode(const Negation&) { return OperatorNotForKeys("NOT"); }

  absl::Status VisitNode(const Junction& junction) {
    if (junction.kind == Junction::Kind::kOr) return OperatorNotForKeys("OR");
    for (const ConditionNode& term : junction.terms) ARM_RETURN_IF_ERROR(Visit(term));
    return absl::OkStatus();
  }

  // `must_lead`: the operator if its first operand must be the attribute, otherwise empty.
  absl::Status AddTerm(KeyOperator op, std::string_view must_lead, const std::vector<const Operand*>& operands) {
    const DocumentPath* attribute = nullptr;
    std::vector<ValueView> values;
    for (const Operand* operand : operands) {
      if (operand->call() != nullptr) {
        return NotForKeys("KeyConditionExpressions cannot contain nested operations");
      }
      if (const DocumentPath* path = operand->path()) {
        if (path->nested()) {
          return NotForKeys("KeyConditionExpressions cannot have conditions on nested attributes");
        }
        if (attribute != nullptr) {
          return NotForKeys(
              "Invalid condition in KeyConditionExpression: Multiple attribute names used in one "
              "condition");
        }
        attribute = path;
      } else {
        values.push_back(*operand->value()->value);
      }
    }
    if (attribute == nullptr) {
      return NotForKeys("Invalid condition in KeyConditionExpression: No key attribute specified");
    }
    if (!must_lead.empty() && operands.front()->path() == nullptr) {
      return NotForKeys(Cat("Invalid condition in KeyConditionExpression: ", must_lead,
                            " operator must have the key attribute as its first operand"));
    }
    for (const KeyConditionTerm& term : result_.terms) {
      if (term.attribute == attribute->attribute()) {
        return NotForKeys("KeyConditionExpressions must only contain one condition per key");
      }
    }
    KeyConditionTerm term{attribute->attribute(), op, values[0], std::nullopt};
    if (values.size() > 1) term.second = values[1];
    result_.terms.push_back(std::move(term));
    return absl::OkStatus();
  }

  KeyCondition result_;
};

const KeyConditionTerm* FindTerm(const KeyCondition& condition, std::string_view attribute) {
  for (const KeyConditionTerm& term : condition.terms) {
    if (term.attribute == attribute) return &term;
  }
  return nullptr;
}

bool IsEquality(const KeyConditionTerm* term) { return term != nullptr && term->op == KeyOperator::kEqual; }

absl::Status MissedError(std::string_view attribute) {
  return ValidationError(Cat("Query condition missed key schema element: ", attribute));
}

absl::Status NotSupportedError() { return ValidationError("Query key condition not supported"); }

std::string JoinNames(const std::vector<std::string_view>& names) {
  std::string joined;
  for (const std::string_view name : names) joined += Cat(joined.empty() ? "" : ", ", name);
  return joined;
}

// Checks that every partition attribute has an equality.
absl::Status CheckPartition(const KeyCondition& condition, const KeySchema& schema) {
  if (schema.partition.size() == 1) {
    const KeyConditionTerm* term = FindTerm(condition, schema.partition[0].name);
    if (term == nullptr) return MissedError(schema.partition[0].name);
    return IsEquality(term) ? absl::OkStatus() : NotSupportedError();
  }
  std::vector<std::string_view> lacking;
  for (const KeyAttribute& attribute : schema.partition) {
    if (!IsEquality(FindTerm(condition, attribute.name))) lacking.push_back(attribute.name);
  }
  if (lacking.empty()) return absl::OkStatus();
  return ValidationError(
      Cat("HASH key attributes ", JoinNames(lacking), " must have equality conditions specified in the query"));
}

// Checks that conditions on sort attributes form a prefix of the key, and that all but the last are equalities.
absl::Status CheckSort(const KeyCondition& condition, const KeySchema& schema) {
  std::vector<std::string_view> lacking;
  for (const KeyAttribute& attribute : schema.sort) {
    const KeyConditionTerm* term = FindTerm(condition, attribute.name);
    if (term != nullptr && !lacking.empty()) {
      return ValidationError(Cat("RANGE key attributes ", JoinNames(lacking),
                                 " must have equality conditions specified in the query because a condition is "
                                 "present on key attribute ",
                                 attribute.name));
    }
    if (!IsEquality(term)) lacking.push_back(attribute.name);
  }
  return absl::OkStatus();
}

// Checks that only key attributes are used.
absl::Status CheckOnlyKeys(const KeyCondition& condition, const KeySchema& schema) {
  const bool only_keys = std::all_of(condition.terms.begin(), condition.terms.end(),
                                     [&schema](const auto& term) { return schema.Contains(term.attribute); });
  if (only_keys) return absl::OkStatus();
  for (const KeyAttribute& attribute : schema.sort) {
    if (FindTerm(condition, attribute.name) == nullptr) return MissedError(attribute.name);
  }
  return NotSupportedError();
}

absl::Status CheckValues(const KeyCondition& condition, const KeySchema& schema) {
  for (const auto* group : {&schema.partition, &schema.sort}) {
    for (const KeyAttribute& attribute : *group) {
      const KeyConditionTerm* term = FindTerm(condition, attribute.name);
      if (term == nullptr) continue;
      ARM_RETURN_IF_ERROR(CheckKeyValue(attribute, term->first));
      if (term->second.has_value()) ARM_RETURN_IF_ERROR(CheckKeyValue(attribute, *term->second));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSizes(const MatchedKeyCondition& matched) {
  size_t partition = 0;
  for (const ValueView& value : matched.partition) partition += model::ApiSize(value);
  size_t sort = 0;
  for (const ValueView& value : matched.sort_equal) sort += model::ApiSize(value);
  if (matched.sort_range.has_value()) {
    size_t bound = model::ApiSize(matched.sort_range->first);
    if (const auto& second = matched.sort_range->second) {
      bound = std::max(bound, model::ApiSize(*second));
    }
    sort += bound;
  }
  return CheckKeySizes(partition, sort);
}

}  // namespace

absl::Status CheckKeyValue(const KeyAttribute& attribute, const ValueView& value) {
  if (value.type() != model::ToValueType(attribute.type)) {
    return InvalidParameterError("Condition parameter type does not match schema type");
  }
  if (!value.scalar().empty()) return absl::OkStatus();
  return ValidationError(
      Cat("One or more parameter values are not valid. The AttributeValue for a key attribute "
          "cannot contain an empty ",
          value.type() == ValueType::kBinary ? "binary" : "string", " value. Key: ", attribute.name));
}

absl::Status CheckKeySizes(size_t partition, size_t sort) {
  if (partition > model::kPartitionKeyMaxBytes) {
    return InvalidParameterError(
        Cat("Size of hashkey has exceeded the maximum size limit of", model::kPartitionKeyMaxBytes, " bytes"));
  }
  if (sort > model::kSortKeyMaxBytes) {
    return InvalidParameterError(
        Cat("Aggregated size of all range keys has exceeded the size limit of ", model::kSortKeyMaxBytes, " bytes"));
  }
  return absl::OkStatus();
}

absl::StatusOr<KeyCondition> RestrictToKeys(const Condition& condition) {
  Restrictor restrictor;
  ARM_RETURN_IF_ERROR(restrictor.Visit(condition.root));
  return restrictor.Take();
}

absl::StatusOr<MatchedKeyCondition> MatchKeyCondition(const KeyCondition& condition, const KeySchema& schema) {
  if (condition.terms.size() > schema.size()) {
    return ValidationError(Cat("The number of query conditions (", condition.terms.size(),
                               ") exceeds the number of key attributes defined in the schema (", schema.size(), ")"));
  }
  ARM_RETURN_IF_ERROR(CheckPartition(condition, schema));
  ARM_RETURN_IF_ERROR(CheckOnlyKeys(condition, schema));
  ARM_RETURN_IF_ERROR(CheckSort(condition, schema));
  ARM_RETURN_IF_ERROR(CheckValues(condition, schema));
  MatchedKeyCondition matched;
  for (const KeyAttribute& attribute : schema.partition) {
    matched.partition.push_back(FindTerm(condition, attribute.name)->first);
  }
  for (const KeyAttribute& attribute : schema.sort) {
    const KeyConditionTerm* term = FindTerm(condition, attribute.name);
    if (term == nullptr) break;
    if (IsEquality(term)) {
      matched.sort_equal.push_back(term->first);
    } else {
      matched.sort_range = *term;
    }
  }
  ARM_RETURN_IF_ERROR(CheckSizes(matched));
  return matched;
}

}  // namespace armature::expr
