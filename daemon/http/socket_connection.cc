#include "daemon/http/socket_connection.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/system/error_code.hpp>
#include <cerrno>
#include <utility>

#include "daemon/net/coarse_clock.h"
#include "storage/base/monotonic_wait.h"

namespace armature::daemon {
namespace {

namespace asio = boost::asio;

// Discarded reads of one turn.
constexpr int kDiscardsPerTurn = 16;
// A client that has closed its side is noticed at once, and one whose system has all that was sent after this time.
constexpr int64_t kLookNs = 20'000'000;

}  // namespace

SocketConnection::SocketConnection(std::shared_ptr<IoLoop> loop, const AcceptedSocket& accepted,
                                   std::unique_ptr<Transport> transport, End end)
    : LoopConnection(accepted.network),
      loop_(std::move(loop)),
      transport_(std::move(transport)),
      door_(accepted.door),
      socket_(loop_->io().get_executor()),
      end_(end) {
  boost::system::error_code ec;
  socket_.assign(accepted.socket, ec);
  // The socket has no owner then, and no event will ever arrive.
  if (ec) close(accepted.socket);
}

void SocketConnection::Close() {
  if (is_closed()) return;
  const std::shared_ptr<SocketConnection> self = shared_from_this();
  phase_ = Phase::kClosed;
  boost::system::error_code ec;
  socket_.close(ec);
  Release();
  loop_->Remove(this);
}

void SocketConnection::Reset() {
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(socket(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  Close();
}

int SocketConnection::HandOver() {
  phase_ = Phase::kClosed;
  return socket_.release();
}

void SocketConnection::WaitFor(Transport::Result what) {
  const bool is_readable = what == Transport::Result::kWaitReadable;
  bool& is_waiting = is_readable ? is_waiting_readable_ : is_waiting_writable_;
  if (is_closed() || std::exchange(is_waiting, true)) return;
  socket_.async_wait(is_readable ? asio::posix::descriptor_base::wait_read : asio::posix::descriptor_base::wait_write,
                     [self = shared_from_this(), is_readable](const boost::system::error_code& ec) {
                       (is_readable ? self->is_waiting_readable_ : self->is_waiting_writable_) = false;
                       if (ec || self->is_closed()) return;
                       self->is_lingering() ? self->Discard() : self->OnReady(!is_readable);
                     });
}

void SocketConnection::Linger() {
  phase_ = Phase::kLingering;
  transport_->EndWriting();
  linger_until_ns_ = CoarseNowNs() + absl::ToInt64Nanoseconds(options().linger_timeout);
  linger_left_ = options().linger_bytes_max;
  Release();
  Discard();
}

void SocketConnection::Discard() {
  auto& input = loop_->input();
  ssize_t bytes = 0;
  for (int i = 0; i < kDiscardsPerTurn && bytes >= 0; ++i) {
    // Reads below TLS: the content does not matter.
    bytes = recv(socket(), input.data(), input.size(), MSG_DONTWAIT);
    if (bytes < 0 && errno == EAGAIN) break;
    if (bytes <= 0 || static_cast<size_t>(bytes) > linger_left_) return Close();
    linger_left_ -= static_cast<size_t>(bytes);
  }
  const bool ends_early = end_ == End::kClientHasReceived || loop_->draining();
  int unreceived = 0;
  if (ends_early && bytes < 0 && (ioctl(socket(), SIOCOUTQ, &unreceived) != 0 || unreceived == 0)) return Close();
  WaitFor(Transport::Result::kWaitReadable);
  if (ends_early && !std::exchange(has_timer_, true)) loop_->SetTimer(MonotonicNs() + kLookNs, weak_from_this());
}

void SocketConnection::OnTimer() {
  has_timer_ = false;
  if (is_lingering()) Discard();
}

void SocketConnection::SweepLinger(int64_t now_ns) {
  if (now_ns >= linger_until_ns_) Close();
}

}  // namespace armature::daemon
