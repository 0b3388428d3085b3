#ifndef ARMATURE_TOOLS_ARMATURE_PAGER_H_
#define ARMATURE_TOOLS_ARMATURE_PAGER_H_

// A pager such as less for an output that is longer than the screen.

#include <cstddef>
#include <memory>
#include <ostream>
#include <string>

namespace armature::cli {

struct PagerOptions {
  std::string command;  // of a shell; empty: none, the output is printed as it comes
  size_t rows = 0;      // of the screen; 0: unknown, no pager
  size_t columns = 0;   // 0: unknown, no line is taken for several
};

// The user's pager: $ARMATURE_PAGER, else $PAGER, else less. None if the variable is empty or "cat", if its program is
// missing, or if TERM is dumb.
std::string PagerCommand();

// `command` without those that are none, or whose program is missing.
std::string UsablePager(const std::string& command);

// The size of the terminal at the standard output, with PagerCommand.
PagerOptions PagerOnTerminal();

// Holds the output until it is longer than the screen; then starts the pager, and sends everything to it. An output
// that fits on the screen is printed when it ends. less gets the options -FRSX unless $LESS has others. While the pager
// runs, Ctrl-C is its own, and texts for the standard error wait for its end.
//
// A pager that the user quits ends the output: out() fails from then on, and was_quit() is true. That is no error.
//
// Memory: one screen, and what is said on the standard error meanwhile. Lifetime: the streams must outlive it. Not
// thread-safe; one at a time in a process, as it changes what the process does with signals.
class Pager {
 public:
  Pager(PagerOptions options, std::ostream& out, std::ostream& err);
  // Finishes.
  ~Pager();
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

  std::ostream& out();
  std::ostream& err();

  // Prints what is held, waits for the end of the pager, and prints what waited for it.
  void Finish();

  // True if the pager has ended before the output. False also if there was none.
  bool was_quit() const;

 private:
  class Process;
  std::unique_ptr<Process> process_;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_PAGER_H_
