#ifndef ARMATURE_ENGINE_PARTIQL_KEY_TERMS_H_
#define ARMATURE_ENGINE_PARTIQL_KEY_TERMS_H_

// The conditions of a WHERE clause that select by key.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/partiql/statement.h"
#include "storage/model/item_view.h"
#include "storage/model/key_schema.h"

namespace armature::engine::partiql {

// The terms of a conjunction, without nested ones.
std::vector<const Condition*> Conjuncts(const Condition& condition);
// The terms of a disjunction, without nested ones.
std::vector<const Condition*> Disjuncts(const Condition& condition);

// The value that `term` wants the attribute to equal; null if it is another condition.
const std::string* EqualityOn(const Condition& term, const std::string& attribute);
// The value of `attribute` in a term `attribute` = value or `attribute` IN (value); null if it is another condition.
const std::string* OnlyValueOn(const Condition& term, const std::string& attribute);

// A condition on a sort attribute.
struct SortTerm {
  const std::string* value = nullptr;    // the attribute equals it
  const Condition* condition = nullptr;  // null with `value`: else the attribute is in a range
};

// True if `term` allows some values of the attribute only: = and IN.
bool ListsValuesOf(const std::string& attribute, const Condition& term);

// True if a read can select by `term`: a comparison of one of `attributes` with values, other than by <>.
bool SelectsBy(const std::vector<model::KeyAttribute>& attributes, const Condition& term);

// The part of the key that one read selects. Points into the statement.
struct KeyTerms {
  std::vector<const std::string*> partition;  // values, one for each partition attribute
  std::vector<SortTerm> sort;                 // on sort attributes from the left, all but the last one equalities
};

// The reads that a conjunction is decomposed into.
struct KeyReads {
  std::vector<KeyTerms> reads;           // empty: it does not restrict all partition attributes
  std::vector<const Condition*> others;  // the terms that no read applies
};

// At most this many reads are made of one statement.
inline constexpr size_t kReadsMax = 50;
absl::Status TooManyReadsError();
absl::Status OverlapError();
absl::Status KeyTypeError(std::string_view attribute);
// Errors: ValidationException for a value of another type than the attribute.
absl::Status CheckKeyType(const model::KeyAttribute& attribute, const model::ValueView& value);

// Decomposes `terms`. Lists of values of partition attributes, and of sort attributes behind equalities, make a read
// for each combination of their values. Errors: ValidationException for more than kReadsMax reads, which are not made,
// for a value that is listed twice, and for values longer than a key.
absl::StatusOr<KeyReads> FindKeyReads(const model::KeySchema& schema, const std::vector<const Condition*>& terms);

// Errors: ValidationException for values that no key of this schema has.
absl::Status CheckKeyTerms(const model::KeySchema& schema, const KeyTerms& terms);

// `term`, a condition on one attribute by values, as a comparison with the attribute on its left side.
Condition AttributeFirst(const Condition& term);

// A range of encoded sort keys.
struct SortRange {
  std::string begin;
  std::string end;  // empty: none

  bool empty() const { return !end.empty() && begin >= end; }
};

// The range of `terms`, the whole partition if they restrict no sort attribute. Nullopt if no range is the condition,
// because of a value of another type.
std::optional<SortRange> RangeOf(const model::KeySchema& schema, const KeyTerms& terms);

// An order-preserving text of a value of a key attribute; empty for a value of another type.
std::string KeyText(const model::KeyAttribute& attribute, const std::string& value);

}  // namespace armature::engine::partiql

#endif  // ARMATURE_ENGINE_PARTIQL_KEY_TERMS_H_
