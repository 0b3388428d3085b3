#ifndef ARMATURE_DAEMON_HTTP_LISTENER_H_
#define ARMATURE_DAEMON_HTTP_LISTENER_H_

// The listening socket: accepts connections and gives each to the least loaded loop.

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/http/io_loop.h"

namespace armature::daemon {

struct BoundSocket {
  int socket = -1;
  std::string address;  // as given, with the actual port
};

// Listens on HOST:PORT or [IPV6]:PORT. Errors: InvalidArgument, Unavailable.
absl::StatusOr<BoundSocket> ListenOn(const std::string& address);

// Thread-safety: Start and Stop are thread-safe; the rest belongs to the first loop's thread.
// Lifetime: the loops must outlive it. Destroy it after the first loop has ended.
class Listener {
 public:
  // Takes ownership of `socket`. Errors: Unavailable.
  static absl::StatusOr<std::unique_ptr<Listener>> Make(int socket, std::vector<std::shared_ptr<IoLoop>> loops);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void Start();
  // Accepts the connections made so far, and then no more. Blocks until that is done.
  void Stop();

 private:
  using Executor = boost::asio::io_context::executor_type;
  enum class Outcome : uint8_t { kAccepted, kNone, kNoDescriptors };

  explicit Listener(std::vector<std::shared_ptr<IoLoop>> loops);
  void Wait();
  void AcceptSome(int connections_max);
  Outcome AcceptOne();
  void Pause();
  void TurnAway(int socket);
  void ShedOne();
  IoLoop& LeastLoaded();

  const std::vector<std::shared_ptr<IoLoop>> loops_;
  boost::asio::posix::basic_stream_descriptor<Executor> socket_;
  boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>,
                                    Executor>
      pause_;
  bool is_pausing_ = false;
  int spare_descriptor_ = -1;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_LISTENER_H_
