#include "engine/partiql/key_terms.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "engine/expr/key_condition.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/key_codec.h"
#include "storage/model/item_view.h"

namespace armature::engine::partiql {
namespace {

void Flatten(const Condition& condition, Condition::Kind kind, std::vector<const Condition*>* to) {
  if (condition.kind != kind) {
    to->push_back(&condition);
    return;
  }
  for (const Condition& child : condition.children) Flatten(child, kind, to);
}

bool IsAttribute(const Operand& operand, const std::string& name) {
  return operand.kind == Operand::Kind::kPath && !operand.path.nested() && operand.path.attribute() == name;
}

bool IsValue(const Operand& operand) { return operand.kind == Operand::Kind::kValue; }

// True if `term` restricts `attribute` to a range of values.
bool IsRangeOn(const Condition& term, const std::string& attribute) {
  const std::vector<Operand>& operands = term.operands;
  switch (term.kind) {
    case Condition::Kind::kComparison:
      return term.comparator != "=" && term.comparator != "<>" &&
             ((IsAttribute(operands[0], attribute) && IsValue(operands[1])) ||
              (IsValue(operands[0]) && IsAttribute(operands[1], attribute)));
    case Condition::Kind::kBetween:
      return IsAttribute(operands[0], attribute) && IsValue(operands[1]) && IsValue(operands[2]);
    case Condition::Kind::kCall: {
      const std::vector<Operand>& arguments = operands[0].arguments;
      return operands[0].function == "begins_with" && arguments.size() == 2 && IsAttribute(arguments[0], attribute) &&
             IsValue(arguments[1]);
    }
    default:
      return false;
  }
}

// The operands of a condition that restricts an attribute to a range.
const std::vector<Operand>& OperandsOf(const Condition& range) {
  return range.kind == Condition::Kind::kCall ? range.operands[0].arguments : range.operands;
}

// The values of `attribute` IN (...); null for another condition.
const std::vector<Operand>* ListOn(const Condition& term, const std::string& attribute) {
  if (term.kind != Condition::Kind::kIn || !IsAttribute(term.operands[0], attribute)) return nullptr;
  return std::all_of(term.operands.begin() + 1, term.operands.end(), IsValue) ? &term.operands : nullptr;
}

template <class Match>
const Condition* TakeTerm(std::vector<const Condition*>* terms, Match match) {
  const auto found = std::find_if(terms->begin(), terms->end(), [&](const Condition* term) { return match(*term); });
  if (found == terms->end()) return nullptr;
  const Condition* const term = *found;
  terms->erase(found);
  return term;
}

// The values that one condition allows for an attribute; it is removed from `terms`. Empty: there is no such condition.
// Errors: ValidationException for a list that has a value twice.
absl::StatusOr<std::vector<const std::string*>> TakeValues(const std::string& attribute,
                                                           std::vector<const Condition*>* terms) {
  std::vector<const std::string*> values;
  const auto is_equal = [&](const Condition& term) { return EqualityOn(term, attribute) != nullptr; };
  if (const Condition* const term = TakeTerm(terms, is_equal); term != nullptr) {
    values.push_back(EqualityOn(*term, attribute));
    return values;
  }
  const auto is_listed = [&](const Condition& term) { return ListOn(term, attribute) != nullptr; };
  const Condition* const term = TakeTerm(terms, is_listed);
  if (term == nullptr) return values;
  const std::vector<Operand>& list = *ListOn(*term, attribute);
  values.reserve(list.size() - 1);
  std::set<std::string_view> known;
  for (auto each = list.begin() + 1; each != list.end(); ++each) {
    values.push_back(&each->value);
    if (!known.insert(each->value).second) return OverlapError();
  }
  return values;
}

// Multiplies `reads` by `values`, which `add` puts into a read.
template <class Add>
absl::Status Multiply(const std::vector<const std::string*>& values, Add add, std::vector<KeyTerms>* reads) {
  if (values.size() > kReadsMax / reads->size()) return TooManyReadsError();
  std::vector<KeyTerms> product;
  product.reserve(reads->size() * values.size());
  for (const KeyTerms& read : *reads) {
    for (const std::string* const value : values) add(value, &product.emplace_back(read));
  }
  *reads = std::move(product);
  return absl::OkStatus();
}

// The scalar of a value of the attribute's type.
std::optional<std::string_view> ScalarOf(const model::KeyAttribute& attribute, const std::string& value) {
  const std::optional<model::ValueView> view = model::ValueView::FromWire(value);
  if (!view.has_value() || view->type() != model::ToValueType(attribute.type)) return std::nullopt;
  return view->scalar();
}

// Appends the component of a value. False if it is of another type.
bool AppendComponent(const model::KeyAttribute& attribute, const std::string& value, std::string* to) {
  const std::optional<std::string_view> scalar = ScalarOf(attribute, value);
  return scalar.has_value() && codec::AppendKeyComponent(attribute.type, *scalar, to);
}

// The range of `condition` on `attribute` behind `prefix`, the components before it.
std::optional<SortRange> RangeBehind(const std::string& prefix, const model::KeyAttribute& attribute,
                                     const Condition& condition) {
  const Condition term = AttributeFirst(condition);
  const std::string end = codec::PrefixSuccessor(prefix);
  std::string first = prefix;
  if (term.kind == Condition::Kind::kCall) {
    const std::optional<std::string_view> scalar = ScalarOf(attribute, term.operands[0].arguments[1].value);
    if (!scalar.has_value() || !codec::AppendKeyComponentPrefix(attribute.type, *scalar, &first)) return std::nullopt;
    std::string behind = codec::PrefixSuccessor(first);
    return SortRange{std::move(first), std::move(behind)};
  }
  if (!AppendComponent(attribute, term.operands[1].value, &first)) return std::nullopt;
  std::string behind = codec::PrefixSuccessor(first);
  if (term.kind == Condition::Kind::kBetween) {
    std::string last = prefix;
    if (!AppendComponent(attribute, term.operands[2].value, &last)) return std::nullopt;
    return SortRange{std::move(first), codec::PrefixSuccessor(last)};
  }
  if (term.comparator == "<") return SortRange{prefix, std::move(first)};
  if (term.comparator == "<=") return SortRange{prefix, std::move(behind)};
  return SortRange{term.comparator == ">" ? std::move(behind) : std::move(first), end};
}

size_t KeyBytes(const std::string& value) {
  const std::optional<model::ValueView> view = model::ValueView::FromWire(value);
  const bool is_text =
      view.has_value() && (view->type() == model::ValueType::kString || view->type() == model::ValueType::kBinary);
  return is_text ? view->scalar().size() : 0;
}

// Errors: ValidationException for values that are too long for a key. Ranges are made of shorter ones only.
absl::Status CheckSizes(const KeyTerms& terms) {
  size_t partition = 0;
  for (const std::string* const value : terms.partition) partition += KeyBytes(*value);
  size_t sort = 0;
  for (const SortTerm& term : terms.sort) {
    if (term.value != nullptr) {
      sort += KeyBytes(*term.value);
    } else {
      size_t bound = 0;
      for (const Operand& operand : OperandsOf(*term.condition)) bound = std::max(bound, KeyBytes(operand.value));
      sort += bound;
    }
  }
  return expr::CheckKeySizes(partition, sort);
}

absl::Status CheckValue(const model::KeyAttribute& attribute, const std::string& value) {
  const std::optional<model::ValueView> view = model::ValueView::FromWire(value);
  if (!view.has_value()) return ValidationError("The value of a key attribute cannot be read");
  ARM_RETURN_IF_ERROR(CheckKeyType(attribute, *view));
  return expr::CheckKeyValue(attribute, *view);
}

}  // namespace

std::vector<const Condition*> Conjuncts(const Condition& condition) {
  std::vector<const Condition*> terms;
  Flatten(condition, Condition::Kind::kAnd, &terms);
  return terms;
}

std::vector<const Condition*> Disjuncts(const Condition& condition) {
  std::vector<const Condition*> terms;
  Flatten(condition, Condition::Kind::kOr, &terms);
  return terms;
}

const std::string* EqualityOn(const Condition& term, const std::string& attribute) {
  if (term.kind != Condition::Kind::kComparison || term.comparator != "=") return nullptr;
  const std::vector<Operand>& operands = term.operands;
  if (IsAttribute(operands[0], attribute) && IsValue(operands[1])) return &operands[1].value;
  if (IsAttribute(operands[1], attribute) && IsValue(operands[0])) return &operands[0].value;
  return nullptr;
}

const std::string* OnlyValueOn(const Condition& term, const std::string& attribute) {
  const std::vector<Operand>* const list = ListOn(term, attribute);
  if (list != nullptr) return list->size() == 2 ? &list->back().value : nullptr;
  return EqualityOn(term, attribute);
}

absl::Status KeyTypeError(std::string_view attribute) {
  return ValidationError(
      Cat("Key attribute's data type should match its data type in table's schema: Key ", attribute));
}

absl::Status CheckKeyType(const model::KeyAttribute& attribute, const model::ValueView& value) {
  switch (value.type()) {
    case model::ValueType::kString:
    case model::ValueType::kNumber:
    case model::ValueType::kBinary:
      return value.type() == model::ToValueType(attribute.type) ? absl::OkStatus() : KeyTypeError(attribute.name);
    default:
      return ValidationError(Cat("Key value must be of type S, N, or B. Key name: ", attribute.name,
                                 ", Key type: ", model::ValueTypeName(value.type())));
  }
}

bool ListsValuesOf(const std::string& attribute, const Condition& term) {
  return EqualityOn(term, attribute) != nullptr || ListOn(term, attribute) != nullptr;
}

bool SelectsBy(const std::vector<model::KeyAttribute>& attributes, const Condition& term) {
  return std::any_of(attributes.begin(), attributes.end(), [&term](const model::KeyAttribute& attribute) {
    return ListsValuesOf(attribute.name, term) || IsRangeOn(term, attribute.name);
  });
}

absl::Status TooManyReadsError() { return ValidationError("Too many decomposed read operations for a given query."); }

absl::Status OverlapError() {
  return ValidationError("Overlapping conditions with range keys are not supported in where clause");
}

absl::StatusOr<KeyReads> FindKeyReads(const model::KeySchema& schema, const std::vector<const Condition*>& terms) {
  KeyReads found;
  found.others = terms;
  std::vector<KeyTerms> reads(1);
  for (const model::KeyAttribute& attribute : schema.partition) {
    ARM_ASSIGN_OR_RETURN(const std::vector<const std::string*> values, TakeValues(attribute.name, &found.others));
    if (values.empty()) return KeyReads{{}, terms};
    const auto add = [](const std::string* value, KeyTerms* to) { to->partition.push_back(value); };
    ARM_RETURN_IF_ERROR(Multiply(values, add, &reads));
  }
  for (const model::KeyAttribute& attribute : schema.sort) {
    ARM_ASSIGN_OR_RETURN(const std::vector<const std::string*> values, TakeValues(attribute.name, &found.others));
    if (!values.empty()) {
      const auto add = [](const std::string* value, KeyTerms* to) { to->sort.push_back({value, nullptr}); };
      ARM_RETURN_IF_ERROR(Multiply(values, add, &reads));
      continue;
    }
    const Condition* const range =
        TakeTerm(&found.others, [&](const Condition& each) { return IsRangeOn(each, attribute.name); });
    if (range == nullptr) break;
    for (KeyTerms& read : reads) read.sort.push_back({nullptr, range});
    break;
  }
  for (const KeyTerms& read : reads) ARM_RETURN_IF_ERROR(CheckSizes(read));
  found.reads = std::move(reads);
  return found;
}

absl::Status CheckKeyTerms(const model::KeySchema& schema, const KeyTerms& terms) {
  for (size_t i = 0; i < terms.partition.size(); ++i) {
    ARM_RETURN_IF_ERROR(CheckValue(schema.partition[i], *terms.partition[i]));
  }
  for (size_t i = 0; i < terms.sort.size(); ++i) {
    const SortTerm& term = terms.sort[i];
    if (term.value != nullptr) {
      ARM_RETURN_IF_ERROR(CheckValue(schema.sort[i], *term.value));
      continue;
    }
    for (const Operand& operand : OperandsOf(*term.condition)) {
      if (IsValue(operand)) ARM_RETURN_IF_ERROR(CheckValue(schema.sort[i], operand.value));
    }
  }
  return absl::OkStatus();
}

Condition AttributeFirst(const Condition& term) {
  Condition turned = term;
  if (term.kind != Condition::Kind::kComparison || !IsValue(term.operands[0])) return turned;
  std::swap(turned.operands[0], turned.operands[1]);
  if (term.comparator[0] == '<' && term.comparator != "<>") {
    turned.comparator[0] = '>';
  } else if (term.comparator[0] == '>') {
    turned.comparator[0] = '<';
  }
  return turned;
}

std::string KeyText(const model::KeyAttribute& attribute, const std::string& value) {
  std::string text;
  return AppendComponent(attribute, value, &text) ? text : std::string();
}

std::optional<SortRange> RangeOf(const model::KeySchema& schema, const KeyTerms& terms) {
  std::string prefix;
  for (size_t i = 0; i < terms.sort.size(); ++i) {
    const SortTerm& term = terms.sort[i];
    if (term.value == nullptr) return RangeBehind(prefix, schema.sort[i], *term.condition);
    if (!AppendComponent(schema.sort[i], *term.value, &prefix)) return std::nullopt;
  }
  std::string end = codec::PrefixSuccessor(prefix);
  return SortRange{std::move(prefix), std::move(end)};
}

}  // namespace armature::engine::partiql
