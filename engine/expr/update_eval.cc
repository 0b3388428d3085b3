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
#include "storage/model/item_errors.h"
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
using model::WireField;
using model::WireTag;
using model::WireType;

// Estimate of the bytes that a written member or element has besides its value.
constexpr size_t kMemberOverheadBytes = 32;

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

// A computed value: a value of the item or the request, a result kept by the Updater, or a list appended from several.
//
// The parts of an appended list are copied when the item is written, not before: an expression of a few kilobytes can
// append lists of the maximal item size hundreds of times, and such a result is found too large without a copy.
class Computed {
 public:
  explicit Computed(const ValueView& value) : value_(value), body_bytes_(value.body().size()) {}

  ValueType type() const { return value_.type(); }
  // N only: the text.
  std::string_view number() const { return value_.scalar(); }

  // Appends a list to a list.
  void Append(const Computed& tail) {
    appended_.push_back(tail.value_);
    appended_.insert(appended_.end(), tail.appended_.begin(), tail.appended_.end());
    body_bytes_ += tail.body_bytes_;
  }

  // Size of the value in the wire form of AttributeValue.
  size_t wire_bytes() const { return appended_.empty() ? value_.wire().size() : model::BytesFieldSize(body_bytes_); }

  void AppendWire(std::string* out) const {
    if (appended_.empty()) {
      out->append(value_.wire());
      return;
    }
    out->push_back(static_cast<char>(WireTag(static_cast<uint32_t>(type()), WireType::kBytes)));
    model::AppendVarint(body_bytes_, out);
    out->append(value_.body());
    for (const ValueView& list : appended_) out->append(list.body());
  }

  size_t ApiSize() const {
    size_t size = model::ApiSize(value_);
    for (const ValueView& list : appended_) size += model::ApiSize(list) - model::kDocumentApiBytes;
    return size;
  }

  bool NestsAtMost(int levels) const {
    return NestsWithin(value_, levels) &&
           std::all_of(appended_.begin(), appended_.end(),
                       [levels](const ValueView& list) { return NestsWithin(list, levels); });
  }

 private:
  ValueView value_;
  std::vector<ValueView> appended_;  // lists behind `value_`
  size_t body_bytes_;
};

// New value of one target. Its parent may be missing in the item.
struct Edit {
  const DocumentPath* path;
  std::optional<Computed> value;  // nullopt: remove
};
// Sorted by path, so that edits inside one value are adjacent. Targets do not conflict, so the children of one parent
// are either all names or all indexes.
using Edits = std::span<const Edit>;

// Removes from the front of `edits` the group with the same path element at `depth`. Not empty unless `edits` is.
Edits TakeGroup(size_t depth, Edits* edits) {
  const PathElement& element = edits->front().path->elements[depth];
  size_t count = 1;
  while (count < edits->size() && (*edits)[count].path->elements[depth] == element) ++count;
  const Edits group = edits->first(count);
  *edits = edits->subspan(count);
  return group;
}

// True if the paths of `group`, which pass through their element at `depth`, end there. The group has one edit then.
bool EndsAt(size_t depth, Edits group) { return group.front().path->elements.size() == depth + 1; }

// Size that a value of `old_bytes` has after the edits of `group` inside it, or a little more if they add to it.
size_t ExpectedBytes(Edits group, size_t old_bytes) {
  size_t bytes = old_bytes;
  for (const Edit& edit : group) {
    if (!edit.value.has_value()) continue;
    bytes += edit.value->wire_bytes() + edit.path->elements.back().name.size() + kMemberOverheadBytes;
  }
  return bytes;
}

// Checks attribute names and nesting of a written value.
absl::Status CheckWritten(const DocumentPath& path, const Computed& value) {
  for (const PathElement& element : path.elements) {
    if (element.kind == PathElement::Kind::kIndex) continue;
    ARM_RETURN_IF_ERROR(model::CheckAttributeName(element.name));
  }
  if (!value.NestsAtMost(model::kNestingDepthMax + 1 - static_cast<int>(path.elements.size()))) {
    return model::NestingError();
  }
  return absl::OkStatus();
}

// Reads the elements of a set in canonical order.
class SetReader {
 public:
  explicit SetReader(const ValueView& set) : rest_(set.body()) { Next(); }
  bool at_end() const { return at_end_; }
  std::string_view element() const { return field_.bytes; }
  void Next() { at_end_ = !model::TakeField(&rest_, &field_); }

 private:
  std::string_view rest_;
  WireField field_;
  bool at_end_ = false;
};

enum class SetOperation : uint8_t { kUnion, kDifference };

// The encoded elements of the union or the difference of two sets of one type.
std::string MergeSets(SetOperation operation, const ValueView& a, const ValueView& b) {
  const ValueType element_type = a.type() == ValueType::kNumberSet ? ValueType::kNumber : ValueType::kBinary;
  std::string body;
  SetReader left(a);
  SetReader right(b);
  const auto take = [&body](SetReader* reader, bool keep) {
    if (keep) model::AppendBytesField(model::kElementsField, reader->element(), &body);
    reader->Next();
  };
  const bool is_union = operation == SetOperation::kUnion;
  while (!left.at_end() || (is_union && !right.at_end())) {
    std::strong_ordering order = std::strong_ordering::less;
    if (left.at_end()) order = std::strong_ordering::greater;
    if (!left.at_end() && !right.at_end()) order = *CompareScalars(element_type, left.element(), right.element());
    if (std::is_lt(order)) {
      take(&left, true);
    } else if (std::is_gt(order)) {
      take(&right, is_union);
    } else {
      take(&left, is_union);
      right.Next();
    }
  }
  return body;
}

// Computes one update of one item. Values that it creates are valid during its lifetime.
//
// The computed values together must fit into an item, since each becomes a part of the new item: the update ends with
// the first value that exceeds the limit. Values are copied only into the new item, so memory is bounded by the old
// item and the encoding of one item of maximal size.
class Updater {
 public:
  // `item` is the item before the update; if none `exists`, the key of the new one.
  Updater(bool exists, const ItemView& item) : exists_(exists), item_(item) {}

  // The item after the update.
  absl::StatusOr<std::string> Apply(const Update& update) {
    ARM_RETURN_IF_ERROR(Compute(update));
    std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return PathOrder()(a.path, b.path); });
    std::string after;
    after.reserve(ExpectedBytes(edits_, item_.bytes().size()));
    ARM_RETURN_IF_ERROR(WriteMembers(edits_, /*depth=*/0, item_, &after));
    return after;
  }

 private:
  // First step: computes the new value of each target from the old item.
  absl::Status Compute(const Update& update) {
    edits_.reserve(update.sets.size() + update.removes.size() + update.adds.size() + update.deletes.size());
    for (const SetAction& action : update.sets) {
      ARM_ASSIGN_OR_RETURN(Computed value, Value(action.value));
      ARM_RETURN_IF_ERROR(AddEdit(action.target, std::move(value)));
    }
    for (const OperandAction& action : update.adds) {
      ARM_ASSIGN_OR_RETURN(Computed value, Added(action, update.style));
      ARM_RETURN_IF_ERROR(AddEdit(action.target, std::move(value)));
    }
    // With no item, removals and deletions have no effect, and invalid paths are not an error.
    if (!exists_) return absl::OkStatus();
    for (const DocumentPath& path : update.removes) edits_.push_back({&path, std::nullopt});
    for (const OperandAction& action : update.deletes) {
      ARM_ASSIGN_OR_RETURN(std::optional<Computed> rest, Deleted(action, update.style));
      if (rest.has_value()) ARM_RETURN_IF_ERROR(Charge(*rest));
      edits_.push_back({&action.target, std::move(rest)});
    }
    return absl::OkStatus();
  }

  absl::Status AddEdit(const DocumentPath& target, Computed value) {
    // First, because the check of nesting reads the whole value.
    ARM_RETURN_IF_ERROR(Charge(value));
    ARM_RETURN_IF_ERROR(CheckWritten(target, value));
    edits_.push_back({&target, std::move(value)});
    return absl::OkStatus();
  }

  // Counts a computed value. Its API size is at most one byte more than its encoding, so API sizes are not computed
  // while all encodings together are small.
  absl::Status Charge(const Computed& value) {
    encoded_bytes_ += value.wire_bytes() + 1;
    if (encoded_bytes_ <= model::kItemSizeMaxBytes) return absl::OkStatus();
    for (; charged_ < edits_.size(); ++charged_) {
      if (edits_[charged_].value.has_value()) api_bytes_ += edits_[charged_].value->ApiSize();
    }
    api_bytes_ += value.ApiSize();
    charged_ = edits_.size() + 1;  // the value becomes the next edit
    return api_bytes_ > model::kItemSizeMaxBytes ? ValidationError(kUpdateTooLarge) : absl::OkStatus();
  }

  absl::StatusOr<Computed> Value(const UpdateValue& value) {
    ARM_ASSIGN_OR_RETURN(Computed left, Resolve(value.left));
    if (!value.right.has_value()) return left;
    ARM_ASSIGN_OR_RETURN(const Computed right, Resolve(*value.right));
    return Sum(left, value.operation, right);
  }

  // Recursion is bounded by the nesting of function calls, which the parser limits.
  absl::StatusOr<Computed> Resolve(const Operand& operand) {
    if (const ValueOperand* const value = operand.value()) return Computed(*value->value);
    if (const DocumentPath* const path = operand.path()) {
      const std::optional<ValueView> found = Follow(*path, item_);
      if (!found.has_value()) return AbsentOperandError();
      return Computed(*found);
    }
    return Call(*operand.call());
  }

  absl::StatusOr<Computed> Call(const FunctionCall& call) {
    if (call.function == Function::kIfNotExists) {
      const std::optional<ValueView> found = Follow(*call.arguments[0].path(), item_);
      if (found.has_value()) return Computed(*found);
      return Resolve(call.arguments[1]);
    }
    ARM_ASSIGN_OR_RETURN(Computed head, Resolve(call.arguments[0]));
    ARM_ASSIGN_OR_RETURN(const Computed tail, Resolve(call.arguments[1]));
    if (head.type() != ValueType::kList || tail.type() != ValueType::kList) return OperandTypeError();
    head.Append(tail);
    return head;
  }

  absl::StatusOr<Computed> Sum(const Computed& a, UpdateValue::Operation operation, const Computed& b) {
    if (a.type() != ValueType::kNumber || b.type() != ValueType::kNumber) return OperandTypeError();
    const absl::StatusOr<model::Number> left = model::Number::Parse(a.number());
    const absl::StatusOr<model::Number> right = model::Number::Parse(b.number());
    // Stored numbers are canonical, so this is damage and not a client error.
    if (!left.ok() || !right.ok()) return DataLossError("a number of an item is not one");
    ARM_ASSIGN_OR_RETURN(const model::Number sum, operation == UpdateValue::Operation::kMinus
                                                      ? model::Subtract(*left, *right)
                                                      : model::Add(*left, *right));
    return Make(ValueType::kNumber, sum.CanonicalText());
  }

  absl::StatusOr<Computed> Added(const OperandAction& action, UpdateStyle style) {
    const ValueView& operand = *action.operand.value;
    const std::optional<ValueView> old = Follow(action.target, item_);
    if (!old.has_value()) return Computed(operand);
    if (old->type() != operand.type()) return StoredTypeError(style);
    Computed before(*old);
    if (operand.type() == ValueType::kNumber) return Sum(before, UpdateValue::Operation::kPlus, Computed(operand));
    if (operand.type() == ValueType::kList) {
      before.Append(Computed(operand));
      return before;
    }
    // The union is at least as large as the operand.
    if (operand.wire().size() > model::kItemSizeMaxBytes && model::ApiSize(operand) > model::kItemSizeMaxBytes) {
      return ValidationError(kUpdateTooLarge);
    }
    return Make(operand.type(), MergeSets(SetOperation::kUnion, *old, operand));
  }

  // Nullopt if no element is left, or the set did not exist.
  absl::StatusOr<std::optional<Computed>> Deleted(const OperandAction& action, UpdateStyle style) {
    const ValueView& operand = *action.operand.value;
    const std::optional<ValueView> old = Follow(action.target, item_);
    if (!old.has_value()) return std::nullopt;
    if (old->type() != operand.type()) return StoredTypeError(style);
    const std::string rest = MergeSets(SetOperation::kDifference, *old, operand);
    if (rest.empty()) return std::nullopt;
    return Make(operand.type(), rest);
  }

  Computed Make(ValueType type, std::string_view body) {
    std::string& wire = made_.emplace_back();
    wire.reserve(model::BytesFieldSize(body.size()));
    model::AppendBytesField(static_cast<uint32_t>(type), body, &wire);
    return Computed(*ValueView::FromWire(wire));
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
      ARM_RETURN_IF_ERROR(WriteMember(name, group, depth, was, out));
    }
    out->append(unwritten);
    return absl::OkStatus();
  }

  absl::Status WriteElements(Edits edits, size_t depth, const ValueView& old, std::string* out) {
    std::string_view unwritten = old.body();
    std::string_view rest = unwritten;
    for (uint32_t index = 0; !edits.empty(); ++index) {
      std::string_view after = rest;
      WireField field;
      if (!model::TakeField(&after, &field)) break;
      if (edits.front().path->elements[depth].index == index) {
        out->append(unwritten.substr(0, unwritten.size() - rest.size()));
        unwritten = after;
        ARM_RETURN_IF_ERROR(WriteElement(TakeGroup(depth, &edits), depth, ValueView::FromWire(field.bytes), out));
      }
      rest = after;
    }
    out->append(unwritten);
    // Elements beyond the end are appended, whatever their index.
    while (!edits.empty()) ARM_RETURN_IF_ERROR(WriteElement(TakeGroup(depth, &edits), depth, std::nullopt, out));
    return absl::OkStatus();
  }

  // Appends the member `name` of a map with the value that the edits of `group` give to it.
  absl::Status WriteMember(std::string_view name, Edits group, size_t depth, const std::optional<ValueView>& was,
                           std::string* out) {
    const bool ends = EndsAt(depth, group);
    if (ends && !group.front().value.has_value()) return absl::OkStatus();
    const size_t bytes = ends ? group.front().value->wire_bytes() : ExpectedBytes(group, WireBytes(was));
    const model::OpenEntry entry = model::BeginEntry(name, bytes, out);
    ARM_RETURN_IF_ERROR(WriteValue(group, depth, was, out));
    model::EndEntry(entry, out);
    return absl::OkStatus();
  }

  // Writes an element of a list after the edits of `group`.
  absl::Status WriteElement(Edits group, size_t depth, const std::optional<ValueView>& was, std::string* out) {
    const bool ends = EndsAt(depth, group);
    if (ends && !group.front().value.has_value()) return absl::OkStatus();
    const size_t bytes = ends ? group.front().value->wire_bytes() : ExpectedBytes(group, WireBytes(was));
    const model::OpenLength length = model::BeginElement(bytes, out);
    ARM_RETURN_IF_ERROR(WriteValue(group, depth, was, out));
    model::EndLength(length, out);
    return absl::OkStatus();
  }

  static size_t WireBytes(const std::optional<ValueView>& value) {
    return value.has_value() ? value->wire().size() : 0;
  }

  // Appends the value of `old` after the edits of `group`, which pass through it or, a single one, end at it. `depth`
  // is the index of the path element that leads to `old`. Recursion is bounded by the number of path elements.
  absl::Status WriteValue(Edits group, size_t depth, const std::optional<ValueView>& old, std::string* out) {
    if (EndsAt(depth, group)) {
      group.front().value->AppendWire(out);
      return absl::OkStatus();
    }
    const bool by_index = group.front().path->elements[depth + 1].kind == PathElement::Kind::kIndex;
    const ValueType wanted = by_index ? ValueType::kList : ValueType::kMap;
    if (!old.has_value() || old->type() != wanted) return InvalidPathError();
    out->push_back(static_cast<char>(WireTag(static_cast<uint32_t>(wanted), WireType::kBytes)));
    const model::OpenLength length = model::BeginLength(ExpectedBytes(group, old->body().size()), out);
    ARM_RETURN_IF_ERROR(by_index ? WriteElements(group, depth + 1, *old, out)
                                 : WriteMembers(group, depth + 1, old->map(), out));
    model::EndLength(length, out);
    return absl::OkStatus();
  }

  const bool exists_;
  const ItemView item_;
  std::vector<Edit> edits_;
  size_t encoded_bytes_ = 0;  // bound on the size of all computed values
  size_t api_bytes_ = 0;      // API size of the values in the first `charged_` edits
  size_t charged_ = 0;
  std::list<std::string> made_;  // stable addresses; no allocation while empty
};

}  // namespace

absl::StatusOr<std::optional<std::string>> ApplyUpdate(const Update& update, const std::optional<ItemView>& before,
                                                       const ItemView& key) {
  Updater updater(before.has_value(), before.value_or(key));
  ARM_ASSIGN_OR_RETURN(std::string after, updater.Apply(update));
  const bool only_removes =
      update.sets.empty() && update.adds.empty() && !(update.removes.empty() && update.deletes.empty());
  if (!before.has_value() && only_removes) return std::nullopt;
  return after;
}

size_t ReadingsOf(const Update& update) {
  const auto readings = [](const Operand& operand) -> size_t {
    if (const FunctionCall* const call = operand.call()) return call->arguments.size();
    return operand.path() != nullptr ? 1 : 0;
  };
  size_t sum = update.adds.size() + update.deletes.size();
  for (const SetAction& action : update.sets) {
    sum += readings(action.value.left);
    if (action.value.right.has_value()) sum += readings(*action.value.right);
  }
  return sum;
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
