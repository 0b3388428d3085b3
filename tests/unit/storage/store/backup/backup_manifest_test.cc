#include "storage/store/backup/backup_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "storage/base/strings.h"
#include "tests/support/test_data.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/store/backup/backup_test_util.h"

namespace armature::store::backup_manifest_test {

using absl::StatusCode;
using testing::HasSubstr;

BackupManifest ExampleManifest() {
  BackupManifest manifest;
  manifest.entry.id = 3;
  manifest.entry.started_ms = 1'700'000'000'123;
  manifest.entry.finished_ms = 1'700'000'004'567;
  manifest.entry.database_id = "5b1d6a3e-8c1f-4f0e-9a58-3f4f0c2b7d11";
  manifest.entry.format_version = 1;
  manifest.entry.size_bytes = 4100;
  manifest.entry.added_bytes = 16;
  manifest.entry.file_count = 2;
  manifest.entry.note = std::string("n\0\n", 3);
  manifest.engine_id = 2;
  manifest.meta_bytes = 9;
  manifest.meta_checksum = BackupChecksum("some meta");
  manifest.files = {{"private/2/CURRENT", 16, 4'294'967'295}, {"shared_checksum/000008_sABC_4084.sst", 4084, 0}};
  return manifest;
}

TEST(BackupManifest, HasTheBytesOfTheFormat) {
  const std::string golden = ReadBytes(test::TestDataPath("format/v1/backup_manifest.golden"));
  EXPECT_EQ(EncodeBackupManifest(ExampleManifest()), golden);
  const absl::StatusOr<BackupManifest> parsed = ParseBackupManifest(golden);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(EncodeBackupManifest(*parsed), golden);
  EXPECT_EQ(parsed->entry.file_count, 2u);
  EXPECT_EQ(parsed->entry.note, std::string("n\0\n", 3));
}

TEST(BackupManifest, EveryOtherByteIsRefused) {
  codec::ForEachDamage(EncodeBackupManifest(ExampleManifest()), [](std::string_view bytes) {
    const absl::Status status = ParseBackupManifest(bytes).status();
    ASSERT_EQ(status.code(), StatusCode::kDataLoss) << bytes;
  });
}

// Parses a manifest with a valid checksum.
absl::Status ParseText(const std::string& text) {
  return ParseBackupManifest(Cat(text, "checksum: ", BackupChecksum(text), "\n")).status();
}

std::string TextWithout(std::string_view line) {
  std::string text = EncodeBackupManifest(ExampleManifest());
  text.resize(text.rfind("checksum: "));
  const size_t at = text.find(Cat("\n", line)) + 1;
  return text.erase(at, text.find('\n', at) + 1 - at);
}

TEST(BackupManifest, LinesThatAreMissingOrMeanNothingAreRefused) {
  for (const std::string_view line : {"format", "backup", "engine", "database", "data_format", "meta"}) {
    EXPECT_EQ(ParseText(TextWithout(line)).code(), StatusCode::kDataLoss) << line;
    EXPECT_EQ(ParseText(Cat(TextWithout(line), line, ": \n")).code(), StatusCode::kDataLoss) << line;
  }
  const std::string text = TextWithout("size_bytes");
  EXPECT_TRUE(ParseText(text).ok());
  EXPECT_TRUE(ParseText(text + "later: of a newer build\n").ok());
  for (const std::string_view line : {"file: 1 2", "file: x 2 a", "file: 1 x a", "file: 1 2 /a", "file: 1 2 ../a", "x",
                                      "backup: 3x", "started_ms: 99999999999999999999"}) {
    EXPECT_EQ(ParseText(Cat(text, line, "\n")).code(), StatusCode::kDataLoss) << line;
  }
  const absl::Status newer = ParseText(text + "format: 2\n");
  EXPECT_EQ(newer.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(Sv(newer.message())), HasSubstr("has format 2; this build"));
}

TEST(EngineMeta, FilesAreReadAsRocksWritesThem) {
  const auto files =
      ParseEngineMeta("1700000000\n77\nmetadata 00FF\n2\nprivate/1/CURRENT crc32 12\nprivate/1/MANIFEST-5 crc32 0\n");
  ASSERT_TRUE(files.ok()) << files.status();
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ(files->front().name, "private/1/CURRENT");
  EXPECT_EQ(files->front().crc32c, 12u);
  for (const std::string_view other :
       {"", "1\n", "1\n2\n", "1\n2\n0\n", "1\n2\n2\na crc32 1\n", "1\n2\n1\na crc32 1\nb crc32 1\n",
        "1\n2\n1\na crc32\n", "1\n2\n1\na crc32 x\n", "1\n2\n1\na xxh 1\n", "1\n2\n1\n/a crc32 1\n",
        "1\n2\n1\na crc32 1", "schema_version 2.0\n1\n2\n1\na crc32 1\n"}) {
    EXPECT_EQ(ParseEngineMeta(other).status().code(), StatusCode::kDataLoss) << other;
  }
}

TEST(EngineMeta, ACopyWithoutManifestIsNoBackup) {
  for (const std::string_view text : {"1\n2\n2\nprivate/1/CURRENT crc32 12\nshared/a crc32 0\n",
                                      "1\n2\n2\nprivate/1/MANIFEST-5 crc32 12\nshared/a crc32 0\n"}) {
    EXPECT_EQ(ParseEngineMeta(text).status().code(), StatusCode::kDataLoss) << text;
  }
}

}  // namespace armature::store::backup_manifest_test
