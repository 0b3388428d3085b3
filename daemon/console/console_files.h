#ifndef ARMATURE_DAEMON_CONSOLE_CONSOLE_FILES_H_
#define ARMATURE_DAEMON_CONSOLE_CONSOLE_FILES_H_

// The files of the web console, as the build has put them into the program (embed_files).

#include <algorithm>
#include <span>
#include <string_view>

namespace armature::daemon {

// A file of the folder `console`. All texts have static storage.
struct ConsoleFile {
  std::string_view path;  // below `console`, such as "src/main.mjs"
  std::string_view content_type;
  std::string_view etag;  // changes with the content; without quotes
  std::string_view content;
  std::string_view gzip;  // the content, compressed; empty if that is not smaller
};

// Sorted by path.
std::span<const ConsoleFile> ConsoleFiles();

// The file with this path, or null.
inline const ConsoleFile* FindConsoleFile(std::string_view path) {
  const std::span<const ConsoleFile> files = ConsoleFiles();
  const auto found = std::ranges::lower_bound(files, path, {}, &ConsoleFile::path);
  return found != files.end() && found->path == path ? &*found : nullptr;
}

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_CONSOLE_CONSOLE_FILES_H_
