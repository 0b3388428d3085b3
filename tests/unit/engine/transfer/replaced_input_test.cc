// Files and directories of jobs that are replaced while the jobs run.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>

#include "tests/unit/engine/transfer/transfer_test_util.h"

namespace armature::engine::transfer_test {

using ::testing::HasSubstr;

// A listed file is replaced while the job runs and reads the first one.
class ReplacedInput : public TransferTest {
 protected:
  ReplacedInput() {
    WriteInput("a/1", LinesOf(0, 10));
    WriteInput("a/b/2", LinesOf(10, 20));
    fs::create_directories(files_.path("elsewhere"));
    std::ofstream(files_.path("elsewhere/2")) << absl::BytesToHexString(ItemOf(50)) << "\n";
  }
  // Runs an import, and a bulk put, during which `replace` is called.
  void ExpectFailures(const std::function<void()>& replace, std::string_view reason) {
    const std::shared_ptr<Gate> gate = StopAtRecord(5);
    const absl::StatusOr<TransferRecord> started = Import(ImportOf("New"));
    CreateTable("Tab", 0);
    const absl::StatusOr<TransferRecord> second = Bulk(BulkOf("Tab"));
    gate->AwaitReached();
    replace();
    gate->Open();
    const TransferRecord record = AwaitEnd(started);
    EXPECT_EQ(record.failure_code, "InputChanged");
    EXPECT_THAT(record.failure_message, HasSubstr(std::string(reason)));
    EXPECT_TRUE(engine().WaitForTableGone("New").ok());
    AwaitEnd(second);
  }
};

TEST_F(ReplacedInput, ASymbolicLinkIsNotFollowed) {
  ExpectFailures(
      [this] {
        fs::remove(In("bucket/a/b/2"));
        fs::create_symlink(files_.path("elsewhere/2"), In("bucket/a/b/2"));
      },
      "The file a/b/2 has changed since the job began: its path leads over a symbolic link or a file");
}

TEST_F(ReplacedInput, ADirectoryThatIsASymbolicLinkIsNotFollowed) {
  ExpectFailures(
      [this] {
        fs::rename(In("bucket/a/b"), files_.path("moved"));
        fs::create_directory_symlink(files_.path("elsewhere"), In("bucket/a/b"));
      },
      "leads over a symbolic link");
}

TEST_F(ReplacedInput, ABucketThatIsReplacedIsNotEntered) {
  const std::shared_ptr<Gate> gate = StopAtRecord(5);
  const absl::StatusOr<TransferRecord> started = Import(ImportOf("New"));
  gate->AwaitReached();
  fs::rename(In("bucket"), In("old"));
  fs::create_directories(files_.path("elsewhere/a/b"));
  std::ofstream(files_.path("elsewhere/a/b/2")) << absl::BytesToHexString(ItemOf(50)) << "\n";
  fs::create_directory_symlink(files_.path("elsewhere"), In("bucket"));
  gate->Open();
  EXPECT_EQ(AwaitEnd(started).state, TransferState::kCompleted);
  EXPECT_EQ(CountOf("New"), 20u);
}

TEST_F(ReplacedInput, AnotherFileIsNotRead) {
  ExpectFailures(
      [this] {
        WriteInput("other", LinesOf(10, 20));
        fs::rename(In("bucket/other"), In("bucket/a/b/2"));
      },
      "another file has its name");
}

TEST_F(ReplacedInput, AMissingFileFailsTheJob) {
  ExpectFailures([this] { fs::remove(In("bucket/a/b/2")); }, "it is gone");
}

TEST_F(ReplacedInput, ATruncatedFileFailsTheJob) {
  ExpectFailures([this] { fs::resize_file(In("bucket/a/b/2"), fs::file_size(In("bucket/a/b/2")) / 2); },
                 " bytes instead of ");
}

TEST_F(ReplacedInput, AFileThatIsTruncatedWhileItIsReadFailsTheJob) {
  ExpectFailures([this] { fs::resize_file(In("bucket/a/1"), 40); }, "it has 40 bytes instead of ");
}

TEST_F(ReplacedInput, AFileThatGrowsFailsTheJob) {
  ExpectFailures([this] { std::ofstream(In("bucket/a/1"), std::ios::app) << "x\n"; }, "bytes instead of");
}

TEST_F(ReplacedInput, APipeIsNotWaitedFor) {
  ExpectFailures(
      [this] {
        fs::remove(In("bucket/a/b/2"));
        ASSERT_EQ(mkfifo(In("bucket/a/b/2").c_str(), 0600), 0);
      },
      "another file has its name");
}

TEST_F(ReplacedInput, FilesThatAreMissingAfterARestartFailTheJob) {
  const std::shared_ptr<Gate> gate = StopAtRecord(5);
  const absl::StatusOr<TransferRecord> started = Import(ImportOf("New"));
  gate->AwaitReached();
  fs::remove(In("bucket/a/b/2"));
  RestartAt(gate.get());
  EXPECT_EQ(AwaitEnd(started).failure_code, "InputChanged");
}

// An export that goes on writes into its own directory, whatever has its path.
TEST_F(TransferTest, AnExportDoesNotFollowLinksThatReplaceItsDirectories) {
  CreateTable("Tab", 10);
  fs::create_directories(files_.path("elsewhere"));
  std::ofstream(files_.path("elsewhere/kept")) << "kept";
  const std::shared_ptr<Gate> gate = StopAtAppend(5);
  const absl::StatusOr<TransferRecord> started = Export(ExportOf("Tab"));
  gate->AwaitReached();
  const fs::path directory = Out(Cat("bucket/a/b/AWSDynamoDB/", TransferIdOf(started->arn)));
  fs::rename(directory / "data", directory / "moved");
  fs::create_directory_symlink(files_.path("elsewhere"), directory / "data");
  gate->Open();
  EXPECT_EQ(AwaitEnd(started).state, TransferState::kCompleted);
  EXPECT_EQ(std::distance(fs::directory_iterator(files_.path("elsewhere")), fs::directory_iterator()), 1);
  EXPECT_FALSE(fs::is_empty(directory / "moved"));
}

}  // namespace armature::engine::transfer_test
