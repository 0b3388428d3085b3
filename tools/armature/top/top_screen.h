#ifndef ARMATURE_TOOLS_ARMATURE_TOP_TOP_SCREEN_H_
#define ARMATURE_TOOLS_ARMATURE_TOP_TOP_SCREEN_H_

// A terminal as a full screen of lines, by ncurses. No other module includes ncurses.

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tools/armature/top/top_model.h"

namespace armature::cli {

// Gives the terminal back when it is destroyed, and when the process is ended by SIGINT or SIGTERM. One at a time. Not
// thread-safe.
class TopScreen {
 public:
  // No key was pressed.
  static constexpr int kNoKey = -1;

  // Takes the terminal of standard input and output. Errors: UsageError if it cannot be drawn on.
  static absl::StatusOr<std::unique_ptr<TopScreen>> Open();

  virtual ~TopScreen() = default;

  virtual size_t width() const = 0;
  virtual size_t height() const = 0;

  virtual void Show(const std::vector<TopLine>& lines) = 0;

  // Draws everything anew at Ctrl-L. Waits for a key, at most until `patience` is over or the terminal changes its
  // size. Returns the character of the key, or kNoKey.
  virtual int Key(absl::Duration patience) = 0;
};

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_TOP_TOP_SCREEN_H_
