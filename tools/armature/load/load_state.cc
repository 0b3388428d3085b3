#include "tools/armature/load/load_state.h"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/json_text.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

bool ReadNumber(const Json& json, const char* name, int64_t* number) {
  if (!json.contains(name) || !json[name].is_number_integer()) return false;
  *number = json[name].get<int64_t>();
  return *number >= 0;
}

}  // namespace

std::string StatePathOf(const std::string& input_path) { return Cat(input_path, ".load-state"); }

absl::StatusOr<std::optional<LoadState>> ReadLoadState(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::optional<LoadState>();
  std::ostringstream text;
  text << in.rdbuf();
  const absl::StatusOr<Json> json = ParseJson(text.str());
  LoadState state;
  int64_t checksum = 0;
  const bool is_state = json.ok() && json->is_object() && json->contains("TableName") &&
                        (*json)["TableName"].is_string() && ReadNumber(*json, "Offset", &state.position.offset) &&
                        ReadNumber(*json, "Line", &state.position.line) && ReadNumber(*json, "Checksum", &checksum) &&
                        checksum <= UINT32_MAX && ReadNumber(*json, "Items", &state.items);
  if (!is_state) return InputError(Cat(path, " does not tell how far a load has come; remove it to begin anew"));
  state.position.checksum = static_cast<uint32_t>(checksum);
  state.table_name = (*json)["TableName"].get<std::string>();
  return std::optional<LoadState>(std::move(state));
}

absl::Status WriteLoadState(const std::string& path, const LoadState& state) {
  Json json = Json::object();
  json["TableName"] = state.table_name;
  json["Offset"] = state.position.offset;
  json["Line"] = state.position.line;
  json["Checksum"] = state.position.checksum;
  json["Items"] = state.items;
  const std::string made = Cat(path, ".new");
  std::ofstream out(made, std::ios::binary);
  out << PrettyJson(json);
  out.close();
  if (!out || std::rename(made.c_str(), path.c_str()) != 0) return InputError(Cat("cannot write ", path));
  return absl::OkStatus();
}

void RemoveLoadState(const std::string& path) { std::remove(path.c_str()); }

}  // namespace armature::cli
