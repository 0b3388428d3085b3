#include "storage/rados/table_copies.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/synchronization/notification.h"
#include "storage/base/strings.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::rados {
namespace {

constexpr char kVolume[] = "11111111-2222-3333-4444-555555555555";
constexpr char kOther[] = "99999999-2222-3333-4444-555555555555";
constexpr uint64_t kMiB = uint64_t{1} << 20;
using Result = TableCopy::Result;

class TableCopiesTest : public testing::Test {
 protected:
  bool Open(uint64_t bytes_max = 16 * kMiB, const std::string& volume = kVolume) {
    copies_.reset();
    auto opened = TableCopies::Open(directory_.path("copies"), bytes_max, volume);
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (opened.ok()) copies_ = *std::move(opened);
    return copies_ != nullptr;
  }
  static std::string Content(size_t size, uint32_t seed = 1) {
    test::Random random(seed);
    std::string bytes;
    while (bytes.size() < size) bytes += static_cast<char>(random.Below(256));
    return bytes;
  }
  void Make(const std::string& id, const std::string& content) {
    const auto writer = copies_->Begin(id);
    ASSERT_NE(writer, nullptr);
    for (size_t at = 0; at < content.size(); at += 10'000) writer->Append(std::string_view(content).substr(at, 10'000));
    writer->Finish();
  }
  // The bytes of the copy, or a word for why there are none.
  std::string Read(const std::string& id, uint64_t offset, size_t size) {
    const std::shared_ptr<TableCopy> copy = copies_->Find(id);
    if (copy == nullptr) return "missing";
    std::string bytes(size, '\0');
    size_t got = 0;
    switch (copy->ReadAt(offset, size, bytes.data(), &got)) {
      case Result::kGone:
        return "gone";
      case Result::kDamaged:
        return "damaged";
      case Result::kRead:
        break;
    }
    return bytes.substr(0, got);
  }
  std::string PathOf(const std::string& id) { return directory_.path(Cat("copies/", kVolume, ".", id, ".copy")); }
  size_t FilesOnDisk() {
    size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(directory_.path("copies"))) ++count;
    return count - 1;  // without the lock
  }

  test::TempDir directory_;
  std::unique_ptr<TableCopies> copies_;
};

TEST_F(TableCopiesTest, ReadsWhatWasWrittenAlsoAfterARestart) {
  ASSERT_TRUE(Open());
  const std::string content = Content(100'001);
  Make("file.1.a", content);
  Make("file.1.b", "");
  for (int round = 0; round < 2; ++round) {
    test::Random random(7);
    for (int i = 0; i < 200; ++i) {
      const uint64_t offset = random.Below(uint64_t{100'100});
      const size_t size = random.Below(size_t{40'000});
      const std::string wanted = offset < content.size() ? content.substr(offset, size) : "";
      ASSERT_TRUE(Read("file.1.a", offset, size) == wanted) << offset << " " << size;
    }
    EXPECT_EQ(Read("file.1.b", 0, 10), "");
    EXPECT_EQ(Read("file.1.c", 0, 10), "missing");
    EXPECT_EQ(copies_->counters().files, 2u);
    ASSERT_TRUE(Open());
  }
  EXPECT_EQ(copies_->counters().bytes,
            std::filesystem::file_size(PathOf("file.1.a")) + std::filesystem::file_size(PathOf("file.1.b")));
}

TEST_F(TableCopiesTest, DamageIsNoticedWhereverItIs) {
  const std::string content = Content(50'000);
  for (const uint64_t at : {uint64_t{0}, uint64_t{20'000}, uint64_t{49'999}}) {
    ASSERT_TRUE(Open());
    copies_->Remove("file.1.a");
    Make("file.1.a", content);
    std::fstream file(PathOf("file.1.a"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(content[at] + 1));
    file.close();
    EXPECT_EQ(Read("file.1.a", 0, content.size()), "damaged") << at;
    ASSERT_TRUE(Open());
    EXPECT_EQ(Read("file.1.a", 0, content.size()), "damaged") << at;
    EXPECT_TRUE(Read("file.1.a", at < 20'000 ? 40'000 : 0, 100) == content.substr(at < 20'000 ? 40'000 : 0, 100));
  }
  // Sums, footer, length: the copy is not used after a start.
  for (const int64_t from_end : {int64_t{40}, int64_t{1 + 24}, int64_t{1 + 16}, int64_t{0}}) {
    ASSERT_TRUE(Open());
    copies_->Remove("file.1.a");
    Make("file.1.a", content);
    const auto size = static_cast<int64_t>(std::filesystem::file_size(PathOf("file.1.a")));
    std::fstream file(PathOf("file.1.a"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(size - from_end);
    file.put('\x5a');
    file.close();
    ASSERT_TRUE(Open());
    EXPECT_EQ(Read("file.1.a", 0, 10), "missing") << from_end;
  }
}

TEST_F(TableCopiesTest, ForeignAndUnfinishedCopiesAreRemovedAtTheStart) {
  ASSERT_TRUE(Open());
  Make("file.1.a", Content(1000));
  {
    const auto unfinished = copies_->Begin("file.1.b");
    unfinished->Append(Content(50'000));
    std::filesystem::copy(PathOf("file.1.b") + ".part", PathOf("file.1.c") + ".part");
  }
  EXPECT_EQ(FilesOnDisk(), 2u);
  for (const char* name : {"notes", "notes.copy", "notes.copy.part"})
    std::ofstream(directory_.path(Cat("copies/", name))) << "x";
  ASSERT_TRUE(Open());
  EXPECT_EQ(FilesOnDisk(), 4u);
  ASSERT_TRUE(Open(16 * kMiB, kOther));
  EXPECT_EQ(FilesOnDisk(), 3u);
  EXPECT_EQ(copies_->counters().bytes, 0u);
}

TEST_F(TableCopiesTest, TheBoundHoldsAndTheLeastRecentlyUsedGoFirst) {
  ASSERT_TRUE(Open(kMiB));
  const std::string content = Content(200'000);
  for (const char* id : {"a", "b", "c", "d"}) Make(id, content);
  EXPECT_TRUE(Read("a", 0, 100) == content.substr(0, 100));
  const std::shared_ptr<TableCopy> held = copies_->Find("b");
  Make("e", content);
  Make("f", content);
  EXPECT_EQ(Read("b", 0, 1), "missing");
  EXPECT_TRUE(Read("a", 0, 100) == content.substr(0, 100));
  EXPECT_LE(copies_->counters().bytes, kMiB);
  EXPECT_EQ(FilesOnDisk(), copies_->counters().files);
  // No descriptor keeps the space of a removed copy.
  std::string bytes(10, '\0');
  size_t got = 0;
  EXPECT_EQ(held->ReadAt(0, 10, bytes.data(), &got), Result::kGone);
  // More than a quarter of all.
  Make("large", Content(300'000));
  EXPECT_EQ(Read("large", 0, 1), "missing");
  // A smaller bound after a restart.
  const uint64_t before = copies_->counters().files;
  ASSERT_TRUE(Open(kMiB / 2));
  EXPECT_LT(copies_->counters().files, before);
  EXPECT_LE(copies_->counters().bytes, kMiB / 2);
  EXPECT_EQ(FilesOnDisk(), copies_->counters().files);
}

TEST_F(TableCopiesTest, ReadsInTheBackgroundWhatIsMissing) {
  ASSERT_TRUE(Open());
  const std::string content = Content(3'000'000);
  const auto source = [&content](uint64_t offset, size_t size, char* to) {
    const size_t got = std::min<size_t>(size, content.size() - offset);
    std::memcpy(to, content.data() + offset, got);
    return got;
  };
  copies_->Fetch("file.1.a", content.size(), source);
  EXPECT_TRUE(store::Eventually([&] { return copies_->Find("file.1.a") != nullptr; }));
  EXPECT_TRUE(Read("file.1.a", 0, content.size()) == content);
  // A source that fails leaves nothing.
  copies_->Fetch("file.1.b", content.size(), [&](uint64_t offset, size_t size, char* to) {
    return offset < 2 * kMiB ? source(offset, size, to) : 0;
  });
  copies_->Fetch("file.1.c", 10, [](uint64_t, size_t size, char* to) {
    std::memset(to, 'c', size);
    return size;
  });
  EXPECT_TRUE(store::Eventually([&] { return copies_->Find("file.1.c") != nullptr; }));
  EXPECT_EQ(Read("file.1.b", 0, 1), "missing");
  EXPECT_EQ(FilesOnDisk(), 2u);
}

TEST_F(TableCopiesTest, OneProcessUsesADirectory) {
  ASSERT_TRUE(Open());
  EXPECT_EQ(TableCopies::Open(directory_.path("copies"), kMiB, kVolume).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(TableCopies::Open("/proc/no/such/place", kMiB, kVolume).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(TableCopiesTest, ADirectoryThatIsDeletedMeanwhileDoesNoHarm) {
  ASSERT_TRUE(Open());
  const std::string content = Content(100'000);
  Make("file.1.a", content);
  std::filesystem::remove_all(directory_.path("copies"));
  EXPECT_TRUE(Read("file.1.a", 0, 100) == content.substr(0, 100));
  EXPECT_EQ(copies_->Begin("file.1.b"), nullptr);
  // Nothing is read from the cluster for a copy that cannot be made, now and for a while.
  std::atomic<int> reads = 0;
  const auto source = [&reads](uint64_t, size_t size, char*) {
    ++reads;
    return size;
  };
  copies_->Fetch("file.1.c", 100, source);
  ASSERT_TRUE(store::Eventually([&] { return copies_->are_fetches_paused(); }));
  std::filesystem::create_directories(directory_.path("copies"));
  copies_->Fetch("file.1.d", 100, source);
  EXPECT_EQ(copies_->fetches_wanted(), 0u);
  EXPECT_EQ(reads, 0);
}

TEST_F(TableCopiesTest, AFileThatIsRemovedWhileItIsCopiedLeavesNone) {
  ASSERT_TRUE(Open());
  absl::Notification begun;
  absl::Notification removed;
  copies_->Fetch("file.1.a", 3 * kMiB, [&](uint64_t offset, size_t size, char* to) {
    if (offset == 0) begun.Notify();
    removed.WaitForNotification();
    std::memset(to, 'a', size);
    return size;
  });
  begun.WaitForNotification();
  copies_->Fetch("file.1.b", 100, [](uint64_t, size_t size, char* to) {
    std::memset(to, 'b', size);
    return size;
  });
  copies_->Fetch("file.1.c", 100, [](uint64_t, size_t size, char* to) {
    std::memset(to, 'c', size);
    return size;
  });
  copies_->Remove("file.1.a");
  copies_->Remove("file.1.b");
  removed.Notify();
  EXPECT_TRUE(store::Eventually([&] { return copies_->Find("file.1.c") != nullptr; }));
  EXPECT_EQ(Read("file.1.a", 0, 1), "missing");
  EXPECT_EQ(Read("file.1.b", 0, 1), "missing");
  EXPECT_EQ(FilesOnDisk(), 1u);
}

TEST_F(TableCopiesTest, ADamagedCopyIsRemovedOnceAndNotItsSuccessor) {
  ASSERT_TRUE(Open());
  Make("file.1.a", Content(1000));
  const std::shared_ptr<TableCopy> former = copies_->Find("file.1.a");
  copies_->RemoveDamaged("file.1.a", former.get());
  Make("file.1.a", Content(1000));
  copies_->RemoveDamaged("file.1.a", former.get());
  EXPECT_NE(copies_->Find("file.1.a"), nullptr);
  EXPECT_EQ(copies_->counters().damaged, 1u);
}

TEST_F(TableCopiesTest, CopiesUseAPartOfTheDescriptors) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 256;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  ASSERT_TRUE(Open());
  for (int i = 0; i < 50; ++i) Make(Cat("file.1.", i), "x");
  EXPECT_LE(copies_->counters().files, 33u);
  EXPECT_NE(copies_->Find("file.1.49"), nullptr);
  copies_.reset();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace armature::rados
