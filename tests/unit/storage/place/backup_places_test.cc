#include "storage/place/backup_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/synchronization/notification.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::place {
namespace {

using Use = store::BackupPlaces::Use;
using ::testing::HasSubstr;

constexpr char kName[] = "rados://pool/backups";

// Counts the volumes that a test opens, and loses them.
struct World {
  std::atomic<int> opened = 0;
  std::atomic<int> open = 0;
  std::atomic<int> abandoned = 0;
  std::function<void(std::string_view)> lose;  // of the volume that was opened last
};

class FakePlace final : public Place {
 public:
  explicit FakePlace(World* world) : world_(world) {
    ++world_->opened;
    ++world_->open;
  }
  ~FakePlace() override { --world_->open; }
  FakePlace(const FakePlace&) = delete;
  FakePlace& operator=(const FakePlace&) = delete;

  store::Volume* volume() const override { return store::LocalVolume(); }
  const std::string& data_dir() const override { return data_dir_; }
  absl::Status Announce(std::string_view) override { return absl::OkStatus(); }
  void Abandon() override { ++world_->abandoned; }
  absl::StatusOr<std::vector<std::string>> FindLostObjects() override { return std::vector<std::string>(); }
  std::optional<rados::VolumeStats> stats() const override { return rados::VolumeStats{.epoch = 7}; }

 private:
  World* const world_;
  const std::string data_dir_ = "/backups";
};

class SharedBackupPlacesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!CheckRados(kName).ok()) GTEST_SKIP() << "built without RADOS";
  }

  SharedBackupPlaces::Opener Opener() {
    return [this](const std::string&, const PlaceOptions& options, bool) -> absl::StatusOr<std::unique_ptr<Place>> {
      if (before_open_) ARM_RETURN_IF_ERROR(before_open_(options));
      world_.lose = options.on_lost;
      return std::make_unique<FakePlace>(&world_);
    };
  }

  World world_;
  std::function<absl::Status(const PlaceOptions& options)> before_open_;
};

TEST_F(SharedBackupPlacesTest, NameDirectoriesAndVolumesOtherThanTheDatabases) {
  const SharedBackupPlaces places("rados://pool/orders", {}, Opener());
  EXPECT_TRUE(places.CheckName("/backup").ok());
  EXPECT_TRUE(places.CheckName(kName).ok());
  EXPECT_THAT(std::string(places.CheckName("backup").message()), HasSubstr("absolute path, or rados://"));
  EXPECT_THAT(std::string(places.CheckName("rados://pool").message()), HasSubstr("rados://POOL/NAMESPACE"));
  EXPECT_THAT(std::string(places.CheckName("rados://pool/orders").message()), HasSubstr("place of the database"));
}

TEST_F(SharedBackupPlacesTest, AreOpenedOnceAndGivenBackByTheLastUser) {
  SharedBackupPlaces places("/data", {}, Opener());
  absl::StatusOr<store::BackupPlacePtr> one = places.Open(kName, Use::kWrite, nullptr);
  absl::StatusOr<store::BackupPlacePtr> two = places.Open(kName, Use::kRead, nullptr);
  ASSERT_TRUE(one.ok() && two.ok()) << one.status() << two.status();
  EXPECT_EQ(*one, *two);
  EXPECT_EQ((*one)->name(), kName);
  EXPECT_EQ((*one)->path(), "/backups");
  const absl::StatusOr<store::BackupPlacePtr> other = places.Open("rados://pool/others", Use::kWrite, nullptr);
  EXPECT_EQ(world_.open, 2);
  one->reset();
  EXPECT_EQ(world_.open, 2);
  two->reset();
  EXPECT_EQ(world_.open, 1);
  EXPECT_TRUE(places.Open(kName, Use::kRead, nullptr).ok());
  EXPECT_EQ(world_.opened, 3);
  // A directory is not opened at all.
  const absl::StatusOr<store::BackupPlacePtr> local = places.Open("/backup", Use::kRead, nullptr);
  EXPECT_EQ((*local)->volume(), store::LocalVolume());
  EXPECT_EQ((*local)->path(), "/backup");
  EXPECT_EQ(world_.opened, 3);
}

TEST_F(SharedBackupPlacesTest, ThatAreLostAreOpenedAnew) {
  SharedBackupPlaces places("/data", {}, Opener());
  const store::BackupPlacePtr lost = *places.Open(kName, Use::kWrite, nullptr);
  EXPECT_TRUE(lost->state().ok());
  const absl::Status other = absl::DataLossError("other");
  EXPECT_EQ(store::ErrorIn(*lost, other).code(), other.code());
  world_.lose("another process holds its lease");
  EXPECT_EQ(lost->state(), absl::UnavailableError(
                               "lost the place of the backups rados://pool/backups: another process holds its lease"));
  // The loss explains every failure.
  EXPECT_EQ(store::ErrorIn(*lost, other), lost->state());
  EXPECT_TRUE(store::ErrorIn(*lost, absl::OkStatus()).ok());
  const store::BackupPlacePtr anew = *places.Open(kName, Use::kWrite, nullptr);
  EXPECT_NE(anew, lost);
  EXPECT_TRUE(anew->state().ok());
}

TEST_F(SharedBackupPlacesTest, TellWhichVolumesAreOwnedNow) {
  SharedBackupPlaces places("/data", {}, Opener());
  EXPECT_TRUE(places.owned().empty());
  store::BackupPlacePtr used = *places.Open(kName, Use::kWrite, nullptr);
  const store::BackupPlacePtr local = *places.Open("/backup", Use::kWrite, nullptr);
  ASSERT_EQ(places.owned().size(), 1u);
  EXPECT_EQ(places.owned()[0].name, kName);
  EXPECT_EQ(places.owned()[0].stats.epoch, 7u);
  world_.lose("another process holds its lease");
  EXPECT_TRUE(places.owned().empty());
  used = *places.Open(kName, Use::kWrite, nullptr);
  EXPECT_EQ(places.owned().size(), 1u);
  used.reset();
  EXPECT_TRUE(places.owned().empty());
}

TEST_F(SharedBackupPlacesTest, MayBeAbandoned) {
  SharedBackupPlaces places("/data", {}, Opener());
  EXPECT_TRUE(places.Open("rados://pool/others", Use::kWrite, nullptr).ok());
  const store::BackupPlacePtr used = *places.Open(kName, Use::kWrite, nullptr);
  places.Abandon();
  EXPECT_EQ(world_.abandoned, 1);
  EXPECT_THAT(std::string(used->state().message()), HasSubstr("the daemon ends"));
}

TEST_F(SharedBackupPlacesTest, WaitForWhoeverOpensThem) {
  SharedBackupPlaces places("/data", {}, Opener());
  absl::Notification is_opening;
  absl::Notification may_open;
  before_open_ = [&](const PlaceOptions&) {
    is_opening.Notify();
    may_open.WaitForNotification();
    return absl::OkStatus();
  };
  store::BackupPlacePtr first;
  std::thread opener([&] { first = *places.Open(kName, Use::kWrite, nullptr); });
  is_opening.WaitForNotification();
  // The second one asks whether it is cancelled while it waits.
  std::atomic<bool> has_waited = false;
  store::BackupPlacePtr second;
  std::thread waiter([&] {
    second = *places.Open(kName, Use::kWrite, [&] {
      if (!has_waited.exchange(true)) may_open.Notify();
      return false;
    });
  });
  opener.join();
  waiter.join();
  EXPECT_TRUE(has_waited);
  EXPECT_EQ(first, second);
  EXPECT_EQ(world_.opened, 1);
}

TEST_F(SharedBackupPlacesTest, AreNotWaitedForWithoutBound) {
  PlaceOptions options;
  options.owner_wait = absl::Milliseconds(1);
  SharedBackupPlaces places("/data", options, Opener());
  absl::Notification is_opening;
  absl::Notification may_open;
  before_open_ = [&](const PlaceOptions&) {
    is_opening.Notify();
    may_open.WaitForNotification();
    return FailedPreconditionError("the volume is in use by another process (client.7 at 10.0.0.7:0/77)");
  };
  absl::Status failed;
  std::thread opener([&] { failed = places.Open(kName, Use::kWrite, nullptr).status(); });
  is_opening.WaitForNotification();
  EXPECT_TRUE(absl::IsUnavailable(places.Open(kName, Use::kWrite, nullptr).status()));
  EXPECT_TRUE(absl::IsCancelled(places.Open(kName, Use::kWrite, [] { return true; }).status()));
  may_open.Notify();
  opener.join();
  EXPECT_TRUE(absl::IsUnavailable(failed)) << failed;
  EXPECT_THAT(std::string(failed.message()), HasSubstr(kName));
  EXPECT_THAT(std::string(failed.message()), HasSubstr("client.7 at 10.0.0.7:0/77"));
  // A failure is not remembered.
  before_open_ = nullptr;
  EXPECT_TRUE(places.Open(kName, Use::kWrite, nullptr).ok());
}

TEST_F(SharedBackupPlacesTest, TellOfMissingOnesAndOfCancelledWaits) {
  SharedBackupPlaces places("/data", {}, Opener());
  before_open_ = [](const PlaceOptions&) { return absl::NotFoundError("no volume"); };
  EXPECT_TRUE(absl::IsNotFound(places.Open(kName, Use::kRead, nullptr).status()));
  before_open_ = [](const PlaceOptions& options) {
    return options.is_cancelled() ? FailedPreconditionError("in use") : absl::OkStatus();
  };
  EXPECT_TRUE(absl::IsCancelled(places.Open(kName, Use::kRead, [] { return true; }).status()));
  EXPECT_EQ(world_.opened, 0);
}

}  // namespace
}  // namespace armature::place
