#include "daemon/log_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "storage/base/strings.h"

namespace armature::daemon::log_lines_test {

TEST(LogLines, EachLineOfAnEntryHasItsPriority) {
  EXPECT_EQ(WithPriorities(LogLevel::kInfo, "a"), "<6>a\n");
  EXPECT_EQ(WithPriorities(LogLevel::kWarning, "a\nb"), "<4>a\n<4>b\n");
  EXPECT_EQ(WithPriorities(LogLevel::kError, ""), "<3>\n");
  EXPECT_EQ(WithPriorities(LogLevel::kFatal, "a"), "<2>a\n");
}

TEST(LogLines, TheJournalIsTheFileThatSystemdNames) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(pipe(ends), 0);
  struct stat file {};
  ASSERT_EQ(fstat(ends[1], &file), 0);
  const std::string name = Cat(file.st_dev, ":", file.st_ino);
  EXPECT_TRUE(IsJournal(name.c_str(), ends[1]));
  // A service may send its standard error to a file; the variable then names standard output.
  EXPECT_FALSE(IsJournal(Cat(file.st_dev, ":", file.st_ino + 1).c_str(), ends[1]));
  EXPECT_FALSE(IsJournal("", ends[1]));
  EXPECT_FALSE(IsJournal(nullptr, ends[1]));
  close(ends[0]);
  close(ends[1]);
  EXPECT_FALSE(IsJournal(name.c_str(), ends[1]));
}

TEST(LogLines, JsonIsOneObjectOnOneLine) {
  const absl::Time time = absl::FromUnixMicros(1'700'000'000'123'456);
  EXPECT_EQ(LogLineJson(LogLevel::kWarning, time, "server.cc:7", 42, "say \"a\"\nand b"),
            R"({"time":"2023-11-14T22:13:20.123456Z","level":"warning","thread":42,"source":"server.cc:7",)"
            R"("message":"say \"a\"\nand b"})");
  EXPECT_EQ(LogLineJson(LogLevel::kError, time, "", 0, "end"),
            R"({"time":"2023-11-14T22:13:20.123456Z","level":"error","message":"end"})");
}

TEST(LogLines, JsonTakesAnyBytes) {
  const absl::Time time = absl::UnixEpoch();
  EXPECT_THAT(LogLineJson(LogLevel::kInfo, time, "", 0, "gr\xc3\xbc\xc3\x9f"),
              testing::HasSubstr("gr\xc3\xbc\xc3\x9f"));
  EXPECT_THAT(LogLineJson(LogLevel::kInfo, time, "", 0,
                          "a\xff"
                          "b"),
              testing::HasSubstr("\"a?b\""));
}

}  // namespace armature::daemon::log_lines_test
