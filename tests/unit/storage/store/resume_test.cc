// A write-ahead log that fails, and requests in progress at that moment.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "rocksdb/env.h"
#include "rocksdb/write_batch.h"
#include "storage/store/rocks_db.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::resume_test {

std::atomic<bool> no_room_to_sync = false;
std::atomic<int> sync_errno = ENOSPC;
std::atomic<bool> truncations_fail = false;
// If positive, so many syncs of manifests succeed before one fails.
std::atomic<int> manifest_syncs_left = 0;
std::atomic<bool> manifests_fail = false;

// So many files of the write-ahead log cannot be made, for want of this.
std::atomic<int> logs_unmade = 0;
std::atomic<int> unmade_errno = ENOSPC;

bool CannotBeMade(const char* path, int flags) {
  return logs_unmade > 0 && (flags & O_CREAT) != 0 && std::string_view(path).ends_with(".log") && logs_unmade-- > 0;
}

bool IsManifest(int descriptor) {
  char name[PATH_MAX] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  return readlink(link.c_str(), name, sizeof(name) - 1) > 0 && strstr(name, "MANIFEST") != nullptr;
}

}  // namespace armature::store::resume_test

// Take the places of the C library's functions for RocksDB.
extern "C" int fdatasync(int descriptor) {
  if (armature::store::resume_test::no_room_to_sync) {
    errno = armature::store::resume_test::sync_errno;
    return -1;
  }
  if (armature::store::resume_test::manifest_syncs_left > 0 && armature::store::resume_test::IsManifest(descriptor) &&
      --armature::store::resume_test::manifest_syncs_left == 0) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fdatasync, descriptor));
}

extern "C" int ftruncate(int descriptor, off_t size) {
  if (armature::store::resume_test::truncations_fail) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(syscall(SYS_ftruncate, descriptor, size));
}

extern "C" int open(const char* path, int flags, ...) {
  if (armature::store::resume_test::CannotBeMade(path, flags)) {
    errno = armature::store::resume_test::unmade_errno;
    return -1;
  }
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

extern "C" ssize_t write(int descriptor, const void* data, size_t size) {
  if (armature::store::resume_test::manifests_fail && armature::store::resume_test::IsManifest(descriptor)) {
    errno = EIO;
    return -1;
  }
  return syscall(SYS_write, descriptor, data, size);
}

namespace armature::store::resume_test {

constexpr absl::Duration kWait = absl::Seconds(60);
constexpr size_t kValueBytes = 100 << 10;

// Limits the size of all files that this process writes.
class FilesAreFull {
 public:
  explicit FilesAreFull(rlim_t bytes_max = kValueBytes / 2) {
    // Otherwise SIGXFSZ ends the process.
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit full = before_;
    full.rlim_cur = bytes_max;
    setrlimit(RLIMIT_FSIZE, &full);
  }
  ~FilesAreFull() { setrlimit(RLIMIT_FSIZE, &before_); }
  FilesAreFull(const FilesAreFull&) = delete;
  FilesAreFull& operator=(const FilesAreFull&) = delete;

 private:
  rlimit before_ = {};
};

// Lets this process open no more files.
class NoDescriptorsLeft {
 public:
  NoDescriptorsLeft() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest_free = dup(0);
    close(lowest_free);
    rlimit none = before_;
    none.rlim_cur = static_cast<rlim_t>(lowest_free);
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptorsLeft() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptorsLeft(const NoDescriptorsLeft&) = delete;
  NoDescriptorsLeft& operator=(const NoDescriptorsLeft&) = delete;

 private:
  rlimit before_ = {};
};

// Keeps RocksDB's flush threads busy.
class FlushThreads {
 public:
  FlushThreads() {
    for (Job& job : jobs_) {
      Schedule([&job, this] {
        job.begun.Notify();
        released_.WaitForNotification();
        job.ended.Notify();
      });
      job.begun.WaitForNotification();
    }
  }
  ~FlushThreads() { Release(); }
  FlushThreads(const FlushThreads&) = delete;
  FlushThreads& operator=(const FlushThreads&) = delete;

  // Returns after the jobs scheduled meanwhile have run.
  void Release() {
    if (released_.HasBeenNotified()) return;
    released_.Notify();
    for (Job& job : jobs_) job.ended.WaitForNotification();
    absl::Notification last;
    Schedule([&last] { last.Notify(); });
    last.WaitForNotification();
  }

 private:
  struct Job {
    absl::Notification begun;
    absl::Notification ended;
  };

  void Schedule(std::function<void()> work) {
    rocksdb::Env::Default()->Schedule(
        [](void* raw) {
          const std::unique_ptr<std::function<void()>> taken(static_cast<std::function<void()>*>(raw));
          (*taken)();
        },
        new std::function<void()>(std::move(work)), rocksdb::Env::HIGH);
  }

  absl::Notification released_;
  std::vector<Job> jobs_{static_cast<size_t>(rocksdb::Env::Default()->GetBackgroundThreads(rocksdb::Env::HIGH))};
};

class ResumeTest : public ::testing::Test {
 protected:
  ResumeTest() {
    Open();
    EXPECT_TRUE(rocks_->CreateFamilies({"a"}).ok());
  }

  void Open() {
    rocks_.reset();
    absl::StatusOr<std::unique_ptr<RocksDb>> opened = RocksDb::Open(options_.path, options_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    rocks_ = *std::move(opened);
  }

  absl::Status Put(int number) {
    rocksdb::WriteBatch batch;
    batch.Put(rocks_->Find("a")->handle(), std::to_string(number), std::string(kValueBytes, 'x'));
    return rocks_->Write(&batch, /*sync=*/false, "put");
  }
  uint64_t ImmutableMemtables() {
    uint64_t count = 0;
    rocks_->db()->GetIntProperty(rocks_->Find("a")->handle(), rocksdb::DB::Properties::kNumImmutableMemTable, &count);
    return count;
  }
  // Puts items until a flush is scheduled. Returns their number.
  int PutUntilFlush() {
    int count = 0;
    while (ImmutableMemtables() == 0) EXPECT_TRUE(Put(count++).ok());
    return count;
  }
  void FailTheLog(int number) {
    const FilesAreFull full;
    const absl::Status failed = Put(number);
    EXPECT_EQ(failed.message(),
              "The server's disk is full: writes are refused until there is space again; reads go on");
    EXPECT_TRUE(rocks_->space()->has_failed());
  }

  const test::TempDir dir_;
  const DatabaseOptions options_ = TestOptions(dir_.path("data"));
  std::unique_ptr<RocksDb> rocks_;
};

// Runs Resume on another thread.
class Resuming {
 public:
  explicit Resuming(RocksDb* rocks)
      : thread_([this, rocks] {
          result_ = rocks->Resume();
          done_.Notify();
        }) {}
  ~Resuming() { thread_.join(); }
  Resuming(const Resuming&) = delete;
  Resuming& operator=(const Resuming&) = delete;

  bool WaitForEnd(absl::Duration time = kWait) { return done_.WaitForNotificationWithTimeout(time); }
  const absl::Status& result() const { return result_; }

 private:
  absl::Status result_;
  absl::Notification done_;
  std::thread thread_;
};

TEST_F(ResumeTest, AFlushThatWasToBeginIsNotForgotten) {
  int count = 0;
  {
    FlushThreads threads;
    count = PutUntilFlush();
    FailTheLog(count);
    threads.Release();
  }
  EXPECT_FALSE(Put(count).ok());
  {
    Resuming resuming(rocks_.get());
    EXPECT_TRUE(resuming.WaitForEnd());
    rocks_->CancelResume();
    EXPECT_TRUE(resuming.result().ok()) << resuming.result();
  }
  EXPECT_FALSE(rocks_->space()->has_failed());
  EXPECT_TRUE(Put(count).ok());
  Open();
  for (int i = 0; i <= count; ++i) EXPECT_TRUE((*rocks_->Get(*rocks_->Find("a"), std::to_string(i))).has_value()) << i;
}

TEST_F(ResumeTest, TheDatabaseCanBeClosedInItsCourse) {
  FlushThreads threads;
  const int count = PutUntilFlush();
  FailTheLog(count);
  {
    Resuming resuming(rocks_.get());
    // The flush is blocked.
    EXPECT_FALSE(resuming.WaitForEnd(absl::Milliseconds(200)));
    rocks_->CancelResume();
    EXPECT_TRUE(resuming.WaitForEnd());
    EXPECT_FALSE(resuming.result().ok());
  }
  EXPECT_TRUE(rocks_->space()->has_failed());
  threads.Release();
  Open();
  for (int i = 0; i < count; ++i) EXPECT_TRUE((*rocks_->Get(*rocks_->Find("a"), std::to_string(i))).has_value()) << i;
  EXPECT_FALSE((*rocks_->Get(*rocks_->Find("a"), std::to_string(count))).has_value());
}

TEST_F(ResumeTest, EachFailureIsFollowedByANewLog) {
  for (int turn = 0; turn < 5; ++turn) {
    ASSERT_TRUE(Put(2 * turn).ok());
    FailTheLog(2 * turn + 1);
    EXPECT_FALSE(rocks_->SyncLog().ok());
    ASSERT_TRUE(rocks_->Resume().ok());
    ASSERT_TRUE(rocks_->SyncLog().ok());
  }
  Open();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ((*rocks_->Get(*rocks_->Find("a"), std::to_string(i))).has_value(), i % 2 == 0) << i;
  }
}

TEST_F(ResumeTest, AManifestThatFailedBehindTheLogIsReplaced) {
  ASSERT_TRUE(Put(0).ok());
  {
    ASSERT_TRUE(Put(1).ok());
    const FilesAreFull full(1);
    no_room_to_sync = true;
    EXPECT_FALSE(rocks_->SyncLog().ok());
    // A creation that was under way. A new one is refused.
    rocksdb::ColumnFamilyHandle* none = nullptr;
    EXPECT_FALSE(rocks_->db()->CreateColumnFamily({}, "b", &none).ok());
    no_room_to_sync = false;
  }
  ASSERT_TRUE(rocks_->space()->has_failed());
  const absl::Status resumed = rocks_->Resume();
  ASSERT_TRUE(resumed.ok()) << resumed;
  const absl::Status created = rocks_->CreateFamilies({"c"});
  EXPECT_TRUE(created.ok()) << created;
  EXPECT_TRUE(Put(2).ok());
  Open();
  EXPECT_NE(rocks_->Find("c"), nullptr);
  for (int i = 0; i <= 2; ++i) EXPECT_TRUE((*rocks_->Get(*rocks_->Find("a"), std::to_string(i))).has_value()) << i;
}

TEST_F(ResumeTest, AFailureRightAfterAResumptionIsResumedToo) {
  ASSERT_TRUE(Put(0).ok());
  FailTheLog(1);
  ASSERT_TRUE(rocks_->Resume().ok());
  FailTheLog(2);
  const absl::Status resumed = rocks_->Resume();
  ASSERT_TRUE(resumed.ok()) << resumed;
  EXPECT_TRUE(Put(3).ok());
  Open();
  for (int i = 0; i <= 3; ++i) EXPECT_EQ((*rocks_->Get(*rocks_->Find("a"), std::to_string(i))).has_value(), i % 3 == 0);
}

TEST_F(ResumeTest, AShortageOfDescriptorsEndsWithoutARestart) {
  int count = 0;
  std::set<int> refused;
  for (int turn = 0; turn < 2; ++turn) {
    {
      const NoDescriptorsLeft none;
      EXPECT_FALSE(CanOpenFiles(1));
      absl::Status put;
      // Fails with the memtable's first change of files.
      while (put.ok()) put = Put(count++);
      EXPECT_EQ(put.message(),
                "The server has no file descriptors left: writes are refused until some are free again; reads go on");
      EXPECT_TRUE(rocks_->space()->lacks_descriptors());
    }
    refused.insert(count - 1);
    EXPECT_TRUE(CanOpenFiles(1));
    const absl::Status resumed = rocks_->Resume();
    ASSERT_TRUE(resumed.ok()) << resumed;
    EXPECT_TRUE(Put(count++).ok());
  }
  Open();
  for (int i = 0; i < count; ++i) {
    if (refused.contains(i)) continue;
    EXPECT_TRUE((*rocks_->Get(*rocks_->Find("a"), std::to_string(i))).has_value()) << i;
  }
}

// A flush opens the file that it has written, and fails there.
// RocksDB 7.8 switches a memtable a second time after a log file could not be made. If ranges were deleted in it, an
// assertion ends the process.
TEST_F(ResumeTest, ALogThatCannotBeMadeWhileRangesAreDeletedIsMadeLater) {
  int count = 0;
  for (const int error : {ENOSPC, EMFILE}) {
    for (const int unmade : {1, 2, 5}) {
      ASSERT_TRUE(Put(count++).ok());
      rocksdb::WriteBatch deletion;
      deletion.Put(rocks_->log()->handle(), "a", "deleted");
      deletion.DeleteRange(rocks_->log()->handle(), "a", "b");
      deletion.Put(rocks_->log()->handle(), "c", "kept");
      ASSERT_TRUE(rocks_->Write(&deletion, /*sync=*/false, "delete").ok());
      unmade_errno = error;
      logs_unmade = unmade;
      static_cast<void>(rocks_->db()->Flush(rocksdb::FlushOptions(), rocks_->log()->handle()));
      EXPECT_FALSE(Put(count).ok());
      EXPECT_TRUE(rocks_->space()->has_failed());
      EXPECT_EQ(rocks_->space()->lacks_descriptors(), error == EMFILE);
      ASSERT_TRUE(Eventually([&] { return rocks_->Resume().ok(); }));
      EXPECT_EQ(logs_unmade, 0);
      ASSERT_TRUE(Put(count++).ok());
      for (int turn = 0; turn < 2; ++turn) {
        EXPECT_FALSE(rocks_->Get(*rocks_->log(), "a")->has_value());
        EXPECT_EQ(rocks_->Get(*rocks_->log(), "c")->value_or(""), "kept");
        for (int i = 0; i < count; ++i) EXPECT_TRUE(rocks_->Get(*rocks_->Find("a"), std::to_string(i))->has_value());
        Open();
      }
    }
  }
}

// The refused record of a log must be cut off durably before a flush makes the log unnecessary for a part of the
// families, also if the log behind it could not be made.
TEST_F(ResumeTest, WithoutALogNothingIsFlushedBeforeARefusedRecordIsCutOff) {
  ASSERT_TRUE(Put(0).ok());
  no_room_to_sync = true;
  rocksdb::WriteBatch refused;
  refused.Put(rocks_->Find("a")->handle(), "refused", "v");
  EXPECT_FALSE(rocks_->Write(&refused, /*sync=*/true, "put").ok());
  EXPECT_FALSE(rocks_->Resume().ok());
  EXPECT_FALSE(rocks_->Resume().ok()) << "the cut cannot be synced";
  no_room_to_sync = false;
  ASSERT_TRUE(Eventually([&] { return rocks_->Resume().ok(); }));
  ASSERT_TRUE(Put(1).ok());
  Open();
  EXPECT_TRUE(rocks_->Get(*rocks_->Find("a"), "0")->has_value());
  EXPECT_TRUE(rocks_->Get(*rocks_->Find("a"), "1")->has_value());
  EXPECT_FALSE(rocks_->Get(*rocks_->Find("a"), "refused")->has_value());
}

TEST_F(ResumeTest, AFlushWithoutDescriptorsIsResumed) {
  int count = 0;
  {
    FlushThreads threads;
    count = PutUntilFlush();
    const NoDescriptorsLeft none;
    threads.Release();
    EXPECT_TRUE(rocks_->space()->lacks_descriptors());
  }
  EXPECT_FALSE(Put(count).ok());
  const absl::Status resumed = rocks_->Resume();
  ASSERT_TRUE(resumed.ok()) << resumed;
  EXPECT_TRUE(Put(count).ok());
  Open();
  for (int i = 0; i <= count; ++i) EXPECT_TRUE((*rocks_->Get(*rocks_->Find("a"), std::to_string(i))).has_value()) << i;
}

// The memtable of the mark was flushed at a moment when the mark could not be rewritten.
TEST_F(ResumeTest, WithoutAMarkTheNextAttemptSucceeds) {
  FailTheLog(0);
  if (!rocks_->Resume().ok()) {
    ASSERT_TRUE(rocks_->space()->has_failed());
    ASSERT_TRUE(rocks_->Resume().ok());
  }
  EXPECT_TRUE(Put(1).ok());
}

// A record that is larger than RocksDB's buffer reaches the file in several parts, and the disk is full in its middle.
TEST_F(ResumeTest, OnlyWholeRecordsCountAsSynced) {
  ASSERT_TRUE(Put(0).ok());
  {
    const FilesAreFull full(size_t{3} << 20);
    rocksdb::WriteBatch batch;
    batch.Put(rocks_->Find("a")->handle(), "large", std::string(size_t{5} << 20, 'x'));
    EXPECT_FALSE(rocks_->Write(&batch, /*sync=*/true, "put").ok());
  }
  // As the end of a flush does.
  ASSERT_TRUE(rocks_->db()->SyncWAL().ok());
  // The process is killed before the memtables are flushed.
  const std::string killed = dir_.path("killed");
  std::filesystem::copy(options_.path, killed, std::filesystem::copy_options::recursive);
  absl::StatusOr<std::unique_ptr<RocksDb>> opened = RocksDb::Open(killed, options_);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_TRUE((*(*opened)->Get(*(*opened)->Find("a"), "0")).has_value());
  EXPECT_FALSE((*(*opened)->Get(*(*opened)->Find("a"), "large")).has_value());
}

// Two families get the same value in one batch.
class RefusedBatchTest : public ResumeTest {
 protected:
  RefusedBatchTest() { EXPECT_TRUE(rocks_->CreateFamilies({"b"}).ok()); }

  absl::Status PutBoth(const std::string& value) {
    rocksdb::WriteBatch batch;
    for (const char* family : {"a", "b"}) batch.Put(rocks_->Find(family)->handle(), "key", value);
    return rocks_->Write(&batch, /*sync=*/true, "put");
  }
  void RefuseBoth(const std::string& value) {
    no_room_to_sync = true;
    EXPECT_FALSE(PutBoth(value).ok());
    no_room_to_sync = false;
    EXPECT_TRUE(rocks_->space()->has_failed());
  }
  void ExpectBoth(const std::string& value) {
    for (const char* family : {"a", "b"}) EXPECT_EQ(**rocks_->Get(*rocks_->Find(family), "key"), value) << family;
  }
};

TEST_F(RefusedBatchTest, IsNotThereAfterARestart) {
  ASSERT_TRUE(PutBoth("first").ok());
  RefuseBoth("refused");
  Open();
  ExpectBoth("first");
}

TEST_F(RefusedBatchTest, KeepsWhatWasWrittenBeforeItWithoutASync) {
  ASSERT_TRUE(PutBoth("first").ok());
  ASSERT_TRUE(Put(0).ok());
  RefuseBoth("refused");
  Open();
  ExpectBoth("first");
  EXPECT_TRUE((*rocks_->Get(*rocks_->Find("a"), "0")).has_value());
}

// The families are flushed one after the other, and the process ends between two of them.
TEST_F(RefusedBatchTest, IsNotReplayedForAPartOfItsFamilies) {
  for (int manifest_syncs = 1; manifest_syncs <= 8; ++manifest_syncs) {
    const std::string value = "value " + std::to_string(manifest_syncs);
    ASSERT_TRUE(PutBoth(value).ok());
    RefuseBoth("refused");
    manifest_syncs_left = manifest_syncs;
    static_cast<void>(rocks_->Resume());
    manifest_syncs_left = 0;
    Open();
    ExpectBoth(value);
  }
}

TEST_F(RefusedBatchTest, IsCutOffDurablyBeforeWritesGoOn) {
  ASSERT_TRUE(PutBoth("first").ok());
  no_room_to_sync = true;
  EXPECT_FALSE(PutBoth("refused").ok());
  EXPECT_FALSE(rocks_->Resume().ok());
  no_room_to_sync = false;
  const absl::Status resumed = rocks_->Resume();
  ASSERT_TRUE(resumed.ok()) << resumed;
  ExpectBoth("first");
  ASSERT_TRUE(PutBoth("second").ok());
  Open();
  ExpectBoth("second");
}

TEST_F(ResumeTest, ASyncOfAcknowledgedWritesThatFailsRefusesNone) {
  ASSERT_TRUE(Put(0).ok());
  ASSERT_TRUE(Put(1).ok());
  no_room_to_sync = true;
  EXPECT_FALSE(rocks_->SyncLog().ok());
  no_room_to_sync = false;
  Open();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE((*rocks_->Get(*rocks_->Find("a"), std::to_string(i))).has_value()) << i;
}

// RocksDB begins a new manifest after a failed one, which fails too, and takes the one before it for obsolete.
TEST_F(ResumeTest, TheManifestInUseIsNotDeleted) {
  ASSERT_TRUE(Put(0).ok());
  ASSERT_TRUE(rocks_->CreateFamilies({"b", "c"}).ok());
  manifests_fail = true;
  EXPECT_FALSE(rocks_->DropFamilies({"b", "c"}).ok());
  // As a backup does that ends then.
  EXPECT_TRUE(rocks_->db()->DisableFileDeletions().ok());
  EXPECT_TRUE(rocks_->db()->EnableFileDeletions(/*force=*/true).ok());
  manifests_fail = false;
  Open();
  ASSERT_NE(rocks_, nullptr);
  EXPECT_TRUE((*rocks_->Get(*rocks_->Find("a"), "0")).has_value());
}

TEST_F(ResumeTest, AFamilyThatCouldNotBeDroppedIsDroppedLater) {
  ASSERT_TRUE(Put(0).ok());
  {
    const FilesAreFull full(10);
    EXPECT_FALSE(rocks_->DropFamilies({"a"}).ok());
  }
  if (rocks_->space()->has_failed()) {
    ASSERT_TRUE(rocks_->Resume().ok());
  }
  const absl::Status dropped = rocks_->DropFamilies({"a"});
  ASSERT_TRUE(dropped.ok()) << dropped;
  EXPECT_EQ(rocks_->Find("a"), nullptr);
  Open();
  EXPECT_EQ(rocks_->Find("a"), nullptr);
}

}  // namespace armature::store::resume_test
