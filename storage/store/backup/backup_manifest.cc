#include "storage/store/backup/backup_manifest.h"

#include <xxhash.h>

#include <charconv>
#include <optional>

#include "absl/strings/escaping.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::store {
namespace {

constexpr std::string_view kMagic = "armature backup";
constexpr std::string_view kChecksumName = "checksum: ";

// Removes and returns the text before the first `separator`; nullopt if there is none.
std::optional<std::string_view> TakeUntil(char separator, std::string_view* text) {
  const size_t at = text->find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = text->substr(0, at);
  text->remove_prefix(at + 1);
  return taken;
}

template <class T>
bool ParseNumber(std::string_view text, T* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// A valid name stays inside the backup directory.
bool IsFileName(std::string_view name) {
  return !name.empty() && name.front() != '/' && name.find("..") == std::string_view::npos;
}

// "<crc32c> <size> <name>"
bool ParseFile(std::string_view text, BackupFile* file) {
  const std::optional<std::string_view> crc32c = TakeUntil(' ', &text);
  const std::optional<std::string_view> size = TakeUntil(' ', &text);
  if (!crc32c.has_value() || !size.has_value() || !IsFileName(text)) return false;
  file->name = std::string(text);
  return ParseNumber(*crc32c, &file->crc32c) && ParseNumber(*size, &file->size);
}

// "<size> <checksum>"
bool ParseMeta(std::string_view text, BackupManifest* manifest) {
  const std::optional<std::string_view> size = TakeUntil(' ', &text);
  manifest->meta_checksum = std::string(text);
  return size.has_value() && ParseNumber(*size, &manifest->meta_bytes);
}

bool ParseLine(std::string_view name, std::string_view value, int* format, BackupManifest* manifest) {
  BackupEntry& entry = manifest->entry;
  if (name == "format") return ParseNumber(value, format);
  if (name == "backup") return ParseNumber(value, &entry.id);
  if (name == "engine") return ParseNumber(value, &manifest->engine_id);
  if (name == "database") {
    entry.database_id = std::string(value);
    return true;
  }
  if (name == "data_format") return ParseNumber(value, &entry.format_version);
  if (name == "started_ms") return ParseNumber(value, &entry.started_ms);
  if (name == "finished_ms") return ParseNumber(value, &entry.finished_ms);
  if (name == "size_bytes") return ParseNumber(value, &entry.size_bytes);
  if (name == "added_bytes") return ParseNumber(value, &entry.added_bytes);
  if (name == "note") {
    entry.note = absl::HexStringToBytes(Av(value));
    return true;
  }
  if (name == "meta") return ParseMeta(value, manifest);
  if (name == "file") return ParseFile(value, &manifest->files.emplace_back());
  return true;
}

// Checks the last line, which holds the checksum, and returns the text before it.
absl::StatusOr<std::string_view> CheckChecksum(std::string_view text) {
  const size_t line_bytes = kChecksumName.size() + 2 * sizeof(XXH128_canonical_t) + 1;
  if (text.size() < line_bytes) return DataLossError("is cut off");
  const std::string_view body = text.substr(0, text.size() - line_bytes);
  if (text.substr(body.size()) != Cat(kChecksumName, BackupChecksum(body), "\n")) {
    return DataLossError("is damaged: its checksum is another one");
  }
  return body;
}

}  // namespace

std::string BackupChecksum(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(canonical.digest), sizeof canonical.digest));
}

std::string EncodeBackupManifest(const BackupManifest& manifest) {
  const BackupEntry& entry = manifest.entry;
  std::string text =
      Cat(kMagic, "\nformat: ", kBackupFormatVersion, "\nbackup: ", entry.id, "\nengine: ", manifest.engine_id,
          "\ndatabase: ", entry.database_id, "\ndata_format: ", entry.format_version,
          "\nstarted_ms: ", entry.started_ms, "\nfinished_ms: ", entry.finished_ms, "\nsize_bytes: ", entry.size_bytes,
          "\nadded_bytes: ", entry.added_bytes, "\nnote: ", absl::BytesToHexString(Av(entry.note)),
          "\nmeta: ", manifest.meta_bytes, " ", manifest.meta_checksum, "\n");
  for (const BackupFile& file : manifest.files) {
    text += Cat("file: ", file.crc32c, " ", file.size, " ", file.name, "\n");
  }
  return text + Cat(kChecksumName, BackupChecksum(text), "\n");
}

absl::StatusOr<BackupManifest> ParseBackupManifest(std::string_view text) {
  ARM_ASSIGN_OR_RETURN(std::string_view left, CheckChecksum(text));
  if (TakeUntil('\n', &left) != kMagic) return DataLossError("is not the manifest of a backup");
  BackupManifest manifest;
  int format = 0;
  while (!left.empty()) {
    const std::optional<std::string_view> line = TakeUntil('\n', &left);
    const size_t colon = line.has_value() ? line->find(": ") : std::string_view::npos;
    if (colon == std::string_view::npos) return DataLossError("has a line that is none");
    if (!ParseLine(line->substr(0, colon), line->substr(colon + 2), &format, &manifest)) {
      return DataLossError(Cat("has a line that means nothing: ", *line));
    }
    if (format > kBackupFormatVersion) {
      return FailedPreconditionError(Cat("has format ", format, "; this build reads formats up to ",
                                         kBackupFormatVersion, ": use a newer armatured"));
    }
  }
  if (format < 1 || manifest.entry.id == 0 || manifest.engine_id == 0 || manifest.entry.database_id.empty() ||
      manifest.entry.format_version < 1 || manifest.meta_checksum.empty() || manifest.files.empty()) {
    return DataLossError("lacks a line");
  }
  manifest.entry.file_count = manifest.files.size();
  return manifest;
}

// Layout: time, sequence, lines "metadata ...", the number of files, and for each file "<name> crc32 <crc32c>".
absl::StatusOr<std::vector<BackupFile>> ParseEngineMeta(std::string_view text) {
  const auto damaged = [] { return DataLossError("is not as RocksDB writes it"); };
  if (!TakeUntil('\n', &text).has_value() || !TakeUntil('\n', &text).has_value()) return damaged();
  std::optional<std::string_view> line = TakeUntil('\n', &text);
  while (line.has_value() && line->starts_with("metadata ")) line = TakeUntil('\n', &text);
  size_t count = 0;
  if (!line.has_value() || !ParseNumber(*line, &count)) return damaged();
  std::vector<BackupFile> files;
  while (!text.empty()) {
    line = TakeUntil('\n', &text);
    if (!line.has_value()) return damaged();
    BackupFile& file = files.emplace_back();
    const std::optional<std::string_view> name = TakeUntil(' ', &*line);
    const std::optional<std::string_view> kind = TakeUntil(' ', &*line);
    if (!name.has_value() || !IsFileName(*name) || kind != "crc32" || !ParseNumber(*line, &file.crc32c)) {
      return damaged();
    }
    file.name = std::string(*name);
  }
  if (files.size() != count || files.empty()) return damaged();
  return files;
}

}  // namespace armature::store
