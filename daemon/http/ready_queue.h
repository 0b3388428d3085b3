#ifndef ARMATURE_DAEMON_HTTP_READY_QUEUE_H_
#define ARMATURE_DAEMON_HTTP_READY_QUEUE_H_

// Connections whose next request waits in the socket, and calls whose request has arrived, while an event loop serves
// others.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

namespace armature::daemon {

// Order in which an event loop serves the connections that are ready to be read.
//
// In order of arrival, until they are more than kCrowd and more than the loop serves in kOverloadNs: in that order all
// requests would be late. Then, until the queue has been empty again, the newest is served first. Requests that have
// waited for kPatienceNs are served only when the loop was busy for less than three quarters of a window, twice as many
// in each such window, and half as many in each other one. The oldest one leaves to be refused, at a pace that lets
// each wait for about kRefusedAfterNs: its client sends the next request at once, which then is the newest. So clients
// take turns (docs/decisions/0020-overload.md).
//
// `Connection`: a pointer, null by default. Thread-safety: owned by one thread. Times are monotonic, in nanoseconds.
template <class Connection>
class ReadyQueue {
 public:
  static constexpr size_t kCrowd = 64;
  // A thousand clients that send their next request at once are 10 ms of work for each of two loops: no overload.
  static constexpr int64_t kOverloadNs = 20'000'000;
  // Longer than most syncs of the disk: their answers come at once, and so do the next requests.
  static constexpr int64_t kPatienceNs = 15'000'000;
  static constexpr int64_t kRefusedAfterNs = 4'000'000'000;
  // A request is not refused earlier.
  static constexpr int64_t kRefusedNotBeforeNs = 100'000'000;
  static constexpr int64_t kWindowNs = 10'000'000;
  static constexpr size_t kLateServedFirst = 4;  // in the first window in which the loop is not busy

  void Add(Connection connection, int64_t now_ns) {
    queue_.push_back({std::move(connection), now_ns});
    largest_ = std::max(largest_, queue_.size());
  }
  // Decides about the order. Call it when the connections that are ready were added, as many as the caller looks for at
  // once.
  //
  // `held_up`: requests wait elsewhere, so an idle loop is no reason to serve late ones.
  void Look(int64_t now_ns, bool held_up) {
    RollWindow(now_ns, held_up);
    is_overloaded_ =
        is_overloaded_ || (queue_.size() > kCrowd && static_cast<int64_t>(queue_.size()) * mean_ns_ > kOverloadNs);
  }
  // The connection to serve next, or null.
  Connection TakeNext(int64_t now_ns) {
    if (queue_.empty()) return Connection();
    if (is_overloaded_ && now_ns - queue_.back().since_ns > kPatienceNs) {
      if (late_to_serve_ == 0) return Connection();
      --late_to_serve_;
    }
    Connection next = std::move((is_overloaded_ ? queue_.back() : queue_.front()).connection);
    is_overloaded_ ? queue_.pop_back() : queue_.pop_front();
    EndIfEmpty();
    return next;
  }
  // A connection whose request is to be refused now, or null.
  Connection TakeLate(int64_t now_ns) {
    if (!is_overloaded_ || queue_.empty()) return Connection();
    const int64_t waited_ns = now_ns - queue_.front().since_ns;
    if (waited_ns < kRefusedNotBeforeNs) return Connection();
    if (waited_ns < kRefusedAfterNs) {
      if (now_ns < next_refusal_ns_) return Connection();
      // On a schedule, which looks that come late catch up with.
      const int64_t step_ns = kRefusedAfterNs / static_cast<int64_t>(largest_);
      next_refusal_ns_ = std::max(next_refusal_ns_, now_ns - kWindowNs) + step_ns;
    }
    Connection late = std::move(queue_.front().connection);
    queue_.pop_front();
    EndIfEmpty();
    return late;
  }
  // Tells that `served` connections took `ns` of the loop's time.
  void Served(size_t served, int64_t ns) {
    busy_ns_ += ns;
    if (served == 0) return;
    const int64_t each_ns = ns / static_cast<int64_t>(served);
    // The mean of a few requests says as little as one of them.
    const auto part = static_cast<int64_t>(kPartOfMean / std::min(served, kPartOfMean));
    mean_ns_ += (each_ns - mean_ns_) / part;
  }

  bool is_overloaded() const { return is_overloaded_; }
  size_t size() const { return queue_.size(); }
  void Clear() {
    queue_.clear();
    EndIfEmpty();
  }

 private:
  static constexpr size_t kPartOfMean = 64;

  struct Ready {
    Connection connection;
    int64_t since_ns;
  };

  void RollWindow(int64_t now_ns, bool held_up) {
    if (now_ns - window_ns_ < kWindowNs) return;
    const bool is_busy = held_up || busy_ns_ * 4 > 3 * (now_ns - window_ns_);
    const size_t late = is_busy ? late_per_window_ / 2 : std::max(late_per_window_ * 2, kLateServedFirst);
    late_per_window_ = is_overloaded_ ? late : 0;
    late_to_serve_ = late_per_window_;
    window_ns_ = now_ns;
    busy_ns_ = 0;
  }
  void EndIfEmpty() {
    if (!queue_.empty()) return;
    is_overloaded_ = false;
    late_per_window_ = late_to_serve_ = 0;
    largest_ = 0;
  }

  std::deque<Ready> queue_;
  bool is_overloaded_ = false;
  int64_t mean_ns_ = 0;  // for each of the last connections served
  size_t largest_ = 0;   // number of connections since the queue was empty
  int64_t next_refusal_ns_ = 0;
  int64_t window_ns_ = 0;  // begin of the window
  int64_t busy_ns_ = 0;    // in the window
  size_t late_per_window_ = 0;
  size_t late_to_serve_ = 0;  // in the window
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_READY_QUEUE_H_
