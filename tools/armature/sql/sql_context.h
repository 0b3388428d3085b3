#ifndef ARMATURE_TOOLS_ARMATURE_SQL_SQL_CONTEXT_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_SQL_CONTEXT_H_

// Parts that all statements share: settings, surroundings, and the result.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "armature/api/v1/types.pb.h"
#include "armature/client/client.h"
#include "tools/armature/json_text.h"
#include "tools/armature/session.h"

namespace armature::cli {

// Items that a statement may read for what the client computes: groups, sums, an order.
inline constexpr int64_t kComputedItemsMax = 100'000;

struct SqlSettings {
  bool consistent_read = false;
  bool explain = false;                      // plans instead of executions
  int64_t limit = 0;                         // items that a read returns at most; 0: all
  int64_t computed_max = kComputedItemsMax;  // items read for what the client computes
};

// Lifetime: what it refers to outlives it.
struct SqlContext {
  const Session& session;
  const client::Client& client;
  // True once the user wants the statement to end. Asked between pages and items.
  std::function<bool()> is_interrupted;
  SqlSettings settings{};
  std::vector<api::v1::AttributeValue> parameters{};  // the values of the question marks
};

struct SqlResult {
  bool is_read = false;  // `items` are the answer, even if there are none
  std::vector<api::v1::Item> items{};
  std::vector<std::string> columns{};  // these come first, in this order; the others follow by name
  bool is_text = false;                // `text` is the answer, such as a plan
  bool has_more = false;               // the limit was reached, or the statement was interrupted
  std::string text{};                  // for people: a plan, or what was done; with line breaks
  Json document{};                     // for programs: the same; null: {"Items": [...]}
};

// A result without items. `text`: one line or more, without a line break at its end.
SqlResult TextResult(std::string text, Json document);

// The plan of a statement, in words. It is the answer.
SqlResult PlanResult(std::string plan);

// A row of a result: texts by column. Columns without a text are left out.
api::v1::Item TextRow(const std::vector<std::pair<std::string, std::string>>& cells);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_SQL_CONTEXT_H_
