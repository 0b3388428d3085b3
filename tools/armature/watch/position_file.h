#ifndef ARMATURE_TOOLS_ARMATURE_WATCH_POSITION_FILE_H_
#define ARMATURE_TOOLS_ARMATURE_WATCH_POSITION_FILE_H_

// The file that holds the position of a watch: {"Table": "...", "Position": "..."}.

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace armature::cli {

// Not thread-safe.
class PositionFile {
 public:
  // An empty path: nothing is kept.
  PositionFile(std::string path, std::string table) : path_(std::move(path)), table_(std::move(table)) {}

  // The position, or nullopt if there is no file. Errors: InputError for a file that cannot be read, is malformed, or
  // belongs to another table.
  absl::StatusOr<std::optional<std::string>> Read();

  // Replaces the file, durably and as a whole, unless it has the position already. Errors: InputError.
  absl::Status Write(const std::string& position);

 private:
  const std::string path_;
  const std::string table_;
  std::string written_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_WATCH_POSITION_FILE_H_
