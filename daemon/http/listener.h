#ifndef ARMATURE_DAEMON_HTTP_LISTENER_H_
#define ARMATURE_DAEMON_HTTP_LISTENER_H_

// One listening socket of a server.

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/http/http_server.h"
#include "daemon/http/io_loop.h"

namespace armature::daemon {

// Accepts connections and gives each to the least loaded loop.
//
// Thread-safety: Start and Stop are thread-safe; the rest belongs to the first loop's thread.
// Lifetime: the loops must outlive it. Destroy it after the first loop has ended, or before Start.
class Listener {
 public:
  // Takes ownership of `socket`, also if it fails, and removes the file of a Unix socket at the end. `door`: where the
  // connections come in. Errors: Unavailable.
  static absl::StatusOr<std::unique_ptr<Listener>> Make(int socket, std::shared_ptr<const HttpDoor> door,
                                                        std::vector<std::shared_ptr<IoLoop>> loops);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void Start();
  // Accepts the connections made so far, and then no more. Blocks until that is done.
  void Stop();

 private:
  using Executor = boost::asio::io_context::executor_type;
  enum class Outcome : uint8_t { kAccepted, kNone, kNoDescriptors };

  Listener(std::shared_ptr<const HttpDoor> door, std::vector<std::shared_ptr<IoLoop>> loops);
  void Wait();
  void AcceptSome(int connections_max);
  Outcome AcceptOne();
  void Pause();
  void TurnAway(int socket);
  void ShedOne();
  void Close();
  IoLoop& LeastLoaded();

  const std::shared_ptr<const HttpDoor> door_;
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
