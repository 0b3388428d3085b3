#include "engine/expr/condition_eval.h"

#include <string.h>

#include <algorithm>
#include <compare>
#include <string_view>
#include <utility>
#include <variant>

#include "engine/expr/paths.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/model/item_view.h"

namespace armature::expr {
namespace {

using model::ItemView;
using model::ValueType;
using model::ValueView;

// Value of an operand for one item.
class Subject {
 public:
  enum class State : uint8_t {
    kAbsent,   // the path does not exist
    kPresent,  // a value of the item or the request
    kCounted,  // a number computed by size()
    kInvalid,  // size() of a value without a size: every comparison is false
  };

  static Subject Absent() { return Subject(State::kAbsent); }
  static Subject Invalid() { return Subject(State::kInvalid); }
  static Subject Of(const std::optional<ValueView>& view) {
    Subject subject(view.has_value() ? State::kPresent : State::kAbsent);
    subject.view_ = view;
    return subject;
  }
  static Subject Count(size_t count) {
    Subject subject(State::kCounted);
    subject.count_ = std::to_string(count);
    return subject;
  }

  State state() const { return state_; }
  bool has_value() const { return state_ == State::kPresent || state_ == State::kCounted; }
  // type() and scalar() require has_value().
  ValueType type() const { return view_.has_value() ? view_->type() : ValueType::kNumber; }
  std::string_view scalar() const { return view_.has_value() ? view_->scalar() : std::string_view(count_); }
  // Null for kCounted.
  const ValueView* view() const { return view_.has_value() ? &*view_ : nullptr; }

 private:
  explicit Subject(State state) : state_(state) {}

  State state_;
  std::optional<ValueView> view_;
  std::string count_;
};

bool SameValue(const ValueView& value, const Subject& subject) {
  if (subject.view() != nullptr) return value == *subject.view();
  return value.type() == ValueType::kNumber && value.scalar() == subject.scalar();
}

bool Equal(const Subject& a, const Subject& b) {
  if (!a.has_value() || !b.has_value()) return false;
  if (a.view() != nullptr) return SameValue(*a.view(), b);
  return b.type() == ValueType::kNumber && a.scalar() == b.scalar();
}

// Nullopt if a value is absent, or the types differ or have no order.
std::optional<std::strong_ordering> Compare(const Subject& a, const Subject& b) {
  if (!a.has_value() || !b.has_value() || a.type() != b.type()) return std::nullopt;
  return CompareScalars(a.type(), a.scalar(), b.scalar());
}

// Number of UTF-16 code units in a UTF-8 text: two for four-byte characters, otherwise one.
size_t Utf16Length(std::string_view text) {
  size_t length = 0;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if ((byte & 0xC0) != 0x80) ++length;
    if (byte >= 0xF0) ++length;
  }
  return length;
}

Subject SizeOf(const Subject& subject) {
  if (subject.view() == nullptr) return Subject::Invalid();
  switch (subject.type()) {
    case ValueType::kString:
      return Subject::Count(Utf16Length(subject.scalar()));
    case ValueType::kBinary:
      return Subject::Count(subject.scalar().size());
    case ValueType::kNumber:
    case ValueType::kBool:
    case ValueType::kNull:
      return Subject::Invalid();
    default:
      return Subject::Count(subject.view()->size());
  }
}

// Recursion is bounded by the nesting of function calls, which the parser limits.
Subject Resolve(const Operand& operand, const ItemView& item) {
  if (const DocumentPath* path = operand.path()) return Subject::Of(Follow(*path, item));
  if (const ValueOperand* value = operand.value()) return Subject::Of(value->value);
  return SizeOf(Resolve(operand.call()->arguments[0], item));
}

bool BeginsWith(const Subject& text, const Subject& prefix) {
  if (!text.has_value() || !prefix.has_value() || text.type() != prefix.type()) return false;
  if (text.type() != ValueType::kString && text.type() != ValueType::kBinary) return false;
  return text.scalar().starts_with(prefix.scalar());
}

// memmem is linear in both lengths. std::string_view::find is not, and clients choose both operands.
bool HasSubstring(std::string_view text, std::string_view part) {
  if (part.empty()) return true;
  return memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

// True if `whole` has `part` as substring or element; nullopt if the types do not fit.
std::optional<bool> Contains(const Subject& whole, const Subject& part) {
  if (whole.view() == nullptr || !part.has_value()) return std::nullopt;
  ValueType element_type = ValueType::kString;
  bool found = false;
  switch (whole.type()) {
    case ValueType::kString:
    case ValueType::kBinary:
      if (part.type() != whole.type()) return std::nullopt;
      return HasSubstring(whole.scalar(), part.scalar());
    case ValueType::kList:
      whole.view()->ForEachListElement([&](const ValueView& element) {
        found = SameValue(element, part);
        return !found;
      });
      return found;
    case ValueType::kStringSet:
      break;
    case ValueType::kNumberSet:
      element_type = ValueType::kNumber;
      break;
    case ValueType::kBinarySet:
      element_type = ValueType::kBinary;
      break;
    default:
      return std::nullopt;
  }
  if (part.type() != element_type) return std::nullopt;
  whole.view()->ForEachSetElement([&](std::string_view element) {
    found = element == part.scalar();
    return !found;
  });
  return found;
}

class Evaluator {
 public:
  explicit Evaluator(const ItemView& item) : item_(item) {}

  // Recursion is bounded by the depth of the tree, which the parser limits.
  bool Visit(const ConditionNode& condition) const {
    return std::visit([this](const auto& node) { return VisitNode(node); }, condition.node);
  }

 private:
  bool VisitNode(const Comparison& comparison) const {
    const Subject left = Resolve(comparison.left, item_);
    const Subject right = Resolve(comparison.right, item_);
    if (left.state() == Subject::State::kInvalid || right.state() == Subject::State::kInvalid) {
      return false;
    }
    if (comparison.comparator == Comparator::kEqual) return Equal(left, right);
    if (comparison.comparator == Comparator::kNotEqual) return !Equal(left, right);
    const std::optional<std::strong_ordering> order = Compare(left, right);
    if (!order.has_value()) return false;
    switch (comparison.comparator) {
      case Comparator::kLess:
        return std::is_lt(*order);
      case Comparator::kLessOrEqual:
        return std::is_lteq(*order);
      case Comparator::kGreater:
        return std::is_gt(*order);
      default:
        return std::is_gteq(*order);
    }
  }

  bool VisitNode(const Between& between) const {
    const Subject tested = Resolve(between.tested, item_);
    const auto from_lower = Compare(tested, Resolve(between.lower, item_));
    if (!from_lower.has_value() || std::is_lt(*from_lower)) return false;
    const auto from_upper = Compare(tested, Resolve(between.upper, item_));
    return from_upper.has_value() && std::is_lteq(*from_upper);
  }

  bool VisitNode(const Membership& membership) const {
    const Subject tested = Resolve(membership.tested, item_);
    return std::any_of(membership.choices.begin(), membership.choices.end(),
                       [&](const Operand& choice) { return Equal(tested, Resolve(choice, item_)); });
  }

  bool VisitNode(const FunctionCall& call) const {
    const Subject first = Resolve(call.arguments[0], item_);
    switch (call.function) {
      case Function::kAttributeExists:
        return first.has_value();
      case Function::kAttributeNotExists:
        return !first.has_value();
      case Function::kAttributeType:
        return first.has_value() && model::ValueTypeName(first.type()) == Resolve(call.arguments[1], item_).scalar();
      case Function::kBeginsWith:
        return BeginsWith(first, Resolve(call.arguments[1], item_));
      case Function::kContains:
        return Contains(first, Resolve(call.arguments[1], item_)).value_or(false);
      case Function::kNotContains:
        return first.has_value() && !Contains(first, Resolve(call.arguments[1], item_)).value_or(false);
      default:
        return false;
    }
  }

  bool VisitNode(const Negation& negation) const { return Visit(*negation.inner) == (negation.times % 2 == 0); }
  bool VisitNode(const Junction& junction) const {
    const bool decisive = junction.kind == Junction::Kind::kOr;
    for (const ConditionNode& term : junction.terms) {
      if (Visit(term) == decisive) return decisive;
    }
    return !decisive;
  }

  const ItemView& item_;
};

// Calls fn(const DocumentPath&) for every path of a condition in text order, until fn returns false. Returns false if
// fn did.
template <class Fn>
bool ForEachPath(const Operand& operand, const Fn& fn) {
  if (const DocumentPath* path = operand.path()) return fn(*path);
  const FunctionCall* call = operand.call();
  return call == nullptr || std::all_of(call->arguments.begin(), call->arguments.end(),
                                        [&fn](const Operand& argument) { return ForEachPath(argument, fn); });
}

template <class Fn>
bool ForEachPath(const ConditionNode& condition, const Fn& fn) {
  if (const auto* comparison = std::get_if<Comparison>(&condition.node)) {
    return ForEachPath(comparison->left, fn) && ForEachPath(comparison->right, fn);
  }
  if (const auto* between = std::get_if<Between>(&condition.node)) {
    return ForEachPath(between->tested, fn) && ForEachPath(between->lower, fn) && ForEachPath(between->upper, fn);
  }
  if (const auto* membership = std::get_if<Membership>(&condition.node)) {
    return ForEachPath(membership->tested, fn) &&
           std::all_of(membership->choices.begin(), membership->choices.end(),
                       [&fn](const Operand& choice) { return ForEachPath(choice, fn); });
  }
  if (const auto* call = std::get_if<FunctionCall>(&condition.node)) {
    return std::all_of(call->arguments.begin(), call->arguments.end(),
                       [&fn](const Operand& argument) { return ForEachPath(argument, fn); });
  }
  if (const auto* negation = std::get_if<Negation>(&condition.node)) {
    return ForEachPath(*negation->inner, fn);
  }
  const auto& junction = std::get<Junction>(condition.node);
  return std::all_of(junction.terms.begin(), junction.terms.end(),
                     [&fn](const ConditionNode& term) { return ForEachPath(term, fn); });
}

// Work of a comparison or a function call besides the bytes that it reads.
constexpr size_t kNodeCost = 64;

size_t Readings(const Operand& operand) {
  if (operand.path() != nullptr) return 1;
  return operand.call() != nullptr ? Readings(operand.call()->arguments[0]) : 0;
}

// Bytes of a constant that the function called with it reads whole.
size_t ArgumentCost(const Operand& operand) {
  if (const ValueOperand* const value = operand.value()) return value->value->wire().size();
  return operand.call() != nullptr ? ArgumentCost(operand.call()->arguments[0]) : 0;
}

// Constants that a comparison reads whole are arguments of size(), and values compared with each other. A value that is
// compared with a part of the item is read no further than that part.
EvaluationCost ComparisonCost(const Operand& left, const Operand& right) {
  EvaluationCost cost = {Readings(left) + Readings(right), kNodeCost};
  for (const Operand* const operand : {&left, &right}) {
    if (operand->call() != nullptr) cost.constant_bytes += ArgumentCost(*operand);
  }
  if (left.value() != nullptr && right.value() != nullptr) {
    cost.constant_bytes += std::min(ArgumentCost(left), ArgumentCost(right));
  }
  return cost;
}

EvaluationCost NodeCost(const ConditionNode& condition) {
  if (const auto* comparison = std::get_if<Comparison>(&condition.node)) {
    return ComparisonCost(comparison->left, comparison->right);
  }
  EvaluationCost cost;
  if (const auto* between = std::get_if<Between>(&condition.node)) {
    cost = ComparisonCost(between->tested, between->lower);
    return cost += ComparisonCost(between->tested, between->upper);
  }
  if (const auto* membership = std::get_if<Membership>(&condition.node)) {
    for (const Operand& choice : membership->choices) cost += ComparisonCost(membership->tested, choice);
    return cost;
  }
  if (const auto* call = std::get_if<FunctionCall>(&condition.node)) {
    cost.constant_bytes = kNodeCost + ArgumentCost(call->arguments[0]);
    for (const Operand& argument : call->arguments) cost.readings += Readings(argument);
    return cost;
  }
  if (const auto* negation = std::get_if<Negation>(&condition.node)) return NodeCost(*negation->inner);
  for (const ConditionNode& term : std::get<Junction>(condition.node).terms) cost += NodeCost(term);
  return cost;
}

}  // namespace

EvaluationCost CostOf(const Condition& condition) { return NodeCost(condition.root); }

bool Evaluate(const Condition& condition, const ItemView& item) { return Evaluator(item).Visit(condition.root); }

std::optional<std::string> FirstAttributeAmong(const Condition& condition, const std::vector<std::string>& names) {
  std::optional<std::string> found;
  ForEachPath(condition.root, [&](const DocumentPath& path) {
    if (std::find(names.begin(), names.end(), path.attribute()) == names.end()) return true;
    found = path.attribute();
    return false;
  });
  return found;
}

std::vector<std::string> TopLevelNames(const Condition& condition) {
  std::vector<std::string> names;
  ForEachPath(condition.root, [&names](const DocumentPath& path) {
    names.push_back(path.attribute());
    return true;
  });
  return names;
}

absl::Status CheckKeysAreWhole(const Condition& condition, const model::KeySchema& keys, bool index_keys) {
  absl::Status status;
  ForEachPath(condition.root, [&](const DocumentPath& path) {
    if (path.nested() && keys.Contains(path.attribute())) status = NestedKeyError(path.attribute(), index_keys);
    return status.ok();
  });
  return status;
}

absl::Status CheckFilterAvoidsKeys(std::string_view parameter, const Condition& filter, const model::KeySchema& keys) {
  std::vector<std::string> names;
  for (const auto* group : {&keys.partition, &keys.sort}) {
    for (const model::KeyAttribute& attribute : *group) names.push_back(attribute.name);
  }
  const std::optional<std::string> key = FirstAttributeAmong(filter, names);
  if (!key.has_value()) return absl::OkStatus();
  return ValidationError(Cat(parameter, " can only contain non-primary key attributes: Primary key attribute: ", *key));
}

}  // namespace armature::expr
