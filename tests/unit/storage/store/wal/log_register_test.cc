#include "storage/store/wal/log_register.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "rocksdb/write_batch.h"
#include "storage/store/wal/sync_mark.h"
#include "tests/support/temp_dir.h"

namespace armature::store::log_register_test {

constexpr LogName kLog = {LogKind::kWriteAhead, 12};
constexpr LogName kManifest = {LogKind::kManifest, 12};

class LogRegisterTest : public testing::Test {
 protected:
  void Reopen() {
    register_.reset();
    auto opened = LogRegister::Open(LocalVolume(), path_, LogRegister::Access::kCreate);
    ASSERT_TRUE(opened.ok()) << opened.status();
    register_ = *std::move(opened);
  }
  void SetUp() override { Reopen(); }

  const test::TempDir dir_;
  const std::string path_ = dir_.path("logs");
  std::unique_ptr<LogRegister> register_;
};

TEST_F(LogRegisterTest, EntriesSurvive) {
  ASSERT_TRUE(register_->Add(kLog).ok());
  ASSERT_TRUE(register_->Add(kManifest).ok());
  register_->SetSynced(kLog, 700);
  register_->SetSynced(kLog, 600);  // older news
  register_->Abandon(kManifest);
  Reopen();
  const auto entries = register_->entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries.at(kLog).synced, 700u);
  EXPECT_FALSE(entries.at(kLog).is_abandoned);
  EXPECT_TRUE(entries.at(kManifest).is_abandoned);
  ASSERT_TRUE(register_->Remove(kLog).ok());
  ASSERT_TRUE(register_->Remove(kLog).ok());
  Reopen();
  EXPECT_EQ(register_->entries().count(kLog), 0u);
}

TEST_F(LogRegisterTest, AccessForReadingChangesNothing) {
  const auto opened = LogRegister::Open(LocalVolume(), path_, LogRegister::Access::kRead);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_FALSE((*opened)->Add(kLog).ok());
  Reopen();
  EXPECT_TRUE(register_->entries().empty());
}

TEST_F(LogRegisterTest, BootIsKept) {
  EXPECT_EQ(register_->boot(), 0u);
  ASSERT_TRUE(register_->SetBoot(7).ok());
  ASSERT_TRUE(register_->SetBoot(5).ok());
  ASSERT_TRUE(register_->Add(kLog).ok());
  Reopen();
  EXPECT_EQ(register_->boot(), 5u);
  EXPECT_EQ(register_->entries().size(), 1u);
  EXPECT_NE(LocalVolume()->boot(), 0u);
  EXPECT_EQ(LocalVolume()->boot(), LocalVolume()->boot());
}

TEST_F(LogRegisterTest, PlacesAreUsedAgainAndMoreAreMade) {
  for (uint64_t i = 0; i < 1100; ++i) {
    ASSERT_TRUE(register_->Add({LogKind::kWriteAhead, i}).ok());
    if (i >= 10) {
      ASSERT_TRUE(register_->Remove({LogKind::kWriteAhead, i - 10}).ok());
    }
  }
  const auto size = std::filesystem::file_size(path_);
  EXPECT_EQ(size, 1025u * 32);
  for (uint64_t i = 0; i < 1030; ++i) ASSERT_TRUE(register_->Add({LogKind::kManifest, i}).ok());
  Reopen();
  EXPECT_EQ(register_->entries().size(), 1040u);
}

TEST_F(LogRegisterTest, DamagedEntryIsDropped) {
  ASSERT_TRUE(register_->Add(kLog).ok());
  ASSERT_TRUE(register_->Add(kManifest).ok());
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(32 + 9);
    file.put('x');
  }
  Reopen();
  const auto entries = register_->entries();
  EXPECT_EQ(entries.size(), 1u);
  EXPECT_TRUE(entries.contains(kManifest));
}

TEST_F(LogRegisterTest, OtherFilesAreRefused) {
  std::ofstream(path_, std::ios::trunc) << "something else";
  const auto opened = LogRegister::Open(LocalVolume(), path_, LogRegister::Access::kCreate);
  EXPECT_EQ(opened.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(LogRegister::Open(LocalVolume(), dir_.path("none"), LogRegister::Access::kRead).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(LogName, FileNames) {
  EXPECT_EQ(FileName(kLog), "000012.log");
  EXPECT_EQ(FileName({LogKind::kManifest, 1234567}), "MANIFEST-1234567");
  for (const LogName name : {kLog, kManifest, LogName{LogKind::kWriteAhead, 12345678}}) {
    LogName parsed;
    ASSERT_TRUE(ParseLogName("/some/where/" + FileName(name), &parsed));
    EXPECT_TRUE(parsed == name);
  }
  LogName parsed;
  for (const std::string_view other :
       {"", ".log", "x.log", "1x.log", "MANIFEST-", "MANIFEST-1x", "LOG", "000012.sst"}) {
    EXPECT_FALSE(ParseLogName(other, &parsed)) << other;
  }
}

TEST(SyncMark, IsFoundInABatch) {
  rocksdb::WriteBatch batch;
  EXPECT_FALSE(FindSyncMark(batch.Data()).has_value());
  batch.Put("key", "value");
  batch.PutLogData("of another program");
  batch.PutLogData(EncodeSyncMark({{7, 0x10203}, true}));
  const std::optional<SyncMark> mark = FindSyncMark(batch.Data());
  ASSERT_TRUE(mark.has_value());
  EXPECT_TRUE(mark->synced == (LogPosition{7, 0x10203}));
  EXPECT_TRUE(mark->is_unsynced_acknowledged);
  EXPECT_FALSE(FindSyncMark("short").has_value());
}

// The bytes of docs/reference/format.md.
TEST(SyncMark, Format) {
  EXPECT_EQ(EncodeSyncMark({{2, 3}, false}),
            std::string("arm\x01\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03", 21));
}

TEST(LogRegisterFormat, Format) {
  const test::TempDir dir;
  const auto opened = LogRegister::Open(LocalVolume(), dir.path("logs"), LogRegister::Access::kCreate);
  ASSERT_TRUE((*opened)->Add(kManifest).ok());
  (*opened)->SetSynced(kManifest, 0x102);
  (*opened)->Abandon(kManifest);
  std::ostringstream all;
  all << std::ifstream(dir.path("logs"), std::ios::binary).rdbuf();
  ASSERT_TRUE((*opened)->SetBoot(0x304).ok());
  std::ostringstream with_boot;
  with_boot << std::ifstream(dir.path("logs"), std::ios::binary).rdbuf();
  EXPECT_EQ(with_boot.str().substr(64, 24), std::string("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x03\x04\0\0\0\0\0\0\0\x03", 24));
  EXPECT_EQ(all.str().substr(0, 56), "armature logs 1\n                " +
                                         std::string("\0\0\0\0\0\0\0\x0c\0\0\0\0\0\0\x01\x02\0\0\0\0\0\0\x01\x02", 24));
}

}  // namespace armature::store::log_register_test
