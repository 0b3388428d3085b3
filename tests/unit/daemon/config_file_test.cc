#include "daemon/config_file.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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
