#include "tools/armature/watch/position_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "storage/base/strings.h"
#include "tools/armature/json_text.h"
#include "tools/armature/session.h"

namespace armature::cli {
namespace {

absl::Status CannotWrite(const std::string& path) {
  return InputError(Cat("cannot write ", path, ": ", std::strerror(errno)));
}

// Syncs a file or a directory.
bool Sync(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_synced = fsync(file) == 0;
  close(file);
  return is_synced;
}

}  // namespace

absl::StatusOr<std::optional<std::string>> PositionFile::Read() {
  if (path_.empty()) return std::nullopt;
  std::error_code error;
  if (!std::filesystem::exists(path_, error) && !error) return std::nullopt;
  std::ifstream in(path_, std::ios::binary);
  // A directory can be opened, and reading it throws.
  if (!in || std::filesystem::is_directory(path_, error)) return InputError(Cat("cannot read ", path_));
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto has_text = [&json](const char* name) {
    return json.is_object() && json.contains(name) && json[name].is_string();
  };
  if (!has_text("Table") || !has_text("Position")) {
    return InputError(Cat(path_, " is no position of a watch; remove it to begin anew"));
  }
  const std::string table = json["Table"];
  if (table != table_) return InputError(Cat(path_, " is the position of a watch of table ", table));
  written_ = json["Position"];
  return std::optional<std::string>(written_);
}

absl::Status PositionFile::Write(const std::string& position) {
  if (path_.empty() || position == written_) return absl::OkStatus();
  const std::string made = path_ + ".new";
  {
    std::ofstream out(made, std::ios::binary | std::ios::trunc);
    out << CompactJson(Json{{"Table", table_}, {"Position", position}}) << "\n";
    out.close();
    if (!out) return CannotWrite(made);
  }
  const std::string directory = std::filesystem::path(path_).parent_path().string();
  if (!Sync(made) || std::rename(made.c_str(), path_.c_str()) != 0) return CannotWrite(path_);
  if (!Sync(directory.empty() ? "." : directory)) return CannotWrite(path_);
  written_ = position;
  return absl::OkStatus();
}

}  // namespace armature::cli
