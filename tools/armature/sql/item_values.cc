#include "tools/armature/sql/item_values.h"

#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/item_codec.h"
#include "storage/model/item_view.h"

namespace armature::cli {
namespace {

using api::v1::AttributeValue;

constexpr int64_t kIndexMax = 1'000'000'000;

enum Rank : int { kNumberRank = 0, kTextRank, kBinaryRank, kBoolRank, kOtherRank };

// Equal values are equal in these bytes.
std::string CanonicalBytes(const AttributeValue& value) {
  std::string wire = value.SerializeAsString();
  absl::StatusOr<std::string> canonical = codec::CanonicalizeValue(wire);
  return canonical.ok() ? *std::move(canonical) : std::move(wire);
}

}  // namespace

const std::string& ValuePath::last_name() const {
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (!step->name.empty()) return step->name;
  }
  return attribute;
}

std::string ValuePath::ToString() const {
  std::string text = QuotedName(attribute);
  for (const Step& step : steps) {
    text += step.name.empty() ? Cat("[", step.index, "]") : Cat(".", QuotedName(step.name));
  }
  return text;
}

absl::StatusOr<ValuePath> ReadValuePath(SqlTokenReader* tokens) {
  ValuePath path;
  ARM_ASSIGN_OR_RETURN(path.attribute, tokens->TakeName("an attribute"));
  while (true) {
    if (tokens->TrySymbol(".")) {
      ARM_ASSIGN_OR_RETURN(std::string name, tokens->TakeName("an entry of a map"));
      path.steps.push_back({std::move(name), 0});
    } else if (tokens->TrySymbol("[")) {
      ARM_ASSIGN_OR_RETURN(const int64_t index, tokens->TakeCount("the position in a list", 0, kIndexMax));
      path.steps.push_back({"", index});
      ARM_RETURN_IF_ERROR(tokens->TakeSymbol("]"));
    } else {
      return path;
    }
  }
}

const AttributeValue* ValueAt(const api::v1::Item& item, const ValuePath& path) {
  const auto found = item.attributes().find(path.attribute);
  if (found == item.attributes().end()) return nullptr;
  const AttributeValue* value = &found->second;
  for (const ValuePath::Step& step : path.steps) {
    if (step.name.empty()) {
      if (!value->has_l() || step.index >= value->l().values_size()) return nullptr;
      value = &value->l().values(static_cast<int>(step.index));
      continue;
    }
    if (!value->has_m()) return nullptr;
    const auto entry = value->m().entries().find(step.name);
    if (entry == value->m().entries().end()) return nullptr;
    value = &entry->second;
  }
  return value;
}

std::string_view TypeNameOf(const AttributeValue& value) {
  return model::ValueTypeName(static_cast<model::ValueType>(value.value_case()));
}

OrderedValue OrderedValue::Of(const AttributeValue* value) {
  OrderedValue made;
  if (value == nullptr) {
    made.rank_ = kNullRank + 1;
    return made;
  }
  switch (value->value_case()) {
    case AttributeValue::kN: {
      made.rank_ = kNumberRank;
      const absl::StatusOr<model::Number> number = model::Number::Parse(value->n());
      if (number.ok()) made.number_ = *number;
      break;
    }
    case AttributeValue::kS:
      made.rank_ = kTextRank;
      made.bytes_ = value->s();
      break;
    case AttributeValue::kB:
      made.rank_ = kBinaryRank;
      made.bytes_ = value->b();
      break;
    case AttributeValue::kBool:
      made.rank_ = kBoolRank;
      made.bytes_ = value->bool_() ? "1" : "0";
      break;
    case AttributeValue::kNull:
      made.rank_ = kNullRank;
      break;
    default:
      made.rank_ = kOtherRank;
      made.bytes_ = CanonicalBytes(*value);
  }
  return made;
}

std::strong_ordering operator<=>(const OrderedValue& a, const OrderedValue& b) {
  if (const auto order = a.rank_ <=> b.rank_; std::is_neq(order)) return order;
  if (a.rank_ == kNumberRank) return a.number_ <=> b.number_;
  const int order = a.bytes_.compare(b.bytes_);
  return order < 0   ? std::strong_ordering::less
         : order > 0 ? std::strong_ordering::greater
                     : std::strong_ordering::equal;
}

std::string EqualityKey(const AttributeValue* value) {
  const std::string bytes = value == nullptr ? "" : CanonicalBytes(*value);
  return Cat(bytes.size(), ":", bytes);
}

}  // namespace armature::cli
