#include "daemon/http/listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/synchronization/notification.h"
#include "daemon/http/server_state.h"
#include "daemon/net/connection_ledger.h"
#include "daemon/net/listening_socket.h"
#include "glog/logging.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

namespace asio = boost::asio;

constexpr int kAcceptsAtEnd = 4096;
// Accepts before the loop's other work gets a turn.
constexpr int kAcceptsPerTurn = 64;
// Pause after descriptors ran out: they come back only when connections end.
constexpr std::chrono::milliseconds kPause(50);
constexpr size_t kDiscardBytes = 16 << 10;
// Repeated warnings are logged once per this many.
constexpr int kLogEvery = 1000;

constexpr std::string_view kTooMany =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

int OpenSpare() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

}  // namespace

Listener::Listener(std::shared_ptr<const HttpDoor> door, std::vector<std::shared_ptr<IoLoop>> loops)
    : door_(std::move(door)),
      loops_(std::move(loops)),
      socket_(loops_[0]->io().get_executor()),
      pause_(loops_[0]->io().get_executor()),
      spare_descriptor_(OpenSpare()) {}

Listener::~Listener() {
  Close();
  if (spare_descriptor_ >= 0) close(spare_descriptor_);
}

absl::StatusOr<std::unique_ptr<Listener>> Listener::Make(int socket, std::shared_ptr<const HttpDoor> door,
                                                         std::vector<std::shared_ptr<IoLoop>> loops) {
  std::unique_ptr<Listener> listener(new Listener(std::move(door), std::move(loops)));
  boost::system::error_code ec;
  listener->socket_.assign(socket, ec);
  if (ec) {
    RemoveSocketFile(socket);
    close(socket);
    return absl::UnavailableError(Cat("cannot watch the listening socket: ", ec.message()));
  }
  return listener;
}

void Listener::Start() {
  asio::post(loops_[0]->io(), [this] { Wait(); });
}

void Listener::Stop() {
  absl::Notification stopped;
  asio::post(loops_[0]->io(), [this, &stopped] {
    AcceptSome(kAcceptsAtEnd);
    Close();
    stopped.Notify();
  });
  stopped.WaitForNotification();
}

void Listener::Close() {
  if (!socket_.is_open()) return;
  // The file goes first: without it nobody waits for an answer in vain.
  RemoveSocketFile(socket_.native_handle());
  boost::system::error_code ec;
  socket_.close(ec);
  pause_.cancel();
}

void Listener::Wait() {
  socket_.async_wait(asio::posix::descriptor_base::wait_read, [this](const boost::system::error_code& ec) {
    if (!ec) AcceptSome(kAcceptsPerTurn);
    if (!ec && !is_pausing_) Wait();
  });
}

void Listener::AcceptSome(int connections_max) {
  for (int i = 0; i < connections_max; ++i) {
    switch (AcceptOne()) {
      case Outcome::kAccepted:
        break;
      case Outcome::kNone:
        return;
      case Outcome::kNoDescriptors:
        return Pause();
    }
  }
}

Listener::Outcome Listener::AcceptOne() {
  sockaddr_storage peer = {};
  socklen_t size = sizeof(peer);
  const int fd =
      accept4(socket_.native_handle(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) {
    if (errno == EAGAIN) return Outcome::kNone;
    // Other errors concern that one connection only.
    if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return Outcome::kAccepted;
    LOG_EVERY_N(WARNING, kLogEvery) << "http: cannot accept connections error=" << std::strerror(errno);
    ShedOne();
    return Outcome::kNoDescriptors;
  }
  ServerState& state = loops_[0]->state();
  const std::optional<PeerNetwork> network = NetworkOf(peer);
  if (!state.ledger->TryAdd(fd, network)) {
    TurnAway(fd);
    return Outcome::kAccepted;
  }
  state.connections.Add();
  if (peer.ss_family != AF_UNIX) SetTcpOptions(fd);
  LeastLoaded().Adopt({.socket = fd, .peer = PeerText(peer, size), .network = network, .door = door_});
  return Outcome::kAccepted;
}

// Accepts and closes one waiting connection by means of the spare descriptor, so that its client gets an answer.
void Listener::ShedOne() {
  if (spare_descriptor_ < 0) return;
  close(spare_descriptor_);
  const int fd = accept4(socket_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) TurnAway(fd);
  spare_descriptor_ = OpenSpare();
}

void Listener::TurnAway(int socket) {
  // A TLS client would not understand a plain-text answer.
  if (!door_->tls) send(socket, kTooMany.data(), kTooMany.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  shutdown(socket, SHUT_WR);
  // A request that has arrived would make the system reset the connection, and the client may lose the answer.
  std::array<char, kDiscardBytes> request;
  recv(socket, request.data(), request.size(), MSG_DONTWAIT);
  close(socket);
}

void Listener::Pause() {
  if (is_pausing_) return;
  is_pausing_ = true;
  pause_.expires_after(kPause);
  pause_.async_wait([this](const boost::system::error_code& ec) {
    is_pausing_ = false;
    if (!ec) Wait();
  });
}

IoLoop& Listener::LeastLoaded() {
  size_t best = 0;
  for (size_t i = 1; i < loops_.size(); ++i) {
    if (loops_[i]->load() < loops_[best]->load()) best = i;
  }
  return *loops_[best];
}

}  // namespace armature::daemon
