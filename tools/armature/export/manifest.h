#ifndef ARMATURE_TOOLS_ARMATURE_EXPORT_MANIFEST_H_
#define ARMATURE_TOOLS_ARMATURE_EXPORT_MANIFEST_H_

// The manifest of an export: the file manifest.json in its directory, written last. README.md describes it.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "armature/api/v1/tables.pb.h"
#include "tools/armature/load/item_source.h"

namespace armature::cli {

inline constexpr std::string_view kManifestName = "manifest.json";
// Version of the format. Newer versions are refused.
inline constexpr int64_t kManifestVersion = 1;

struct ExportedFile {
  std::string name;  // relative to the directory of the manifest
  int64_t items = 0;
  int64_t bytes = 0;
  std::string sha256;  // of the (compressed) file, in lower case
};

struct ExportedColumn {
  std::string name;
  std::string type;  // "S", "N", ...
};

struct Manifest {
  LoadFormat format = LoadFormat::kJsonLines;
  api::v1::CreateTableRequest table;
  uint64_t change_sequence = 0;
  absl::Time time = absl::UnixEpoch();  // exact to the millisecond
  std::vector<ExportedColumn> columns;  // for CSV
  std::vector<ExportedFile> files;

  int64_t items() const;
  int64_t bytes() const;
};

// A request that creates a table like this one with its indexes, except indexes that are being deleted. Tags and time
// to live are not included.
api::v1::CreateTableRequest DefinitionOf(const api::v1::TableDescription& table);

// Errors: InputError.
absl::Status WriteManifest(const std::string& directory, const Manifest& manifest);

// Errors: InputError for a missing, damaged or newer manifest.
absl::StatusOr<Manifest> ReadManifest(const std::string& directory);

// Compares a file with the manifest. Calls `tick` repeatedly with the number of bytes read.
absl::Status CheckFile(const std::string& directory, const ExportedFile& file,
                       const std::function<void(int64_t bytes)>& tick);

std::string PathIn(std::string_view directory, std::string_view name);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_EXPORT_MANIFEST_H_
