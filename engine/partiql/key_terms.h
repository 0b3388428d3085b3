#ifndef ARMATURE_ENGINE_PARTIQL_KEY_TERMS_H_
#define ARMATURE_ENGINE_PARTIQL_KEY_TERMS_H_

// The conditions of a WHERE clause that select by key.

#include <optional>
#include <string>
#include <vector>

#include "engine/partiql/statement.h"
#include "storage/model/key_schema.h"

namespace armature::engine::partiql {

// The terms of a conjunction, without nested ones.
std::vector<const Condition*> Conjuncts(const Condition& condition);
// The same for a disjunction.
std::vector<const Condition*> Disjuncts(const Condition& condition);
bool ContainsOr(const Condition& condition);

// The value that `term` wants the attribute to equal; null if it is another condition.
const std::string* EqualityOn(const Condition& term, const std::string& attribute);

// The conditions that one query applies.
struct KeyTerms {
  std::vector<std::string> partition;  // values, one for each partition attribute
  std::vector<const Condition*> sort;  // on sort attributes from the left, all but the last one equalities
  std::vector<const Condition*> others;
};

// The queries that a conjunction selects by partition: several if a partition attribute is in a list of values. Empty:
// it does not restrict all partition attributes.
std::vector<KeyTerms> FindKeyTerms(const model::KeySchema& schema, const std::vector<const Condition*>& terms);

// `term`, a condition on one attribute by values, as a comparison with the attribute on its left side.
Condition AttributeFirst(const Condition& term);

// The range of encoded values of the first sort attribute that `terms` select; nullopt if they restrict none, or by a
// value of another type.
struct SortRange {
  std::string begin;
  std::string end;  // empty: none
  bool Overlaps(const SortRange& other) const {
    return (other.end.empty() || begin < other.end) && (end.empty() || other.begin < end);
  }
};
std::optional<SortRange> RangeOf(const model::KeySchema& schema, const KeyTerms& terms);

// An order-preserving text of a value of a key attribute; empty for a value of another type.
std::string KeyText(const model::KeyAttribute& attribute, const std::string& value);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_KEY_TERMS_H_
