#ifndef ARMATURE_TOOLS_ARMATURE_LOAD_LOAD_STATE_H_
#define ARMATURE_TOOLS_ARMATURE_LOAD_LOAD_STATE_H_

// The position of a load, kept in a small file so that an interrupted load can continue.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/armature/load/line_reader.h"

namespace armature::cli {

struct LoadState {
  std::string table_name;
  TextPosition position{};  // the table has all items before it
  int64_t items = 0;        // number of these items
};

// The path of the state file: "x.jsonl" -> "x.jsonl.load-state".
std::string StatePathOf(const std::string& input_path);

// Absent if the file does not exist. Errors: InputError if the file is not a state.
absl::StatusOr<std::optional<LoadState>> ReadLoadState(const std::string& path);

// Replaces the file atomically. Errors: InputError.
absl::Status WriteLoadState(const std::string& path, const LoadState& state);

// A missing file is not an error.
void RemoveLoadState(const std::string& path);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_LOAD_LOAD_STATE_H_
