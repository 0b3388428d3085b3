#ifndef ARMATURE_ENGINE_CONSTRAINTS_H_
#define ARMATURE_ENGINE_CONSTRAINTS_H_

// Gathers violations of a request's shape, which the API reports together in one message.

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace armature::engine {

// Enumerations as the API prints them, in its own order.
inline constexpr std::initializer_list<std::string_view> kReturnConsumedCapacityValues = {
    "INDEXES", "TOTAL", "NONE"};
inline constexpr std::initializer_list<std::string_view> kReturnItemCollectionMetricsValues = {
    "SIZE", "NONE"};
inline constexpr std::initializer_list<std::string_view> kReturnValuesValues = {
    "ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"};
inline constexpr std::initializer_list<std::string_view> kSelectValues = {
    "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"};

class Constraints {
 public:
  // `value` must be empty (not given) or one of `allowed`; `path` is the member's name, lower-case first.
  void Enum(std::string_view path, std::string_view value,
            std::initializer_list<std::string_view> allowed);
  // OK, or one ValidationException with at most ten violations.
  absl::Status Check() const;

 private:
  std::vector<std::string> violations_;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_CONSTRAINTS_H_
