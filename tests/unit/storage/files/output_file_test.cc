#include "storage/files/output_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/files/input_file.h"
#include "tests/unit/storage/files/files_test_util.h"

namespace armature::files {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

using OutputFileTest = FilesTest;

// The digests are those of md5sum and sha256sum.
TEST_F(OutputFileTest, KnowsSizeAndDigest) {
  for (const bool with_md5 : {false, true}) {
    const auto file = OutputFile::Create(Path("a"), Compression::kNone, {.with_md5 = with_md5});
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE((*file)->Write("ab").ok());
    ASSERT_TRUE((*file)->Write("c").ok());
    const auto finished = (*file)->Finish();
    ASSERT_TRUE(finished.ok()) << finished.status();
    EXPECT_EQ(finished->bytes, 3);
    EXPECT_EQ(finished->md5_base64, with_md5 ? "kAFQmDzST7DWlj99KOF/cg==" : "");
    EXPECT_EQ(finished->sha256, with_md5 ? "" : "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(Read(Path("a")), "abc");
  }
}

TEST_F(OutputFileTest, DigestsAreThoseOfTheCompressedBytes) {
  for (const Compression compression : {Compression::kGzip, Compression::kZstd}) {
    for (const bool with_md5 : {false, true}) {
      const auto file = OutputFile::Create(Path("a"), compression, {.with_md5 = with_md5});
      ASSERT_TRUE(file.ok() && (*file)->Write(std::string(300'000, 'x')).ok());
      const auto finished = (*file)->Finish();
      ASSERT_TRUE(finished.ok()) << finished.status();
      const std::string content = Read(Path("a"));
      EXPECT_EQ(finished->bytes, static_cast<int64_t>(content.size()));
      Sha256Stream sha256;
      Md5Stream md5;
      sha256.Add(content);
      md5.Add(content);
      if (with_md5) {
        EXPECT_EQ(finished->md5_base64, md5.Base64());
      } else {
        EXPECT_EQ(finished->sha256, sha256.Hex());
      }
    }
  }
}

TEST_F(OutputFileTest, HasItsNameOnlyWhenItIsWhole) {
  {
    const auto file = OutputFile::Create(Path("a"), Compression::kZstd);
    ASSERT_TRUE(file.ok() && (*file)->Write("half").ok());
    EXPECT_TRUE(fs::exists(Path("a.part")));
    EXPECT_FALSE(fs::exists(Path("a")));
  }
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(OutputFileTest, ReplacesWhatAnInterruptedProcessLeft) {
  Write("elsewhere", "kept");
  fs::create_symlink(Path("elsewhere"), Path("a.part"));
  Write("a", "old");
  const auto file = OutputFile::Create(Path("a"), Compression::kNone, {.mode = 0600});
  ASSERT_TRUE(file.ok() && (*file)->Write("new").ok());
  EXPECT_EQ(Read(Path("a")), "old");
  ASSERT_TRUE((*file)->Finish().ok());
  EXPECT_EQ(Read(Path("a")), "new");
  EXPECT_EQ(Read(Path("elsewhere")), "kept");
  struct stat status = {};
  ASSERT_EQ(lstat(Path("a").c_str(), &status), 0);
  EXPECT_TRUE(S_ISREG(status.st_mode));
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
}

TEST_F(OutputFileTest, ErrorsNameTheFile) {
  const absl::Status nowhere = OutputFile::Create(Path("no/where"), Compression::kNone).status();
  EXPECT_EQ(nowhere.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(nowhere.message()), HasSubstr("/no/where: No such file"));
  // A directory that is in the way is not removed.
  fs::create_directories(Path("b.part/full"));
  EXPECT_THAT(std::string(OutputFile::Create(Path("b"), Compression::kNone).status().message()), HasSubstr("/b: File"));
  EXPECT_TRUE(fs::exists(Path("b.part/full")));
  EXPECT_EQ(SyncDirectory(Path("no")).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(SyncDirectory(directory_).ok());
}

}  // namespace
}  // namespace armature::files
