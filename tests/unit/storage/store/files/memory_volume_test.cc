// Crashes and faults of the volume in memory, beyond the contract of volumes.

#include "tests/unit/storage/store/files/memory_volume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "rocksdb/file_system.h"
#include "storage/base/strings.h"
#include "storage/store/files/volume.h"

namespace armature::store {
namespace {

using rocksdb::FileOptions;
using rocksdb::IOOptions;

std::unique_ptr<rocksdb::FSWritableFile> NewLog(Volume* volume) {
  std::unique_ptr<rocksdb::FSWritableFile> file;
  EXPECT_TRUE(volume->file_system()->NewWritableFile("/log", FileOptions(), &file, nullptr).ok());
  return file;
}

TEST(MemoryVolume, ACrashDropsContentAndNamesThatWereNotSynced) {
  MemoryDisk disk;
  const auto before = disk.Mount();
  ASSERT_TRUE(before->WriteDurably("/a", "1").ok());
  const auto log = NewLog(before.get());
  ASSERT_TRUE(log->Append("synced, but without a name", IOOptions(), nullptr).ok());
  ASSERT_TRUE(log->Sync(IOOptions(), nullptr).ok());
  ASSERT_TRUE(before->Remove("/a").ok());
  disk.Crash();
  const auto after = disk.Mount();
  EXPECT_THAT(*after->List("/"), testing::ElementsAre("a"));
  EXPECT_NE(after->boot(), before->boot());
}

TEST(MemoryVolume, ACrashKeepsAChosenPartOfATail) {
  MemoryDisk disk;
  const auto before = disk.Mount();
  const auto log = NewLog(before.get());
  ASSERT_TRUE(log->Append("synced|", IOOptions(), nullptr).ok());
  ASSERT_TRUE(log->Sync(IOOptions(), nullptr).ok());
  ASSERT_TRUE(before->SyncDirectory("/").ok());
  ASSERT_TRUE(log->Append("torn", IOOptions(), nullptr).ok());
  disk.Crash([](std::string_view path, uint64_t synced, uint64_t written) {
    EXPECT_EQ(path, "/log");
    EXPECT_EQ(written, 11u);
    return synced + 2;
  });
  EXPECT_EQ(*disk.Mount()->Read("/log"), "synced|to");
}

TEST(MemoryVolume, NothingOfBeforeACrashChangesIt) {
  MemoryDisk disk;
  const auto before = disk.Mount();
  ASSERT_TRUE(before->WriteDurably("/a", "1").ok());
  const auto log = NewLog(before.get());
  const auto opened = before->Open("/a", Volume::Access::kChange);
  disk.Crash();
  EXPECT_FALSE(log->Append("x", IOOptions(), nullptr).ok());
  EXPECT_FALSE((*opened)->WriteAt(0, "2").ok());
  EXPECT_FALSE(before->WriteDurably("/b", "2").ok());
  EXPECT_FALSE(before->Remove("/a").ok());
  EXPECT_FALSE(before->Exists("/a").ok());
  EXPECT_EQ(*disk.Mount()->Read("/a"), "1");
}

TEST(MemoryVolume, ActionsFailOnDemand) {
  using Action = MemoryDisk::Action;
  MemoryDisk disk;
  const auto volume = disk.Mount();
  ASSERT_TRUE(volume->WriteDurably("/a", "1").ok());
  for (const Action failing : {Action::kRead, Action::kWrite, Action::kSync, Action::kName, Action::kSyncNames}) {
    disk.SetFault([failing](Action action, std::string_view path) {
      return action == failing ? absl::UnavailableError(Cat("no ", path)) : absl::OkStatus();
    });
    EXPECT_EQ(volume->Read("/a").ok(), failing != Action::kRead);
    EXPECT_EQ(volume->WriteDurably("/a", "2").ok(), failing == Action::kRead);
    disk.SetFault(nullptr);
  }
  EXPECT_TRUE(volume->Read("/a").ok());
  EXPECT_THAT(*volume->List("/"), testing::ElementsAre("a"));
}

}  // namespace
}  // namespace armature::store
