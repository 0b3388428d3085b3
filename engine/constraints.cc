#include "engine/constraints.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"

namespace armature::engine {
namespace {

constexpr size_t kViolationsMax = 10;

}  // namespace

void Constraints::Enum(std::string_view path, std::string_view value,
                       std::initializer_list<std::string_view> allowed) {
  if (value.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  std::string set;
  for (const std::string_view name : allowed) set += Cat(set.empty() ? "" : ", ", name);
  violations_.push_back(Cat("Value '", value, "' at '", path,
                            "' failed to satisfy constraint: Member must satisfy enum value set: [", set, "]"));
}

absl::Status Constraints::Check() const {
  if (violations_.empty()) return absl::OkStatus();
  const size_t count = std::min(violations_.size(), kViolationsMax);
  const std::vector<std::string> shown(violations_.begin(),
                                       violations_.begin() + static_cast<std::ptrdiff_t>(count));
  return ValidationError(Cat(count, count == 1 ? " validation error detected: " : " validation errors detected: ",
                             absl::StrJoin(shown, "; ")));
}

}  // namespace armature::engine
