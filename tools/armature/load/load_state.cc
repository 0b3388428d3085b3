#include "tools/armature/load/load_state.h"

#include <cstdio>
#include <fstream>

#include "storage/base/strings.h"
#include "tools/armature/json_text.h"
#include "tools/armature/session.h"

namespace armature::cli {

std::string StatePathOf(const std::string& input_path) { return Cat(input_path, ".load-state"); }

absl::StatusOr<std::optional<LoadState>> ReadLoadState(const std::string& path) {
  const absl::StatusOr<Json> json = ReadJsonFile(path);
  if (absl::IsNotFound(json.status())) return std::optional<LoadState>();
  try {
    const Json members = json.value_or(Json());
    const int64_t checksum = NumberAt(members, "Checksum");
    if (checksum <= UINT32_MAX) {
      return LoadState{.table_name = TextAt(members, "TableName"),
                       .position = {.offset = NumberAt(members, "Offset"),
                                    .line = NumberAt(members, "Line"),
                                    .checksum = static_cast<uint32_t>(checksum)},
                       .items = NumberAt(members, "Items")};
    }
  } catch (const Json::exception&) {  // a member is missing or has another type
  }
  return InputError(Cat(path, " is not the state of a load; remove it to begin anew"));
}

absl::Status WriteLoadState(const std::string& path, const LoadState& state) {
  const Json json = {{"TableName", state.table_name},
                     {"Offset", state.position.offset},
                     {"Line", state.position.line},
                     {"Checksum", state.position.checksum},
                     {"Items", state.items}};
  const std::string made = Cat(path, ".new");
  std::ofstream out(made, std::ios::binary);
  out << PrettyJson(json);
  out.close();
  if (!out || std::rename(made.c_str(), path.c_str()) != 0) return InputError(Cat("cannot write ", path));
  return absl::OkStatus();
}

void RemoveLoadState(const std::string& path) { std::remove(path.c_str()); }

}  // namespace armature::cli
