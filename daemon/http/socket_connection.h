#ifndef ARMATURE_DAEMON_HTTP_SOCKET_CONNECTION_H_
#define ARMATURE_DAEMON_HTTP_SOCKET_CONNECTION_H_

// A connection's socket on its loop: waiting for it, and its end. The same for HTTP/1.1 and HTTP/2.

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "daemon/http/io_loop.h"
#include "daemon/http/loop_guest.h"
#include "daemon/http/server_state.h"
#include "daemon/http/transport.h"

namespace armature::daemon {

// Thread-safety: owned by its loop's thread. Lifetime: the loop holds it until it is closed.
class SocketConnection : public LoopConnection,
                         public LoopGuest,
                         public std::enable_shared_from_this<SocketConnection> {
 public:
  void Close() final;
  // Looks whether the client has received all.
  void OnTimer() final;

 protected:
  // The time at which a lingering connection closes.
  enum class End : uint8_t {
    kClientCloses,      // a client that still sends a request may read the answer only afterwards
    kClientHasReceived  // or closes; also of the former if the server stops
  };

  // Takes ownership of the socket.
  SocketConnection(std::shared_ptr<IoLoop> loop, const AcceptedSocket& accepted, std::unique_ptr<Transport> transport,
                   End end);

  // The socket is ready, and the connection neither lingers nor is closed.
  virtual void OnReady(bool is_writable) = 0;
  // Gives back what the connection holds: nothing is sent or read any more. Called when it lingers and when it closes.
  virtual void Release() = 0;

  const HttpServerOptions& options() const { return loop_->state().options; }
  bool is_open() const { return phase_ == Phase::kOpen; }
  bool is_lingering() const { return phase_ == Phase::kLingering; }
  bool is_closed() const { return phase_ == Phase::kClosed; }
  bool has_socket() const { return socket_.is_open(); }
  int socket() { return socket_.native_handle(); }

  // Calls OnReady once when the socket is readable or writable.
  void WaitFor(Transport::Result what);
  // All is sent: ends the writing side, and closes the connection later. If the client's next bytes, such as window
  // updates or the rest of a request, came to a closed socket, or were unread when it is closed, the system would throw
  // away what the client has not received.
  void Linger();
  // Reads what comes while the connection lingers, and closes it if it is time.
  void Discard();
  void SweepLinger(int64_t now_ns);
  // Closes without sending the rest: for clients that do not read.
  void Reset();
  // Another connection takes the socket over, which is returned; this one is closed without the loop's knowledge.
  int HandOver();

  const std::shared_ptr<IoLoop> loop_;
  std::unique_ptr<Transport> transport_;
  const std::shared_ptr<const HttpDoor> door_;

 private:
  enum class Phase : uint8_t { kOpen, kLingering, kClosed };

  boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type> socket_;
  const End end_;
  Phase phase_ = Phase::kOpen;
  bool is_waiting_readable_ = false;
  bool is_waiting_writable_ = false;
  bool has_timer_ = false;
  int64_t linger_until_ns_ = 0;
  size_t linger_left_ = 0;  // bytes
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_SOCKET_CONNECTION_H_
