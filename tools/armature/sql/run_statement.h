#ifndef ARMATURE_TOOLS_ARMATURE_SQL_RUN_STATEMENT_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_RUN_STATEMENT_H_

// Execution of one PartiQL statement, with all its pages.

#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/types.pb.h"
#include "tools/armature/sql/sql_context.h"

namespace armature::cli {

// Reads pages until there are as many items as the limit of the settings, or until the user interrupts. Errors: those
// of CheckQuotedTexts and ExecuteStatement.
absl::StatusOr<SqlResult> RunPartiql(const SqlContext& context, std::string_view statement);

// Takes one item, and returns true for the next one.
using ItemSink = std::function<absl::StatusOr<bool>(api::v1::Item item)>;

// Hands all items of a SELECT to `sink`, page by page. `page_limit`: items that the daemon reads for one page; 0: as
// many as it wants. Errors: those of RunPartiql and of `sink`; CANCELLED if the user interrupts.
absl::Status ForEachItem(const SqlContext& context, std::string_view statement, int page_limit, const ItemSink& sink);

// The error of a statement that the user interrupted. `done`: how far it came.
absl::Status InterruptedError(std::string_view done);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_RUN_STATEMENT_H_
