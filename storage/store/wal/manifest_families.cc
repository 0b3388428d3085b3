#include "storage/store/wal/manifest_families.h"

#include <limits>
#include <optional>

#include "storage/base/status_macros.h"
#include "storage/model/wire.h"
#include "storage/store/wal/log_scan.h"

namespace armature::store {
namespace {

// Tags of RocksDB's VersionEdit (db/version_edit.h), as far as they occur beside the name of a family. Unknown tags
// with this bit are followed by a length and as many bytes.
constexpr uint64_t kIgnorableBit = 1 << 13;
enum Tag : uint64_t {
  kComparator = 1,
  kLogNumber = 2,
  kNextFileNumber = 3,
  kLastSequence = 4,
  kPreviousLogNumber = 9,
  kLogNumberToKeep = 10,
  kFamily = 200,
  kFamilyAdd = 201,
  kFamilyDrop = 202,
  kFamilyMax = 203,
  kInAtomicGroup = 300,
};

bool SkipBytes(std::string_view* in) {
  std::string_view bytes;
  return model::TakeLengthDelimited(in, &bytes);
}

bool SkipNumber(std::string_view* in) {
  uint64_t number = 0;
  return model::TakeVarint(in, &number);
}

}  // namespace

void ApplyManifestRecord(std::string_view record, std::map<uint32_t, std::string>* names) {
  uint64_t family = 0;
  std::optional<std::string_view> added;
  bool is_dropped = false;
  uint64_t tag = 0;
  while (!record.empty()) {
    if (!model::TakeVarint(&record, &tag)) return;
    bool is_sound = true;
    switch (tag) {
      case kComparator:
        is_sound = SkipBytes(&record);
        break;
      case kFamily:
        is_sound = model::TakeVarint(&record, &family);
        break;
      case kFamilyAdd:
        is_sound = model::TakeLengthDelimited(&record, &added.emplace());
        break;
      case kFamilyDrop:
        is_dropped = true;
        break;
      case kLogNumber:
      case kNextFileNumber:
      case kLastSequence:
      case kPreviousLogNumber:
      case kLogNumberToKeep:
      case kFamilyMax:
      case kInAtomicGroup:
        is_sound = SkipNumber(&record);
        break;
      default:
        // The record is about files: such a record names no family.
        if ((tag & kIgnorableBit) == 0) return;
        is_sound = SkipBytes(&record);
    }
    if (!is_sound) return;
  }
  if (family > std::numeric_limits<uint32_t>::max()) return;
  if (is_dropped) names->erase(static_cast<uint32_t>(family));
  if (added.has_value()) (*names)[static_cast<uint32_t>(family)] = std::string(*added);
}

absl::StatusOr<std::map<uint32_t, std::string>> ReadFamilyNames(Volume* volume, const std::string& path) {
  std::map<uint32_t, std::string> names;
  ARM_RETURN_IF_ERROR(
      ScanLog(volume, path, [&names](std::string_view record, bool) { ApplyManifestRecord(record, &names); }).status());
  return names;
}

}  // namespace armature::store
