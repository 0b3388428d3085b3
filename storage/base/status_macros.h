#ifndef ARMATURE_STORAGE_BASE_STATUS_MACROS_H_
#define ARMATURE_STORAGE_BASE_STATUS_MACROS_H_

// The two macros that return a failed status, and a function that adds context at a layer boundary.

#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/base/strings.h"

#define ARM_RETURN_IF_ERROR(expr)                             \
  do {                                                        \
    if (absl::Status arm_status = (expr); !arm_status.ok()) { \
      return arm_status;                                      \
    }                                                         \
  } while (false)

#define ARM_MACRO_CONCAT_INNER(a, b) a##b
#define ARM_MACRO_CONCAT(a, b) ARM_MACRO_CONCAT_INNER(a, b)

#define ARM_ASSIGN_OR_RETURN(decl, expr) \
  ARM_ASSIGN_OR_RETURN_IMPL(ARM_MACRO_CONCAT(arm_statusor_, __LINE__), decl, expr)
#define ARM_ASSIGN_OR_RETURN_IMPL(tmp, decl, expr) \
  auto tmp = (expr);                               \
  if (!tmp.ok()) {                                 \
    return std::move(tmp).status();                \
  }                                                \
  decl = *std::move(tmp)

namespace armature {

// Prepends `context` and ": " to the message. Keeps payloads. OK stays OK.
inline absl::Status WithContext(const absl::Status& status, std::string_view context) {
  if (status.ok()) return status;
  absl::Status result(status.code(), Cat(context, ": ", Sv(status.message())));
  status.ForEachPayload(
      [&result](absl::string_view url, const absl::Cord& payload) { result.SetPayload(url, payload); });
  return result;
}

// Status factories for std::string_view.
inline absl::Status InternalError(std::string_view m) { return absl::InternalError(Av(m)); }
inline absl::Status DataLossError(std::string_view m) { return absl::DataLossError(Av(m)); }
inline absl::Status FailedPreconditionError(std::string_view m) { return absl::FailedPreconditionError(Av(m)); }
inline absl::Status UnavailableError(std::string_view m) { return absl::UnavailableError(Av(m)); }

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_STATUS_MACROS_H_
