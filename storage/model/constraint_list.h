#ifndef ARMATURE_STORAGE_MODEL_CONSTRAINT_LIST_H_
#define ARMATURE_STORAGE_MODEL_CONSTRAINT_LIST_H_

// Collects violations of a request's shape for one error message.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "storage/base/strings.h"

namespace armature::model {

// A list as messages print it: [a, b].
template <class Range>
std::string PrintedList(const Range& elements) {
  std::string text = "[";
  std::string_view separator;
  for (const auto& element : elements) {
    text += Cat(separator, element);
    separator = ", ";
  }
  return text + "]";
}

// A string as messages print it: in single quotes; at most kPrintedMaxBytes of it, and then as Shown.
inline constexpr size_t kPrintedMaxBytes = 2048;
std::string PrintedValue(std::string_view value);

// `text` as messages quote it: truncated to `max_bytes` at a character boundary, with "..." for the rest. Names may
// have 65,535 bytes, and no transport carries that much in an error.
inline constexpr size_t kShownMaxBytes = 255;
std::string Shown(std::string_view text, size_t max_bytes = kShownMaxBytes);

// True if all characters are of [a-zA-Z0-9_.-].
bool HasOnlyNameCharacters(std::string_view name);

// True for a name that ConstraintList::CheckName finds nothing wrong with.
bool IsName(std::string_view name, size_t minimum);

// Number of code points of well-formed UTF-8.
size_t CharacterCount(std::string_view text);

// Collects violations in the order in which the checks are called. `path` names a member as the API does:
// "keySchema.1.member.keyType".
//
// Thread-safety: thread-compatible.
// Limits: the message lists ten violations; later ones are dropped.
class ConstraintList {
 public:
  void AddNull(std::string_view path);

  // `printed` is the whole value as shown in the message, including quotes. `length` is the value's length.
  void CheckLengthMin(std::string_view printed, size_t length, std::string_view path, size_t minimum);
  void CheckLengthMax(std::string_view printed, size_t length, std::string_view path, size_t maximum);
  void CheckMinimum(int64_t value, std::string_view path, int64_t minimum);
  void CheckMaximum(int64_t value, std::string_view path, int64_t maximum);

  // `allowed` is printed in the given order. kEmptyWord is printed as an empty text.
  void CheckEnum(std::string_view value, std::string_view path, std::span<const std::string_view> allowed);

  // The name of a table or an index.
  void CheckName(std::string_view name, std::string_view path, size_t minimum);

  // Any other violation. `printed`: the value as shown in the message, including quotes. `constraint`: as shown in the
  // message.
  void Add(std::string_view printed, std::string_view path, std::string_view constraint);
  // A violation that the message shows as `text`.
  void AddText(std::string_view text);

  // True if there are no violations.
  bool empty() const { return violations_.empty(); }

  // Drops all violations but the first.
  void KeepFirst() {
    if (violations_.size() > 1) violations_.resize(1);
  }

  // OK without violations, else a ValidationException.
  absl::Status ToStatus() const;

 private:
  std::vector<std::string> violations_;
};

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_CONSTRAINT_LIST_H_
