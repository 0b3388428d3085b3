#ifndef ARMATURE_TOOLS_ARMATURE_SQL_SELECT_STATEMENT_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_SELECT_STATEMENT_H_

// SELECT with clauses that PartiQL lacks:
//
//   SELECT [DISTINCT] * | column, ... FROM table[.index] [WHERE condition]
//     [GROUP BY path, ...] [ORDER BY order, ...] [LIMIT n]
//   column: path | COUNT(*) | COUNT|SUM|MIN|MAX|AVG([DISTINCT] path), each with [AS name]
//   order: (path | a column's name | a column's number | an aggregate) [ASC|DESC] [NULLS FIRST|LAST]
//
// The condition is PartiQL, and remains text.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/armature/sql/error_place.h"
#include "tools/armature/sql/item_values.h"
#include "tools/armature/sql/sql_token.h"

namespace armature::cli {

enum class Aggregate : uint8_t { kNone, kCountAll, kCount, kSum, kMin, kMax, kAverage };

// A path, or an aggregate of its values.
struct SelectTerm {
  Aggregate aggregate = Aggregate::kNone;
  bool is_distinct = false;
  ValuePath path;  // not of COUNT(*)
  TextPlace place;

  std::string ToString() const;
  friend bool operator==(const SelectTerm& a, const SelectTerm& b) {
    return a.aggregate == b.aggregate && a.is_distinct == b.is_distinct && a.path == b.path;
  }
};

struct SelectColumn {
  SelectTerm term;
  std::string name;  // of the column in the result
};

struct SelectOrder {
  std::optional<size_t> column;  // a column of the result; else `path`
  ValuePath path;
  bool is_descending = false;
  bool are_nulls_first = false;
  TextPlace place;
};

struct SelectStatement {
  bool is_distinct = false;
  std::vector<SelectColumn> columns;  // empty: *
  TextPlace from;                     // the table, and its index
  std::string table;
  std::string index;               // empty: none
  std::optional<TextPlace> where;  // the condition, without WHERE
  size_t where_word = 0;
  std::vector<ValuePath> group_by;
  std::vector<SelectOrder> order_by;
  std::optional<TextPlace> order;  // with the words ORDER BY
  std::optional<int64_t> limit;
  bool has_aliases = false;

  // True if the rows are groups of items.
  bool is_grouped() const;
};

// Columns, groups and orders that a statement may have.
inline constexpr size_t kSelectTermsMax = 1000;

// True if the statement, which begins with SELECT, has a clause of ours, or an ORDER BY that PartiQL may refuse.
bool HasClausesOfOurs(const std::vector<SqlToken>& tokens);

// Errors: SqlError. Cost: linear; no recursion.
absl::StatusOr<SelectStatement> ParseSelect(const std::vector<SqlToken>& tokens);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_SELECT_STATEMENT_H_
