#include "daemon/auth/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "absl/time/clock.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "tests/support/temp_dir.h"

namespace armature::daemon::audit_log_test {

class AuditLogTest : public testing::Test {
 protected:
  std::string Path(std::string_view name) const { return directory_.path(name); }
  std::string Read(std::string_view name) const {
    std::ifstream in(Path(name));
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

  const test::TempDir directory_;
};

AuditRecord About(std::string_view table) {
  return {.principal = "AK", .peer = "p", .operation = "CreateTable", .table = table, .result = absl::OkStatus()};
}

TEST(AuditLine, IsJsonWhateverItIsAbout) {
  const absl::Time time = absl::FromUnixMicros(1'762'257'600'000'001);
  EXPECT_EQ(AuditLine(About("orders"), time),
            R"({"time":"2025-11-04T12:00:00.000001Z","principal":"AK","peer":"p","operation":"CreateTable",)"
            R"("table":"orders","result":"OK"})"
            "\n");
  const std::string odd("a\"b\\c\nd\0\xC3\xA4\x7F", 11);
  EXPECT_NE(AuditLine(About(odd), time).find(R"("table":"a\"b\\c?d????",)"), std::string::npos);
  EXPECT_LT(AuditLine(About(std::string(100'000, 'x')), time).size(), 1300u);
  AuditRecord failed = About("orders");
  failed.result = ResourceInUseError("secret text");
  EXPECT_NE(AuditLine(failed, time).find(R"("result":"ResourceInUseException"})"), std::string::npos);
  failed.result = absl::DataLossError("secret text");
  EXPECT_NE(AuditLine(failed, time).find(R"("result":"InternalServerError"})"), std::string::npos);
}

TEST_F(AuditLogTest, AppendsInOrder) {
  std::ofstream(Path("audit")) << "before\n";
  {
    const auto log = AuditLog::Open(Path("audit"));
    ASSERT_TRUE(log.ok());
    for (int i = 0; i < 100; ++i) (*log)->Record(About(Cat("t", i)));
  }
  std::istringstream lines(Read("audit"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "before");
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_NE(line.find(Cat("\"table\":\"t", i, "\"")), std::string::npos) << line;
  }
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(AuditLogTest, RefusalsOfStrangersAreWrittenAtALimitedRate) {
  constexpr int kRefusals = 20'000;
  {
    const auto log = AuditLog::Open(Path("log"));
    ASSERT_TRUE(log.ok()) << log.status();
    AuditRecord refused = About("orders");
    refused.principal = "";
    refused.result = ResourceInUseError("no");
    for (int i = 0; i < kRefusals; ++i) (*log)->Record(refused);
    for (int i = 0; i < 3; ++i) (*log)->Record(About("mine"));
    EXPECT_EQ((*log)->lost_lines(), 0u);
  }
  const std::string text = Read("log");
  const auto lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  EXPECT_GE(lines, 1003);
  EXPECT_LT(lines, kRefusals / 2);
  size_t mine = 0;
  for (size_t at = 0; (at = text.find("mine", at)) != std::string::npos; ++at) ++mine;
  EXPECT_EQ(mine, 3u);
}

TEST_F(AuditLogTest, ReopenDividesTheLines) {
  {
    const auto log = AuditLog::Open(Path("audit"));
    ASSERT_TRUE(log.ok());
    (*log)->Record(About("first"));
    std::filesystem::rename(Path("audit"), Path("audit.1"));
    (*log)->Reopen();
    (*log)->Record(About("second"));
  }
  EXPECT_NE(Read("audit.1").find("first"), std::string::npos);
  EXPECT_EQ(Read("audit.1").find("second"), std::string::npos);
  EXPECT_NE(Read("audit").find("second"), std::string::npos);
}

TEST_F(AuditLogTest, KeepsTheOldFileIfTheNewOneCannotBeOpened) {
  std::filesystem::create_directory(Path("d"));
  {
    const auto log = AuditLog::Open(Path("d/audit"));
    ASSERT_TRUE(log.ok());
    std::filesystem::rename(Path("d"), Path("e"));
    (*log)->Reopen();
    (*log)->Record(About("after"));
  }
  EXPECT_NE(Read("e/audit").find("after"), std::string::npos);
  EXPECT_FALSE(AuditLog::Open(Path("d/audit")).ok());
}

TEST_F(AuditLogTest, AFifoThatNobodyReadsIsAnError) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  const auto log = AuditLog::Open(Path("fifo"));
  EXPECT_FALSE(log.ok());
  const int reader = open(Path("fifo").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(AuditLog::Open(Path("fifo")).ok());
  close(reader);
}

TEST_F(AuditLogTest, LinesThatCannotBeWrittenAreCounted) {
  const auto log = AuditLog::Open("/dev/full");
  ASSERT_TRUE(log.ok());
  (*log)->Record(About("a"));
  (*log)->Record(About("b"));
  const absl::Time give_up = absl::Now() + absl::Seconds(30);
  while ((*log)->lost_lines() < 2 && absl::Now() < give_up) std::this_thread::yield();
  EXPECT_EQ((*log)->lost_lines(), 2u);
}

}  // namespace armature::daemon::audit_log_test
