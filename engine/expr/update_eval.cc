#include "engine/expr/update_eval.h"

#include <algorithm>
#include <compare>
#include <iterator>
#include <list>
#include <span>
#include <string_view>
#include <utility>

#include "engine/expr/paths.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/item_view.h"
#include "storage/model/limits.h"
#include "storage/model/number.h"
#include "storage/model/wire.h"

namespace armature::expr {
namespace {

using model::AttributeView;
using model::ItemView;
using model::ValueType;
using model::ValueView;

// Field number of the elements in list and set messages.
constexpr uint32_t kElementsField = 1;

absl::Status AbsentOperandError() {
  return ValidationError("The provided expression refers to an attribute that does not exist in the item");
}
absl::Status OperandTypeError() {
  return ValidationError("An operand in the update expression has an incorrect data type");
}
// Error for a stored value whose type does not suit ADD or DELETE.
absl::Status StoredTypeError(UpdateStyle style) {
  return style == UpdateStyle::kAttributeUpdates ? ValidationError(kAttributeUpdatesMismatch) : OperandTypeError();
}
absl::Status InvalidPathError() {
  return ValidationError("The document path provided in the update expression is invalid for update");
}

// New value of one target. Its parent may be missing in the item.
struct Edit {
  const DocumentPath* path;
  std::optional<ValueView> value;  // nullopt: remove
};
// Sorted by path, so that edits inside one value are adjacent.
using Edits = std::span<const Edit>;

// Targets do not conflict, so the children of one parent are either all names or all indexes.
bool ComesBefore(const Edit& a, const Edit& b) {
  const std::vector<PathElement>& x = a.path->elements;
  const std::vector<PathElement>& y = b.path->elements;
  return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(),
                                      [](const PathElement& one, const PathElement& two) {
                                        return one.index != two.index ? one.index < two.index : one.name < two.name;
                                      });
}

// Removes from the front of `edits` the group with the same path element at `depth`. Not empty unless `edits` is.
Edits TakeGroup(size_t depth, Edits* edits) {
  const PathElement& element = edits->front().path->elements[depth];
  size_t count = 1;
  while (count < edits->size() && (*edits)[count].path->elements[depth] == element) ++count;
  const Edits group = edits->first(count);
  *edits = edits->subspan(count);
  return group;
}

// True if `value` is nested at most `levels` deep. Recursion is bounded by `levels`.
bool NestsWithin(const ValueView& value, int levels) {
  if (levels < 1) return false;
  bool fits = true;
  if (value.type() == ValueType::kList) {
    value.ForEachListElement([&](const ValueView& element) { return fits = NestsWithin(element, levels - 1); });
  } else if (value.type() == ValueType::kMap) {
    value.map().ForEach([&](const AttributeView& member) { return fits = NestsWithin(member.value, levels - 1); });
  }
  return fits;
}

// Checks attribute names and nesting of a written value.
absl::Status CheckWritten(const DocumentPath& path, const ValueView& value) {
  if (path.attribute().empty()) return InvalidParameterError("Empty attribute name");
  for (const PathElement& element : path.elements) {
    if (element.name.size() > model::kAttributeNameMaxBytes) {
      return ValidationError("1 validation error detected: Attribute name is too large, must be less than 65536 bytes");
    }
  }
  if (!NestsWithin(value, model::kNestingDepthMax + 1 - static_cast<int>(path.elements.size()))) {
    return ValidationError(
        "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported "
        "limit");
  }
  return absl::OkStatus();
}

std::vector<std::string_view> ElementsOf(const ValueView& set) {
  std::vector<std::string_view> elements;
  set.ForEachSetElement([&elements](std::string_view element) {
    elements.push_back(element);
    return true;
  });
  return elements;
}

// Comparison of elements in a set, by the elements' type.
auto ElementOrder(ValueType set_type) {
  const ValueType type = set_type == ValueType::kNumberSet ? ValueType::kNumber : ValueType::kBinary;
  return [type](std::string_view a, std::string_view b) {
    const std::optional<std::strong_ordering> order = CompareScalars(type, a, b);
    return order.has_value() && std::is_lt(*order);
  };
}

// Computes one update of one item. Views of values that it creates are valid during its lifetime.
class Updater {
 public:
  explicit Updater(const std::optional<ItemView>& before)
      : exists_(before.has_value()), before_(before.value_or(ItemView())) {}

  // First step: computes the new value of each target from the old item.
  absl::StatusOr<std::vector<Edit>> Compute(const Update& update) {
    std::vector<Edit> edits;
    edits.reserve(update.sets.size() + update.removes.size() + update.adds.size() + update.deletes.size());
    for (const SetAction& action : update.sets) {
      ARM_ASSIGN_OR_RETURN(const ValueView value, Value(action.value));
      ARM_RETURN_IF_ERROR(CheckWritten(action.target, value));
      edits.push_back({&action.target, value});
    }
    for (const OperandAction& action : update.adds) {
      ARM_ASSIGN_OR_RETURN(const ValueView value, Added(action, update.style));
      ARM_RETURN_IF_ERROR(CheckWritten(action.target, value));
      edits.push_back({&action.target, value});
    }
    // With no item, removals and deletions have no effect, and invalid paths are not an error.
    if (exists_) {
      for (const DocumentPath& path : update.removes) edits.push_back({&path, std::nullopt});
      for (const OperandAction& action : update.deletes) {
        ARM_ASSIGN_OR_RETURN(const std::optional<ValueView> rest, Deleted(action, update.style));
        edits.push_back({&action.target, rest});
      }
    }
    std::sort(edits.begin(), edits.end(), ComesBefore);
    return edits;
  }

  // Second step: appends the members of `old`, changed by `edits`, to `out`.
  absl::Status WriteMembers(Edits edits, size_t depth, const ItemView& old, std::string* out) {
    std::string_view unwritten = old.bytes();  // the part before `rest` is kept
    std::string_view rest = unwritten;
    while (!edits.empty()) {
      const Edits group = TakeGroup(depth, &edits);
      const std::string_view name = group.front().path->elements[depth].name;
      std::string_view after = rest;
      std::optional<AttributeView> member = ItemView::Take(&after);
      while (member.has_value() && member->name < name) {
        rest = after;
        member = ItemView::Take(&after);
      }
      out->append(unwritten.substr(0, unwritten.size() - rest.size()));
      std::optional<ValueView> was;
      if (member.has_value() && member->name == name) {
        was = member->value;
        rest = after;
      }
      unwritten = rest;
      ARM_ASSIGN_OR_RETURN(const std::optional<ValueView> now, Changed(group, depth, was));
      if (now.has_value()) model::AppendAttribute(name, *now, out);
    }
    out->append(unwritten);
    return absl::OkStatus();
  }

 private:
  absl::StatusOr<ValueView> Value(const UpdateValue& value) {
    ARM_ASSIGN_OR_RETURN(const ValueView left, Resolve(value.left));
    if (!value.right.has_value()) return left;
    ARM_ASSIGN_OR_RETURN(const ValueView right, Resolve(*value.right));
    return Sum(left, value.operation, right);
  }

  // Recursion is bounded by the nesting of function calls, which the parser limits.
  absl::StatusOr<ValueView> Resolve(const Operand& operand) {
    if (const ValueOperand* const value = operand.value()) return *value->value;
    if (const DocumentPath* const path = operand.path()) {
      const std::optional<ValueView> found = Follow(*path, before_);
      if (!found.has_value()) return AbsentOperandError();
      return *found;
    }
    return Call(*operand.call());
  }

  absl::StatusOr<ValueView> Call(const FunctionCall& call) {
    if (call.function == Function::kIfNotExists) {
      const std::optional<ValueView> found = Follow(*call.arguments[0].path(), before_);
      if (found.has_value()) return *found;
      return Resolve(call.arguments[1]);
    }
    ARM_ASSIGN_OR_RETURN(const ValueView head, Resolve(call.arguments[0]));
    ARM_ASSIGN_OR_RETURN(const ValueView tail, Resolve(call.arguments[1]));
    if (head.type() != ValueType::kList || tail.type() != ValueType::kList) return OperandTypeError();
    return Concatenate(head, tail);
  }

  absl::StatusOr<ValueView> Sum(const ValueView& a, UpdateValue::Operation operation, const ValueView& b) {
    if (a.type() != ValueType::kNumber || b.type() != ValueType::kNumber) return OperandTypeError();
    const absl::StatusOr<model::Number> left = model::Number::Parse(a.scalar());
    const absl::StatusOr<model::Number> right = model::Number::Parse(b.scalar());
    // Stored numbers are canonical, so this is damage and not a client error.
    if (!left.ok() || !right.ok()) return DataLossError("a number of an item is not one");
    ARM_ASSIGN_OR_RETURN(const model::Number sum, operation == UpdateValue::Operation::kMinus
                                                      ? model::Subtract(*left, *right)
                                                      : model::Add(*left, *right));
    return Make(ValueType::kNumber, sum.ToString());
  }

  ValueView Concatenate(const ValueView& a, const ValueView& b) {
    std::string body;
    for (const ValueView* const list : {&a, &b}) {
      list->ForEachListElement([&body](const ValueView& element) {
        model::AppendBytesField(kElementsField, element.wire(), &body);
        return true;
      });
    }
    return Make(ValueType::kList, body);
  }

  absl::StatusOr<ValueView> Added(const OperandAction& action, UpdateStyle style) {
    const ValueView& operand = *action.operand.value;
    const std::optional<ValueView> old = Follow(action.target, before_);
    if (!old.has_value()) return operand;
    if (old->type() != operand.type()) return StoredTypeError(style);
    if (operand.type() == ValueType::kNumber) return Sum(*old, UpdateValue::Operation::kPlus, operand);
    if (operand.type() == ValueType::kList) return Concatenate(*old, operand);
    const std::vector<std::string_view> a = ElementsOf(*old);
    const std::vector<std::string_view> b = ElementsOf(operand);
    std::vector<std::string_view> both;
    both.reserve(a.size() + b.size());
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both), ElementOrder(operand.type()));
    return MakeSet(operand.type(), both);
  }

  // Nullopt if no element is left, or the set did not exist.
  absl::StatusOr<std::optional<ValueView>> Deleted(const OperandAction& action, UpdateStyle style) {
    const ValueView& operand = *action.operand.value;
    const std::optional<ValueView> old = Follow(action.target, before_);
    if (!old.has_value()) return std::nullopt;
    if (old->type() != operand.type()) return StoredTypeError(style);
    const std::vector<std::string_view> a = ElementsOf(*old);
    const std::vector<std::string_view> b = ElementsOf(operand);
    std::vector<std::string_view> rest;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest), ElementOrder(operand.type()));
    if (rest.empty()) return std::nullopt;
    return MakeSet(operand.type(), rest);
  }

  ValueView MakeSet(ValueType type, const std::vector<std::string_view>& elements) {
    std::string body;
    for (const std::string_view element : elements) model::AppendBytesField(kElementsField, element, &body);
    return Make(type, body);
  }

  // The new value of `old` under the edits of `group`, which all pass through it; a single edit may end at it. `depth`
  // is the index of the path element that leads to `old`. Recursion is bounded by the number of path elements.
  absl::StatusOr<std::optional<ValueView>> Changed(Edits group, size_t depth, const std::optional<ValueView>& old) {
    const std::vector<PathElement>& elements = group.front().path->elements;
    if (elements.size() == depth + 1) return group.front().value;
    const bool by_index = elements[depth + 1].kind == PathElement::Kind::kIndex;
    const ValueType wanted = by_index ? ValueType::kList : ValueType::kMap;
    if (!old.has_value() || old->type() != wanted) return InvalidPathError();
    std::string body;
    ARM_RETURN_IF_ERROR(by_index ? WriteElements(group, depth + 1, *old, &body)
                                 : WriteMembers(group, depth + 1, old->map(), &body));
    return Make(wanted, body);
  }

  absl::Status WriteElements(Edits edits, size_t depth, const ValueView& old, std::string* out) {
    absl::Status status;
    const auto write = [&](Edits group, const std::optional<ValueView>& was) {
      const absl::StatusOr<std::optional<ValueView>> now = Changed(group, depth, was);
      if (now.ok() && now->has_value()) model::AppendBytesField(kElementsField, (*now)->wire(), out);
      status = now.status();
      return status.ok();
    };
    uint32_t index = 0;
    old.ForEachListElement([&](const ValueView& element) {
      const uint32_t here = index++;
      if (!edits.empty() && edits.front().path->elements[depth].index == here) {
        return write(TakeGroup(depth, &edits), element);
      }
      model::AppendBytesField(kElementsField, element.wire(), out);
      return true;
    });
    // Elements beyond the end are appended, whatever their index.
    while (status.ok() && !edits.empty()) write(TakeGroup(depth, &edits), std::nullopt);
    return status;
  }

  ValueView Make(ValueType type, std::string_view body) {
    std::string& wire = made_.emplace_back();
    wire.reserve(model::BytesFieldSize(body.size()));
    model::AppendBytesField(static_cast<uint32_t>(type), body, &wire);
    return *ValueView::FromWire(wire);
  }

  const bool exists_;
  const ItemView before_;
  std::list<std::string> made_;  // stable addresses; no allocation while empty
};

}  // namespace

absl::StatusOr<std::optional<std::string>> ApplyUpdate(const Update& update, const std::optional<ItemView>& before,
                                                       const ItemView& key) {
  Updater updater(before);
  ARM_ASSIGN_OR_RETURN(const std::vector<Edit> edits, updater.Compute(update));
  const bool only_removes =
      update.sets.empty() && update.adds.empty() && !(update.removes.empty() && update.deletes.empty());
  if (!before.has_value() && only_removes) return std::nullopt;
  const ItemView old = before.value_or(key);
  std::string after;
  after.reserve(old.bytes().size());
  ARM_RETURN_IF_ERROR(updater.WriteMembers(edits, /*depth=*/0, old, &after));
  return after;
}

std::vector<const DocumentPath*> TargetsOf(const Update& update) {
  std::vector<const DocumentPath*> targets;
  for (const SetAction& action : update.sets) targets.push_back(&action.target);
  for (const DocumentPath& path : update.removes) targets.push_back(&path);
  for (const OperandAction& action : update.adds) targets.push_back(&action.target);
  for (const OperandAction& action : update.deletes) targets.push_back(&action.target);
  std::stable_sort(targets.begin(), targets.end(),
                   [](const DocumentPath* a, const DocumentPath* b) { return a->position < b->position; });
  return targets;
}

Projection UpdatedParts(const Update& update) {
  std::vector<DocumentPath> paths;
  for (const DocumentPath* const target : TargetsOf(update)) paths.push_back(*target);
  return MakeProjection(std::move(paths));
}

}  // namespace armature::expr
