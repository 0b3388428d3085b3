#ifndef ARMATURE_DAEMON_ITEM_FILES_JSON_ITEM_FILES_H_
#define ARMATURE_DAEMON_ITEM_FILES_JSON_ITEM_FILES_H_

// Files of items as JSON lines and CSV.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/transfer/item_files.h"

namespace armature::daemon {

// Maximum length of a line. The JSON of a list of 400 KB with numbers like 1e125, written in full, has 20 MB.
inline constexpr size_t kItemLineBytesMax = 24 << 20;

// Thread-safe. Readers accept regular files only. Errors of OpenReader also: INVALID_ARGUMENT for impossible options.
class JsonItemFiles final : public engine::ItemFiles {
 public:
  absl::StatusOr<std::unique_ptr<engine::ItemFileReader>> OpenReader(
      engine::ItemFileSource source, const engine::ItemFileOptions& options) const override;
  absl::StatusOr<std::unique_ptr<engine::ItemFileWriter>> CreateWriter(
      const engine::ItemFileTarget& target, const engine::ItemFileOptions& options) const override;
  absl::StatusOr<engine::ItemFileWriter::Finished> WriteTextFile(const engine::ItemFileTarget& target,
                                                                 std::string_view text) const override;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_ITEM_FILES_JSON_ITEM_FILES_H_
