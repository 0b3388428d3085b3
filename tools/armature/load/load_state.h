#ifndef ARMATURE_TOOLS_ARMATURE_LOAD_LOAD_STATE_H_
#define ARMATURE_TOOLS_ARMATURE_LOAD_LOAD_STATE_H_

// How far a load has come, in a small file, so that an interrupted one can go on.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/armature/load/line_reader.h"

namespace armature::cli {

struct LoadState {
  std::string table_name;
  TextPosition position{};  // everything before it is in the table
  int64_t items = 0;        // that is how many
};

// "x.jsonl" -> "x.jsonl.load-state".
std::string StatePathOf(const std::string& input_path);

// Nothing if there is no such file. Errors: InputError if it holds no state.
absl::StatusOr<std::optional<LoadState>> ReadLoadState(const std::string& path);

// Replaces the file at once: whoever reads it sees the old or the new one. Errors: InputError.
absl::Status WriteLoadState(const std::string& path, const LoadState& state);

// No error if there is none.
void RemoveLoadState(const std::string& path);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_LOAD_LOAD_STATE_H_
