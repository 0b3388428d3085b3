#ifndef ARMATURE_TOOLS_ARMATURE_SQL_LINE_EDITOR_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_LINE_EDITOR_H_

// Lines from a terminal, with editing, history and completion by libedit. No other file uses libedit.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tools/armature/sql/completion.h"
#include "tools/armature/sql/interrupt.h"

namespace armature::cli {

// Reads standard input and writes standard output, which are a terminal. Not thread-safe.
class LineEditor {
 public:
  // The completions of a line up to the cursor.
  using Completer = std::function<Completions(std::string_view line)>;

  // `interrupt` must outlive the editor. `history_file`: read now, and written by Remember; empty: none.
  LineEditor(Interrupt* interrupt, Completer complete, std::string history_file);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  enum class Outcome { kLine, kInterrupted, kEnd };
  // Reads a line, without its end. kInterrupted: Ctrl-C; what was typed is dropped. kEnd: Ctrl-D, or the terminal is
  // gone.
  Outcome Read(const std::string& prompt, std::string* line);

  // Adds an entry to the history and to its file, which only its owner may read and which keeps the last 1,000.
  void Remember(const std::string& entry);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_LINE_EDITOR_H_
