#include "tools/armature/tables/used_table.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

namespace fs = std::filesystem;

// An ARN may be longer than the name of a table.
constexpr size_t kNameBytesMax = 2048;

// The directory of the state files; empty if the user has none.
fs::path StateDirectory() {
  if (const char* const state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    return fs::path(state) / "armature" / "used-table";
  }
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return fs::path(home) / ".local" / "state" / "armature" / "used-table";
}

// The name of an endpoint's file. Slashes, and a dot at the beginning, would be other files.
std::string FileName(std::string_view endpoint) {
  std::string name;
  for (const char c : endpoint) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = absl::ascii_isalnum(byte) || c == ':' || c == '-' || (c == '.' && !name.empty());
    name += is_plain ? std::string(1, c) : absl::StrFormat("%%%02X", byte);
  }
  return name;
}

fs::path FileOf(const Session& session) {
  const fs::path directory = StateDirectory();
  return directory.empty() || session.endpoint().empty() ? fs::path() : directory / FileName(session.endpoint());
}

// True for what the name or the ARN of a table may have. Another text in the file would be no table either.
bool IsTableName(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-:/") == name.npos;
}

}  // namespace

std::optional<std::string> UsedTable(const Session& session) {
  const fs::path path = FileOf(session);
  if (path.empty()) return std::nullopt;
  std::ifstream file(path);
  std::string name;
  if (!std::getline(file, name) || !IsTableName(name)) return std::nullopt;
  return name;
}

absl::Status SetUsedTable(const Session& session, std::string_view table) {
  const fs::path path = FileOf(session);
  if (path.empty()) return InputError("neither HOME nor XDG_STATE_HOME names a directory to remember the table in");
  std::error_code error;
  if (table.empty()) {
    fs::remove(path, error);
    return error ? InputError(Cat("cannot remove ", path.string(), ": ", error.message())) : absl::OkStatus();
  }
  fs::create_directories(path.parent_path(), error);
  if (error) return InputError(Cat("cannot make ", path.parent_path().string(), ": ", error.message()));
  // A file that is renamed is whole for another command that reads it now.
  const fs::path part = Cat(path.string(), ".part");
  std::ofstream file(part, std::ios::trunc);
  file << table << "\n";
  file.close();
  if (file.fail()) return InputError(Cat("cannot write ", part.string()));
  fs::rename(part, path, error);
  return error ? InputError(Cat("cannot write ", path.string(), ": ", error.message())) : absl::OkStatus();
}

}  // namespace armature::cli
