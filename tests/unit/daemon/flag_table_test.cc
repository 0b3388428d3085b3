#include "daemon/flag_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "daemon/flags.h"
#include "gmock/gmock.h"
#include "storage/base/strings.h"

namespace armature::daemon::flag_table_test {

using testing::StartsWith;

// The value that `text` sets, as a text, or the fault.
std::string Reread(const FlagRow& row, std::string_view text) {
  Config config = DefaultConfig();
  const absl::Status set = SetFlag(row, text, &config);
  return set.ok() ? FlagText(row, config) : std::string(set.message());
}

bool HasLimits(const FlagRow& row) { return !row.values.range.maximum.empty(); }

// Counts, bytes or nanoseconds.
int64_t Number(const FlagRow& row, std::string_view text) {
  const Unit& unit = row.values.unit;
  return (unit.measure == Measure::kTime ? ParseTime(text, unit.plain) : ParseSize(text, unit.plain)).value();
}

// Text of a number of counts, bytes or nanoseconds, in the unit of the row.
std::string TextOf(const FlagRow& row, int64_t number) {
  const Unit& unit = row.values.unit;
  return unit.plain == 0 ? absl::FormatDuration(absl::Nanoseconds(number)) : std::to_string(number / unit.plain);
}

// A value that is not the default.
std::string OtherValue(const FlagRow& row) {
  static const auto& values = *new std::map<std::string_view, std::string>{
      {"durability", "interval:7"},   {"disk_reserve", "7%"},         {"http_hosts", "a.test,b.test"},
      {"index_updates", "logged"},    {"index_reads", "settled"},     {"cors_origins", "https://a.test"},
      {"advertise", "a.test"},        {"stream_shards", "8"},         {"export_dir", "/out"},
      {"import_dir", "/in"},          {"grpc_listen", "unix:/run/a"}, {"http_listen", "[::1]:7"},
      {"metrics_listen", "a.test:7"}, {"listen", "127.0.0.1:7"},      {"console", "read-only"},
      {"log_level", "warning"},       {"log_format", "json"}};
  if (const auto value = values.find(row.name); value != values.end()) return value->second;
  if (IsSwitch(row)) return row.values.initial == "true" ? "false" : "true";
  return HasLimits(row) ? std::string(row.values.range.maximum) : "text";
}

TEST(FlagTable, NamesAreUniqueAndGroupsAreWhole) {
  std::set<std::string_view> names;
  std::set<std::string_view> groups;
  std::string_view group;
  for (const FlagRow& row : FlagTable()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(FindFlag(row.name), &row);
    if (row.group != group) {
      EXPECT_TRUE(groups.insert(row.group).second) << row.name << " is apart from its group";
    }
    group = row.group;
    EXPECT_FALSE(row.name.starts_with("no")) << row.name << " would be taken for a switch that is turned off";
    EXPECT_EQ(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos) << row.name;
  }
  EXPECT_EQ(FindFlag("no_such_flag"), nullptr);
}

TEST(FlagTable, EveryFlagIsExplained) {
  for (const FlagRow& row : FlagTable()) {
    EXPECT_TRUE(row.help.ends_with('.')) << row.name;
    EXPECT_EQ(row.values.unit.placeholder.empty(), IsSwitch(row)) << row.name;
  }
}

TEST(FlagTable, DefaultsAreValidAndPrintedAsTheyAreWritten) {
  for (const FlagRow& row : FlagTable()) EXPECT_EQ(Reread(row, row.values.initial), row.values.initial) << row.name;
}

TEST(FlagTable, EveryFlagHasAMemberOfItsOwn) {
  for (const FlagRow& row : FlagTable()) {
    const std::string value = OtherValue(row);
    Config config = DefaultConfig();
    ASSERT_TRUE(SetFlag(row, value, &config).ok()) << row.name << "=" << value;
    EXPECT_EQ(FlagText(row, config), value) << row.name;
    for (const FlagRow& other : FlagTable()) {
      if (&other != &row) {
        EXPECT_EQ(FlagText(other, config), other.values.initial) << row.name << " set " << other.name;
      }
    }
  }
}

TEST(FlagTable, NumbersHaveLimits) {
  for (const FlagRow& row : FlagTable()) {
    if (!HasLimits(row)) continue;
    const Range& range = row.values.range;
    EXPECT_EQ(Reread(row, range.minimum), range.minimum) << row.name;
    EXPECT_EQ(Reread(row, range.maximum), range.maximum) << row.name;
    if (range.or_zero) {
      EXPECT_EQ(Reread(row, "0"), "0") << row.name;
    }
    const int64_t step = std::max<int64_t>(row.values.unit.plain, 1);
    for (const int64_t number : {Number(row, range.minimum) - step, Number(row, range.maximum) + step}) {
      const std::string text = TextOf(row, number);
      EXPECT_THAT(Reread(row, text), StartsWith("must be between ")) << row.name << "=" << text;
    }
    for (const std::string& text : {std::string(), std::string("x"), std::string("-1h"), std::string("-1K"),
                                    std::string(30, '9'), Cat(range.maximum, ".5"), Cat(range.maximum, "_")}) {
      EXPECT_THAT(Reread(row, text), StartsWith("must be ")) << row.name << "=" << text;
    }
  }
}

// The members of a numeric type are those of flags with limits.
TEST(FlagTable, OnlyNumbersAndAllOfThemHaveLimits) {
  for (const FlagRow& row : FlagTable()) {
    const bool is_number = std::holds_alternative<MemberOf<int64_t>>(row.member) ||
                           std::holds_alternative<MemberOf<uint32_t>>(row.member) ||
                           std::holds_alternative<MemberOf<uint64_t>>(row.member) ||
                           std::holds_alternative<MemberOf<absl::Duration>>(row.member);
    EXPECT_EQ(HasLimits(row), is_number) << row.name;
  }
}

TEST(FlagTable, EveryNumberWithinTheLimitsIsPrintedAsItIsRead) {
  std::mt19937_64 random(7);
  for (const FlagRow& row : FlagTable()) {
    if (!HasLimits(row)) continue;
    const int64_t step = row.values.unit.plain == 0 ? kMillisecond : row.values.unit.plain;
    std::uniform_int_distribution<int64_t> numbers(Number(row, row.values.range.minimum) / step,
                                                   Number(row, row.values.range.maximum) / step);
    for (int i = 0; i < 100; ++i) {
      const std::string text = TextOf(row, numbers(random) * step);
      EXPECT_EQ(Reread(row, text), text) << row.name;
    }
  }
}

TEST(FlagTable, AnyTextIsRefusedOrPrintedAsOneWithTheSameMeaning) {
  constexpr std::string_view kPieces[] = {"",     "0",     "1",         "-",    "9999999999", "18446744073709551616",
                                          ".5",   "5",     "K",         "G",    "T",          "s",
                                          "ms",   "h",     "inf",       "%",    ",",          ":",
                                          "x",    " ",     "://",       "off",  "auto",       "interval:",
                                          "true", "/",     "[",         "e",    "+",          "0x",
                                          "us",   "unix:", "localhost", "http", "\n"};
  std::mt19937_64 random(11);
  std::uniform_int_distribution<size_t> pieces(0, std::size(kPieces) - 1);
  for (int i = 0; i < 1000; ++i) {
    std::string text;
    for (int n = 0; n < 4; ++n) text += kPieces[pieces(random)];
    for (const FlagRow& row : FlagTable()) {
      Config config;
      const absl::Status set = SetFlag(row, text, &config);
      if (!set.ok()) {
        ASSERT_TRUE(set.message().substr(0, 8) == "must be ") << row.name << "=" << text << ": " << set;
        continue;
      }
      const std::string printed = FlagText(row, config);
      ASSERT_EQ(Reread(row, printed), printed) << row.name << "=" << text;
    }
  }
}

TEST(FlagTable, TheFileThatIsPrintedHasTheSameMeaning) {
  Config config = DefaultConfig();
  for (const FlagRow& row : FlagTable()) ASSERT_TRUE(SetFlag(row, OtherValue(row), &config).ok()) << row.name;
  const std::string text = ConfigText(config);
  const absl::StatusOr<std::vector<ConfigLine>> lines = ParseConfigText(text);
  ASSERT_TRUE(lines.ok()) << lines.status();
  Config reread = DefaultConfig();
  for (const ConfigLine& line : *lines) {
    const FlagRow& row = *FindFlag(line.name);
    EXPECT_NE(row.group, kCommandLineGroup) << line.name;
    ASSERT_TRUE(SetFlag(row, line.value, &reread).ok()) << line.name;
    EXPECT_EQ(FlagText(row, reread), OtherValue(row));
  }
  EXPECT_EQ(ConfigText(reread), text);
}

}  // namespace armature::daemon::flag_table_test
