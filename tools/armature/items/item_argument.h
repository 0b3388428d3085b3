#ifndef ARMATURE_TOOLS_ARMATURE_ITEMS_ITEM_ARGUMENT_H_
#define ARMATURE_TOOLS_ARMATURE_ITEMS_ITEM_ARGUMENT_H_

// Arguments that the short commands share: items, conditions, and where their faults are shown.

#include <istream>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/types.pb.h"
#include "tools/armature/session.h"

namespace armature::cli {

// The item of an argument: plain JSON, @FILE for the content of a file, or - (also @-) for `input`. Errors: UsageError.
absl::StatusOr<api::v1::Item> ItemFromArgument(const std::string& argument, std::istream& input);

// The error of a text that the user wrote for `option`, such as --where, as a UsageError. On a terminal it shows the
// place of the fault in the text first. OK stays OK.
absl::Status ExplainFault(const Session& session, std::string_view option, std::string_view text,
                          const absl::Status& fault);

template <class T>
absl::StatusOr<T> ExplainFault(const Session& session, std::string_view option, std::string_view text,
                               absl::StatusOr<T> result) {
  if (result.ok()) return result;
  return ExplainFault(session, option, text, result.status());
}

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_ITEMS_ITEM_ARGUMENT_H_
