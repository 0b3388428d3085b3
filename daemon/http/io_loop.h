#ifndef ARMATURE_DAEMON_HTTP_IO_LOOP_H_
#define ARMATURE_DAEMON_HTTP_IO_LOOP_H_

// One thread's share of the connections.

#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/http/loop_guest.h"
#include "daemon/http/ready_queue.h"
#include "daemon/http/server_state.h"

namespace armature::daemon {

struct AcceptedSocket {
  int socket = -1;
  std::string peer;
  std::optional<PeerNetwork> network;
  std::shared_ptr<const HttpDoor> door;  // not null
};

// An io_context with one thread, and the connections on it.
//
// A connection stays on its loop, so that its state needs no locks. Buffers needed only during a connection's turn
// belong to the loop: an idle connection has none. A periodic sweep checks the deadlines, so that requests set no
// timers.
//
// Thread-safety: Post, Adopt, Drain, Abort, IsOwnThread and load are thread-safe; the rest belongs to the thread in
// Run.
class IoLoop : public std::enable_shared_from_this<IoLoop> {
 public:
  explicit IoLoop(std::shared_ptr<ServerState> state);
  ~IoLoop();
  IoLoop(const IoLoop&) = delete;
  IoLoop& operator=(const IoLoop&) = delete;

  // Runs until Abort.
  void Run();

  // Takes ownership of the connected socket, which is already counted.
  void Adopt(AcceptedSocket accepted);
  // Has the guest's OnPosted called on the loop's thread, once for each call. False, with no effect, if the loop has
  // ended.
  bool Post(std::shared_ptr<LoopGuest> guest);
  bool IsOwnThread() const;
  // The server drains: closes idle connections. The others close after their answers.
  void Drain();
  // Closes all connections at once and lets Run return.
  void Abort();
  // Number of connections, including those being handed over.
  size_t load() const { return load_.load(std::memory_order_relaxed); }

  boost::asio::io_context& io() { return io_; }
  ServerState& state() { return *state_; }
  bool draining() const { return state_->draining.load(std::memory_order_relaxed); }
  void Remove(LoopConnection* connection);
  // `by` takes the place of `connection`, whose socket it has.
  void Replace(LoopConnection* connection, std::shared_ptr<LoopConnection> by);
  // Calls the connection's OnFlush when what is ready now has been handled, so that answers leave together. Not twice
  // before that.
  void FlushLater(std::shared_ptr<LoopConnection> connection);

  // True if the guest, which is ready, must wait for its turn: the loop calls its TakeTurn.
  bool MustWait(const std::shared_ptr<LoopGuest>& guest);
  // For a guest or connection with many messages, before each but the first: false if others are to have their turn
  // before it, until OnPosted or OnFlush.
  bool MayHandleMore() { return ++messages_ <= kMessagesPerTurn; }
  // Tells that a guest's turn had so many requests.
  void CountServed(size_t requests) { served_ += requests; }

  // Calls the guest's OnTimer at about `due_ns`, a time of MonotonicNs, if the guest still exists.
  using Timers = std::multimap<int64_t, std::weak_ptr<LoopGuest>>;
  Timers::iterator SetTimer(int64_t due_ns, std::weak_ptr<LoopGuest> guest);
  void CancelTimer(Timers::iterator timer) { timers_.erase(timer); }

  // The Date header's value.
  std::string_view Date();

  // Buffers of the connection whose turn it is. `output` is empty between turns.
  std::array<char, 64 << 10>& input() { return input_; }
  std::string& output() { return output_; }

 private:
  void Uncount(const std::optional<PeerNetwork>& network);
  void CallPosted();
  void FlushNow();
  void ArmTimer();
  void CallTimers();
  void StartSweep();
  void Sweep();
  void PostLook();
  void LookLater();
  // Collects all connections that are ready, and serves them: all, or as many as a turn takes during an overload.
  void Look();
  // Returns the number of connections served.
  size_t ServeReady();
  void RefuseLate();
  // Tells when a crowd begins or ends.
  void NoteCrowd();

  const std::shared_ptr<ServerState> state_;
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  using Timer =
      boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>,
                                        boost::asio::io_context::executor_type>;
  Timer sweep_timer_;
  Timer turn_timer_;
  bool sweeping_ = false;
  bool aborted_ = false;
  std::atomic<size_t> load_ = 0;
  std::vector<std::shared_ptr<LoopConnection>> connections_;
  std::vector<std::shared_ptr<LoopConnection>> to_flush_;
  Timers timers_;
  Timer next_timer_;
  int64_t next_timer_ns_ = 0;  // 0: not set

  ReadyQueue<std::shared_ptr<LoopGuest>> ready_;
  static constexpr int kMessagesPerTurn = 64;
  int messages_ = 0;   // since CallPosted or FlushNow
  size_t served_ = 0;  // connections since the last look
  bool look_is_posted_ = false;
  bool look_is_timed_ = false;
  bool is_looking_ = false;
  bool is_collecting_ = false;  // connections that are ready wait in ready_
  bool is_crowded_ = false;

  std::array<char, 64 << 10> input_;
  std::string output_;
  std::time_t date_second_ = 0;
  std::string date_;

  absl::Mutex mutex_;
  std::vector<std::shared_ptr<LoopGuest>> posted_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_IO_LOOP_H_
