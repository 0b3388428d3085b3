#include "tools/armature/export/manifest.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <utility>

#include "daemon/auth/crypto.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/files/digest.h"
#include "storage/files/output_file.h"
#include "tools/armature/json_text.h"
#include "tools/armature/message_json.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

constexpr char kChecksum[] = "ManifestSha256";
constexpr char kTimeFormat[] = "%Y-%m-%dT%H:%M:%E3SZ";
constexpr size_t kReadBytes = 256 << 10;

void CopyThroughput(const api::v1::ProvisionedThroughputDescription& from, api::v1::ProvisionedThroughput* to) {
  to->set_read_capacity_units(from.read_capacity_units());
  to->set_write_capacity_units(from.write_capacity_units());
}

// The manifest without its checksum.
Json ToJson(const Manifest& manifest) {
  Json json = {{"FormatVersion", kManifestVersion},
               {"Format", manifest.format == LoadFormat::kCsv ? "csv" : "jsonl"},
               {"Table", MessageToJson(manifest.table)},
               {"ChangeSequence", manifest.change_sequence},
               {"ExportTime", absl::FormatTime(kTimeFormat, manifest.time, absl::UTCTimeZone())},
               {"ItemCount", manifest.items()}};
  if (manifest.format == LoadFormat::kCsv) {
    json["Columns"] = Json::array();
    for (const ExportedColumn& column : manifest.columns) {
      json["Columns"].push_back({{"Name", column.name}, {"Type", column.type}});
    }
  }
  json["Files"] = Json::array();
  for (const ExportedFile& file : manifest.files) {
    json["Files"].push_back(
        {{"Name", file.name}, {"ItemCount", file.items}, {"Bytes", file.bytes}, {"Sha256", file.sha256}});
  }
  return json;
}

std::string ChecksumOf(const Json& json) { return daemon::Hex(daemon::Sha256(CompactJson(json))); }

// Writes the manifest durably. Errors: those of OutputFile.
absl::Status WriteText(const std::string& directory, const std::string& text) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<files::OutputFile> file,
                       files::OutputFile::Create(PathIn(directory, kManifestName), files::Compression::kNone));
  ARM_RETURN_IF_ERROR(file->Write(text));
  // The names of the data files become durable before the manifest that lists them.
  ARM_RETURN_IF_ERROR(files::SyncDirectory(directory));
  ARM_RETURN_IF_ERROR(file->Finish().status());
  return files::SyncDirectory(directory);
}

// True for the name of a file in the directory of the manifest, other than the manifest itself.
bool IsFileName(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name != "." && name != ".." && name != kManifestName;
}

// False if the content is wrong. Throws Json::exception if a member is missing or has another type.
bool FromJson(const Json& json, Manifest* manifest) {
  const std::string& format = TextAt(json, "Format");
  manifest->format = format == "csv" ? LoadFormat::kCsv : LoadFormat::kJsonLines;
  manifest->change_sequence = static_cast<uint64_t>(NumberAt(json, "ChangeSequence"));
  std::string error;
  bool is_good = (format == "csv" || format == "jsonl") &&
                 MessageFromJson(json.at("Table"), "Table", &manifest->table).ok() &&
                 absl::ParseTime(kTimeFormat, TextAt(json, "ExportTime"), &manifest->time, &error);
  if (manifest->format == LoadFormat::kCsv) {
    for (const Json& column : json.at("Columns")) {
      manifest->columns.push_back({TextAt(column, "Name"), TextAt(column, "Type")});
    }
  }
  std::set<std::string> names;
  for (const Json& entry : json.at("Files")) {
    ExportedFile file{TextAt(entry, "Name"), NumberAt(entry, "ItemCount"), NumberAt(entry, "Bytes"),
                      TextAt(entry, "Sha256")};
    is_good = is_good && IsFileName(file.name) && names.insert(file.name).second;
    manifest->files.push_back(std::move(file));
  }
  return is_good && NumberAt(json, "ItemCount") == manifest->items();
}

// The manifest in `json`, which belongs to the file at `path`.
absl::StatusOr<Manifest> CheckedManifest(Json json, const std::string& path) {
  // The checks of newer versions may differ.
  if (const int64_t version = NumberAt(json, "FormatVersion"); version > kManifestVersion) {
    return InputError(
        Cat(path, " was written by a newer version: its format is ", version, ", and ours ", kManifestVersion));
  }
  const std::string checksum = TextAt(json, kChecksum);
  json.erase(kChecksum);
  if (ChecksumOf(json) != checksum) return InputError(Cat(path, " is damaged: its checksum differs"));
  Manifest manifest;
  if (!FromJson(json, &manifest)) return InputError(Cat(path, " is not a manifest of armature export"));
  return manifest;
}

}  // namespace

int64_t Manifest::items() const {
  int64_t sum = 0;
  for (const ExportedFile& file : files) sum += file.items;
  return sum;
}

int64_t Manifest::bytes() const {
  int64_t sum = 0;
  for (const ExportedFile& file : files) sum += file.bytes;
  return sum;
}

std::string PathIn(std::string_view directory, std::string_view name) { return Cat(directory, "/", name); }

api::v1::CreateTableRequest DefinitionOf(const api::v1::TableDescription& table) {
  api::v1::CreateTableRequest made;
  made.set_table_name(table.table_name());
  *made.mutable_key_schema() = table.key_schema();
  const bool is_on_demand = table.billing_mode_summary().billing_mode() == api::v1::BILLING_MODE_PAY_PER_REQUEST;
  made.set_billing_mode(is_on_demand ? api::v1::BILLING_MODE_PAY_PER_REQUEST : api::v1::BILLING_MODE_PROVISIONED);
  if (!is_on_demand) CopyThroughput(table.provisioned_throughput(), made.mutable_provisioned_throughput());
  std::set<std::string> keys;
  const auto note_keys = [&keys](const auto& schema) {
    for (const api::v1::KeySchemaElement& element : schema) keys.insert(element.attribute_name());
  };
  note_keys(table.key_schema());
  const auto copy_index = [&note_keys](const auto& from, auto* to) {
    to->set_index_name(from.index_name());
    *to->mutable_key_schema() = from.key_schema();
    *to->mutable_projection() = from.projection();
    note_keys(from.key_schema());
  };
  for (const auto& from : table.local_secondary_indexes()) copy_index(from, made.add_local_secondary_indexes());
  for (const auto& from : table.global_secondary_indexes()) {
    if (from.index_status() == api::v1::INDEX_STATUS_DELETING) continue;
    auto* const to = made.add_global_secondary_indexes();
    copy_index(from, to);
    if (!is_on_demand) CopyThroughput(from.provisioned_throughput(), to->mutable_provisioned_throughput());
    if (from.has_on_demand_throughput()) *to->mutable_on_demand_throughput() = from.on_demand_throughput();
  }
  for (const auto& definition : table.attribute_definitions()) {
    if (keys.contains(definition.attribute_name())) *made.add_attribute_definitions() = definition;
  }
  if (table.has_stream_specification()) *made.mutable_stream_specification() = table.stream_specification();
  if (table.has_table_class_summary()) made.set_table_class(table.table_class_summary().table_class());
  if (table.has_on_demand_throughput()) *made.mutable_on_demand_throughput() = table.on_demand_throughput();
  if (table.deletion_protection_enabled()) made.set_deletion_protection_enabled(true);
  return made;
}

absl::Status WriteManifest(const std::string& directory, const Manifest& manifest) {
  Json json = ToJson(manifest);
  json[kChecksum] = ChecksumOf(json);
  return AsInputError(WriteText(directory, PrettyJson(json)));
}

absl::StatusOr<Manifest> ReadManifest(const std::string& directory) {
  const std::string path = PathIn(directory, kManifestName);
  absl::StatusOr<Json> json = ReadJsonFile(path);
  if (absl::IsNotFound(json.status())) {
    return InputError(Cat(directory, " is not an export, or an unfinished one: cannot read ", path));
  }
  if (!json.ok() || !json->is_object()) return InputError(Cat(path, " is damaged: it is not a JSON object"));
  try {
    return CheckedManifest(*std::move(json), path);
  } catch (const Json::exception&) {
    return InputError(Cat(path, " is not a manifest of armature export"));
  }
}

absl::Status CheckFile(const std::string& directory, const ExportedFile& file,
                       const std::function<void(int64_t bytes)>& tick) {
  const std::string path = PathIn(directory, file.name);
  std::ifstream in(path, std::ios::binary);
  if (!in) return InputError(Cat("cannot read ", path, ": ", std::strerror(errno)));
  files::Sha256Stream hash;
  int64_t bytes = 0;
  std::string buffer(kReadBytes, '\0');
  while (bytes <= file.bytes && in.read(buffer.data(), kReadBytes).gcount() > 0) {
    hash.Add({buffer.data(), static_cast<size_t>(in.gcount())});
    bytes += in.gcount();
    tick(bytes);
  }
  if (in.bad()) return InputError(Cat("cannot read ", path, ": ", std::strerror(errno)));
  if (bytes != file.bytes) {
    return InputError(Cat(path, " is damaged: it has ", bytes > file.bytes ? "more than " : "",
                          std::min(bytes, file.bytes), " bytes, and had ", file.bytes));
  }
  if (hash.Hex() != file.sha256) return InputError(Cat(path, " is damaged: its checksum differs"));
  return absl::OkStatus();
}

}  // namespace armature::cli
