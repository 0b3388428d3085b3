#include "daemon/grpc/flood_guard.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace armature::daemon::flood_guard_test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kIntervalNs = 100'000'000;
constexpr uint64_t kKb = 1024;
constexpr uint64_t kMb = 1024 * kKb;
constexpr char kOne[] = "ipv4:192.0.2.1:1000";

class FloodGuardTest : public testing::Test {
 protected:
  // Looks once more after `intervals`, and tells who floods.
  std::vector<std::string> Look(int intervals = 1) {
    now_ns_ += intervals * kIntervalNs;
    guard_.BeginLook(now_ns_);
    for (const auto& [peer, counts] : connections_) guard_.Look(peer, counts, now_ns_);
    return guard_.EndLook();
  }
  void Receive(const std::string& peer, uint64_t bytes) { connections_[peer].received += bytes; }
  // A connection that has been looked at.
  void Connect(const std::string& peer) {
    Receive(peer, 4 * kKb);
    EXPECT_THAT(Look(), IsEmpty());
  }
  static std::string Neighbour(int number) { return "ipv4:192.0.2.1:" + std::to_string(2000 + number); }

  FloodGuard guard_;
  std::map<std::string, TransferCounts> connections_;
  int64_t now_ns_ = kIntervalNs;
};

TEST_F(FloodGuardTest, FramesWithoutCallsAreAFlood) {
  Connect(kOne);
  Receive(kOne, 200 * kKb);
  EXPECT_THAT(Look(), IsEmpty()) << "the call may not have begun";
  Receive(kOne, 200 * kKb);
  EXPECT_THAT(Look(), ElementsAre(kOne));
}

TEST_F(FloodGuardTest, ARequestThatIsCountedLaterIsNone) {
  Connect(kOne);
  Receive(kOne, 300 * kKb);
  EXPECT_THAT(Look(), IsEmpty());
  guard_.UseOf(kOne)->served_bytes += 301 * kKb;
  EXPECT_THAT(Look(), IsEmpty());
  EXPECT_THAT(Look(), IsEmpty());
}

TEST_F(FloodGuardTest, RequestsOfABusyClientThatHaveNotBegunYetAreNone) {
  Connect(kOne);
  const std::shared_ptr<ConnectionUse> use = guard_.UseOf(kOne);
  Receive(kOne, 250 * kKb);
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(Look(), IsEmpty()) << "between two calls, each time with other requests";
    use->served_bytes += 1000 * kKb;
    Receive(kOne, 1000 * kKb);
  }
}

TEST_F(FloodGuardTest, ASmallRateBesideCallsDoesNotAddUp) {
  Connect(kOne);
  const std::shared_ptr<ConnectionUse> use = guard_.UseOf(kOne);
  for (int i = 0; i < 80; ++i) {
    use->served_bytes += 1000 * kKb;
    Receive(kOne, 1030 * kKb);
    EXPECT_THAT(Look(), IsEmpty()) << i;
  }
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Look(), IsEmpty()) << "the client has nothing to do any more";
}

TEST_F(FloodGuardTest, AFloodBetweenCallsIsFound) {
  Connect(kOne);
  const std::shared_ptr<ConnectionUse> use = guard_.UseOf(kOne);
  std::vector<std::string> flooders;
  for (int i = 0; i < 20 && flooders.empty(); ++i) {
    use->served_bytes += 1000 * kKb;
    Receive(kOne, 1200 * kKb);
    flooders = Look();
  }
  EXPECT_THAT(flooders, ElementsAre(kOne));
}

TEST_F(FloodGuardTest, UnreadBytesCountWhenTheyAreRead) {
  Connect(kOne);
  Receive(kOne, 300 * kKb);
  connections_[kOne].unread = 300 * kKb;
  for (int i = 0; i < 5; ++i) EXPECT_THAT(Look(), IsEmpty()) << "gRPC's threads are busy with others";
  connections_[kOne].unread = 0;
  Look();
  EXPECT_THAT(Look(), ElementsAre(kOne));
}

TEST_F(FloodGuardTest, AnUnfinishedRequestMayHaveArrivedButForItsEnd) {
  Connect(kOne);
  guard_.UseOf(kOne)->open_calls = 1;
  for (int i = 0; i < 30; ++i) {
    Receive(kOne, kKb * kKb);
    EXPECT_THAT(Look(), IsEmpty());
  }
  for (int i = 0; i < 4; ++i) {
    Receive(kOne, kKb * kKb);
    Look();
  }
  Receive(kOne, kKb * kKb);
  EXPECT_THAT(Look(), ElementsAre(kOne)) << "no request is that large";
}

TEST_F(FloodGuardTest, ASmallRateIsPermitted) {
  Connect(kOne);
  for (int i = 0; i < 100; ++i) {
    Receive(kOne, 32 * kKb);
    EXPECT_THAT(Look(), IsEmpty()) << i;
  }
  for (int i = 0; i < 10; ++i) {
    Receive(kOne, 10 * 32 * kKb);
    EXPECT_THAT(Look(/*intervals=*/10), IsEmpty()) << "the same rate over a longer time";
  }
}

TEST_F(FloodGuardTest, ResetCallsAreAFlood) {
  Connect(kOne);
  guard_.UseOf(kOne)->reset_calls += 500;
  EXPECT_THAT(Look(), IsEmpty());
  guard_.UseOf(kOne)->reset_calls += 600;
  EXPECT_THAT(Look(), ElementsAre(kOne));
}

TEST_F(FloodGuardTest, AnEarlyLookFindsResetsAndNothingElse) {
  Connect(kOne);
  Receive(kOne, 200 * kKb);
  EXPECT_THAT(Look(), IsEmpty());
  for (const uint64_t resets : {0, 500, 600}) {
    guard_.UseOf(kOne)->reset_calls += resets;
    guard_.BeginLook(now_ns_);
    guard_.LookAtResets();
    EXPECT_THAT(guard_.EndLook(), SizeIs(resets == 600 ? 1 : 0)) << resets;
  }
  Receive(kOne, 200 * kKb);
  EXPECT_THAT(Look(), ElementsAre(kOne)) << "the early looks have changed nothing";
}

TEST_F(FloodGuardTest, ACallThatEndsUnreadExcusesWhatHasArrivedOfIt) {
  Connect(kOne);
  Receive(kOne, 15 * kMb);
  guard_.UseOf(kOne)->unread_calls += 1;
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Look(), IsEmpty());
  Receive(kOne, 200 * kKb);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Look(), IsEmpty()) << "its last bytes come late";
  Receive(kOne, 20 * kMb);
  Look();
  EXPECT_THAT(Look(), ElementsAre(kOne)) << "not twice";
}

TEST_F(FloodGuardTest, CallsThatEndUnreadBesideAnOpenOneAreExcusedWhenItEnds) {
  Connect(kOne);
  guard_.UseOf(kOne)->open_calls = 1;
  for (int i = 0; i < 3; ++i) {
    Receive(kOne, 15 * kMb);
    guard_.UseOf(kOne)->unread_calls += 1;
    for (int look = 0; look < 20; ++look) EXPECT_THAT(Look(), IsEmpty());
  }
  guard_.UseOf(kOne)->open_calls = 0;
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Look(), IsEmpty());
}

TEST_F(FloodGuardTest, ACallThatEndsUnreadExcusesAllThatAnOpenOneIsPermitted) {
  Connect(kOne);
  guard_.UseOf(kOne)->open_calls = 1;
  Receive(kOne, 31 * kMb);
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Look(), IsEmpty());
  guard_.UseOf(kOne)->open_calls = 0;
  guard_.UseOf(kOne)->unread_calls = 1;
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Look(), IsEmpty());
}

TEST_F(FloodGuardTest, TheOpenCallsOfAConnectionThatHasEndedAreExcusedOnce) {
  guard_.UseOf(kOne)->open_calls = 2;
  Receive(kOne, 60 * kMb);
  connections_[kOne].has_ended = true;
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Look(), IsEmpty());
  Receive(kOne, 8 * kMb);
  EXPECT_THAT(Look(), IsEmpty());
  EXPECT_THAT(Look(), ElementsAre(kOne));
}

TEST_F(FloodGuardTest, AConnectionFromThePortOfAnotherOneCountsFromItsBegin) {
  Connect(kOne);
  Receive(kOne, 100 * kMb);
  connections_[kOne].acknowledged = 100 * kMb;
  guard_.UseOf(kOne)->served_bytes += 101 * kMb;
  EXPECT_THAT(Look(), IsEmpty());
  connections_[kOne] = {.received = 200 * kKb};
  EXPECT_THAT(Look(), IsEmpty());
  EXPECT_THAT(Look(), ElementsAre(kOne));
}

TEST_F(FloodGuardTest, EmptyCallsDoNotHideAFlood) {
  Connect(kOne);
  uint64_t sent = 0;
  std::vector<std::string> flooders;
  while (flooders.empty() && sent < 200 * kMb) {
    Receive(kOne, kMb);
    sent += kMb;
    guard_.UseOf(kOne)->unread_calls += 10;
    flooders = Look();
  }
  EXPECT_THAT(flooders, ElementsAre(kOne));
  // 64 MB are excused, and a quarter of what comes meanwhile.
  EXPECT_GT(sent, 64 * kMb);
  EXPECT_LT(sent, 100 * kMb);
}

TEST_F(FloodGuardTest, ANetworkIsExcusedOnce) {
  for (int i = 0; i < 8; ++i) Connect(Neighbour(i));
  Connect("ipv4:198.51.100.7:1000");
  for (const auto& [peer, counts] : std::map(connections_)) {
    Receive(peer, 16 * kMb);
    guard_.UseOf(peer)->unread_calls += 1;
  }
  EXPECT_THAT(Look(), IsEmpty());
  EXPECT_THAT(Look(), SizeIs(4)) << "64 MB of the network with eight of them, and not of the other network";
  for (const auto& [peer, counts] : std::map(connections_)) {
    Receive(peer, 7 * kMb);
    guard_.UseOf(peer)->unread_calls += 1;
  }
  EXPECT_THAT(Look(/*intervals=*/300), IsEmpty());
  EXPECT_THAT(Look(), IsEmpty()) << "30 s later";
}

TEST_F(FloodGuardTest, ManyConnectionsOfANetworkAreOneFlood) {
  for (int i = 0; i < 100; ++i) Connect(Neighbour(i));
  Connect(kOne);
  Connect("ipv4:198.51.100.7:1000");
  std::vector<std::string> flooders;
  for (int look = 0; look < 2; ++look) {
    for (int i = 0; i < 100; ++i) Receive(Neighbour(i), 8 * kKb);
    Receive(kOne, 2 * kKb);
    Receive("ipv4:198.51.100.7:1000", 32 * kKb);
    flooders = Look();
  }
  EXPECT_THAT(flooders, SizeIs(100)) << "neither the neighbour that does less, nor the other network";
}

TEST_F(FloodGuardTest, WindowUpdatesOfWhoeverReceivesAreNone) {
  Connect(kOne);
  for (int i = 0; i < 10; ++i) {
    Receive(kOne, 100 * kKb);
    connections_[kOne].acknowledged += 10 << 20;
    EXPECT_THAT(Look(), IsEmpty());
  }
}

TEST_F(FloodGuardTest, ConnectionsOnUnixSocketsAreNotLookedAt) {
  for (int i = 0; i < 3; ++i) {
    Receive("unix:", 1 << 20);
    EXPECT_THAT(Look(), IsEmpty());
  }
}

TEST_F(FloodGuardTest, ForgetsEndedConnections) {
  Connect(kOne);
  const std::shared_ptr<ConnectionUse> use = guard_.UseOf(kOne);
  Look();
  EXPECT_EQ(guard_.UseOf(kOne), use);
  connections_.clear();
  Look();
  EXPECT_NE(guard_.UseOf(kOne), use);
}

}  // namespace armature::daemon::flood_guard_test
