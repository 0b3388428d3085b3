#include "storage/store/backup/backup_env.h"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "storage/store/backup/backup_files.h"
#include "storage/store/files/volume.h"
#include "tests/unit/storage/store/files/memory_volume.h"

namespace armature::store::backup_env_test {

// A failed attempt removes the files that it made. A volume that cannot tell whether a file was there before must not
// cost an older backup a file that both share.
TEST(BackupAttempt, KeepsFilesThatMayBeOlder) {
  MemoryDisk disk;
  const std::unique_ptr<Volume> volume = disk.Mount();
  ASSERT_TRUE(volume->MakeDirectories("/backups").ok());
  ASSERT_TRUE(volume->WriteDurably("/backups/shared", "older").ok());
  const BackupObserver nobody;
  BackupWork work(nobody, nullptr);
  BackupAttempt attempt(volume.get(), "/backups", {}, &work, nullptr);
  disk.SetFault([](MemoryDisk::Action action, std::string_view) {
    return action == MemoryDisk::Action::kRead ? absl::UnavailableError("lost") : absl::OkStatus();
  });
  attempt.OnName("/backups/shared");
  EXPECT_TRUE(attempt.OnFile("/backups/shared").ok());
  disk.SetFault(nullptr);
  attempt.OnName("/backups/own");
  ASSERT_TRUE(volume->WriteDurably("/backups/own", "new").ok());
  attempt.Discard();
  EXPECT_EQ(volume->Read("/backups/shared").value_or("gone"), "older");
  EXPECT_FALSE(volume->Exists("/backups/own").value_or(true));
}

}  // namespace armature::store::backup_env_test
