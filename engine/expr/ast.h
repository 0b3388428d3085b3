#ifndef ARMATURE_ENGINE_EXPR_AST_H_
#define ARMATURE_ENGINE_EXPR_AST_H_

// Syntax trees of expressions.
//
// The parser creates trees with placeholders as written. The binder replaces them by attribute names and values. Every
// tree that leaves this layer is bound: no element is kPlaceholder, and every ValueOperand has its value.
//
// Thread-safety: thread-compatible values.
// Lifetime: a bound tree owns its names; its values point into the bytes of Placeholders::values.
// Limits: a tree is at most kNestingMax levels deep, so recursion over it is safe.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "storage/model/item_view.h"
#include "storage/model/limits.h"

namespace armature::expr {

// The five kinds of expressions in a request.
enum class ExpressionKind : uint8_t { kUpdate, kCondition, kKeyCondition, kFilter, kProjection };

// The request member of a kind, e.g. "FilterExpression".
constexpr std::string_view KindName(ExpressionKind kind) {
  constexpr std::string_view kNames[] = {"UpdateExpression", "ConditionExpression", "KeyConditionExpression",
                                         "FilterExpression", "ProjectionExpression"};
  return kNames[static_cast<uint8_t>(kind)];
}

// The expressions of one request as sent; nullopt: absent.
struct ExpressionTexts {
  std::optional<std::string> update;
  std::optional<std::string> condition;
  std::optional<std::string> key_condition;
  std::optional<std::string> filter;
  std::optional<std::string> projection;
  // Limit on the size of a text. Texts that are made of a statement, whose size is limited already, may be larger.
  size_t bytes_max = model::kExpressionMaxBytes;
};

// Limit on nested parentheses and function calls. Each level of a legal expression needs at least one operator, except
// for one pair of parentheses around the whole expression and one around an operand.
inline constexpr int kNestingMax = model::kExpressionOperatorsMax + 2;

struct PathElement {
  enum class Kind : uint8_t { kName, kPlaceholder, kIndex };
  Kind kind = Kind::kName;
  std::string name;    // kName: the attribute name or map key; kPlaceholder: "#n"
  uint32_t index = 0;  // kIndex: position in a list

  friend bool operator==(const PathElement&, const PathElement&) = default;
};

// Path to an attribute or to a value inside it. The first element is always a name.
struct DocumentPath {
  std::vector<PathElement> elements;
  size_t position = 0;  // position of its first character in the expression

  const std::string& attribute() const { return elements.front().name; }
  bool nested() const { return elements.size() > 1; }
};

struct ValueOperand {
  std::string placeholder;  // ":v"
  std::optional<model::ValueView> value;
};

enum class Function : uint8_t {
  kUnknown,
  kAttributeExists,
  kAttributeNotExists,
  kAttributeType,
  kBeginsWith,
  kContains,
  kSize,
  kIfNotExists,
  kListAppend,
  // NOT_CONTAINS of the legacy parameters. No expression text contains it. Not the negation of kContains: it is false
  // if the attribute is absent.
  kNotContains,
};

struct Operand;

struct FunctionCall {
  Function function = Function::kUnknown;
  std::string name;  // as written
  std::vector<Operand> arguments;
};

struct Operand {
  std::variant<DocumentPath, ValueOperand, FunctionCall> node;

  const DocumentPath* path() const { return std::get_if<DocumentPath>(&node); }
  const ValueOperand* value() const { return std::get_if<ValueOperand>(&node); }
  const FunctionCall* call() const { return std::get_if<FunctionCall>(&node); }
};

enum class Comparator : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
};

struct ConditionNode;

struct Comparison {
  Comparator comparator = Comparator::kEqual;
  Operand left;
  Operand right;
};

struct Between {
  Operand tested;
  Operand lower;
  Operand upper;
};

struct Membership {  // tested IN (choices)
  Operand tested;
  std::vector<Operand> choices;
};

struct Negation {
  Negation(int how_often, ConditionNode negated);
  Negation(const Negation& other);
  Negation(Negation&&) noexcept = default;
  Negation& operator=(const Negation& other);
  Negation& operator=(Negation&&) noexcept = default;
  ~Negation() = default;

  int times;                             // "NOT NOT x" is one node with times 2
  std::unique_ptr<ConditionNode> inner;  // never null
};

struct Junction {
  enum class Kind : uint8_t { kAnd, kOr };
  Kind kind = Kind::kAnd;
  std::vector<ConditionNode> terms;  // two or more, in text order
};

struct ConditionNode {
  std::variant<Comparison, Between, Membership, FunctionCall, Negation, Junction> node;
};

inline Negation::Negation(int how_often, ConditionNode negated)
    : times(how_often), inner(std::make_unique<ConditionNode>(std::move(negated))) {}
inline Negation::Negation(const Negation& other)
    : times(other.times), inner(std::make_unique<ConditionNode>(*other.inner)) {}
inline Negation& Negation::operator=(const Negation& other) {
  if (this != &other) *this = Negation(other);
  return *this;
}

// A ConditionExpression or FilterExpression.
struct Condition {
  ConditionNode root;
};

// The right side of a SET action: left, or left + right, or left - right.
struct UpdateValue {
  enum class Operation : uint8_t { kNone, kPlus, kMinus };
  Operand left;
  Operation operation = Operation::kNone;
  std::optional<Operand> right;
};

struct SetAction {
  DocumentPath target;
  UpdateValue value;
};

// An action of the ADD or the DELETE section.
struct OperandAction {
  DocumentPath target;
  ValueOperand operand;
};

// Origin of an update. With kAttributeUpdates, ADD also accepts lists and appends them (an absent attribute becomes the
// list), and a stored value of a type unsuited to ADD or DELETE is reported with kAttributeUpdatesMismatch.
enum class UpdateStyle : uint8_t { kExpression, kAttributeUpdates };
inline constexpr char kAttributeUpdatesMismatch[] = "Type mismatch for attribute to update";

struct Update {
  UpdateStyle style = UpdateStyle::kExpression;
  std::vector<SetAction> sets;
  std::vector<DocumentPath> removes;
  std::vector<OperandAction> adds;
  std::vector<OperandAction> deletes;
};

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_AST_H_
