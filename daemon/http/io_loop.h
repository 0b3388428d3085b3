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
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "daemon/http/http_message.h"
#include "daemon/http/ready_queue.h"
#include "daemon/http/server_state.h"

namespace armature::daemon {

class HttpConnection;

struct AcceptedSocket {
  int socket = -1;
  std::string peer;
  std::optional<PeerNetwork> network;
};

// An io_context with one thread, and the connections on it.
//
// A connection stays on its loop, so that its state needs no locks. Buffers needed only during a connection's turn
// belong to the loop: an idle connection has none. A periodic sweep checks the deadlines, so that requests set no
// timers.
//
// Thread-safety: Post, Adopt, Answer, Drain, Abort and load are thread-safe; the rest belongs to the thread in Run.
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
  // Passes the answer of a request to its connection's thread. No effect after Abort.
  void Answer(std::shared_ptr<HttpConnection> connection, HttpResponse response);
  // The server drains: closes idle connections. The others close after their answers.
  void Drain();
  // Closes all connections at once and lets Run return.
  void Abort();
  // Number of connections, including those being handed over.
  size_t load() const { return load_.load(std::memory_order_relaxed); }

  boost::asio::io_context& io() { return io_; }
  ServerState& state() { return *state_; }
  bool draining() const { return state_->draining.load(std::memory_order_relaxed); }
  void Remove(HttpConnection* connection);

  // True if the connection, which is ready to be read, must wait for its turn: the loop calls its TakeTurn.
  bool MustWait(const std::shared_ptr<HttpConnection>& connection);

  // The Date header's value.
  std::string_view Date();

  // Buffers of the connection whose turn it is. `output` is empty between turns.
  std::array<char, 64 << 10>& input() { return input_; }
  std::string& output() { return output_; }

 private:
  // An answer on the way to its connection.
  struct Answered {
    std::shared_ptr<HttpConnection> connection;
    HttpResponse response;
  };

  void Uncount(const std::optional<PeerNetwork>& network);
  void DeliverAnswers();
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
  std::vector<std::shared_ptr<HttpConnection>> connections_;

  ReadyQueue<std::shared_ptr<HttpConnection>> ready_;
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
  std::deque<Answered> answered_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_IO_LOOP_H_
