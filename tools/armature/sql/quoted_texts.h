#ifndef ARMATURE_TOOLS_ARMATURE_SQL_QUOTED_TEXTS_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_QUOTED_TEXTS_H_

// The most frequent mistake in PartiQL: a text in double quotes.

#include <vector>

#include "absl/status/status.h"
#include "tools/armature/sql/sql_token.h"

namespace armature::cli {

// Refuses a comparison whose right side is nothing but a name in double quotes, such as id = "x", and such a name in
// the list of IN and the bounds of BETWEEN: the daemon compares with the attribute x, which no item has, and finds
// nothing. A comparison with an attribute passes if its name stands without quotes, or in quotes and in parentheses:
// amount > ("limit"). A path, such as "a".b, passes, too. Errors: SqlError.
absl::Status CheckQuotedTexts(const std::vector<SqlToken>& tokens);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_QUOTED_TEXTS_H_
