#include "daemon/flags.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace armature::daemon::flag_help_test {

using testing::HasSubstr;

TEST(FlagHelp, HasGroupsWithUnitsAndDefaults) {
  EXPECT_EQ(FlagHelp({{"cache_mb", {"Block cache.", "256"}},
                      {"data_dir", {"Where the data are.", ""}},
                      {"insecure", {"Anybody may.", "false"}}}),
            "\nData:\n  --data_dir=DIRECTORY\n      Where the data are.\n"
            "\nSecurity:\n  --insecure  (default false)\n      Anybody may.\n"
            "\nResources:\n  --cache_mb=MIB  (default 256)\n      Block cache.\n");
}

TEST(FlagHelp, AFlagWithoutAGroupIsNotLost) {
  EXPECT_EQ(FlagHelp({{"new_flag", {"Something.", "7"}}}), "\nOthers:\n  --new_flag  (default 7)\n      Something.\n");
}

TEST(FlagHelp, LinesAreWrappedBetweenWords) {
  const std::string word(40, 'w');
  EXPECT_THAT(FlagHelp({{"config", {word + " " + word + " " + word, ""}}}),
              HasSubstr("\n      " + word + " " + word + "\n      " + word + "\n"));
}

}  // namespace armature::daemon::flag_help_test

namespace armature::daemon::config_file_test {

std::string Shown(std::string_view text) {
  const absl::StatusOr<std::vector<ConfigLine>> lines = ParseConfigText(text);
  if (!lines.ok()) return std::string(lines.status().message());
  std::string shown;
  for (const ConfigLine& line : *lines) {
    shown += std::to_string(line.number) + " [" + line.name + "] [" + line.value + "]\n";
  }
  return shown;
}

TEST(ConfigFile, LinesAreNamesAndValues) {
  EXPECT_EQ(Shown("data_dir = /var/lib/armature\n\n# a note\n  cache_mb=64  \r\nmore = a = b # c"),
            "1 [data_dir] [/var/lib/armature]\n4 [cache_mb] [64]\n5 [more] [a = b # c]\n");
}

TEST(ConfigFile, AValueMayBeEmpty) { EXPECT_EQ(Shown("audit_log =\n"), "1 [audit_log] []\n"); }

TEST(ConfigFile, NothingIsInAnEmptyText) { EXPECT_EQ(Shown(""), ""); }

TEST(ConfigFile, FaultsAreToldWithTheirLine) {
  EXPECT_EQ(Shown("a = 1\nsomething"), "line 2: expected 'name = value'");
  EXPECT_EQ(Shown("--a = 1"), "line 1: '--a' is not the name of a flag; write it without dashes");
  EXPECT_EQ(Shown(" = 1"), "line 1: '' is not the name of a flag; write it without dashes");
  EXPECT_EQ(Shown("a = 1\n\na = 2"), "line 3: 'a' comes for the second time");
}

TEST(ConfigFile, AFileThatIsNotThereIsNamed) {
  const auto lines = ReadConfigFile("/no/such/file");
  ASSERT_FALSE(lines.ok());
  EXPECT_EQ(lines.status().message(), "cannot read /no/such/file: No such file or directory");
}

}  // namespace armature::daemon::config_file_test
