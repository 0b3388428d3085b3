#include "daemon/grpc/call_ledger.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/net/coarse_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace armature::daemon::call_ledger_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr size_t kMb = 1 << 20;
constexpr int64_t kSecondNs = 1'000'000'000;
constexpr char kOne[] = "ipv4:192.0.2.1:1000";
constexpr char kNeighbour[] = "ipv4:192.0.2.1:2000";  // the same client
constexpr char kOther[] = "ipv4:192.0.2.2:1000";
constexpr char kUnix[] = "unix:";

class FakeCall final : public TrackedCall {
 public:
  FakeCall(CallLedger* ledger, std::string peer) : TrackedCall(nullptr), ledger_(ledger), peer_(std::move(peer)) {
    ledger_->Add(this);
  }
  ~FakeCall() override { ledger_->Remove(this); }
  FakeCall(const FakeCall&) = delete;
  FakeCall& operator=(const FakeCall&) = delete;

  bool is_cancelled() const { return is_cancelled_; }

 private:
  const std::string& Peer() const override { return peer_; }
  void Cancel() override { is_cancelled_ = true; }

  CallLedger* const ledger_;
  const std::string peer_;
  bool is_cancelled_ = false;
};

class FakeConnections final : public ConnectionTable {
 public:
  std::optional<TransferCounts> Transferred(const std::string& peer) const override {
    const auto found = counts.find(peer);
    return found == counts.end() ? std::nullopt : std::optional(found->second);
  }
  void Break(const std::string& peer) override { broken.push_back(peer); }
  bool Bar(const std::string& peer) override {
    if (counts.erase(peer) == 0) return false;
    barred.push_back(peer);
    return true;
  }
  void LookAtAll(LookAt look) override {
    for (const auto& [peer, of_peer] : counts) look(peer, of_peer);
  }
  size_t connections() const override { return counts.size(); }
  void Hasten() override { ++hastened; }
  std::optional<int64_t> SinceReceivedMs(const std::string& peer) const override {
    return peer == kOne ? since_received_ms : std::nullopt;
  }
  uint64_t UnreadBytes(uint64_t most) const override { return 100 * most; }

  std::map<std::string, TransferCounts> counts;
  std::vector<std::string> broken;
  std::vector<std::string> barred;
  int hastened = 0;
  std::optional<int64_t> since_received_ms;
};

class CallLedgerTest : public testing::Test {
 protected:
  CallLedgerTest() {
    for (const char* const peer : {kOne, kNeighbour, kOther}) table_.counts[peer] = {};
  }

  std::unique_ptr<FakeCall> Call(const char* peer, CallPhase phase, size_t bytes = 0) {
    auto call = std::make_unique<FakeCall>(&ledger_, peer);
    call->Set(phase, bytes);
    return call;
  }
  // Looks at the calls as so many seconds later.
  void SweepAfter(double seconds) {
    now_ns_ += static_cast<int64_t>(seconds * kSecondNs);
    ledger_.Sweep(now_ns_, &table_);
  }
  void Receive(const char* peer, size_t bytes) { table_.counts[peer].received += bytes; }

  MemoryBudget budget_{64 * kMb, 32 * kMb};
  CallLedger ledger_{&budget_, CallLimits{}};
  FakeConnections table_;
  int64_t now_ns_ = CoarseNowNs();
};

TEST_F(CallLedgerTest, CountsWhatUnfinishedRequestsHaveReceived) {
  const auto call = Call(kOne, CallPhase::kReading);
  SweepAfter(0.1);
  Receive(kOne, 10 * kMb);
  SweepAfter(0.1);
  EXPECT_GT(budget_.held_by(ClientOf(NetworkOf(std::string_view(kOne)))), 10 * kMb - 1000);
  EXPECT_LT(budget_.held(), 11 * kMb);
  EXPECT_FALSE(call->is_cancelled());
}

TEST_F(CallLedgerTest, LooksSoonAtRequestsThatGrow) {
  const auto call = Call(kOne, CallPhase::kReading);
  SweepAfter(0.1);
  const auto tick = [this] { return ledger_.Tick(now_ns_ += 10'000'000, &table_); };
  EXPECT_GE(tick(), CallLedger::kLook);  // sweeps
  Receive(kOne, 10 * kMb);
  EXPECT_LT(tick(), CallLedger::kInterval);
  Receive(kOne, 30 * kMb);
  tick();
  EXPECT_FALSE(call->is_cancelled());  // an excess of a moment
  tick();
  EXPECT_TRUE(call->is_cancelled());
}

TEST_F(CallLedgerTest, SweepsWithinAnIntervalForAConnectionThatCancels) {
  ledger_.set_table(&table_);
  ledger_.Tick(now_ns_, &table_);
  const auto call = Call(kOne, CallPhase::kRunning);
  for (int i = 0; i < 513; ++i) ledger_.Cancelled(*call);
  EXPECT_EQ(table_.hastened, 1);
  ledger_.Tick(now_ns_ + 1, &table_);
  EXPECT_THAT(table_.barred, testing::ElementsAre(kOne));
}

TEST_F(CallLedgerTest, CountsAMessageThatIsLargerThanTheLargestRequest) {
  const auto liar = Call(kOne, CallPhase::kReading);
  SweepAfter(0.1);
  for (int i = 0; i < 5; ++i) {
    Receive(kOne, 10 * kMb);
    SweepAfter(0.1);
  }
  EXPECT_TRUE(liar->is_cancelled());
}

TEST_F(CallLedgerTest, CountsWhatArrivedBeforeItFirstLooked) {
  Receive(kOne, 100 * kMb);  // of earlier calls
  table_.counts[kOne].received_before = 100 * kMb;
  const auto call = Call(kOne, CallPhase::kReading);
  Receive(kOne, 10 * kMb);
  SweepAfter(0.1);
  EXPECT_GT(budget_.held(), 10 * kMb - 1000);
  EXPECT_LT(budget_.held(), 11 * kMb);
}

TEST_F(CallLedgerTest, CountsMessagesUnderWayOnStreamsThatListen) {
  const auto stream = Call(kOne, CallPhase::kListening);
  SweepAfter(0.1);
  Receive(kOne, 10 * kMb);
  SweepAfter(0.1);
  EXPECT_GT(budget_.held(), 10 * kMb - 1000);
  Receive(kOne, 30 * kMb);
  SweepAfter(0.1);
  EXPECT_TRUE(stream->is_cancelled());
}

TEST_F(CallLedgerTest, AStreamThatListensBesideOtherCallsHoldsNothing) {
  const auto stream = Call(kOne, CallPhase::kListening);
  const auto other = Call(kOne, CallPhase::kRunning);
  SweepAfter(0.1);
  for (int interval = 0; interval < 1000; ++interval) {
    for (int call = 0; call < 10; ++call) {
      Receive(kOne, 20'000 + 300);
      EXPECT_TRUE(ledger_.Received(*other, 20'000).ok());
    }
    SweepAfter(0.1);
  }
  EXPECT_LE(budget_.held(), 2 * CallLedger::kCallBytes);
  SweepAfter(100);
  EXPECT_FALSE(stream->is_cancelled()) << "it may wait for ever";
}

TEST_F(CallLedgerTest, StreamsThatSentNothingHoldNothing) {
  std::vector<std::unique_ptr<FakeCall>> calls;
  for (int i = 0; i < 256; ++i) calls.push_back(Call(kOne, CallPhase::kReading));
  Receive(kOne, 30'000);
  SweepAfter(0.1);
  EXPECT_LE(budget_.held(), 30'000 + 256 * CallLedger::kCallBytes);
}

TEST_F(CallLedgerTest, EndsRequestsThatStall) {
  const auto stalled = Call(kOne, CallPhase::kReading);
  const auto arriving = Call(kOther, CallPhase::kReading);
  for (int second = 0; second < 25; ++second) {
    Receive(kOther, 100'000);
    SweepAfter(1);
  }
  EXPECT_TRUE(stalled->is_cancelled());
  EXPECT_FALSE(arriving->is_cancelled());
  EXPECT_EQ(ledger_.counts().ended_stalled > 0, true);
}

TEST_F(CallLedgerTest, AClientBeyondItsShareLosesItsLargestConnectionAndOthersNothing) {
  const auto large = Call(kOne, CallPhase::kReading);
  const auto small = Call(kNeighbour, CallPhase::kReading);
  const auto others = Call(kOther, CallPhase::kReading);
  SweepAfter(0.1);
  Receive(kOne, 20 * kMb);
  Receive(kNeighbour, 15 * kMb);
  Receive(kOther, 10 * kMb);
  SweepAfter(0.1);
  EXPECT_TRUE(large->is_cancelled());
  EXPECT_FALSE(small->is_cancelled());
  EXPECT_FALSE(others->is_cancelled());
}

TEST_F(CallLedgerTest, CallsThatEndUnreadAreNoFlood) {
  SweepAfter(0.1);
  Call(kOne, CallPhase::kReading).reset();
  const auto stream = Call(kNeighbour, CallPhase::kRunning);
  EXPECT_TRUE(ledger_.Received(*stream, 10).ok());
  stream->Set(CallPhase::kListening);
  ledger_.Remove(stream.get());
  const auto answered = Call(kOther, CallPhase::kRunning);
  EXPECT_TRUE(ledger_.Received(*answered, 10).ok());
  ledger_.Remove(answered.get());
  for (const char* const peer : {kOne, kNeighbour, kOther}) Receive(peer, 10 * kMb);
  for (int i = 0; i < 3; ++i) SweepAfter(0.1);
  EXPECT_THAT(table_.barred, ElementsAre(kOther)) << "of the others a part of a message may have arrived";
  // Their destructors remove them.
  ledger_.Add(stream.get());
  ledger_.Add(answered.get());
}

TEST_F(CallLedgerTest, AConnectionFromThePortOfAnotherOneBesideItsCallHoldsNothing) {
  const auto old = Call(kOne, CallPhase::kReading);
  SweepAfter(0.1);
  Receive(kOne, 20 * kMb);
  SweepAfter(0.1);
  table_.counts[kOne] = {.received = 10 * kMb, .received_before = 10 * kMb};
  SweepAfter(0.1);
  EXPECT_LT(budget_.held(), kMb);
}

TEST_F(CallLedgerTest, AnEarlySweepDoesNotLookForFloods) {
  SweepAfter(0.1);
  Receive(kOne, kMb);
  SweepAfter(0.1);
  for (int i = 0; i < 5; ++i) SweepAfter(0.01);
  EXPECT_THAT(table_.barred, IsEmpty()) << "its call may not have begun";
  SweepAfter(0.1);
  EXPECT_THAT(table_.barred, ElementsAre(kOne));
}

TEST_F(CallLedgerTest, RefusesMessagesThatAreTooLarge) {
  const auto call = Call(kOne, CallPhase::kReading);
  EXPECT_TRUE(ledger_.Received(*call, 16'842'752).ok());
  EXPECT_EQ(ledger_.Received(*call, 16'842'753).message(), "Received message larger than max (16842753 vs. 16842752)");
}

TEST_F(CallLedgerTest, UnreadAnswersAreBrokenOffAfterTheGraceIfOthersNeedTheRoom) {
  const auto unread = Call(kOne, CallPhase::kSending, 20 * kMb);
  const auto fresh = Call(kOther, CallPhase::kSending, 20 * kMb);
  HeldMemory one({&budget_, ClientOf(NetworkOf(std::string_view(kOne)))});
  HeldMemory other({&budget_, ClientOf(NetworkOf(std::string_view(kOther)))});
  one.Set(30 * kMb);
  other.Set(30 * kMb);
  SweepAfter(0.5);
  EXPECT_THAT(table_.broken, IsEmpty());
  fresh->Set(CallPhase::kRunning);
  SweepAfter(0.6);
  EXPECT_THAT(table_.broken, ElementsAre(kOne));
  EXPECT_TRUE(unread->is_cancelled());
}

TEST_F(CallLedgerTest, RefusesBeyondTheShareOfTheClient) {
  const BudgetClient client = ClientOf(NetworkOf(std::string_view(kOne)));
  HeldMemory share({&budget_, client});
  share.Set(31 * kMb);
  EXPECT_FALSE(ledger_.CheckRoom(client, 2 * kMb).ok());
  EXPECT_TRUE(ledger_.CheckRoom(ClientOf(NetworkOf(std::string_view(kOther))), 2 * kMb).ok());
  EXPECT_EQ(ledger_.counts().refused, 1u);
}

TEST_F(CallLedgerTest, RequestsOnUnixSocketsCountAsLargeAsTheyMayBe) {
  const auto first = Call(kUnix, CallPhase::kReading);
  SweepAfter(0.1);
  EXPECT_GT(budget_.held(), 16 * kMb);
  EXPECT_FALSE(first->is_cancelled());
  const auto second = Call(kUnix, CallPhase::kReading);
  SweepAfter(0.1);
  EXPECT_TRUE(first->is_cancelled());
}

TEST_F(CallLedgerTest, BreaksOffWhoeverBeginsAndCancelsCallsWithoutEnd) {
  ledger_.set_table(&table_);
  const auto call = Call(kOne, CallPhase::kRunning);
  const auto other = Call(kOther, CallPhase::kRunning);
  for (int i = 0; i < 600; ++i) ledger_.Cancelled(*call);
  for (int i = 0; i < 512; ++i) ledger_.Cancelled(*other);
  const auto gone = Call("unknown", CallPhase::kRunning);
  for (int i = 0; i < 600; ++i) ledger_.Cancelled(*gone);
  SweepAfter(0.1);
  EXPECT_THAT(table_.barred, ElementsAre(kOne));
  EXPECT_EQ(table_.hastened, 2) << "soon, and not for each call";
  EXPECT_EQ(ledger_.counts().broken_cancelling, 1u) << "not of connections that have ended";
  ledger_.Cancelled(*other);
  SweepAfter(0.1);
  EXPECT_THAT(table_.barred, ElementsAre(kOne)) << "each interval counts for itself";
}

TEST_F(CallLedgerTest, ParkedCallsBeyondThoseOfAConnectionCountAsCancelled) {
  ledger_.set_table(&table_);
  std::vector<std::unique_ptr<FakeCall>> calls;
  const auto park = [&](const char* peer, int count) {
    for (int i = 0; i < count; ++i) {
      calls.push_back(Call(peer, CallPhase::kRunning));
      EXPECT_TRUE(ledger_.Received(*calls.back(), 10).ok());
      ledger_.Parked(*calls.back());
    }
  };
  park(kOne, kCallsPerConnectionMax + 512);
  SweepAfter(0.1);
  EXPECT_THAT(table_.barred, IsEmpty());
  park(kOther, kCallsPerConnectionMax + 513);
  SweepAfter(0.1);
  EXPECT_THAT(table_.barred, ElementsAre(kOther));
  // Their end tells of many cancellations at once.
  for (const auto& call : calls) {
    ledger_.Unparked(*call);
    ledger_.Cancelled(*call);
  }
  SweepAfter(0.1);
  EXPECT_THAT(table_.barred, ElementsAre(kOther));
  park(kOne, kCallsPerConnectionMax);
  const auto call = Call(kOne, CallPhase::kRunning);
  for (int i = 0; i < 512; ++i) ledger_.Cancelled(*call);
  SweepAfter(0.1);
  EXPECT_THAT(table_.barred, ElementsAre(kOther)) << "the earlier ones are parked no longer";
}

TEST_F(CallLedgerTest, RefusesCallsOfAConnectionThatHasTooMany) {
  std::vector<std::unique_ptr<FakeCall>> calls;
  const auto open = [&](const char* peer, int count) {
    for (int i = 0; i < count; ++i) calls.push_back(Call(peer, CallPhase::kRunning));
  };
  open(kOne, kCurrentCallsMax);
  EXPECT_TRUE(ledger_.CheckCalls(*calls.back()).ok());
  open(kOne, 1);
  EXPECT_FALSE(ledger_.CheckCalls(*calls.back()).ok());
  EXPECT_EQ(ledger_.counts().refused_surplus, 1u);
  calls.pop_back();
  open(kOther, 1);
  EXPECT_TRUE(ledger_.CheckCalls(*calls.back()).ok());
  calls.pop_back();
  // Nor do calls count whose client has gone, or that are parked; each once.
  ledger_.Cancelled(*calls[0]);
  ledger_.Cancelled(*calls[0]);
  ledger_.Parked(*calls[1]);
  open(kOne, 2);
  EXPECT_TRUE(ledger_.CheckCalls(*calls.back()).ok());
  open(kOne, 1);
  EXPECT_FALSE(ledger_.CheckCalls(*calls.back()).ok());
  calls.pop_back();
  // It counts again when it runs.
  ledger_.Unparked(*calls[1]);
  ledger_.Cancelled(*calls[0]);
  calls.pop_back();
  open(kOne, 1);
  EXPECT_FALSE(ledger_.CheckCalls(*calls.back()).ok());
  calls.clear();
  open(kOne, kCurrentCallsMax);
  EXPECT_TRUE(ledger_.CheckCalls(*calls.back()).ok());
  EXPECT_THAT(table_.barred, IsEmpty());
  open(kUnix, kCurrentCallsMax + 1);
  EXPECT_TRUE(ledger_.CheckCalls(*calls.back()).ok()) << "their clients have the same name";
}

TEST_F(CallLedgerTest, BreaksOffWhoeverGoesOnWithTooManyCalls) {
  ledger_.set_table(&table_);
  std::vector<std::unique_ptr<FakeCall>> calls;
  for (int i = 0; i < kCurrentCallsMax; ++i) calls.push_back(Call(kOne, CallPhase::kReading));
  for (int i = 0; i < 513; ++i) EXPECT_FALSE(ledger_.CheckCalls(*Call(kOne, CallPhase::kRunning)).ok());
  SweepAfter(0.1);
  EXPECT_THAT(table_.barred, ElementsAre(kOne));
}

TEST_F(CallLedgerTest, CallsOfAnEndedConnectionHoldNoMoreThanArrived) {
  const auto first = Call(kOne, CallPhase::kReading);
  const auto second = Call(kOne, CallPhase::kReading);
  SweepAfter(0.1);
  Receive(kOne, 3 * kMb);
  SweepAfter(0.1);
  table_.counts.erase(kOne);
  SweepAfter(0.1);
  EXPECT_GT(budget_.held(), 2 * kMb);
  EXPECT_LT(budget_.held(), 4 * kMb);
}

TEST_F(CallLedgerTest, TheEstimateEndsWithItsCalls) {
  {
    const auto call = Call(kOne, CallPhase::kReading);
    SweepAfter(0.1);
    Receive(kOne, 10 * kMb);
    SweepAfter(0.1);
    EXPECT_GT(budget_.held(), 9 * kMb);
  }
  SweepAfter(0.1);
  EXPECT_EQ(budget_.held(), 0u);
}

TEST_F(CallLedgerTest, LateCallsWaitWhileManyAreUnread) {
  ledger_.set_table(&table_);
  const auto call = Call(kOne, CallPhase::kRunning);
  const auto other = Call(kOther, CallPhase::kRunning);
  EXPECT_FALSE(ledger_.MustWait(*call, 100)) << "not late";
  table_.since_received_ms = LateCalls::kLateMs + 1;
  const int64_t give_up_ns = CoarseNowNs() + 20 * kSecondNs;
  while (!ledger_.MustWait(*call, 100)) {
    ASSERT_LT(CoarseNowNs(), give_up_ns);
    // The next call begins a burst.
    for (const int64_t begun_ns = CoarseNowNs(); CoarseNowNs() <= begun_ns + LateCalls::kPauseNs;) {
      std::this_thread::yield();
    }
  }
  EXPECT_FALSE(ledger_.MustWait(*other, 100));
}

TEST_F(CallLedgerTest, CallsAreBusyUntilSomeSweepsAfterTheirEnd) {
  EXPECT_EQ(ledger_.busy(), 0U);
  {
    const auto running = Call(kOne, CallPhase::kRunning);
    const auto sending = Call(kOther, CallPhase::kSending, 10);
    const auto listening = Call(kOther, CallPhase::kListening);
    const auto pushing = Call(kOther, CallPhase::kPushing);
    SweepAfter(0);
    EXPECT_EQ(ledger_.busy(), 2U);
  }
  SweepAfter(0.1);
  EXPECT_EQ(ledger_.busy(), 1U);
  SweepAfter(0.1);
  EXPECT_EQ(ledger_.busy(), 0U);
}

}  // namespace armature::daemon::call_ledger_test
