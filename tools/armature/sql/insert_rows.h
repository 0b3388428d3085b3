#ifndef ARMATURE_TOOLS_ARMATURE_SQL_INSERT_ROWS_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_INSERT_ROWS_H_

// INSERT of rows, and REPLACE:
//
//   INSERT INTO table (attribute, ...) VALUES (value, ...), (value, ...)
//   REPLACE INTO table (attribute, ...) VALUES (value, ...), ...
//   REPLACE INTO table VALUE {...}
//
// Values are PartiQL literals and question marks, and remain text; MISSING leaves the attribute out.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/armature/sql/error_place.h"
#include "tools/armature/sql/sql_context.h"
#include "tools/armature/sql/sql_token.h"

namespace armature::cli {

struct InsertRows {
  struct Row {
    std::string statement;       // INSERT INTO table VALUE {...}
    size_t first_parameter = 0;  // its question marks among those of the statement
    size_t parameters = 0;
    TextPlace place;
  };
  bool is_replace = false;
  std::string table;
  std::vector<Row> rows;
};

// True for REPLACE, and for INSERT INTO table (.
bool IsInsertOfRows(const SqlTokenReader& tokens);

// `text`: the statement of the tokens. Errors: SqlError. Cost: linear; no recursion.
absl::StatusOr<InsertRows> ParseInsertRows(std::string_view text, const std::vector<SqlToken>& tokens);

// The values of a row's question marks. Errors: SqlError if there are too few.
absl::StatusOr<std::vector<api::v1::AttributeValue>> ParametersOf(const InsertRows::Row& row,
                                                                  const SqlContext& context);

// Inserts or puts one item after the other, up to the first that fails; or explains that. Errors: those of the daemon,
// with the row's place and the number of rows before it.
absl::StatusOr<SqlResult> RunInsertRows(const SqlContext& context, const InsertRows& statement);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_INSERT_ROWS_H_
