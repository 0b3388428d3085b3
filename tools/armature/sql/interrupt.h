#ifndef ARMATURE_TOOLS_ARMATURE_SQL_INTERRUPT_H_
#define ARMATURE_TOOLS_ARMATURE_SQL_INTERRUPT_H_

// Ctrl-C in an interactive program.

#include "absl/time/time.h"

namespace armature::cli {

// While it lives, SIGINT is noted instead of ending the process, and `notice` is printed at once on the standard error.
// A second SIGINT before the first one is taken ends the process, so that a call that does not return can be left.
//
// Thread-safety: thread-safe. Lifetime: one at a time in a process.
class Interrupt {
 public:
  // `notice` must outlive the object.
  explicit Interrupt(const char* notice);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // True if there was a SIGINT that Take has not taken.
  bool is_pending() const;
  // True if there was a SIGINT that Take has not taken. Forgets it.
  bool Take();
  // Returns after this time, or at once while a SIGINT is pending.
  void Wait(absl::Duration time) const;
  // Quiet: no notice is printed, since the caller is about to take the SIGINT.
  void set_is_quiet(bool is_quiet);
  // Readable while a SIGINT is pending.
  int descriptor() const { return read_end_; }

 private:
  const char* const notice_;
  int read_end_ = -1;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_SQL_INTERRUPT_H_
