#include "daemon/flag_row.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <type_traits>

#include "absl/strings/match.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr std::string_view kSizeUnits = "KMGT";

// The product, or the limit of the type that it exceeds.
int64_t Times(int64_t number, int64_t factor) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(number, factor, &product)) return product;
  return number < 0 ? -kLargest : kLargest;
}

// The whole number that `text` begins with; removes it from `text`.
std::optional<int64_t> TakeNumber(std::string_view* text) {
  int64_t number = 0;
  const auto [rest, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) number = text->starts_with('-') ? -kLargest : kLargest;
  text->remove_prefix(static_cast<size_t>(rest - text->data()));
  return number;
}

std::optional<bool> ParseSwitch(std::string_view text) {
  const auto is_one_of = [text](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [text](std::string_view word) { return absl::EqualsIgnoreCase(Av(text), Av(word)); });
  };
  if (is_one_of({"true", "t", "yes", "y", "1"})) return true;
  if (is_one_of({"false", "f", "no", "n", "0"})) return false;
  return std::nullopt;
}

// The number in counts, bytes or nanoseconds. Absent if `text` is no number, or not a whole one in its unit.
std::optional<int64_t> ParseNumber(const Unit& unit, std::string_view text) {
  std::optional<int64_t> number;
  switch (unit.measure) {
    case Measure::kCount:
      number = TakeNumber(&text);
      return text.empty() ? number : std::nullopt;
    case Measure::kSize:
      number = ParseSize(text, unit.plain);
      break;
    case Measure::kTime:
      number = ParseTime(text, unit.plain);
      break;
  }
  const bool is_limit = number.has_value() && (*number == kLargest || *number == -kLargest);
  if (number.has_value() && !is_limit && unit.plain != 0 && *number % unit.plain != 0) return std::nullopt;
  return number;
}

std::string NumberText(const Unit& unit, int64_t number) {
  if (unit.measure == Measure::kTime && unit.plain == 0) {
    return absl::FormatDuration(absl::Nanoseconds(number));
  }
  return std::to_string(number / unit.plain);
}

// For messages: the numbers that a flag takes.
std::string Limits(const FlagRow& row) {
  return Cat("between ", row.values.range.minimum, " and ", row.values.range.maximum,
             row.values.unit.name.empty() ? "" : " ", row.values.unit.name, row.values.range.or_zero ? ", or 0" : "");
}

// For messages: how numbers are written.
std::string NumberForm(const Unit& unit) {
  if (unit.measure == Measure::kCount) return "a whole number";
  const std::string_view units =
      unit.measure == Measure::kSize ? "a size such as 512M or 2G" : "a time such as 30s or 2h";
  if (unit.plain == 0) return std::string(units);
  return Cat("a whole number of ", unit.name, ", or ", units, ",");
}

absl::StatusOr<int64_t> ReadNumber(const FlagRow& row, std::string_view text) {
  const std::optional<int64_t> number = ParseNumber(row.values.unit, text);
  if (!number.has_value()) {
    return absl::InvalidArgumentError(Cat("must be ", NumberForm(row.values.unit), " ", Limits(row)));
  }
  const bool is_zero = *number == 0 && row.values.range.or_zero;
  const bool is_in_range = *number >= ParseNumber(row.values.unit, row.values.range.minimum).value_or(kLargest) &&
                           *number <= ParseNumber(row.values.unit, row.values.range.maximum).value_or(0);
  if (!is_zero && !is_in_range) return absl::InvalidArgumentError(Cat("must be ", Limits(row)));
  return *number;
}

// Sets the member of a row; one function for each kind of member.
struct Setter {
  const FlagRow& row;
  std::string_view text;
  Config* config;

  absl::Status operator()(MemberOf<bool> of) const {
    const std::optional<bool> value = ParseSwitch(text);
    if (!value.has_value()) return absl::InvalidArgumentError("must be true or false");
    *of(*config) = *value;
    return absl::OkStatus();
  }
  absl::Status operator()(MemberOf<std::string> of) const {
    *of(*config) = std::string(text);
    return absl::OkStatus();
  }
  absl::Status operator()(const CheckedText& checked) const {
    if (!checked.is_valid(text)) return absl::InvalidArgumentError(Av(checked.allowed));
    *checked.of(*config) = std::string(text);
    return absl::OkStatus();
  }
  absl::Status operator()(const Form* form) const {
    return form->set(text, config) ? absl::OkStatus() : absl::InvalidArgumentError(Av(form->allowed));
  }
  template <class T>
  absl::Status operator()(MemberOf<T> of) const {
    const absl::StatusOr<int64_t> number = ReadNumber(row, text);
    if (!number.ok()) return number.status();
    if constexpr (std::is_same_v<T, absl::Duration>) {
      *of(*config) = absl::Nanoseconds(*number);
    } else {
      *of(*config) = static_cast<T>(row.values.unit.measure == Measure::kTime ? *number / kMillisecond : *number);
    }
    return absl::OkStatus();
  }
};

struct Printer {
  const FlagRow& row;
  Config* config;

  std::string operator()(MemberOf<bool> of) const { return *of(*config) ? "true" : "false"; }
  std::string operator()(MemberOf<std::string> of) const { return *of(*config); }
  std::string operator()(const CheckedText& checked) const { return *checked.of(*config); }
  std::string operator()(const Form* form) const { return form->text(*config); }
  template <class T>
  std::string operator()(MemberOf<T> of) const {
    if constexpr (std::is_same_v<T, absl::Duration>) {
      return NumberText(row.values.unit, absl::ToInt64Nanoseconds(*of(*config)));
    } else {
      const auto number = static_cast<int64_t>(*of(*config));
      return NumberText(row.values.unit, row.values.unit.measure == Measure::kTime ? number * kMillisecond : number);
    }
  }
};

}  // namespace

bool IsSwitch(const FlagRow& row) { return std::holds_alternative<MemberOf<bool>>(row.member); }

absl::Status SetFlag(const FlagRow& row, std::string_view text, Config* config) {
  return std::visit(Setter{row, text, config}, row.member);
}

std::string FlagText(const FlagRow& row, const Config& config) {
  Config copy = config;  // members are reached as what can be changed
  return std::visit(Printer{row, &copy}, row.member);
}

std::string RangeText(const FlagRow& row) {
  if (row.values.range.maximum.empty()) return "";
  return Cat(row.values.range.minimum, " to ", row.values.range.maximum, row.values.range.or_zero ? ", or 0" : "");
}

std::optional<int64_t> ParseSize(std::string_view text, int64_t plain) {
  const std::optional<int64_t> number = TakeNumber(&text);
  if (!number.has_value() || text.size() > 1) return std::nullopt;
  if (text.empty()) return Times(*number, plain);
  const size_t place = kSizeUnits.find(text[0]);
  if (place == std::string_view::npos) return std::nullopt;
  return Times(*number, int64_t{1} << (10 * (place + 1)));
}

std::optional<int64_t> ParseTime(std::string_view text, int64_t plain) {
  std::string_view rest = text;
  const std::optional<int64_t> number = TakeNumber(&rest);
  if (number.has_value() && rest.empty() && plain != 0) return Times(*number, plain);
  absl::Duration time;
  if (!absl::ParseDuration(Av(text), &time)) return std::nullopt;
  if (time == absl::InfiniteDuration()) return kLargest;
  return std::max(absl::ToInt64Nanoseconds(time), -kLargest);
}

std::string SizeText(uint64_t bytes) {
  size_t place = 0;
  while (bytes != 0 && place < kSizeUnits.size() && bytes % 1024 == 0) {
    bytes /= 1024;
    ++place;
  }
  return Cat(bytes, place == 0 ? std::string_view() : kSizeUnits.substr(place - 1, 1));
}

}  // namespace armature::daemon
