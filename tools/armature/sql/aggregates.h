#ifndef ARMATURE_TOOLS_ARMATURE_SQL_AGGREGATES_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_AGGREGATES_H_

// COUNT, SUM, MIN, MAX and AVG of items.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "armature/api/v1/types.pb.h"
#include "storage/base/strings.h"
#include "tools/armature/sql/decimal_sum.h"
#include "tools/armature/sql/item_values.h"
#include "tools/armature/sql/select_statement.h"

namespace armature::cli {

// The value of one aggregate. Missing values and NULL are left out of all but COUNT(*). Not thread-safe.
class AggregateState {
 public:
  // `term` outlives it.
  explicit AggregateState(const SelectTerm& term) : term_(&term) {}

  // Errors: SqlError for a value that is no number in SUM or AVG.
  absl::Status Add(const api::v1::Item& item);

  // COUNT: a number. The others: NULL without values. SUM is exact; AVG has at most 38 digits.
  api::v1::AttributeValue Result() const;

 private:
  const SelectTerm* term_;
  int64_t count_ = 0;
  DecimalSum sum_;
  std::optional<OrderedValue> best_;
  api::v1::AttributeValue best_value_;
  std::set<std::string> seen_;  // of DISTINCT
};

// Groups of items with equal values at some paths, in the order in which they were found. Not thread-safe.
class ItemGroups {
 public:
  // `statement` outlives it. Without GROUP BY there is one group, even without items.
  explicit ItemGroups(const SelectStatement& statement);

  absl::Status Add(const api::v1::Item& item);

  struct Row {
    api::v1::Item item;               // the columns
    std::vector<OrderedValue> order;  // the values of ORDER BY
  };
  std::vector<Row> Rows() const;

 private:
  struct Group {
    std::vector<std::optional<api::v1::AttributeValue>> keys;
    std::vector<AggregateState> aggregates;  // one for each column; unused for paths
  };
  Group NewGroup() const;
  // The value of a path of GROUP BY, or null.
  const api::v1::AttributeValue* KeyOf(const Group& group, const ValuePath& path) const;

  const SelectStatement& statement_;
  std::vector<Group> groups_;
  StringMap<size_t> group_of_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_AGGREGATES_H_
