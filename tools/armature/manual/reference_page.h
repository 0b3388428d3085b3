#ifndef ARMATURE_TOOLS_ARMATURE_MANUAL_REFERENCE_PAGE_H_
#define ARMATURE_TOOLS_ARMATURE_MANUAL_REFERENCE_PAGE_H_

// docs/reference/cli-commands.md: all commands with their arguments, options and an example, from the parser.
//
// Thread-safety: free functions without state.

#include <cstdint>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace armature::cli {

// Where the example of a command works.
enum class ExamplePlace : uint8_t {
  kDaemon,     // with a daemon that has the tables of `armature demo`
  kStopped,    // when that daemon has stopped; its data is in the directory data
  kElsewhere,  // needs a cluster, a damaged directory, or a job that runs
};

struct CommandExample {
  std::string_view path;   // "table create"
  std::string_view lines;  // of a shell, each with a line break
  ExamplePlace place = ExamplePlace::kDaemon;
};

// The example of a command. Empty lines: there is none.
CommandExample ExampleOf(std::string_view path);

// The page in Markdown.
std::string ReferencePage(const CLI::App& app);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_MANUAL_REFERENCE_PAGE_H_
