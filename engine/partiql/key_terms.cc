#include "engine/partiql/key_terms.h"

#include <algorithm>
#include <utility>

#include "storage/codec/item_codec.h"
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

// Adds the values of one more partition attribute to all of `queries`.
bool AddPartition(const std::string& attribute, std::vector<const Condition*>* terms, std::vector<KeyTerms>* queries) {
  const auto is_equal = [&](const Condition& term) { return EqualityOn(term, attribute) != nullptr; };
  if (const Condition* const term = TakeTerm(terms, is_equal); term != nullptr) {
    for (KeyTerms& query : *queries) query.partition.push_back(*EqualityOn(*term, attribute));
    return true;
  }
  const auto is_listed = [&](const Condition& term) { return ListOn(term, attribute) != nullptr; };
  const Condition* const term = TakeTerm(terms, is_listed);
  if (term == nullptr) return false;
  const std::vector<Operand>& list = *ListOn(*term, attribute);
  std::vector<std::string> values;
  for (auto each = list.begin() + 1; each != list.end(); ++each) {
    if (std::find(values.begin(), values.end(), each->value) == values.end()) values.push_back(each->value);
  }
  std::vector<KeyTerms> product;
  for (const KeyTerms& query : *queries) {
    for (const std::string& value : values) {
      product.push_back(query);
      product.back().partition.push_back(value);
    }
  }
  *queries = std::move(product);
  return true;
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

bool ContainsOr(const Condition& condition) {
  return condition.kind == Condition::Kind::kOr ||
         std::any_of(condition.children.begin(), condition.children.end(), ContainsOr);
}

const std::string* EqualityOn(const Condition& term, const std::string& attribute) {
  if (term.kind != Condition::Kind::kComparison || term.comparator != "=") return nullptr;
  const std::vector<Operand>& operands = term.operands;
  if (IsAttribute(operands[0], attribute) && IsValue(operands[1])) return &operands[1].value;
  if (IsAttribute(operands[1], attribute) && IsValue(operands[0])) return &operands[0].value;
  return nullptr;
}

std::vector<KeyTerms> FindKeyTerms(const model::KeySchema& schema, const std::vector<const Condition*>& terms) {
  std::vector<const Condition*> rest = terms;
  std::vector<KeyTerms> queries(1);
  for (const model::KeyAttribute& attribute : schema.partition) {
    if (!AddPartition(attribute.name, &rest, &queries)) return {};
  }
  for (const model::KeyAttribute& attribute : schema.sort) {
    const Condition* term =
        TakeTerm(&rest, [&](const Condition& each) { return EqualityOn(each, attribute.name) != nullptr; });
    const bool is_equality = term != nullptr;
    if (!is_equality) term = TakeTerm(&rest, [&](const Condition& each) { return IsRangeOn(each, attribute.name); });
    if (term == nullptr) break;
    for (KeyTerms& query : queries) query.sort.push_back(term);
    if (!is_equality) break;
  }
  for (KeyTerms& query : queries) query.others = rest;
  return queries;
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
  const absl::StatusOr<std::string> canonical = codec::CanonicalizeValue(value);
  if (!canonical.ok()) return {};
  const std::optional<model::ValueView> view = model::ValueView::FromWire(*canonical);
  std::string text;
  if (view.has_value() && view->type() == model::ToValueType(attribute.type)) {
    codec::AppendKeyComponent(attribute.type, view->scalar(), &text);
  }
  return text;
}

std::optional<SortRange> RangeOf(const model::KeySchema& schema, const KeyTerms& terms) {
  if (terms.sort.empty()) return std::nullopt;
  const model::KeyAttribute& attribute = schema.sort.front();
  const Condition term = AttributeFirst(*terms.sort.front());
  if (term.kind == Condition::Kind::kCall) {
    const absl::StatusOr<std::string> canonical = codec::CanonicalizeValue(term.operands[0].arguments[1].value);
    if (!canonical.ok()) return std::nullopt;
    const std::optional<model::ValueView> prefix = model::ValueView::FromWire(*canonical);
    if (!prefix.has_value() || prefix->type() != model::ToValueType(attribute.type)) return std::nullopt;
    SortRange range;
    codec::AppendKeyComponentPrefix(attribute.type, prefix->scalar(), &range.begin);
    range.end = codec::PrefixSuccessor(range.begin);
    return range;
  }
  const std::string first = KeyText(attribute, term.operands[1].value);
  if (first.empty()) return std::nullopt;
  const std::string behind = codec::PrefixSuccessor(first);
  if (term.kind == Condition::Kind::kBetween) {
    const std::string last = KeyText(attribute, term.operands[2].value);
    if (last.empty()) return std::nullopt;
    return SortRange{first, codec::PrefixSuccessor(last)};
  }
  if (term.comparator == "=") return SortRange{first, behind};
  if (term.comparator == "<") return SortRange{"", first};
  if (term.comparator == "<=") return SortRange{"", behind};
  return SortRange{term.comparator == ">" ? behind : first, ""};
}

}  // namespace armature::engine::partiql
