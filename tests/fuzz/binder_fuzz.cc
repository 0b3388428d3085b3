// Binder and evaluation. Input: lines, each a letter for the kind of expression and its text; the first line of a kind
// counts. The placeholders of expr_test_util.h are defined if a text mentions them.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "engine/expr/condition_eval.h"
#include "storage/base/api_error.h"
#include "tests/fuzz/fuzz_util.h"
#include "tests/unit/engine/expr/expr_test_util.h"

namespace armature::fuzz {
namespace {

using expr::testing::Item;
using expr::testing::L;
using expr::testing::M;
using expr::testing::N;
using expr::testing::S;
using expr::testing::SS;

const std::string& Document() {
  static const auto* const kDocument =
      new std::string(Item({{"a", M({{"b", L({N("1"), S("abc"), M({{"c", S("x")}})})}})},
                            {"b", SS({"x", "y"})},
                            {"h", S("abc")},
                            {"r", N("5")},
                            {"size", N("3")}}));
  return *kDocument;
}

void CheckRefusal(const absl::Status& status) {
  if (status.ok()) return;
  const auto error = GetApiError(status);
  Check(error.has_value() && error->type == ApiErrorType::kValidation, "what is refused is a ValidationException");
}

void Use(const expr::BoundExpressions& bound) {
  const model::ItemView item(Document());
  const model::KeySchema keys{{{"h", model::ScalarType::kString}}, {{"r", model::ScalarType::kNumber}}};
  for (const std::optional<expr::Condition>* condition : {&bound.condition, &bound.filter}) {
    if (!condition->has_value()) continue;
    expr::Evaluate(**condition, item);
    expr::Evaluate(**condition, model::ItemView());
    CheckRefusal(expr::CheckFilterAvoidsKeys("Filter Expression", **condition, keys));
  }
  if (bound.projection.has_value()) {
    const std::string part = expr::Project(*bound.projection, item);
    Check(expr::Project(*bound.projection, model::ItemView()).empty(), "of nothing there is no part");
    Check(part.size() <= item.bytes().size(), "a part is not more than the whole");
    CheckRefusal(expr::CheckKeysAreWhole(*bound.projection, keys, false));
  }
  if (!bound.key_condition.has_value()) return;
  using model::ScalarType;
  for (const ScalarType first : {ScalarType::kString, ScalarType::kNumber, ScalarType::kBinary}) {
    for (const ScalarType second : {ScalarType::kString, ScalarType::kNumber, ScalarType::kBinary}) {
      const model::KeySchema each{{{"h", first}, {"a", second}}, {{"r", second}, {"b", first}, {"size", second}}};
      CheckRefusal(expr::MatchKeyCondition(*bound.key_condition, each).status());
    }
  }
  CheckRefusal(expr::MatchKeyCondition(*bound.key_condition, keys).status());
}

}  // namespace
}  // namespace armature::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input = armature::fuzz::Text(data, size);
  armature::expr::testing::Request request;
  std::array<bool, 256> seen{};
  while (!input.empty()) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(line.size() + 1, input.size()));
    if (line.empty() || seen[static_cast<uint8_t>(line[0])]) continue;
    seen[static_cast<uint8_t>(line[0])] = true;
    const auto kind = armature::fuzz::KindOf(line[0]);
    if (kind.has_value()) request.With(*kind, line.substr(1));
  }
  const auto bound = request.Bind();
  armature::fuzz::CheckRefusal(bound.status());
  if (bound.ok()) armature::fuzz::Use(*bound);
  return 0;
}
