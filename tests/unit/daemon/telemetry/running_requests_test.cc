#include "daemon/telemetry/running_requests.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "daemon/telemetry/request_stats.h"
#include "storage/base/time_histogram.h"

namespace armature::daemon::running_requests_test {

using Trace = std::shared_ptr<engine::RequestTrace>;

TEST(RunningRequests, ListsTheFactsOfEachTheOldestFirst) {
  RunningRequests running(/*is_timed=*/true);
  Trace first_trace;
  Trace second_trace;
  const int64_t now = MonotonicNs();
  RunningRequests::Place* const second = running.Enter("Scan", Front::kHttp, "[::1]:2", now - 1'000, &second_trace);
  RunningRequests::Place* const first = running.Enter("Query", Front::kGrpc, "127.0.0.1:1", now - 5'000, &first_trace);
  first_trace->set_table("Orders");
  engine::RequestTrace::End(first_trace, engine::WaitFor::kRead, MonotonicNs() - 500);
  const std::vector<RequestFacts> list = running.List(0, 10);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].operation, "Query");
  EXPECT_EQ(list[0].table, "Orders");
  EXPECT_EQ(list[0].peer, "127.0.0.1:1");
  EXPECT_EQ(list[0].front, Front::kGrpc);
  EXPECT_TRUE(list[0].is_timed);
  EXPECT_GE(list[0].waits_ns[static_cast<size_t>(engine::WaitFor::kRead)], 500);
  EXPECT_GE(list[0].took_ns, 5'000);
  EXPECT_EQ(list[0].result, "");
  EXPECT_EQ(list[1].operation, "Scan");
  EXPECT_EQ(list[1].table, "");
  EXPECT_EQ(running.List(0, 1).size(), 1u);
  EXPECT_TRUE(running.List(INT64_MAX, 10).empty());
  RunningRequests::Leave(first);
  RunningRequests::Leave(second);
  EXPECT_TRUE(running.List(0, 10).empty());
}

TEST(RunningRequests, OldStreamsDoNotHideRequests) {
  RunningRequests running(/*is_timed=*/false);
  std::vector<Trace> traces(3);
  RunningRequests::Place* const places[] = {running.Enter("Watch", Front::kGrpc, "a", 1, &traces[0]),
                                            running.Enter("Pipeline", Front::kGrpc, "b", 2, &traces[1]),
                                            running.Enter("Query", Front::kGrpc, "c", 3, &traces[2])};
  EXPECT_EQ(running.List(0, 1)[0].operation, "Query");
  EXPECT_EQ(running.List(0, 3)[1].operation, "Watch");
  for (RunningRequests::Place* const place : places) RunningRequests::Leave(place);
}

TEST(RunningRequests, APlaceKeepsNothingOfTheRequestBefore) {
  RunningRequests running(/*is_timed=*/true);
  Trace trace;
  RunningRequests::Place* const first = running.Enter("Query", Front::kGrpc, "a", 1, &trace);
  trace->set_table("Orders");
  engine::RequestTrace::End(trace, engine::WaitFor::kLock, 1);
  const engine::RequestTrace* const before = trace.get();
  trace.reset();
  RunningRequests::Leave(first);
  RunningRequests::Place* const second = running.Enter("Scan", Front::kHttp, "b", 2, &trace);
  EXPECT_EQ(first, second);
  EXPECT_EQ(trace.get(), before);  // nothing was allocated
  EXPECT_EQ(trace->table(), "");
  EXPECT_EQ(trace->wait_ns(engine::WaitFor::kLock), 0);
  RunningRequests::Leave(second);
}

// The engine may hold the trace when the answer has already gone.
TEST(RunningRequests, ATraceThatIsStillHeldIsNotThatOfTheNextRequest) {
  RunningRequests running(/*is_timed=*/true);
  Trace held;
  RunningRequests::Leave(running.Enter("Query", Front::kGrpc, "a", 1, &held));
  Trace next;
  RunningRequests::Place* const place = running.Enter("Scan", Front::kGrpc, "a", 2, &next);
  EXPECT_NE(held, next);
  held->set_table("Orders");
  EXPECT_EQ(running.List(0, 10)[0].table, "");
  RunningRequests::Leave(place);
}

TEST(RunningRequests, RequestsBeyondThePlacesAreCountedAndStillTraced) {
  for (const bool is_timed : {false, true}) {
    RunningRequests running(is_timed);
    std::vector<Trace> traces(RunningRequests::kPlaces);
    std::vector<RunningRequests::Place*> places;
    for (Trace& trace : traces) places.push_back(running.Enter("Scan", Front::kGrpc, "a", 1, &trace));
    EXPECT_EQ(running.unlisted(), 0u);
    EXPECT_EQ(running.List(0, SIZE_MAX).size(), RunningRequests::kPlaces);
    Trace more;
    EXPECT_EQ(running.Enter("Scan", Front::kGrpc, "a", 1, &more), nullptr);
    EXPECT_EQ(running.unlisted(), 1u);
    EXPECT_EQ(more != nullptr, is_timed);
    RunningRequests::Leave(nullptr);
    for (RunningRequests::Place* const place : places) RunningRequests::Leave(place);
    EXPECT_TRUE(running.List(0, 10).empty());
  }
}

TEST(RunningRequests, AnOverlongPeerIsCutAndAnUnprintableTableIsNotShown) {
  RunningRequests running(/*is_timed=*/false);
  Trace trace;
  RunningRequests::Place* const place = running.Enter("Query", Front::kGrpc, std::string(100'000, 'p'), 1, &trace);
  for (const std::string& name : {std::string(100'000, 'n'), std::string("a\nb"), std::string("\0", 1)}) {
    trace->set_table(name);
    EXPECT_EQ(running.List(0, 1)[0].table, "?");
  }
  EXPECT_EQ(running.List(0, 1)[0].peer.size(), 64u);
  RunningRequests::Leave(place);
}

TEST(RunningRequests, ListsWhileRequestsComeAndGo) {
  RunningRequests running(/*is_timed=*/true);
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&running, &stop] {
      while (!stop.load()) {
        Trace trace;
        RunningRequests::Place* const place = running.Enter("Query", Front::kGrpc, "peer", MonotonicNs(), &trace);
        trace->set_table("Orders");
        RunningRequests::Leave(place);
      }
    });
  }
  for (int i = 0; i < 2'000; ++i) {
    for (const RequestFacts& each : running.List(0, 10)) {
      ASSERT_EQ(each.operation, "Query");
      ASSERT_TRUE(each.table.empty() || each.table == "Orders") << each.table;
    }
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(running.List(0, 10).empty());
}

TEST(SlowRequests, TheLastOnesAreKeptTheLatestFirst) {
  SlowRequests slow;
  for (size_t i = 0; i < SlowRequests::kKept + 10; ++i) slow.Add({.operation = "Scan", .took_ns = int64_t(i)});
  const std::vector<RequestFacts> list = slow.List(0, SIZE_MAX);
  ASSERT_EQ(list.size(), SlowRequests::kKept);
  EXPECT_EQ(list.front().took_ns, int64_t{SlowRequests::kKept} + 9);
  EXPECT_EQ(list.back().took_ns, 10);
  EXPECT_EQ(slow.List(SlowRequests::kKept, 5).size(), 5u);
  EXPECT_EQ(slow.List(SlowRequests::kKept, SIZE_MAX).size(), 10u);
}

TEST(RequestStats, KnowsWhatRunsAndKeepsWhatWasSlow) {
  RequestStats stats(/*slow_ns=*/1);
  const RequestStats::Request query = stats.Begin(Front::kHttp, "Query", "127.0.0.1:1");
  query.trace()->set_table("Orders");
  const RequestStats::Request watch = stats.Begin(Front::kGrpc, "Watch", "127.0.0.1:2");
  const RequestStats::Request unknown = stats.Begin(Front::kHttp, "NoSuchOperation", "127.0.0.1:3");
  const std::vector<RequestFacts> running = stats.running().List(0, 10);
  ASSERT_EQ(running.size(), 3u);
  EXPECT_EQ(running[1].operation, "other");
  EXPECT_EQ(running[2].operation, "Watch");
  testing::internal::CaptureStderr();
  query.Finish(ThrottlingError("busy", 0), "the-id");
  watch.Finish(absl::OkStatus(), "");
  unknown.Finish(absl::OkStatus(), "");
  testing::internal::GetCapturedStderr();
  EXPECT_TRUE(stats.running().List(0, 10).empty());
  // A stream is as long as its client wishes, so it is never slow.
  const std::vector<RequestFacts> slow = stats.slow().List(0, 10);
  ASSERT_EQ(slow.size(), 2u);
  EXPECT_EQ(slow[0].operation, "other");
  EXPECT_EQ(slow[1].operation, "Query");
  EXPECT_EQ(slow[1].table, "Orders");
  EXPECT_EQ(slow[1].peer, "127.0.0.1:1");
  EXPECT_EQ(slow[1].result, "ThrottlingException");
  EXPECT_EQ(slow[1].request_id, "the-id");
  EXPECT_TRUE(slow[1].is_timed);
}

TEST(RequestStats, WithoutAThresholdOnlyRequestsOfASecondAreSlow) {
  RequestStats stats(/*slow_ns=*/0);
  EXPECT_EQ(stats.kept_ns(), RequestStats::kSlowNs);
  stats.Begin(Front::kHttp, "Query").Finish(absl::OkStatus(), "");
  EXPECT_TRUE(stats.slow().List(0, 10).empty());
}

}  // namespace armature::daemon::running_requests_test
