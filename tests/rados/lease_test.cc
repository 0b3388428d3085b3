// Owners of a volume: replaced ones whose connection tells them nothing, and attempts that were not answered.

#include "storage/rados/lease.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/synchronization/notification.h"
#include "storage/base/monotonic_wait.h"
#include "storage/rados/owner_record.h"
#include "storage/rados/rados_session.h"
#include "storage/rados/rados_volume.h"
#include "storage/rados/volume_record.h"
#include "tests/rados/frozen_threads.h"
#include "tests/rados/rados_under_test.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::rados {
namespace {

// docs/operate/rados.md: within which a replaced owner knows it.
constexpr absl::Duration kKnownWithin = absl::Seconds(30);

class RadosLease : public testing::Test {
 protected:
  RadosLease() {
    options_.on_lost = [this](std::string_view reason) {
      reason_ = reason;
      is_lost_.Notify();
    };
  }

  // An owner, and the threads of its connection.
  void MountOwner() {
    const std::set<int> before = ConnectionThreads();
    owner_ = MountForTest(options_);
    ASSERT_NE(owner_, nullptr);
    const std::set<int> all = ConnectionThreads();
    std::set_difference(all.begin(), all.end(), before.begin(), before.end(), std::inserter(threads_, threads_.end()));
    ASSERT_FALSE(threads_.empty());
    ASSERT_TRUE(owner_->WriteDurably("/file", "text").ok());
  }
  RadosVolumeOptions OptionsOfAnother() const {
    RadosVolumeOptions options = options_;
    options.on_lost = nullptr;
    return options;
  }

  RadosVolumeOptions options_ = NewTestVolume();
  std::string reason_;
  absl::Notification is_lost_;
  std::unique_ptr<RadosVolume> owner_;
  std::set<int> threads_;
};

TEST_F(RadosLease, AReplacedOwnerKnowsItAlsoIfItsConnectionHangs) {
  ASSERT_NO_FATAL_FAILURE(MountOwner());
  const FrozenThreads frozen(threads_);
  const auto successor = MountForTest(OptionsOfAnother());
  ASSERT_NE(successor, nullptr);
  ASSERT_TRUE(is_lost_.WaitForNotificationWithTimeout(kKnownWithin));
  EXPECT_EQ(reason_, "another process is the owner with epoch 2, as a new connection tells");
  EXPECT_FALSE(owner_->IsOwnerForCertain());
  EXPECT_EQ(successor->Read("/file").value_or(""), "text");
}

TEST_F(RadosLease, AnOwnerThatNobodyReplacedOutlivesItsSilence) {
  ASSERT_NO_FATAL_FAILURE(MountOwner());
  {
    const FrozenThreads frozen(threads_);
    EXPECT_TRUE(store::Eventually([&] { return !owner_->IsOwnerForCertain(); }));
    // Long enough for a look over a new connection.
    EXPECT_FALSE(is_lost_.WaitForNotificationWithTimeout(absl::Seconds(4)));
  }
  EXPECT_TRUE(store::Eventually([&] { return owner_->IsOwnerForCertain(); }));
  EXPECT_TRUE(owner_->WriteDurably("/file", "later").ok());
  EXPECT_FALSE(is_lost_.HasBeenNotified()) << reason_;
}

// The first attempt wrote the epoch and the owner, and its answer was lost.
TEST_F(RadosLease, ARepeatedAttemptToTakeTheEpochDoesNotBlockItself) {
  { ASSERT_NE(MountForTest(OptionsOfAnother()), nullptr); }
  const auto session = RadosSession::Connect(options_);
  ASSERT_TRUE(session.ok()) << session.status();
  WriteOp first;
  first.Require(kEpochAttribute, EpochText(1));
  first.SetAttribute(kEpochAttribute, EpochText(2));
  first.SetAttribute(kOwnerAttribute, EncodeOwner({.client = (*session)->address(), .service = "", .host = "db1"}));
  ASSERT_GE((*session)->Operate(first, kDirectoryObject), 0);
  VolumeRecord record;
  auto lease = Lease::Take(*session, &record);
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ(record.epoch, 2u);
  EXPECT_EQ((*session)->epoch(), 3u);
  // The cluster would refuse a client that it has blocked, and a later renewal an owner of another epoch.
  WriteOp write;
  write.Require(kEpochAttribute, (*session)->epoch_text());
  write.SetEntry("/file", "directory");
  EXPECT_GE((*session)->Operate(write, kDirectoryObject), 0);
  const double left_s = (*lease)->LeftSeconds();
  EXPECT_TRUE(store::Eventually([&] { return (*lease)->LeftSeconds() > left_s; }));
  EXPECT_FALSE(is_lost_.HasBeenNotified()) << reason_;
}

// An attempt whose answer was lost, and which another process has followed, is no claim.
TEST_F(RadosLease, AnAttemptThatAnotherOneHasFollowedIsNotRepeated) {
  { ASSERT_NE(MountForTest(OptionsOfAnother()), nullptr); }
  RadosVolumeOptions brief = options_;
  brief.owner_wait = absl::ZeroDuration();
  const auto session = RadosSession::Connect(brief);
  ASSERT_TRUE(session.ok()) << session.status();
  WriteOp first;
  first.SetAttribute(kEpochAttribute, EpochText(2));
  first.SetAttribute(kOwnerAttribute, EncodeOwner({.client = (*session)->address(), .service = "", .host = "db1"}));
  ASSERT_GE((*session)->Operate(first, kDirectoryObject), 0);
  const auto other = MountForTest(OptionsOfAnother());
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->epoch(), 3u);
  VolumeRecord record;
  EXPECT_FALSE(Lease::Take(*session, &record).ok());
  EXPECT_TRUE(other->WriteDurably("/file", "text").ok());
}

}  // namespace
}  // namespace armature::rados
