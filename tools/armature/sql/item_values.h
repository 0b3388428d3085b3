#ifndef ARMATURE_TOOLS_ARMATURE_SQL_ITEM_VALUES_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_ITEM_VALUES_H_

// Values of items: those at a path, their order, their equality.

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "armature/api/v1/types.pb.h"
#include "storage/model/number.h"
#include "tools/armature/sql/sql_token.h"

namespace armature::cli {

// An attribute, or a value inside of it: address.lines[0].
struct ValuePath {
  struct Step {
    std::string name;  // of an entry of a map; empty: an element of a list
    int64_t index = 0;

    friend bool operator==(const Step&, const Step&) = default;
  };
  std::string attribute;
  std::vector<Step> steps;

  // The name that a column of this path has: its last name.
  const std::string& last_name() const;
  // As a statement has it.
  std::string ToString() const;

  friend bool operator==(const ValuePath&, const ValuePath&) = default;
};

// Reads a path. Errors: SqlError.
absl::StatusOr<ValuePath> ReadValuePath(SqlTokenReader* tokens);

// The value at the path, or null if the item has none.
const api::v1::AttributeValue* ValueAt(const api::v1::Item& item, const ValuePath& path);

// The type as the API names it: S, N, ...
std::string_view TypeNameOf(const api::v1::AttributeValue& value);

// A value as the client orders it: numbers, texts, binaries, booleans, then sets, lists and maps by their encoding,
// then NULL, and at the end no value at all.
class OrderedValue {
 public:
  // `value`: null for none.
  static OrderedValue Of(const api::v1::AttributeValue* value);

  // True for NULL and no value.
  bool is_null() const { return rank_ >= kNullRank; }

  friend std::strong_ordering operator<=>(const OrderedValue& a, const OrderedValue& b);
  friend bool operator==(const OrderedValue& a, const OrderedValue& b) { return std::is_eq(a <=> b); }

 private:
  static constexpr int kNullRank = 10;

  int rank_ = 0;
  model::Number number_;
  std::string bytes_;
};

// Bytes that are equal for equal values only; `value` is null for none.
std::string EqualityKey(const api::v1::AttributeValue* value);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_ITEM_VALUES_H_
