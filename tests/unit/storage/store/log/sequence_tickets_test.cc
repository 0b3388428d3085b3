#include "storage/store/log/change_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace armature::store::sequence_tickets_test {

TEST(SequenceTickets, ContinueBehindTheLastSequence) {
  SequenceTickets tickets(ChangeSequence(41));
  EXPECT_EQ(tickets.watermark(), ChangeSequence(41));
  EXPECT_EQ(tickets.last_taken(), ChangeSequence(41));
  EXPECT_EQ(tickets.Take(3), ChangeSequence(42));
  EXPECT_EQ(tickets.Take(1), ChangeSequence(45));
  EXPECT_EQ(tickets.last_taken(), ChangeSequence(45));
}

TEST(SequenceTickets, WatermarkStopsBeforeTheLowestTicketOut) {
  SequenceTickets tickets(ChangeSequence(0));
  const ChangeSequence a = tickets.Take(2);  // 1, 2
  const ChangeSequence b = tickets.Take(3);  // 3, 4, 5
  const ChangeSequence c = tickets.Take(1);  // 6
  EXPECT_EQ(tickets.watermark(), ChangeSequence(0));
  tickets.Release(b);
  EXPECT_EQ(tickets.watermark(), ChangeSequence(0));
  tickets.Release(a);
  EXPECT_EQ(tickets.watermark(), ChangeSequence(5));
  tickets.Release(c);
  EXPECT_EQ(tickets.watermark(), ChangeSequence(6));
}

TEST(SequenceTickets, WatermarkNeverPassesATicketOutWhileThreadsTakeAndRelease) {
  SequenceTickets tickets(ChangeSequence(0));
  std::atomic<int> violations = 0;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const ChangeSequence first = tickets.Take(t % 3 + 1);
        if (tickets.watermark() >= first) ++violations;
        tickets.Release(first);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(violations, 0);
  EXPECT_EQ(tickets.watermark(), tickets.last_taken());
}

}  // namespace armature::store::sequence_tickets_test
