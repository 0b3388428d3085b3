#ifndef ARMATURE_TOOLS_ARMATURE_ITEMS_SHORT_READS_H_
#define ARMATURE_TOOLS_ARMATURE_ITEMS_SHORT_READS_H_

// The short forms of query and scan: `query orders/by_status status=open`, `scan orders --where 'amount > 5'`.

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "tools/armature/items/read_options.h"
#include "tools/armature/session.h"

namespace armature::cli {

enum class ReadKind { kQuery, kScan };

struct ShortRead {
  std::string target;              // TABLE or TABLE/INDEX; empty: the command has the long form
  std::vector<std::string> terms;  // of a query: see key_terms.h
  std::string where;
  std::string select;  // paths
  int64_t number = 0;  // most items to print; 0: all, on a terminal the first kTerminalItems
  bool is_all = false;
  bool is_reversed = false;
  bool is_consistent = false;
  ShownItems shown;
};

// Without -n or --all, a terminal gets so many items.
inline constexpr int64_t kTerminalItems = 1000;

// Adds the arguments and options of the short form, all but --select.
void AddShortRead(CLI::App& command, ReadKind kind, ShortRead* read);

// The option of the short form that `command` was given; empty if there is none.
std::string ShortOptionGiven(const CLI::App& command);

// True if `command` was given an option that only the long form has.
bool IsLongForm(const CLI::App& command);

// Reads all pages and prints the items as they come.
absl::Status RunShortRead(const Session& session, ReadKind kind, const ShortRead& read);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_ITEMS_SHORT_READS_H_
