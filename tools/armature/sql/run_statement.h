#ifndef ARMATURE_TOOLS_ARMATURE_SQL_RUN_STATEMENT_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_RUN_STATEMENT_H_

// Execution of one PartiQL statement, with all its pages.

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "armature/api/v1/statements.pb.h"
#include "armature/client/client.h"
#include "tools/armature/json_text.h"

namespace armature::cli {

struct StatementResult {
  Json items = Json::array();
  std::string plan;       // of a request with explain_only
  bool has_more = false;  // `limit` was reached, or the statement was interrupted
};

// Reads pages until there are `limit` items (0: all), or `is_interrupted`, which is asked between pages and may be
// null. Errors: those of ExecuteStatement.
absl::StatusOr<StatementResult> RunStatement(const client::Client& client, api::v1::ExecuteStatementRequest request,
                                             int64_t limit, const std::function<bool()>& is_interrupted = nullptr);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_RUN_STATEMENT_H_
