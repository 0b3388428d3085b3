#include "tools/armature/items/read_options.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

// Width of the terminal at standard output; 0 if it is unknown.
size_t TerminalWidth() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

void AddShownItems(CLI::App& command, ShownItems* shown) {
  command.add_flag("--typed", shown->is_typed, R"(Typed JSON: {"a": {"S": "x"}})");
  command.add_flag("--wide", shown->is_wide, "Do not cut a table to the width of the terminal");
}

absl::StatusOr<ItemStyle> StyleOf(const Session& session, const ShownItems& shown) {
  ItemStyle style;
  ARM_ASSIGN_OR_RETURN(style.format, ItemFormatOf(session, ItemFormat::kJsonLines));
  // A table has no types; --typed alone asks for JSON.
  if (shown.is_typed && session.output().empty()) style.format = ItemFormat::kJsonLines;
  style.dialect = shown.is_typed ? JsonDialect::kTyped : JsonDialect::kPlain;
  if (session.writes_terminal() && !shown.is_wide) style.width = TerminalWidth();
  return style;
}

void TellHiddenColumns(const Session& session, size_t hidden) {
  if (hidden == 0 || !session.is_progress_live()) return;
  session.progress() << hidden << (hidden == 1 ? " attribute is" : " attributes are")
                     << " not shown: --wide shows all, --select a,b some\n";
}

}  // namespace armature::cli
