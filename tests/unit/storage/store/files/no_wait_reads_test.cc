#include "storage/store/files/no_wait_reads.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "rocksdb/file_system.h"
#include "storage/base/file_descriptor.h"
#include "storage/store/database.h"
#include "storage/store/files/random_file.h"
#include "storage/store/files/volume.h"
#include "tests/unit/storage/store/damaged_files.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::no_wait_reads_test {

constexpr size_t kFileBytes = 100'000;

bool CanReadMemory(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(file.is_open());
  char byte = 0;
  const iovec to = {&byte, 1};
  return preadv2(file.get(), &to, 1, 0, RWF_NOWAIT) == 1 || errno == EAGAIN;
}

// Number of pages of a file that are in the page cache. Reads nothing.
size_t CachedPages(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  EXPECT_EQ(fstat(file.get(), &status), 0);
  const auto size = static_cast<size_t>(status.st_size);
  void* const map = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  EXPECT_NE(map, MAP_FAILED);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> states((size + page - 1) / page);
  EXPECT_EQ(mincore(map, size, states.data()), 0);
  munmap(map, size);
  return static_cast<size_t>(
      std::count_if(states.begin(), states.end(), [](unsigned char state) { return state & 1; }));
}

// Removes a file from the page cache. False if the kernel keeps it.
bool Drop(const std::string& path) {
  const auto file = LocalVolume()->Open(path, Volume::Access::kChange);
  EXPECT_TRUE(file.ok() && (*file)->Sync().ok());
  for (int i = 0; i < 100 && CachedPages(path) > 0; ++i) (*file)->DropCached();
  return CachedPages(path) == 0;
}

class RandomFileTest : public testing::Test {
 protected:
  void SetUp() override {
    for (size_t i = 0; i < kFileBytes; ++i) content_ += static_cast<char>('a' + i % 23);
    ASSERT_TRUE(LocalVolume()->WriteDurably(path_, content_).ok());
    ASSERT_TRUE(OpenRandomFile(path_, &file_).ok());
    if (!CanReadMemory(path_)) GTEST_SKIP() << "this file system cannot read without waiting";
  }

  rocksdb::IOStatus Read(uint64_t offset, size_t size) {
    buffer_.resize(size);
    return file_->Read(offset, size, rocksdb::IOOptions(), &got_, buffer_.data(), nullptr);
  }
  void ExpectRead(uint64_t offset, size_t size) {
    const rocksdb::IOStatus read = Read(offset, size);
    EXPECT_TRUE(read.ok()) << read.ToString();
    EXPECT_EQ(got_.ToString(), content_.substr(offset, size));
  }
  void ExpectRefused(uint64_t offset, size_t size) {
    EXPECT_TRUE(Read(offset, size).IsIncomplete());
    EXPECT_EQ(got_.size(), 0);
  }

  const test::TempDir dir_;
  const std::string path_ = dir_.path("file");
  std::string content_;
  std::string buffer_;
  std::unique_ptr<rocksdb::FSRandomAccessFile> file_;
  rocksdb::Slice got_;
};

TEST_F(RandomFileTest, CachedBytesAreReadWithoutWaiting) {
  const NoWaitReads scope(kFileBytes);
  ExpectRead(0, 5000);
  ExpectRead(77'777, 5000);
  EXPECT_TRUE(file_->Prefetch(0, 100, rocksdb::IOOptions(), nullptr).IsIncomplete());
}

TEST_F(RandomFileTest, TheBudgetBoundsTheBytesOfAScope) {
  {
    const NoWaitReads scope(10'000);
    ExpectRefused(0, 10'001);
    ExpectRead(0, 6000);
    ExpectRefused(0, 6000);
    ExpectRead(0, 4000);
    ExpectRefused(0, 1);
  }
  ExpectRead(0, kFileBytes);
}

TEST_F(RandomFileTest, BytesOnTheDiskAreNotWaitedFor) {
  if (!Drop(path_)) GTEST_SKIP() << "the kernel keeps the file in memory";
  {
    const NoWaitReads scope(kFileBytes);
    ExpectRefused(0, 5000);
  }
  ExpectRead(0, 5000);
  // After a miss, the file is not asked about for some reads.
  int refused = 0;
  rocksdb::IOStatus read;
  do {
    const NoWaitReads scope(kFileBytes);
    read = Read(0, 5000);
  } while (read.IsIncomplete() && ++refused < 100);
  EXPECT_EQ(refused, 1);
  EXPECT_TRUE(read.ok());
  const NoWaitReads scope(kFileBytes);
  ExpectRead(0, 5000);
}

TEST_F(RandomFileTest, AskingForWhatIsOnTheDiskBecomesRare) {
  if (!Drop(path_)) GTEST_SKIP() << "the kernel keeps the file in memory";
  // Beyond the end, nothing comes to memory however often it is asked for.
  for (int i = 0; i < 1000; ++i) {
    const NoWaitReads scope(kFileBytes);
    ExpectRefused(kFileBytes + 100, 10);
  }
  ExpectRead(0, kFileBytes);
  int refused = 0;
  rocksdb::IOStatus read;
  do {
    const NoWaitReads scope(kFileBytes);
    read = Read(0, 5000);
  } while (read.IsIncomplete() && ++refused < 100);
  EXPECT_TRUE(read.ok());
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 64);
}

TEST_F(RandomFileTest, AReadEndsWithTheFile) {
  EXPECT_TRUE(Read(kFileBytes - 10, 100).ok());
  EXPECT_EQ(got_.ToString(), content_.substr(kFileBytes - 10));
  EXPECT_TRUE(Read(kFileBytes + 10, 100).ok());
  EXPECT_EQ(got_.size(), 0);
}

TEST(NoWaitGet, ReadsBlocksFromThePageCacheAndLeavesTheDiskToOthers) {
  const test::TempDir dir;
  DatabaseOptions options = TestOptions(dir.path("data"));
  const std::string expected(3000, 'v');
  Keyspace keyspace;
  const auto open = [&](std::unique_ptr<Database>* database) {
    *database = OpenDatabase(options);
    keyspace = (*database)->catalog()->Find("t")->data;
  };
  std::unique_ptr<Database> database = OpenDatabase(options);
  CreateActive(database.get(), PlainTable("t"));
  {
    const auto snapshot = database->catalog();
    WriteUnit unit(snapshot);
    unit.Put(snapshot->Find("t")->data, "key", expected);
    // The engine reads the end of a file ahead whenever it opens it, half a megabyte of what does not compress.
    std::minstd_rand random;
    for (int i = 0; i < 400; ++i) {
      std::string other(3000, ' ');
      std::generate(other.begin(), other.end(), [&random] { return static_cast<char>(random()); });
      unit.Put(snapshot->Find("t")->data, "later" + std::to_string(i), other);
    }
    ASSERT_TRUE(CommitAndWait(database.get(), std::move(unit)).ok());
  }
  const std::string family = NameOf(database->catalog()->Find("t")->data);
  database.reset();
  const std::vector<std::string> files = FlushedFilesOf(family, dir.path("data"));
  ASSERT_EQ(files.size(), 1);
  if (!CanReadMemory(files[0])) GTEST_SKIP() << "this file system cannot read without waiting";

  std::string value;
  open(&database);
  EXPECT_EQ(*database->rows().Get(keyspace, "key", ReadMode::kMemoryOnly, &value), GetResult::kWouldBlock);
  EXPECT_EQ(*database->rows().Get(keyspace, "key", ReadMode::kNoWait, &value), GetResult::kFound);
  EXPECT_EQ(value, expected);
  EXPECT_EQ(*database->rows().Get(keyspace, "other", ReadMode::kNoWait, &value), GetResult::kMissing);
  database.reset();

  options.no_wait_read_bytes_max = 0;
  open(&database);
  EXPECT_EQ(*database->rows().Get(keyspace, "key", ReadMode::kNoWait, &value), GetResult::kWouldBlock);
  database.reset();

  options.no_wait_read_bytes_max = DatabaseOptions().no_wait_read_bytes_max;
  // Another reader of the file may bring a block back to memory.
  bool would_block = false;
  for (int i = 0; i < 10 && !would_block; ++i) {
    database.reset();
    open(&database);
    if (!Drop(files[0])) GTEST_SKIP() << "the kernel keeps the file in memory";
    would_block = *database->rows().Get(keyspace, "key", ReadMode::kNoWait, &value) == GetResult::kWouldBlock;
  }
  EXPECT_TRUE(would_block);
  EXPECT_EQ(*database->rows().Get(keyspace, "key", ReadMode::kMayBlock, &value), GetResult::kFound);
  EXPECT_EQ(value, expected);
}

}  // namespace armature::store::no_wait_reads_test
