#include "daemon/standby/tcp_relay.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/net/connection_ledger.h"
#include "daemon/net/listening_socket.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/thread_pool.h"

namespace armature::daemon {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using boost::system::error_code;

// Pause after descriptors ran out: they come back only when connections end.
constexpr std::chrono::milliseconds kAcceptPause(50);
constexpr size_t kSweepMin = 1000;
constexpr std::chrono::seconds kLinger(20);

// Notices a machine that has vanished, or does not take what was sent, within this time.
constexpr unsigned kDeadMs = 20'000;

void SetOptions(Tcp::socket* socket) {
  const int descriptor = socket->native_handle();
  SetTcpOptions(descriptor);
  const int on = 1;
  const int idle_s = 10;
  const int interval_s = 5;
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &kDeadMs, sizeof kDeadMs);
}

// True if the address is one of this machine.
bool IsLocal(const asio::ip::address& address, asio::io_context* io) {
  asio::ip::udp::socket probe(*io);
  const asio::ip::udp::endpoint endpoint(address, 0);
  error_code ec;
  probe.open(endpoint.protocol(), ec);
  if (!ec) probe.bind(endpoint, ec);
  return !ec;
}

// A connection of a client and the one to the target.
//
// Thread-safety: belongs to the relay's thread. Lifetime: until neither has an operation under way.
class Relayed : public std::enable_shared_from_this<Relayed> {
 public:
  Relayed(Tcp::socket client, std::optional<PeerNetwork> network, ConnectionLedger* ledger)
      : ledger_(ledger),
        network_(network),
        timer_(client.get_executor()),
        resolver_(client.get_executor()),
        target_(client.get_executor()),
        client_(std::move(client)) {}
  ~Relayed() { ledger_->Remove(network_); }
  Relayed(const Relayed&) = delete;
  Relayed& operator=(const Relayed&) = delete;

  // `is_self`: true for addresses of the relay, which must not relay to itself. Outlives the connection.
  using IsSelf = std::function<bool(const Tcp::endpoint& to)>;
  void Connect(const HostAndPort& target, const IsSelf& is_self) {
    timer_.expires_after(std::chrono::seconds(TcpRelay::kConnectSeconds));
    timer_.async_wait([self = shared_from_this()](const error_code& ec) {
      if (!ec && !self->is_connected_) self->Close();
    });
    resolver_.async_resolve(
        target.host, target.port,
        [self = shared_from_this(), is_self](const error_code& ec, const Tcp::resolver::results_type& found) {
          if (ec || !self->client_.is_open()) return self->Close();
          asio::async_connect(
              self->target_, found, [is_self](const error_code&, const Tcp::endpoint& next) { return !is_self(next); },
              [self](const error_code& failed, const Tcp::endpoint&) { self->Begin(failed); });
        });
  }
  void Close() {
    error_code ignored;
    client_.close(ignored);
    target_.close(ignored);
    resolver_.cancel();
    timer_.cancel();
  }

 private:
  using Buffer = std::array<char, TcpRelay::kBufferBytes>;

  void Begin(const error_code& failed) {
    if (failed || !client_.is_open()) return Close();
    is_connected_ = true;
    timer_.cancel();
    SetOptions(&target_);
    Read(&client_, &target_, &to_target_);
    Read(&target_, &client_, &to_client_);
  }
  void Read(Tcp::socket* from, Tcp::socket* to, Buffer* buffer) {
    from->async_read_some(asio::buffer(*buffer), [=, self = shared_from_this()](const error_code& ec, size_t size) {
      if (!ec) return self->Write(from, to, buffer, size);
      if (ec != asio::error::eof) return self->Close();
      error_code ignored;
      to->shutdown(Tcp::socket::shutdown_send, ignored);
      if (++self->ended_ == 2) return self->Close();
      if (from == &self->target_) self->Linger();
    });
  }
  // The target has ended: time for the client to take what was sent, and to end as well.
  void Linger() {
    timer_.expires_after(kLinger);
    timer_.async_wait([self = shared_from_this()](const error_code& ec) {
      if (!ec) self->Close();
    });
  }
  void Write(Tcp::socket* from, Tcp::socket* to, Buffer* buffer, size_t size) {
    asio::async_write(*to, asio::buffer(buffer->data(), size),
                      [=, self = shared_from_this()](const error_code& ec, size_t) {
                        if (ec) return self->Close();
                        self->Read(from, to, buffer);
                      });
  }
  ConnectionLedger* const ledger_;
  const std::optional<PeerNetwork> network_;
  asio::steady_timer timer_;
  Tcp::resolver resolver_;
  Tcp::socket target_;
  Tcp::socket client_;
  Buffer to_target_;
  Buffer to_client_;
  bool is_connected_ = false;
  int ended_ = 0;  // directions that have ended
};

}  // namespace

struct TcpRelay::Impl {
  // One of the sockets that listen.
  struct Listening {
    explicit Listening(asio::io_context* io) : acceptor(*io), pause(*io) {}
    Tcp::acceptor acceptor;
    asio::steady_timer pause;
    Tcp::endpoint own;  // where it listens
  };

  explicit Impl(ConnectionLedger* counted) : ledger(counted), io(1) {}

  // Takes ownership of the socket. Errors: Unavailable.
  absl::Status Add(int socket);
  void Accept(Listening* listening);
  void Adopt(Tcp::socket client);
  void SetTarget(std::optional<HostAndPort> to);
  bool IsSelf(const Tcp::endpoint& to);

  ConnectionLedger* const ledger;
  asio::io_context io;
  std::vector<std::unique_ptr<Listening>> all_listening;
  std::string address;
  // The relay's thread alone uses these.
  std::optional<HostAndPort> target;
  std::vector<std::weak_ptr<Relayed>> relayed;  // some of them are over
  size_t sweep_at = kSweepMin;                  // size of `relayed` at which those are removed
  std::unique_ptr<ThreadPool> thread;
};

absl::Status TcpRelay::Impl::Add(int socket) {
  sockaddr_storage own = {};
  socklen_t size = sizeof own;
  getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size);
  auto listening = std::make_unique<Listening>(&io);
  error_code ec;
  listening->acceptor.assign(own.ss_family == AF_INET6 ? Tcp::v6() : Tcp::v4(), socket, ec);
  if (ec) {
    close(socket);
    return absl::UnavailableError(Cat("cannot watch the listening socket: ", ec.message()));
  }
  listening->own = listening->acceptor.local_endpoint(ec);
  all_listening.push_back(std::move(listening));
  return absl::OkStatus();
}

void TcpRelay::Impl::Accept(Listening* listening) {
  listening->acceptor.async_accept([this, listening](const error_code& ec, Tcp::socket client) {
    if (ec == asio::error::operation_aborted || !listening->acceptor.is_open()) return;
    if (!ec) Adopt(std::move(client));
    if (!ec || ec == asio::error::connection_aborted) return Accept(listening);
    listening->pause.expires_after(kAcceptPause);
    listening->pause.async_wait([this, listening](const error_code& ended) {
      if (!ended) Accept(listening);
    });
  });
}

void TcpRelay::Impl::Adopt(Tcp::socket client) {
  if (!target.has_value()) return;  // closes it
  sockaddr_storage peer = {};
  socklen_t size = sizeof peer;
  getpeername(client.native_handle(), reinterpret_cast<sockaddr*>(&peer), &size);
  const std::optional<PeerNetwork> network = NetworkOf(peer);
  if (!ledger->TryAdd(client.native_handle(), network)) return;
  SetOptions(&client);
  const auto connection = std::make_shared<Relayed>(std::move(client), network, ledger);
  if (relayed.size() >= sweep_at) {
    std::erase_if(relayed, [](const std::weak_ptr<Relayed>& each) { return each.expired(); });
    sweep_at = std::max(kSweepMin, 2 * relayed.size());
  }
  relayed.push_back(connection);
  connection->Connect(*target, [this](const Tcp::endpoint& to) { return IsSelf(to); });
}

bool TcpRelay::Impl::IsSelf(const Tcp::endpoint& to) {
  return std::any_of(all_listening.begin(), all_listening.end(), [&](const auto& listening) {
    const Tcp::endpoint& own = listening->own;
    if (to.port() != own.port()) return false;
    return own.address().is_unspecified() ? IsLocal(to.address(), &io) : to.address() == own.address();
  });
}

void TcpRelay::Impl::SetTarget(std::optional<HostAndPort> to) {
  target = std::move(to);
  for (const std::weak_ptr<Relayed>& each : relayed) {
    if (const std::shared_ptr<Relayed> connection = each.lock()) connection->Close();
  }
  relayed.clear();
}

TcpRelay::TcpRelay(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

absl::StatusOr<std::unique_ptr<TcpRelay>> TcpRelay::Start(const std::string& listen, ConnectionLedger* ledger) {
  auto impl = std::make_shared<Impl>(ledger);
  ARM_ASSIGN_OR_RETURN(BoundSockets bound, Listen(listen));
  impl->address = std::move(bound.address);
  absl::Status added;
  for (const int socket : bound.sockets) added.Update(impl->Add(socket));
  ARM_RETURN_IF_ERROR(added);
  for (const auto& listening : impl->all_listening) impl->Accept(listening.get());
  impl->thread = std::make_unique<ThreadPool>("armature-relay", 1, 1);
  impl->thread->RunAdmitted([impl = impl.get()] { impl->io.run(); });
  return std::unique_ptr<TcpRelay>(new TcpRelay(std::move(impl)));
}

TcpRelay::~TcpRelay() {
  impl_->io.stop();
  impl_->thread.reset();
  // Connections are closed with the operations that hold them.
}

const std::string& TcpRelay::address() const { return impl_->address; }

absl::Status TcpRelay::SetTarget(const std::string& target) {
  std::optional<HostAndPort> to;
  absl::Status split;
  if (!target.empty()) {
    absl::StatusOr<HostAndPort> parts = SplitAddress(target);
    split = parts.status();
    if (parts.ok()) to = *std::move(parts);
  }
  asio::post(impl_->io, [impl = impl_.get(), to = std::move(to)]() mutable { impl->SetTarget(std::move(to)); });
  return split;
}

}  // namespace armature::daemon
