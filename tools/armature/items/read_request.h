#ifndef ARMATURE_TOOLS_ARMATURE_ITEMS_READ_REQUEST_H_
#define ARMATURE_TOOLS_ARMATURE_ITEMS_READ_REQUEST_H_

// Requests of the short forms of query, scan and count.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "armature/api/v1/items.pb.h"
#include "tools/armature/items/table_keys.h"
#include "tools/armature/session.h"

namespace armature::cli {

// A read in the words of the user.
struct ReadRequest {
  ItemTarget target{};
  std::vector<std::string> terms{};  // key_terms.h
  std::string where{};               // a condition (condition_text.h); empty: none
  std::string select{};              // paths; empty: all attributes
  bool is_reversed = false;
  bool is_consistent = false;
};

// Errors of all: UsageError; faults are shown in `session` (ExplainFault). `keys`: those of the target.
absl::StatusOr<api::v1::QueryRequest> MakeQuery(const Session& session, const TargetKeys& keys,
                                                const ReadRequest& read);
absl::StatusOr<api::v1::ScanRequest> MakeScan(const Session& session, const TargetKeys& keys, const ReadRequest& read);

// The attributes that the paths of `select` begin with.
absl::StatusOr<std::vector<std::string>> SelectedAttributes(const Session& session, const ReadRequest& read);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_ITEMS_READ_REQUEST_H_
