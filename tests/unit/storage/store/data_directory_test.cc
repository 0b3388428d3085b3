#include "storage/store/data_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::data_directory_test {

using testing::HasSubstr;

void WriteFile(const std::string& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

std::string ReadFile(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

unsigned ModeOf(const std::string& path) {
  return static_cast<unsigned>(std::filesystem::status(path).permissions()) & 07777;
}

TEST(DataDirectory, FreshOneIsMadeWithAnIdOfItsOwn) {
  const test::TempDir dir;
  const auto opened = DataDirectory::Open(LocalVolume(), dir.path("a/b"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->database_id().size(), 36u);
  EXPECT_EQ((*opened)->db_path(), dir.path("a/b") + "/db");
  EXPECT_EQ(ReadFile(dir.path("a/b") + "/armature.format"),
            "armature database\nformat: 7\ndatabase: " + (*opened)->database_id() + "\n");
}

TEST(DataDirectory, OlderFormatIsRaisedWhenAsked) {
  const test::TempDir dir;
  std::filesystem::create_directory(dir.path("data"));
  const std::string old = "armature database\nnote: hello\nformat: 1\ndatabase: abc\nlogs: 1\n";
  WriteFile(dir.path("data/armature.format"), old);
  const auto opened = DataDirectory::Open(LocalVolume(), dir.path("data"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->format_version(), 1);
  EXPECT_EQ(ReadFile(dir.path("data/armature.format")), old) << "a start may still fail";
  ASSERT_TRUE((*opened)->RaiseFormat().ok());
  EXPECT_EQ((*opened)->format_version(), 7);
  EXPECT_EQ(ReadFile(dir.path("data/armature.format")),
            "armature database\nnote: hello\nformat: 7\ndatabase: abc\nlogs: 1\n");
}

TEST(DataDirectory, NeedsAnEpochUnlessItIsWhereItWas) {
  const test::TempDir dir;
  const auto needs_epoch = [&](const char* name) {
    const auto opened = DataDirectory::Open(LocalVolume(), dir.path(name));
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() && (*opened)->needs_epoch();
  };
  {
    const auto opened = DataDirectory::Open(LocalVolume(), dir.path("data"));
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_TRUE((*opened)->needs_epoch()) << "it is new";
    ASSERT_TRUE((*opened)->FinishCreation().ok());
  }
  EXPECT_TRUE(needs_epoch("data")) << "the first start did not finish";
  ASSERT_TRUE((*DataDirectory::Open(LocalVolume(), dir.path("data")))->MarkPlace().ok());
  EXPECT_FALSE(needs_epoch("data"));
  EXPECT_EQ(ModeOf(dir.path("data/armature.place")), 0600u);
  std::filesystem::rename(dir.path("data"), dir.path("moved"));
  EXPECT_FALSE(needs_epoch("moved")) << "moved within its file system";
  std::filesystem::copy(dir.path("moved"), dir.path("data"), std::filesystem::copy_options::recursive);
  EXPECT_TRUE(needs_epoch("data"));
  EXPECT_FALSE(needs_epoch("moved"));
  // As `cp -a` and `rsync` of an older copy into the directory, which has been started since.
  ASSERT_TRUE((*DataDirectory::Open(LocalVolume(), dir.path("moved")))->MarkPlace().ok());
  EXPECT_FALSE(needs_epoch("moved"));
  WriteFile(dir.path("moved/armature.place"), ReadFile(dir.path("data/armature.place")));
  EXPECT_TRUE(needs_epoch("moved"));
  ASSERT_TRUE((*DataDirectory::Open(LocalVolume(), dir.path("moved")))->MarkPlace().ok());
  std::filesystem::remove(dir.path("moved/armature.place"));
  EXPECT_TRUE(needs_epoch("moved"));
  ASSERT_TRUE((*DataDirectory::Open(LocalVolume(), dir.path("moved")))->MarkPlace().ok());
  ASSERT_TRUE((*DataDirectory::Open(LocalVolume(), dir.path("moved")))->ForgetPlace().ok());
  EXPECT_TRUE(needs_epoch("moved"));
}

TEST(DataDirectory, AnUpgradeNeedsNoEpoch) {
  const test::TempDir dir;
  std::filesystem::create_directory(dir.path("data"));
  WriteFile(dir.path("data/armature.format"), "armature database\nformat: 6\ndatabase: abc\nlogs: 1\n");
  {
    const auto opened = DataDirectory::Open(LocalVolume(), dir.path("data"));
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_FALSE((*opened)->needs_epoch());
    ASSERT_TRUE((*opened)->MarkPlace().ok());
    ASSERT_TRUE((*opened)->RaiseFormat().ok());
  }
  EXPECT_FALSE((*DataDirectory::Open(LocalVolume(), dir.path("data")))->needs_epoch());
}

TEST(DataDirectory, FreshOneIsForItsOwnerOnly) {
  const test::TempDir dir;
  const mode_t given = umask(0);
  ASSERT_TRUE(DataDirectory::Open(LocalVolume(), dir.path("data")).ok());
  umask(given);
  EXPECT_EQ(ModeOf(dir.path("data")), 0700u);
  for (const std::string_view file : {kDataFormatFile, kDataLockFile, kDataNewFile}) {
    EXPECT_EQ(ModeOf(dir.path("data") + std::string(file)), 0600u) << file;
  }
}

TEST(DataDirectory, ExistingOneKeepsItsMode) {
  const test::TempDir dir;
  ASSERT_TRUE(DataDirectory::Open(LocalVolume(), dir.path("data")).ok());
  std::filesystem::permissions(dir.path("data"), std::filesystem::perms(0750));
  testing::internal::CaptureStderr();
  ASSERT_TRUE(DataDirectory::Open(LocalVolume(), dir.path("data")).ok());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("other users may access the data directory path=" + dir.path("data") +
                        " mode=0750; run: chmod 700 " + dir.path("data")));
  EXPECT_EQ(ModeOf(dir.path("data")), 0750u);
}

TEST(DataDirectory, ReopenedOneKeepsItsId) {
  const test::TempDir dir;
  const std::string id = (*DataDirectory::Open(LocalVolume(), dir.path("data")))->database_id();
  const auto again = DataDirectory::Open(LocalVolume(), dir.path("data"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ((*again)->database_id(), id);
}

TEST(DataDirectory, SecondOpenIsRefusedWhileTheFirstLives) {
  const test::TempDir dir;
  auto first = DataDirectory::Open(LocalVolume(), dir.path("data"));
  ASSERT_TRUE(first.ok());
  const auto second = DataDirectory::Open(LocalVolume(), dir.path("data"));
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(dir.path("data") + " is in use by another process"));
  first->reset();
  EXPECT_TRUE(DataDirectory::Open(LocalVolume(), dir.path("data")).ok());
}

struct RefusedCase {
  std::string_view format_file;
  std::string_view text;
};
constexpr RefusedCase kRefused[] = {
    {"armature database\nformat: 8\ndatabase: x\n", "has format 8; this build reads formats up to 7"},
    {"armature database\nformat: 999\ndatabase: x\n", "use a newer armatured"},
    {"armature database\ndatabase: x\n", "is damaged"},
    {"armature database\nformat: 1\n", "is damaged"},
    {"armature database\nformat: 0\ndatabase: x\n", "is damaged"},
    {"armature database\nformat: one\ndatabase: x\n", "is damaged"},
    {"armature database\n", "is damaged"},
    {"", "is not the format file"},
    {"\n", "is not the format file"},
    {"something else\nformat: 1\ndatabase: x\n", "is not the format file"},
};

TEST(DataDirectory, NewerDamagedAndForeignFormatFilesAreRefusedAndNotTouched) {
  for (const RefusedCase& c : kRefused) {
    const test::TempDir dir;
    std::filesystem::create_directory(dir.path("data"));
    WriteFile(dir.path("data/armature.format"), c.format_file);
    const auto opened = DataDirectory::Open(LocalVolume(), dir.path("data"));
    EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition) << c.format_file;
    EXPECT_THAT(std::string(opened.status().message()), HasSubstr(std::string(c.text)));
    EXPECT_THAT(std::string(opened.status().message()), HasSubstr(dir.path("data")));
    EXPECT_EQ(ReadFile(dir.path("data/armature.format")), c.format_file);
  }
}

TEST(DataDirectory, UnknownLinesAreIgnored) {
  const test::TempDir dir;
  std::filesystem::create_directory(dir.path("data"));
  WriteFile(dir.path("data/armature.format"), "armature database\nnote: hello\nformat: 1\nwhat\ndatabase: abc\n");
  const auto opened = DataDirectory::Open(LocalVolume(), dir.path("data"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->database_id(), "abc");
}

TEST(DataDirectory, DirectoryOfSomethingElseIsRefusedAndNotTouched) {
  const test::TempDir dir;
  std::filesystem::create_directory(dir.path("data"));
  WriteFile(dir.path("data/precious"), "data");
  const auto opened = DataDirectory::Open(LocalVolume(), dir.path("data"));
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("not ours"));
  EXPECT_FALSE(std::filesystem::exists(dir.path("data/LOCK")));
  EXPECT_EQ(ReadFile(dir.path("data/precious")), "data");
}

// Leftovers of a start that ended before its format file was complete.
TEST(DataDirectory, LeftoversOfACutOffStartAreTakenOver) {
  for (const std::vector<std::string>& leftovers :
       {std::vector<std::string>{"LOCK"}, std::vector<std::string>{"LOCK", "armature.format.new"}}) {
    const test::TempDir dir;
    std::filesystem::create_directory(dir.path("data"));
    for (const std::string& file : leftovers) WriteFile(dir.path("data/" + file), "");
    const auto opened = DataDirectory::Open(LocalVolume(), dir.path("data"));
    EXPECT_TRUE(opened.ok()) << opened.status();
    EXPECT_FALSE(std::filesystem::exists(dir.path("data/armature.format.new")));
  }
}

TEST(DataDirectory, PathThatIsAFileIsUnavailable) {
  const test::TempDir dir;
  WriteFile(dir.path("data"), "file");
  EXPECT_EQ(DataDirectory::Open(LocalVolume(), dir.path("data")).status().code(), absl::StatusCode::kUnavailable);
}

TEST(DataDirectory, UuidsAreOfVersionFourAndDiffer) {
  const std::string a = RandomUuid();
  EXPECT_EQ(a.size(), 36u);
  EXPECT_EQ(a[14], '4');
  EXPECT_THAT("89ab", HasSubstr(std::string(1, a[19])));
  EXPECT_NE(a, RandomUuid());
}

}  // namespace armature::store::data_directory_test
