// Properties of the volume in RADOS beyond the contract of volumes.

#include "storage/rados/rados_volume.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "storage/base/strings.h"
#include "storage/rados/rados_session.h"
#include "tests/rados/rados_under_test.h"
#include "tests/support/random.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::rados {
namespace {

using rocksdb::FileOptions;
using rocksdb::IOOptions;

constexpr uint64_t kStripe = 4096;

class RadosMount : public testing::Test {
 protected:
  RadosMount() { options_.stripe_bytes = kStripe; }

  bool Mount() {
    volume_ = MountForTest(options_);
    return volume_ != nullptr;
  }
  bool MountAfterCrash() {
    volume_->Abandon();
    volume_.reset();
    return Mount();
  }
  std::unique_ptr<rocksdb::FSWritableFile> NewFile(const std::string& path) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    EXPECT_TRUE(volume_->file_system()->NewWritableFile(path, FileOptions(), &file, nullptr).ok());
    return file;
  }
  // A connection of an operator, who sees the objects.
  std::shared_ptr<RadosSession> Connect() {
    auto session = RadosSession::Connect(options_);
    EXPECT_TRUE(session.ok()) << session.status();
    return session.ok() ? *session : nullptr;
  }
  std::vector<std::string> Objects() {
    const auto session = Connect();
    std::vector<std::string> names;
    rados_list_ctx_t list = nullptr;
    EXPECT_EQ(rados_nobjects_list_open(session->io(), &list), 0);
    const char* name = nullptr;
    while (rados_nobjects_list_next(list, &name, nullptr, nullptr) == 0) names.emplace_back(name);
    rados_nobjects_list_close(list);
    return names;
  }

  // The id of the only file that has an object of this number.
  std::string IdWithStripe(uint64_t stripe) {
    const std::string end = Cat(".", stripe);
    std::string id;
    for (const std::string& name : Objects()) {
      if (!name.starts_with("file.") || !name.ends_with(end)) continue;
      EXPECT_EQ(id, "") << name;
      id = name.substr(0, name.size() - end.size());
    }
    EXPECT_NE(id, "");
    return id;
  }
  void RemoveObject(const std::string& id, uint64_t stripe) {
    const auto session = Connect();
    EXPECT_EQ(rados_remove(session->io(), Cat(id, ".", stripe).c_str()), 0);
  }

  RadosVolumeOptions options_ = NewTestVolume();
  std::unique_ptr<RadosVolume> volume_;
};

TEST_F(RadosMount, NamesWhatIsMissing) {
  const auto refusal = [](const RadosVolumeOptions& options) {
    const auto mounted = RadosVolume::Mount(options);
    EXPECT_EQ(mounted.status().code(), absl::StatusCode::kFailedPrecondition) << mounted.status();
    return std::string(mounted.status().message());
  };
  RadosVolumeOptions wrong = options_;
  wrong.pool = "no-such-pool";
  EXPECT_NE(refusal(wrong).find("no-such-pool"), std::string::npos);
  wrong = options_;
  wrong.conf_file = "/no/such/file";
  EXPECT_NE(refusal(wrong).find("/no/such/file"), std::string::npos);
  wrong = options_;
  wrong.name_space = "";
  EXPECT_NE(refusal(wrong).find("namespace"), std::string::npos);
}

TEST_F(RadosMount, LeavesAForeignNamespaceAlone) {
  const auto session = Connect();
  WriteOp op;
  op.CreateNew();
  op.SetAttribute("format", "99");
  ASSERT_GE(session->Operate(op, "directory"), 0);
  const auto mounted = RadosVolume::Mount(options_);
  EXPECT_EQ(mounted.status().code(), absl::StatusCode::kFailedPrecondition) << mounted.status();
}

TEST_F(RadosMount, ALostDirectoryDoesNotBecomeAnEmptyOne) {
  ASSERT_TRUE(Mount());
  ASSERT_TRUE(volume_->WriteDurably("/file", "text").ok());
  volume_.reset();
  const auto session = Connect();
  ASSERT_EQ(rados_remove(session->io(), "directory"), 0);
  EXPECT_EQ(RadosVolume::Mount(options_).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(RadosMount, AnOrderlyEndHandsOverAtOnce) {
  options_.lease = absl::Seconds(100);
  options_.owner_wait = absl::ZeroDuration();
  ASSERT_TRUE(Mount());
  EXPECT_EQ(volume_->epoch(), 1u);
  const uint64_t boot = volume_->boot();
  ASSERT_TRUE(volume_->WriteDurably("/file", "text").ok());
  volume_.reset();
  ASSERT_TRUE(Mount());
  EXPECT_EQ(volume_->epoch(), 2u);
  EXPECT_NE(volume_->boot(), boot);
  EXPECT_EQ(volume_->Read("/file").value_or(""), "text");
}

TEST_F(RadosMount, RemovedFilesLeaveNoObjects) {
  ASSERT_TRUE(Mount());
  const std::vector<std::string> before = Objects();
  for (const std::string path : {"/table.sst", "/000001.log"}) {
    const auto file = NewFile(path);
    ASSERT_TRUE(file->Append(std::string(5 * kStripe + 1, 'x'), IOOptions(), nullptr).ok());
    ASSERT_TRUE(file->Sync(IOOptions(), nullptr).ok());
  }
  ASSERT_TRUE(volume_->WriteDurably("/small", std::string(3 * kStripe, 's')).ok());
  ASSERT_TRUE(volume_->Link("/small", "/second", store::LinkKind::kHard).ok());
  EXPECT_GE(Objects().size(), before.size() + 15);
  ASSERT_TRUE(volume_->RemoveTree("/").ok());
  EXPECT_TRUE(store::Eventually([&] { return Objects() == before; })) << Objects().size();
}

TEST_F(RadosMount, KnowsItsObjectsAndTheirBytes) {
  ASSERT_TRUE(Mount());
  const auto check = [&](uint64_t objects, uint64_t bytes) {
    EXPECT_TRUE(store::Eventually([&] { return Objects().size() == objects + 2; })) << Objects().size();
    EXPECT_EQ(volume_->stats().objects, objects);
    EXPECT_EQ(volume_->stats().file_bytes, bytes);
  };
  check(0, 0);
  auto table = NewFile("/000007.sst");
  ASSERT_TRUE(table->Append(std::string(5 * kStripe + 1, 'x'), IOOptions(), nullptr).ok());
  ASSERT_TRUE(table->Close(IOOptions(), nullptr).ok());
  table.reset();
  check(6, 5 * kStripe + 1);
  ASSERT_TRUE(volume_->Link("/000007.sst", "/second", store::LinkKind::kHard).ok());
  check(6, 5 * kStripe + 1);
  volume_.reset();
  ASSERT_TRUE(Mount());
  check(6, 5 * kStripe + 1);
  const auto log = NewFile("/000008.log");
  ASSERT_TRUE(log->Append("abc", IOOptions(), nullptr).ok());
  check(6 + 2, 5 * kStripe + 4);  // one object is ahead
  ASSERT_TRUE(volume_->RemoveTree("/").ok());
  check(2, 3);  // as long as it is open
}

TEST_F(RadosMount, AnOpenFileOutlivesItsName) {
  ASSERT_TRUE(Mount());
  ASSERT_TRUE(volume_->WriteDurably("/file", std::string(3 * kStripe, 'x')).ok());
  const auto file = volume_->Open("/file", store::Volume::Access::kRead);
  ASSERT_TRUE(file.ok() && volume_->Remove("/file").value_or(false));
  std::string text(3 * kStripe, '\0');
  EXPECT_EQ((*file)->ReadAt(0, text.size(), text.data()).value_or(0), text.size());
  EXPECT_EQ(text, std::string(3 * kStripe, 'x'));
}

// Writes of a file reach several servers in any order. A death in between leaves a hole, behind which nothing was
// synced.
TEST_F(RadosMount, WhatLiesBehindAHoleIsCutOffAfterACrash) {
  ASSERT_TRUE(Mount());
  const auto log = NewFile("/000001.log");
  ASSERT_TRUE(log->Append(std::string(2 * kStripe + 100, 'a'), IOOptions(), nullptr).ok());
  ASSERT_TRUE(log->Sync(IOOptions(), nullptr).ok());
  const std::string id = IdWithStripe(2);
  {
    // The next write was longer, and its end was stored first.
    const auto session = Connect();
    WriteOp op;
    op.Write(0, "end");
    ASSERT_GE(session->Operate(op, Cat(id, ".3")), 0);
  }
  ASSERT_TRUE(MountAfterCrash());
  EXPECT_EQ(volume_->Size("/000001.log").value_or(0), 2 * kStripe + 100);
  // It does not come back when the file grows.
  const auto file = volume_->Open("/000001.log", store::Volume::Access::kChange);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->WriteAt(2 * kStripe + 100, std::string(kStripe, 'b')).ok() && (*file)->Sync().ok());
  EXPECT_EQ(volume_->Read("/000001.log").value_or(""), std::string(2 * kStripe + 100, 'a') + std::string(kStripe, 'b'));
}

TEST_F(RadosMount, AMissingObjectIsDataLoss) {
  ASSERT_TRUE(Mount());
  ASSERT_TRUE(volume_->WriteDurably("/file", std::string(3 * kStripe, 'x')).ok());
  const auto session = Connect();
  for (const std::string& name : Objects()) {
    if (name.starts_with("file.") && name.ends_with(".1")) {
      ASSERT_EQ(rados_remove(session->io(), name.c_str()), 0);
    }
  }
  EXPECT_EQ(volume_->Read("/file").status().code(), absl::StatusCode::kDataLoss);
  // The next owner looks at the objects when it is to write the file.
  ASSERT_TRUE(MountAfterCrash());
  EXPECT_EQ(volume_->Open("/file", store::Volume::Access::kChange).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(RadosMount, AnObjectMissingInTheMiddleOfAnOpenFileIsDataLoss) {
  ASSERT_TRUE(Mount());
  const auto log = NewFile("/000001.log");
  ASSERT_TRUE(log->Append(std::string(4 * kStripe, 'a'), IOOptions(), nullptr).ok());
  ASSERT_TRUE(log->Sync(IOOptions(), nullptr).ok());
  RemoveObject(IdWithStripe(3), 1);
  volume_->Abandon();
  const auto mounted = RadosVolume::Mount(options_);
  EXPECT_EQ(mounted.status().code(), absl::StatusCode::kDataLoss) << mounted.status();
}

TEST_F(RadosMount, BytesBehindTheSizeOfAClosedFileAreNotPartOfIt) {
  ASSERT_TRUE(Mount());
  ASSERT_TRUE(volume_->WriteDurably("/file", "text").ok());
  {
    const auto session = Connect();
    WriteOp op;
    op.Write(4, "left by a write that failed");
    ASSERT_GE(session->Operate(op, Cat(IdWithStripe(0), ".0")), 0);
  }
  ASSERT_TRUE(MountAfterCrash());
  EXPECT_EQ(volume_->Read("/file").value_or(""), "text");
  const auto file = volume_->Open("/file", store::Volume::Access::kChange);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE((*file)->WriteAt(4, "!").ok() && (*file)->Sync().ok());
  EXPECT_EQ(volume_->Read("/file").value_or(""), "text!");
}

TEST_F(RadosMount, AFileOpenedForChangeHasItsNextObjectAhead) {
  ASSERT_TRUE(Mount());
  ASSERT_TRUE(volume_->WriteDurably("/file", "text").ok());
  const size_t before = Objects().size();
  const auto file = volume_->Open("/file", store::Volume::Access::kChange);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(Objects().size(), before + 1);
}

TEST_F(RadosMount, AnObjectOfALaterOwnerEndsThisOne) {
  std::atomic<int> lost = 0;
  options_.on_lost = [&](std::string_view) { ++lost; };
  ASSERT_TRUE(Mount());
  const auto log = NewFile("/000001.log");
  const std::string id = IdWithStripe(1);
  {
    const auto session = Connect();
    WriteOp op;
    op.CreateNew();
    op.SetAttribute("epoch", "0000000000000002");
    ASSERT_GE(session->Operate(op, Cat(id, ".2")), 0);
  }
  ASSERT_TRUE(log->Append(std::string(2 * kStripe, 'a'), IOOptions(), nullptr).ok() || lost > 0);
  EXPECT_TRUE(log->Sync(IOOptions(), nullptr).IsIOFenced());
  EXPECT_EQ(lost, 1);
}

TEST_F(RadosMount, ThoseThatWaitLearnWhereTheOwnerServes) {
  ASSERT_TRUE(Mount());
  ASSERT_TRUE(volume_->Announce("grpc=db1:7700 http=db1:7701").ok());
  RadosVolumeOptions waiting = options_;
  waiting.owner_wait = absl::Milliseconds(300);
  std::vector<std::string> told;
  waiting.on_waiting = [&](const VolumeWait& wait) { told.push_back(wait.service); };
  EXPECT_EQ(RadosVolume::Mount(waiting).status().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), "grpc=db1:7700 http=db1:7701");
  auto status = ReadVolumeStatus(options_);
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->epoch, 1u);
  EXPECT_EQ(status->owner.service, "grpc=db1:7700 http=db1:7701");
  EXPECT_FALSE(status->owner.client.empty() || status->owner.host.empty() || status->holder.empty());
  EXPECT_EQ(status->stripe_bytes, kStripe);
  const std::string id = status->id;
  volume_.reset();
  status = ReadVolumeStatus(options_);
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->id, id);
  EXPECT_EQ(status->owner, OwnerRecord());
  EXPECT_EQ(status->holder, "");
}

class RadosCopies : public RadosMount {
 protected:
  RadosCopies() { options_.copies_directory = directory_.path("copies"); }

  void WriteTable() {
    const auto table = NewFile("/000007.sst");
    ASSERT_TRUE(table->Append(content_, IOOptions(), nullptr).ok());
    ASSERT_TRUE(table->Sync(IOOptions(), nullptr).ok());
    ASSERT_TRUE(table->Close(IOOptions(), nullptr).ok());
  }
  // The table file as RocksDB reads it.
  std::string ReadTable() {
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    const auto opened = volume_->file_system()->NewRandomAccessFile("/000007.sst", FileOptions(), &file, nullptr);
    if (!opened.ok()) return opened.ToString();
    std::string bytes(content_.size(), '\0');
    rocksdb::Slice result;
    const auto read = file->Read(0, bytes.size(), IOOptions(), &result, bytes.data(), nullptr);
    return read.ok() ? result.ToString() : read.ToString();
  }
  std::string CopyOnDisk() {
    for (const auto& each : std::filesystem::directory_iterator(directory_.path("copies"))) {
      if (each.path().extension() == ".copy") return each.path();
    }
    return "";
  }

  test::TempDir directory_;
  const std::string content_ = std::string(3 * kStripe + 17, 't');
};

TEST_F(RadosCopies, TableFilesAreReadFromTheirCopiesAlsoAfterARestart) {
  ASSERT_TRUE(Mount());
  WriteTable();
  const std::string id = IdWithStripe(3);
  ASSERT_TRUE(MountAfterCrash());
  // The cluster is not asked.
  for (uint64_t stripe = 0; stripe < 4; ++stripe) RemoveObject(id, stripe);
  EXPECT_TRUE(ReadTable() == content_);
  ASSERT_TRUE(volume_->Remove("/000007.sst").ok());
}

TEST_F(RadosCopies, ADamagedOrMissingCopyIsMadeAgain) {
  ASSERT_TRUE(Mount());
  WriteTable();
  std::fstream file(CopyOnDisk(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(100);
  file.put('x');
  file.close();
  EXPECT_TRUE(ReadTable() == content_);
  EXPECT_EQ(volume_->stats().copies.damaged, 1u);
  EXPECT_TRUE(store::Eventually([&] { return volume_->stats().copies.files == 1; }));
  EXPECT_TRUE(ReadTable() == content_);
  EXPECT_EQ(volume_->stats().copies.hits, 1u);
  volume_.reset();
  std::filesystem::remove_all(options_.copies_directory);
  ASSERT_TRUE(Mount());
  EXPECT_TRUE(ReadTable() == content_);
  EXPECT_TRUE(store::Eventually([&] { return volume_->stats().copies.files == 1; }));
}

TEST_F(RadosCopies, AnUnusableDirectoryDoesNotStopAnOwner) {
  options_.copies_directory = "/proc/no/such/place";
  ASSERT_TRUE(Mount());
  WriteTable();
  EXPECT_TRUE(ReadTable() == content_);
  EXPECT_EQ(volume_->stats().copies.bytes_max, 0u);
}

TEST_F(RadosCopies, ARemovedFileHasNoCopy) {
  ASSERT_TRUE(Mount());
  WriteTable();
  EXPECT_NE(CopyOnDisk(), "");
  std::unique_ptr<rocksdb::FSRandomAccessFile> open;
  ASSERT_TRUE(volume_->file_system()->NewRandomAccessFile("/000007.sst", FileOptions(), &open, nullptr).ok());
  ASSERT_TRUE(volume_->file_system()->DeleteFile("/000007.sst", IOOptions(), nullptr).ok());
  EXPECT_EQ(CopyOnDisk(), "");
  // A reader that still has it does not bring it back.
  std::string bytes(10, '\0');
  rocksdb::Slice result;
  EXPECT_TRUE(open->Read(0, bytes.size(), IOOptions(), &result, bytes.data(), nullptr).ok());
  WriteTable();
  EXPECT_EQ(volume_->stats().copies.files, 1u);
}

TEST_F(RadosMount, AVolumeOfALaterVersionIsRefused) {
  ASSERT_TRUE(Mount());
  volume_.reset();
  const auto session = Connect();
  WriteOp op;
  op.SetAttribute("needs", "compression");
  ASSERT_GE(session->Operate(op, "directory"), 0);
  const auto mounted = RadosVolume::Mount(options_);
  EXPECT_EQ(mounted.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(std::string(mounted.status().message()).find("compression"), std::string::npos) << mounted.status();
}

TEST_F(RadosMount, ACheckFindsOrphansAndMissingObjects) {
  ASSERT_TRUE(Mount());
  ASSERT_TRUE(volume_->WriteDurably("/whole", std::string(3 * kStripe, 'x')).ok());
  const std::string id = IdWithStripe(2);
  ASSERT_TRUE(volume_->WriteDurably("/small", "text").ok());
  auto check = volume_->Check(/*collects=*/false);
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(check->files, 2u);
  EXPECT_EQ(check->file_bytes, 3 * kStripe + 4);
  EXPECT_EQ(check->orphans, 0u);
  EXPECT_TRUE(check->problems.empty());
  {
    const auto session = Connect();
    for (const char* name : {"file.1.999.0", "file.1.999.1"}) {
      WriteOp op;
      op.Write(0, "left behind");
      ASSERT_GE(session->Operate(op, name), 0);
    }
  }
  RemoveObject(id, 1);
  check = volume_->Check(/*collects=*/true);
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(check->orphans, 2u);
  EXPECT_EQ(check->orphan_bytes, 22u);
  ASSERT_EQ(check->problems.size(), 1u);
  EXPECT_EQ(check->problems[0], Cat("/whole: object ", id, ".1 is missing"));
  check = volume_->Check(/*collects=*/false);
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(check->orphans, 0u);
  EXPECT_EQ(volume_->Read("/small").value_or(""), "text");
}

TEST(OwnerRecord, OtherMachinesDoNotReachItsLoopback) {
  const OwnerRecord owner = {.client = "c", .service = "grpc=127.0.0.1:1 http=db1:2", .host = "db1", .since_s = 7};
  EXPECT_EQ(ServiceFor(owner, "db1"), owner.service);
  EXPECT_EQ(ServiceFor(owner, "db2"), "http=db1:2");
  EXPECT_EQ(ServiceFor({.client = "c", .service = "grpc=[::1]:1 http=localhost:2", .host = "db1"}, "db2"), "");
}

TEST(OwnerRecord, KeepsItsFieldsAndSkipsUnknownOnes) {
  const OwnerRecord owner = {
      .client = "[v2:1.2.3.4:0/5]", .service = "grpc=a:1 http=b:2", .host = "db=1", .since_s = 7};
  EXPECT_EQ(DecodeOwner(EncodeOwner(owner)), owner);
  EXPECT_EQ(DecodeOwner(Cat("later=x\n", EncodeOwner(owner), "no field\n")), owner);
  EXPECT_EQ(DecodeOwner(""), OwnerRecord());
}

TEST_F(RadosMount, SyncsOfManyThreadsCoverTheirBytes) {
  ASSERT_TRUE(Mount());
  const auto log = NewFile("/000001.log");
  ASSERT_TRUE(log->IsSyncThreadSafe());
  std::atomic<uint64_t> appended = 0;
  std::atomic<uint64_t> synced = 0;
  std::atomic<bool> is_done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!is_done) {
        const uint64_t covered = appended;
        ASSERT_TRUE(log->Sync(IOOptions(), nullptr).ok());
        for (uint64_t known = synced; known < covered && !synced.compare_exchange_weak(known, covered);) {
        }
      }
    });
  }
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(log->Append(std::string(100, static_cast<char>('a' + i % 26)), IOOptions(), nullptr).ok());
    appended += 100;
  }
  EXPECT_TRUE(store::Eventually([&] { return synced == appended; }));
  is_done = true;
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(log->Append("not synced", IOOptions(), nullptr).ok());
  ASSERT_TRUE(MountAfterCrash());
  const std::string text = volume_->Read("/000001.log").value_or("");
  ASSERT_GE(text.size(), 50'000u);
  for (size_t i = 0; i < 50'000; ++i) ASSERT_EQ(text[i], static_cast<char>('a' + i / 100 % 26)) << i;
}

TEST_F(RadosMount, ChangedPlacesOverlapAndCrossObjects) {
  ASSERT_TRUE(Mount());
  std::string expected(3 * kStripe, '.');
  ASSERT_TRUE(volume_->WriteDurably("/file", expected).ok());
  {
    const auto file = volume_->Open("/file", store::Volume::Access::kChange);
    ASSERT_TRUE(file.ok());
    test::Random random(5);
    for (int i = 0; i < 400; ++i) {
      const size_t at = random.Below(expected.size() + 200);
      const std::string bytes(1 + random.Below(size_t{300}), static_cast<char>('a' + i % 26));
      ASSERT_TRUE((*file)->WriteAt(at, bytes).ok());
      if (expected.size() < at + bytes.size()) expected.resize(at + bytes.size(), '\0');
      expected.replace(at, bytes.size(), bytes);
      if (random.OneIn(10)) {
        ASSERT_TRUE((*file)->Sync().ok());
      }
      if (random.OneIn(5)) {
        ASSERT_TRUE(volume_->Read("/file").value_or("") == expected) << i;
      }
    }
    ASSERT_TRUE((*file)->Sync().ok());
  }
  ASSERT_TRUE(MountAfterCrash());
  EXPECT_TRUE(volume_->Read("/file").value_or("") == expected);
}

TEST_F(RadosMount, AnAnswerThatDoesNotComeIsAnUnknownOutcome) {
  options_.op_timeout = absl::Seconds(3);
  options_.lease = absl::Seconds(300);  // its renewals are not the subject
  ASSERT_TRUE(Mount());
  ASSERT_TRUE(volume_->WriteDurably("/file", "before").ok());
  for (const char* osd : {"0", "1", "2"}) ASSERT_TRUE(RunClusterTool("kill-osd", osd));
  const absl::Status written = volume_->WriteDurably("/file", "during");
  EXPECT_EQ(written.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(std::string(written.message()).find("outcome is unknown"), std::string::npos) << written;
  for (const char* osd : {"0", "1", "2"}) ASSERT_TRUE(RunClusterTool("start-osd", osd));
  absl::Status after;
  EXPECT_TRUE(store::Eventually([&] {
    after = volume_->WriteDurably("/file", "after");
    return after.ok();
  })) << after;
  EXPECT_EQ(volume_->Read("/file").value_or(""), "after");
}

}  // namespace
}  // namespace armature::rados
