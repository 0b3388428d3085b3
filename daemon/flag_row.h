#ifndef ARMATURE_DAEMON_FLAG_ROW_H_
#define ARMATURE_DAEMON_FLAG_ROW_H_

// A flag is a row of a table (flag_table.h). Its values on the command line and in files, its help, and its entry in
// docs/reference/flags.md are made from the row. The flags are no Abseil flags, which are variables of their own, each
// with a type that has no range and no unit.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/config.h"

namespace armature::daemon {

// Times are counted in nanoseconds here.
inline constexpr int64_t kMillisecond = 1'000'000;

enum class Measure : uint8_t { kCount, kSize, kTime };

// The unit of a flag, or the kind of its text. A size may be given with K, M, G or T (powers of 1024), a time with ns,
// us, ms, s, m or h. A value is a whole number of `plain`.
struct Unit {
  std::string_view placeholder;  // stands for the value in help; empty for a switch
  std::string_view name = "";    // behind the limits in messages; empty if they are counts, or have a unit of their own
  Measure measure = Measure::kCount;
  int64_t plain = 1;  // bytes or nanoseconds that a number without a unit counts; 0: only 0 may be without one
};

// Limits of a number, in its unit. Empty for flags that are not numbers.
struct Range {
  std::string_view minimum = "";
  std::string_view maximum = "";
  bool or_zero = false;  // 0 has a meaning of its own, below the minimum
};

template <class T>
using MemberOf = T* (*)(Config& config);

// A text with rules.
struct CheckedText {
  MemberOf<std::string> of;
  bool (*is_valid)(std::string_view text);
  std::string_view allowed;  // for messages: must be ...
};

// A value with a form of its own. `set` returns false, and may have changed the member, if `text` has no meaning.
// `text` returns a text from which `set` makes the same value.
struct Form {
  bool (*set)(std::string_view text, Config* config);
  std::string (*text)(const Config& config);
  std::string_view allowed;
};

// The member that a flag sets. A size is in bytes there. A time is a duration, or an integer of milliseconds.
using Member = std::variant<MemberOf<bool>, MemberOf<std::string>, CheckedText, MemberOf<int64_t>, MemberOf<uint32_t>,
                            MemberOf<uint64_t>, MemberOf<absl::Duration>, const Form*>;

struct Values {
  Unit unit;
  std::string_view initial;  // of a flag that is not given
  Range range = {};
};

struct FlagRow {
  std::string_view name;
  std::string_view group;
  Values values;
  std::string_view help;
  Member member;
  bool is_live = false;  // SIGHUP takes a new value from the file of --config (live_settings.h)
};

bool IsSwitch(const FlagRow& row);

// Gives the flag the value that `text` stands for. Errors: InvalidArgument with what is allowed, in the form "must be
// ...", without the flag and the value.
absl::Status SetFlag(const FlagRow& row, std::string_view text, Config* config);

// The flag's value as a text that SetFlag understands. In its shortest unit, if it has one.
std::string FlagText(const FlagRow& row, const Config& config);

// The limits of a number: "8 to 1048576, or 0". Empty for other flags.
std::string RangeText(const FlagRow& row);

// A number of bytes, or absent if `text` is not one: a whole number, and no unit or K, M, G or T. A number without a
// unit counts `plain` bytes. Numbers that are too large become INT64_MAX.
std::optional<int64_t> ParseSize(std::string_view text, int64_t plain);
// A number of nanoseconds, or absent if `text` is not one: a duration in Abseil's form, or a whole number that counts
// `plain` nanoseconds. Numbers that are too large become INT64_MAX.
std::optional<int64_t> ParseTime(std::string_view text, int64_t plain);

// The shortest text that ParseSize understands.
std::string SizeText(uint64_t bytes);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_FLAG_ROW_H_
