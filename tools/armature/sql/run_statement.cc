#include "tools/armature/sql/run_statement.h"

#include <utility>

#include "storage/base/status_macros.h"
#include "tools/armature/message_json.h"

namespace armature::cli {

absl::StatusOr<StatementResult> RunStatement(const client::Client& client, api::v1::ExecuteStatementRequest request,
                                             int64_t limit, const std::function<bool()>& is_interrupted) {
  StatementResult result;
  while (true) {
    ARM_ASSIGN_OR_RETURN(const auto page, client.ExecuteStatement(request));
    if (page.has_plan()) {
      result.plan = page.plan();
      return result;
    }
    for (const api::v1::Item& item : page.items()) {
      if (limit > 0 && static_cast<int64_t>(result.items.size()) >= limit) {
        result.has_more = true;
        return result;
      }
      result.items.push_back(MessageToJson(item));
    }
    if (!page.has_next_token()) return result;
    const bool is_full = limit > 0 && static_cast<int64_t>(result.items.size()) >= limit;
    if (is_full || (is_interrupted && is_interrupted())) {
      result.has_more = true;
      return result;
    }
    request.set_next_token(page.next_token());
  }
}

}  // namespace armature::cli
