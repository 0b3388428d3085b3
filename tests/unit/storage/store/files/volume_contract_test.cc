// The contract of storage/store/files/volume.h, on every kind of volume.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "storage/base/strings.h"
#include "storage/store/files/no_wait_reads.h"
#include "storage/store/files/volume.h"
#include "tests/support/random.h"
#include "tests/unit/storage/store/files/volume_kinds.h"

namespace armature::store {
namespace {

using rocksdb::FileOptions;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr size_t kMiB = size_t{1} << 20;

class VolumeContract : public testing::TestWithParam<VolumeKind> {
 protected:
  Volume* volume() { return under_test_->volume(); }
  rocksdb::FileSystem* files() { return volume()->file_system().get(); }
  std::string Path(std::string_view name) const { return Cat(under_test_->root(), "/", name); }

  void Write(std::string_view name, std::string_view text) {
    const absl::Status written = volume()->WriteDurably(Path(name), text);
    EXPECT_TRUE(written.ok()) << written;
  }
  std::string Text(std::string_view name) {
    const absl::StatusOr<std::string> text = volume()->Read(Path(name));
    return text.ok() ? *text : std::string(Sv(text.status().ToString()));
  }
  std::vector<std::string> Names(std::string_view directory = "") {
    const auto names = volume()->List(Path(directory));
    EXPECT_TRUE(names.ok()) << names.status();
    return names.ok() ? *names : std::vector<std::string>();
  }
  bool Exists(std::string_view name) {
    const absl::StatusOr<bool> exists = volume()->Exists(Path(name));
    EXPECT_TRUE(exists.ok()) << exists.status();
    return exists.value_or(false);
  }
  void SyncNames(std::string_view directory = "") { EXPECT_TRUE(volume()->SyncDirectory(Path(directory)).ok()); }

  // A file as RocksDB writes it.
  std::unique_ptr<rocksdb::FSWritableFile> NewFile(std::string_view name) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    const IOStatus made = files()->NewWritableFile(Path(name), FileOptions(), &file, nullptr);
    EXPECT_TRUE(made.ok()) << made.ToString();
    return file;
  }
  static void Append(rocksdb::FSWritableFile* file, const std::string& bytes) {
    const IOStatus appended = file->Append(bytes, IOOptions(), nullptr);
    EXPECT_TRUE(appended.ok()) << appended.ToString();
  }
  static void Sync(rocksdb::FSWritableFile* file) {
    EXPECT_TRUE(file->Flush(IOOptions(), nullptr).ok());
    EXPECT_TRUE(file->Sync(IOOptions(), nullptr).ok());
  }

  const std::unique_ptr<VolumeUnderTest> under_test_ = GetParam().make();
};

INSTANTIATE_TEST_SUITE_P(Volumes, VolumeContract, testing::ValuesIn(VolumeKinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(VolumeContract, SmallFilesAreReplacedAsAWhole) {
  Write("mark", "");
  EXPECT_EQ(Text("mark"), "");
  Write("mark", "first");
  Write("mark", "the second, longer one");
  EXPECT_EQ(Text("mark"), "the second, longer one");
  Write("mark", "3");
  EXPECT_EQ(Text("mark"), "3");
  EXPECT_THAT(Names(), UnorderedElementsAre("mark"));
}

TEST_P(VolumeContract, AReaderSeesAReplacedFileBeforeOrAfter) {
  const std::string old_text(100'000, 'a');
  const std::string new_text(50'000, 'b');
  Write("mark", old_text);
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < 40; ++i) Write("mark", i % 2 == 0 ? new_text : old_text);
    done = true;
  });
  do {
    const std::string text = Text("mark");
    EXPECT_TRUE(text == old_text || text == new_text) << text.substr(0, 100) << " " << text.size();
  } while (!done);
  writer.join();
}

TEST_P(VolumeContract, MissingFilesAreNamedAndNotFound) {
  for (const std::string name : {"missing", "missing/below"}) {
    const std::string path = Path(name);
    EXPECT_FALSE(Exists(name));
    for (const absl::Status& status :
         {volume()->Read(path).status(), volume()->Open(path, Volume::Access::kChange).status(),
          volume()->Size(path).status(), volume()->List(path).status(), volume()->SyncDirectory(path),
          volume()->Lock(path, Volume::LockMode::kShared, /*make=*/false).status()}) {
      EXPECT_TRUE(absl::IsNotFound(status)) << status;
      EXPECT_THAT(std::string(Sv(status.message())), testing::HasSubstr(path));
    }
    const absl::StatusOr<bool> removed = volume()->Remove(path);
    EXPECT_TRUE(removed.ok() && !*removed) << removed.status();
    EXPECT_TRUE(volume()->RemoveTree(path).ok());
    EXPECT_FALSE(volume()->Link(path, Path("link"), LinkKind::kHard).ok());
    EXPECT_FALSE(volume()->Measure(path).ok());
  }
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_P(VolumeContract, MissingFilesAreNotFoundByRocksDb) {
  const std::string path = Path("missing");
  const IOOptions io;
  std::unique_ptr<rocksdb::FSSequentialFile> sequential;
  std::unique_ptr<rocksdb::FSRandomAccessFile> random;
  std::unique_ptr<rocksdb::FSWritableFile> writable;
  std::vector<std::string> names;
  uint64_t size = 0;
  EXPECT_TRUE(files()->FileExists(path, io, nullptr).IsNotFound());
  EXPECT_TRUE(files()->GetChildren(path, io, &names, nullptr).IsNotFound());
  EXPECT_TRUE(files()->NewSequentialFile(path, FileOptions(), &sequential, nullptr).IsPathNotFound());
  EXPECT_TRUE(files()->NewRandomAccessFile(path, FileOptions(), &random, nullptr).IsPathNotFound());
  EXPECT_TRUE(files()->GetFileSize(path, io, &size, nullptr).IsPathNotFound());
  EXPECT_TRUE(files()->DeleteFile(path, io, nullptr).IsPathNotFound());
  EXPECT_TRUE(files()->RenameFile(path, Path("to"), io, nullptr).IsPathNotFound());
  EXPECT_FALSE(files()->NewWritableFile(path + "/below", FileOptions(), &writable, nullptr).ok());
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_P(VolumeContract, DirectoriesAreMadeWithTheirParents) {
  ASSERT_TRUE(volume()->MakeDirectories(Path("a/b/c")).ok());
  ASSERT_TRUE(volume()->MakeDirectories(Path("a/b/c")).ok());
  ASSERT_TRUE(volume()->MakeDirectories(Path("a/d")).ok());
  EXPECT_THAT(Names(), UnorderedElementsAre("a"));
  EXPECT_THAT(Names("a"), UnorderedElementsAre("b", "d"));
  EXPECT_THAT(Names("a/b/c"), IsEmpty());
  EXPECT_TRUE(Exists("a/b/c"));
  EXPECT_TRUE(volume()->CloseToOthers(Path("a")).ok());
  EXPECT_EQ(volume()->OpenToOthers(Path("a")), 0u);
}

TEST_P(VolumeContract, AFileIsNoDirectory) {
  Write("file", "text");
  EXPECT_TRUE(absl::IsFailedPrecondition(volume()->List(Path("file")).status()));
  EXPECT_FALSE(volume()->MakeDirectories(Path("file/below")).ok());
  EXPECT_FALSE(volume()->WriteDurably(Path("file/below"), "x").ok());
  EXPECT_FALSE(Exists("file/below"));
  bool is_directory = true;
  EXPECT_TRUE(files()->IsDirectory(Path("file"), IOOptions(), &is_directory, nullptr).ok());
  EXPECT_FALSE(is_directory);
  EXPECT_EQ(Text("file"), "text");
}

TEST_P(VolumeContract, ADirectoryIsNoFile) {
  ASSERT_TRUE(volume()->MakeDirectories(Path("directory/below")).ok());
  EXPECT_FALSE(volume()->WriteDurably(Path("directory"), "x").ok());
  EXPECT_FALSE(volume()->Read(Path("directory")).ok());
  EXPECT_FALSE(volume()->Remove(Path("directory")).ok());
  EXPECT_FALSE(files()->CreateDir(Path("directory"), IOOptions(), nullptr).ok());
  EXPECT_TRUE(files()->CreateDirIfMissing(Path("directory"), IOOptions(), nullptr).ok());
  bool is_directory = false;
  EXPECT_TRUE(files()->IsDirectory(Path("directory"), IOOptions(), &is_directory, nullptr).ok());
  EXPECT_TRUE(is_directory);
  EXPECT_THAT(Names("directory"), UnorderedElementsAre("below"));
}

TEST_P(VolumeContract, FilesAndEmptyDirectoriesAreRemoved) {
  ASSERT_TRUE(volume()->MakeDirectories(Path("directory")).ok());
  Write("directory/file", "text");
  for (const std::string name : {"directory/file", "directory"}) {
    const absl::StatusOr<bool> removed = volume()->Remove(Path(name));
    EXPECT_TRUE(removed.ok() && *removed) << removed.status();
    EXPECT_FALSE(Exists(name));
  }
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_P(VolumeContract, TreesAreRemoved) {
  ASSERT_TRUE(volume()->MakeDirectories(Path("tree/branch/twig")).ok());
  Write("tree/file", "1");
  Write("tree/branch/file", "2");
  Write("trees", "stays");
  ASSERT_TRUE(volume()->RemoveTree(Path("tree")).ok());
  EXPECT_THAT(Names(), UnorderedElementsAre("trees"));
  ASSERT_TRUE(volume()->RemoveTree(Path("trees")).ok());
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_P(VolumeContract, RocksDbSeesTheSameFiles) {
  Write("small", "text");
  uint64_t size = 0;
  EXPECT_TRUE(files()->GetFileSize(Path("small"), IOOptions(), &size, nullptr).ok());
  EXPECT_EQ(size, 4u);
  const auto file = NewFile("000001.log");
  Append(file.get(), "record");
  EXPECT_TRUE(file->Flush(IOOptions(), nullptr).ok());
  EXPECT_EQ(Text("000001.log"), "record");
  EXPECT_EQ(volume()->Size(Path("000001.log")).value_or(0), 6u);
  std::vector<std::string> names;
  EXPECT_TRUE(files()->GetChildren(under_test_->root(), IOOptions(), &names, nullptr).ok());
  EXPECT_THAT(names, UnorderedElementsAre("small", "000001.log"));
  std::string text;
  EXPECT_TRUE(rocksdb::ReadFileToString(volume()->env(), Path("small"), &text).ok());
  EXPECT_EQ(text, "text");
}

TEST_P(VolumeContract, ARenameReplacesTheTarget) {
  Write("from", "new");
  Write("to", "old");
  ASSERT_TRUE(files()->RenameFile(Path("from"), Path("to"), IOOptions(), nullptr).ok());
  EXPECT_EQ(Text("to"), "new");
  EXPECT_THAT(Names(), UnorderedElementsAre("to"));
}

TEST_P(VolumeContract, AFileThatIsMadeAgainBeginsEmpty) {
  Write("file", "old content");
  const auto file = NewFile("file");
  Append(file.get(), "new");
  Sync(file.get());
  EXPECT_EQ(Text("file"), "new");
}

TEST_P(VolumeContract, PlacesOfAFileAreWrittenAndReadAtOnce) {
  Write("register", std::string(64, '.'));
  const auto opened = volume()->Open(Path("register"), Volume::Access::kChange);
  ASSERT_TRUE(opened.ok()) << opened.status();
  VolumeFile& file = **opened;
  EXPECT_TRUE(file.WriteAt(3, "abc").ok());
  EXPECT_TRUE(file.WriteAt(62, "wxyz").ok());
  EXPECT_TRUE(file.Sync().ok());
  EXPECT_EQ(file.Size().value_or(0), 66u);
  EXPECT_EQ(Text("register"), Cat("...abc", std::string(56, '.'), "wxyz"));
  char buffer[8] = {};
  EXPECT_EQ(file.ReadAt(60, 8, buffer).value_or(0), 6u);
  EXPECT_EQ(std::string(buffer, 6), "..wxyz");
  EXPECT_EQ(file.ReadAt(66, 8, buffer).value_or(9), 0u);
  EXPECT_EQ(file.ReadAt(1000, 8, buffer).value_or(9), 0u);
  const auto reader = volume()->Open(Path("register"), Volume::Access::kRead);
  ASSERT_TRUE(reader.ok());
  EXPECT_FALSE((*reader)->WriteAt(0, "x").ok());
  EXPECT_TRUE((*reader)->Sync().ok());
}

TEST_P(VolumeContract, AFileIsCutAndContinued) {
  const auto log = NewFile("log");
  Append(log.get(), "whole|torn");
  Sync(log.get());
  {
    const auto file = volume()->Open(Path("log"), Volume::Access::kChange);
    ASSERT_TRUE(file.ok() && (*file)->Truncate(6).ok());
    EXPECT_EQ((*file)->Size().value_or(0), 6u);
  }
  EXPECT_EQ(Text("log"), "whole|");
  const auto other = NewFile("other");
  Append(other.get(), "whole|torn");
  ASSERT_TRUE(other->Truncate(6, IOOptions(), nullptr).ok());
  Sync(other.get());
  EXPECT_EQ(Text("other"), "whole|");
}

TEST_P(VolumeContract, BigFilesAreReadAtAnyPlace) {
  test::Random random(1);
  std::string content;
  {
    const auto file = NewFile("big");
    while (content.size() < 20 * kMiB) {
      const std::string piece(1 + random.Below(size_t{300'000}), static_cast<char>('a' + random.Below(26)));
      Append(file.get(), piece);
      content += piece;
    }
    Sync(file.get());
    EXPECT_TRUE(file->Close(IOOptions(), nullptr).ok());
  }
  EXPECT_EQ(volume()->Size(Path("big")).value_or(0), content.size());
  const auto file = volume()->Open(Path("big"), Volume::Access::kRead);
  ASSERT_TRUE(file.ok());
  std::unique_ptr<rocksdb::FSRandomAccessFile> random_access;
  ASSERT_TRUE(files()->NewRandomAccessFile(Path("big"), FileOptions(), &random_access, nullptr).ok());
  std::string buffer(5 * kMiB, '\0');
  for (int i = 0; i < 50; ++i) {
    const size_t offset = random.Below(content.size());
    const size_t size = random.Below(buffer.size());
    const std::string expected = content.substr(offset, size);
    ASSERT_EQ((*file)->ReadAt(offset, size, buffer.data()).value_or(0), expected.size());
    ASSERT_TRUE(buffer.starts_with(expected));
    rocksdb::Slice read;
    ASSERT_TRUE(random_access->Read(offset, size, IOOptions(), &read, buffer.data(), nullptr).ok());
    ASSERT_EQ(read.ToString(), expected);
  }
  EXPECT_TRUE(Text("big") == content);
}

TEST_P(VolumeContract, ReadsWithoutWaitingHeedTheirBudget) {
  const auto file = NewFile("table");
  Append(file.get(), std::string(10'000, 'x'));
  Sync(file.get());
  std::unique_ptr<rocksdb::FSRandomAccessFile> reader;
  ASSERT_TRUE(files()->NewRandomAccessFile(Path("table"), FileOptions(), &reader, nullptr).ok());
  std::string buffer(10'000, '\0');
  rocksdb::Slice got;
  {
    const NoWaitReads scope(6000);
    const IOStatus within = reader->Read(0, 5000, IOOptions(), &got, buffer.data(), nullptr);
    EXPECT_TRUE(within.ok() ? got == std::string(5000, 'x') : within.IsIncomplete()) << within.ToString();
    const size_t left = within.ok() ? 1000 : 6000;
    EXPECT_TRUE(reader->Read(0, left + 1, IOOptions(), &got, buffer.data(), nullptr).IsIncomplete());
    EXPECT_EQ(got.size(), 0);
  }
  ASSERT_TRUE(reader->Read(0, 10'000, IOOptions(), &got, buffer.data(), nullptr).ok());
  EXPECT_EQ(got, std::string(10'000, 'x'));
}

TEST_P(VolumeContract, ReadersFollowAFileThatIsWritten) {
  const auto file = NewFile("log");
  Append(file.get(), "0");
  Sync(file.get());
  std::atomic<uint64_t> synced = 1;
  constexpr uint64_t kEnd = 20'000;
  const auto read = [&] {
    std::unique_ptr<rocksdb::FSRandomAccessFile> reader;
    ASSERT_TRUE(files()->NewRandomAccessFile(Path("log"), FileOptions(), &reader, nullptr).ok());
    std::string buffer(kEnd, '\0');
    for (uint64_t known = 0; known < kEnd;) {
      known = synced;
      rocksdb::Slice got;
      ASSERT_TRUE(reader->Read(0, known, IOOptions(), &got, buffer.data(), nullptr).ok());
      ASSERT_EQ(got.size(), known);
      for (size_t i = 0; i < got.size(); i += 97) ASSERT_EQ(got[i], static_cast<char>('0' + i % 10)) << i;
    }
  };
  std::thread first(read);
  std::thread second(read);
  for (uint64_t size = 1; size < kEnd; ++size) {
    Append(file.get(), std::string(1, static_cast<char>('0' + size % 10)));
    if (size % 100 != 99) continue;
    Sync(file.get());
    synced = size + 1;
  }
  first.join();
  second.join();
}

TEST_P(VolumeContract, AFileHasTwoNames) {
  Write("from", "text");
  ASSERT_TRUE(volume()->Link(Path("from"), Path("to"), LinkKind::kHard).ok());
  EXPECT_EQ(Text("to"), "text");
  ASSERT_TRUE(volume()->Remove(Path("from")).ok());
  EXPECT_EQ(Text("to"), "text");
}

TEST_P(VolumeContract, ALockExcludesOthers) {
  using Mode = Volume::LockMode;
  const std::string path = Path("LOCK");
  auto alone = volume()->Lock(path, Mode::kAlone, /*make=*/true);
  ASSERT_TRUE(alone.ok()) << alone.status();
  EXPECT_TRUE((*alone)->IsLinked());
  for (const Mode mode : {Mode::kAlone, Mode::kShared, Mode::kSharedIfPossible}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(volume()->Lock(path, mode, /*make=*/false).status()));
  }
  alone->reset();
  auto shared = volume()->Lock(path, Mode::kShared, /*make=*/false);
  const auto second = volume()->Lock(path, Mode::kShared, /*make=*/false);
  EXPECT_TRUE(shared.ok() && second.ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(volume()->Lock(path, Mode::kAlone, /*make=*/true).status()));
  EXPECT_TRUE(volume()->Remove(path).ok());
  EXPECT_FALSE((*shared)->IsLinked());
  // A file that is made anew has locks of its own.
  EXPECT_TRUE(volume()->Lock(path, Mode::kAlone, /*make=*/true).ok());
}

TEST_P(VolumeContract, RocksDbLocksItsDirectory) {
  rocksdb::FileLock* lock = nullptr;
  rocksdb::FileLock* second = nullptr;
  ASSERT_TRUE(files()->LockFile(Path("LOCK"), IOOptions(), &lock, nullptr).ok());
  EXPECT_FALSE(files()->LockFile(Path("LOCK"), IOOptions(), &second, nullptr).ok());
  ASSERT_TRUE(files()->UnlockFile(lock, IOOptions(), nullptr).ok());
  ASSERT_TRUE(files()->LockFile(Path("LOCK"), IOOptions(), &lock, nullptr).ok());
  ASSERT_TRUE(files()->UnlockFile(lock, IOOptions(), nullptr).ok());
}

TEST_P(VolumeContract, SpaceIsMeasuredAndKept) {
  const absl::StatusOr<DiskUsage> before = volume()->Measure(under_test_->root());
  ASSERT_TRUE(before.ok()) << before.status();
  EXPECT_GT(before->free_bytes, 0u);
  EXPECT_GE(before->total_bytes, before->free_bytes);
  ASSERT_TRUE(volume()->Allocate(Path("spare"), 3 * kMiB).ok());
  ASSERT_TRUE(volume()->Allocate(Path("spare"), 3 * kMiB).ok());
  EXPECT_EQ(volume()->Size(Path("spare")).value_or(0), 3 * kMiB);
}

TEST_P(VolumeContract, AFullVolumeRefusesAndKeepsWhatItHas) {
  Write("mark", "old");
  if (!under_test_->SetFull(true)) GTEST_SKIP() << "cannot be filled";
  const absl::Status written = volume()->WriteDurably(Path("mark"), std::string(1000, 'x'));
  EXPECT_TRUE(absl::IsResourceExhausted(written)) << written;
  const absl::Status allocated = volume()->Allocate(Path("spare"), kMiB);
  EXPECT_TRUE(absl::IsResourceExhausted(allocated)) << allocated;
  EXPECT_FALSE(Exists("spare"));
  EXPECT_EQ(Text("mark"), "old");
  {
    // A volume may refuse the file, the bytes, or, if it collects them, the sync.
    std::unique_ptr<rocksdb::FSWritableFile> file;
    IOStatus status = files()->NewWritableFile(Path("000001.log"), FileOptions(), &file, nullptr);
    if (status.ok()) status = file->Append(std::string(1000, 'x'), IOOptions(), nullptr);
    if (status.ok()) status = file->Sync(IOOptions(), nullptr);
    EXPECT_FALSE(status.ok());
  }
  // Files go without space.
  EXPECT_TRUE(volume()->Remove(Path("000001.log")).ok());
  ASSERT_TRUE(under_test_->SetFull(false));
  Write("mark", "new");
  EXPECT_EQ(Text("mark"), "new");
  EXPECT_THAT(Names(), UnorderedElementsAre("mark"));
}

TEST_P(VolumeContract, ScratchDirectoriesAreNewAndEmpty) {
  const auto first = volume()->MakeScratchDirectory();
  const auto second = volume()->MakeScratchDirectory();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(*first, *second);
  EXPECT_THAT(volume()->List(*first).value_or(std::vector<std::string>{"?"}), IsEmpty());
  EXPECT_TRUE(volume()->RemoveTree(*first).ok() && volume()->RemoveTree(*second).ok());
}

TEST_P(VolumeContract, APathHasOneAbsoluteForm) {
  const std::string path = volume()->Absolute(Path("a/b"));
  EXPECT_EQ(path, Path("a/b"));
  EXPECT_EQ(volume()->Absolute(path), path);
  EXPECT_EQ(volume()->Absolute(path + "/"), path);
  EXPECT_EQ(volume()->Absolute(Path("a//b")), path);
}

TEST_P(VolumeContract, AFileKeepsItsIdentityUnderAnotherName) {
  Write("a", "text");
  const absl::StatusOr<std::string> identity = volume()->IdentityOf(Path("a"));
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ(identity->find('\n'), std::string::npos);
  ASSERT_TRUE(volume()->env()->RenameFile(Path("a"), Path("b")).ok());
  EXPECT_EQ(volume()->IdentityOf(Path("b")).value_or("-"), *identity);
  EXPECT_TRUE(absl::IsNotFound(volume()->IdentityOf(Path("a")).status()));
}

TEST_P(VolumeContract, UnsyncedBytesLastAsLongAsTheBoot) {
  Write("register", "....");
  const uint64_t boot = volume()->boot();
  EXPECT_EQ(volume()->boot(), boot);
  ASSERT_TRUE((*volume()->Open(Path("register"), Volume::Access::kChange))->WriteAt(0, "ab").ok());
  EXPECT_EQ(Text("register"), "ab..");
  if (!under_test_->Crash()) GTEST_SKIP() << "cannot crash";
  EXPECT_TRUE(Text("register") == "ab.." || volume()->boot() != boot);
}

TEST_P(VolumeContract, SyncedContentSurvivesACrash) {
  {
    const auto log = NewFile("log");
    Append(log.get(), "synced|");
    Sync(log.get());
    SyncNames();
    Append(log.get(), "not synced");
    Write("register", std::string(8, '.'));
    const auto file = volume()->Open(Path("register"), Volume::Access::kChange);
    ASSERT_TRUE((*file)->WriteAt(2, "ab").ok() && (*file)->Sync().ok());
    ASSERT_TRUE((*file)->Truncate(6).ok());
  }
  if (!under_test_->Crash()) GTEST_SKIP() << "cannot crash";
  EXPECT_TRUE(std::string("synced|not synced").starts_with(Text("log"))) << Text("log");
  EXPECT_TRUE(Text("log").starts_with("synced|")) << Text("log");
  EXPECT_EQ(Text("register"), "..ab..");
}

TEST_P(VolumeContract, DurableNamesSurviveACrash) {
  ASSERT_TRUE(volume()->MakeDirectories(Path("a/b")).ok());
  Write("a/b/mark", "text");
  Write("gone", "text");
  Write("from", "moved");
  Write("to", "replaced");
  ASSERT_TRUE(volume()->Remove(Path("gone")).ok());
  ASSERT_TRUE(files()->RenameFile(Path("from"), Path("to"), IOOptions(), nullptr).ok());
  SyncNames();
  if (!under_test_->Crash()) GTEST_SKIP() << "cannot crash";
  EXPECT_EQ(Text("a/b/mark"), "text");
  EXPECT_EQ(Text("to"), "moved");
  EXPECT_THAT(Names(), UnorderedElementsAre("a", "to"));
}

TEST_P(VolumeContract, ARenameHappensOrNotInACrash) {
  Write("from", "new");
  Write("to", "old");
  ASSERT_TRUE(files()->RenameFile(Path("from"), Path("to"), IOOptions(), nullptr).ok());
  if (!under_test_->Crash()) GTEST_SKIP() << "cannot crash";
  const std::string text = Text("to");
  EXPECT_TRUE(text == "new" || (text == "old" && Text("from") == "new")) << text;
}

TEST_P(VolumeContract, LocksEndWithACrash) {
  const auto lock = volume()->Lock(Path("LOCK"), Volume::LockMode::kAlone, /*make=*/true);
  ASSERT_TRUE(lock.ok());
  SyncNames();
  if (!under_test_->Crash()) GTEST_SKIP() << "cannot crash";
  EXPECT_TRUE(volume()->Lock(Path("LOCK"), Volume::LockMode::kAlone, /*make=*/true).ok());
}

}  // namespace
}  // namespace armature::store
