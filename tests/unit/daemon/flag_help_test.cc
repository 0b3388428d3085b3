#include "daemon/flag_help.h"

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
