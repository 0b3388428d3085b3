#include "tools/armature/tables/used_table.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "storage/base/strings.h"

namespace armature::cli::used_table_test {

class UsedTableTest : public testing::Test {
 protected:
  UsedTableTest() : state_(Cat(testing::TempDir(), "used_table_", testing::UnitTest::GetInstance()->random_seed())) {
    std::filesystem::remove_all(state_);
    setenv("XDG_STATE_HOME", state_.c_str(), 1);
  }
  ~UsedTableTest() override {
    unsetenv("XDG_STATE_HOME");
    std::filesystem::remove_all(state_);
  }

  Session SessionOf(const std::string& endpoint) {
    Session::Options options;
    options.endpoint = endpoint;
    return {options, out_, out_, false};
  }

  const std::string state_;
  std::ostringstream out_;
};

TEST_F(UsedTableTest, EachEndpointHasItsTable) {
  EXPECT_EQ(UsedTable(SessionOf("a:1")), std::nullopt);
  ASSERT_TRUE(SetUsedTable(SessionOf("a:1"), "Orders").ok());
  ASSERT_TRUE(SetUsedTable(SessionOf("unix:/run/armature.sock"), "Music").ok());
  EXPECT_EQ(UsedTable(SessionOf("a:1")), "Orders");
  EXPECT_EQ(UsedTable(SessionOf("unix:/run/armature.sock")), "Music");
  EXPECT_EQ(UsedTable(SessionOf("b:1")), std::nullopt);
}

TEST_F(UsedTableTest, AnEmptyNameForgets) {
  ASSERT_TRUE(SetUsedTable(SessionOf("a:1"), "Orders").ok());
  ASSERT_TRUE(SetUsedTable(SessionOf("a:1"), "").ok());
  EXPECT_EQ(UsedTable(SessionOf("a:1")), std::nullopt);
  EXPECT_TRUE(SetUsedTable(SessionOf("a:1"), "").ok()) << "nothing is left to forget";
}

TEST_F(UsedTableTest, EndpointsCannotLeaveTheDirectory) {
  ASSERT_TRUE(SetUsedTable(SessionOf("../../x"), "Orders").ok());
  EXPECT_EQ(UsedTable(SessionOf("../../x")), "Orders");
  EXPECT_FALSE(std::filesystem::exists(Cat(state_, "/x")));
}

TEST_F(UsedTableTest, AFileThatHoldsNoNameIsIgnored) {
  ASSERT_TRUE(SetUsedTable(SessionOf("a:1"), "Orders").ok());
  for (const char* const content : {"", "two words\n", "\x1b[31m\n"}) {
    std::ofstream(Cat(state_, "/armature/used-table/a:1"), std::ios::trunc) << content;
    EXPECT_EQ(UsedTable(SessionOf("a:1")), std::nullopt) << content;
  }
}

TEST_F(UsedTableTest, ADirectoryThatCannotBeMadeIsAnError) {
  std::ofstream(state_) << "a file";
  const absl::Status status = SetUsedTable(SessionOf("a:1"), "Orders");
  EXPECT_EQ(ExitCodeOf(status), ExitCode::kInputError);
  EXPECT_EQ(UsedTable(SessionOf("a:1")), std::nullopt);
}

}  // namespace armature::cli::used_table_test
