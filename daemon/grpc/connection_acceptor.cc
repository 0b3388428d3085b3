#include "daemon/grpc/connection_acceptor.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "daemon/grpc/peer_name.h"
#include "daemon/net/coarse_clock.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/time_histogram.h"

namespace armature::daemon {
namespace {

// Accepts before ended connections get a turn.
constexpr int kAcceptsPerTurn = 64;
// Bounds of the time between two sweeps. After the system could not make a descriptor, this is also the time to the
// next attempt: they come back only when something is closed.
constexpr absl::Duration kPauseMin = absl::Milliseconds(1);
constexpr absl::Duration kPauseMax = absl::Milliseconds(100);
constexpr int kLogRefusedEvery = 1000;
constexpr int64_t kNoteNs = 1'000'000'000;
// Connections that UnreadBytes asks, in about 0.3 ms.
constexpr int kAskedMax = 512;
// Output of a Unix socket that a client which reads does not leave waiting. The system takes about 200 KB.
constexpr int kUnreadBytes = 64 << 10;
// More than the system keeps for a connection.
constexpr size_t kDiscardedBytes = 1 << 30;
// Time for which a client that has flooded a connection gets no other one.
constexpr int64_t kBarMinNs = 1'000'000'000;
constexpr int64_t kBarMaxNs = 10'000'000'000;
// Received bytes that tell nothing about a connection that has ended: a handshake, or a few calls.
constexpr uint64_t kFewBytes = 16 << 10;
// Ended connections that are kept until they were looked at: enough to prove a flood.
constexpr size_t kEndedMax = 256;
// The first one finds bytes without calls, the second one proves them.
constexpr int kLooksAtEnded = 2;
// Looks until gRPC has read what had arrived before the end, or never will.
constexpr int kWaitsForEnded = 20;

// A vanished client is noticed after about two minutes without traffic.
constexpr int kProbeAfterSeconds = 60;
constexpr int kProbeIntervalSeconds = 10;
constexpr int kProbes = 6;

void Set(int socket, int level, int option, int value) { setsockopt(socket, level, option, &value, sizeof(value)); }

void SetOptions(int socket) {
  SetTcpOptions(socket);
  // Also ends a connection whose client keeps its window closed.
  Set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT,
      static_cast<int>(absl::ToInt64Milliseconds(ConnectionAcceptor::kStallTimeout)));
  Set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  Set(socket, IPPROTO_TCP, TCP_KEEPIDLE, kProbeAfterSeconds);
  Set(socket, IPPROTO_TCP, TCP_KEEPINTVL, kProbeIntervalSeconds);
  Set(socket, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

// `number`: of a connection; 0 for listeners and the wakeup.
epoll_event EventOf(int fd, uint32_t events, uint32_t number = 0) {
  epoll_event event = {};
  event.events = events;
  event.data.u64 = uint64_t{number} << 32 | static_cast<uint32_t>(fd);
  return event;
}

// nullopt for Unix sockets.
std::optional<tcp_info> InfoOf(int socket) {
  tcp_info info = {};
  socklen_t size = sizeof(info);
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  return info;
}

uint64_t UnreadOf(int socket) {
  int bytes = 0;
  ioctl(socket, SIOCINQ, &bytes);
  return static_cast<uint64_t>(std::max(bytes, 0));
}

void Wake(int eventfd) {
  const uint64_t one = 1;
  static_cast<void>(write(eventfd, &one, sizeof(one)));
}

}  // namespace

ConnectionAcceptor::ConnectionAcceptor(BoundSockets bound, ConnectionLedger* ledger)
    : bound_(std::move(bound)), ledger_(ledger) {}

absl::StatusOr<std::unique_ptr<ConnectionAcceptor>> ConnectionAcceptor::Make(const std::string& address,
                                                                             ConnectionLedger* ledger) {
  ARM_ASSIGN_OR_RETURN(BoundSockets bound, Listen(address, ListenOn::kAll));
  std::unique_ptr<ConnectionAcceptor> acceptor(new ConnectionAcceptor(std::move(bound), ledger));
  ARM_RETURN_IF_ERROR(acceptor->Watch());
  return acceptor;
}

absl::Status ConnectionAcceptor::Watch() {
  poll_ = epoll_create1(EPOLL_CLOEXEC);
  wakeup_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event = EventOf(wakeup_, EPOLLIN);
  if (poll_ < 0 || wakeup_ < 0 || epoll_ctl(poll_, EPOLL_CTL_ADD, wakeup_, &event) != 0) {
    return absl::UnavailableError(Cat("cannot watch the listening socket: ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

ConnectionAcceptor::~ConnectionAcceptor() {
  StopAccepting();
  ends_ = true;
  if (wakeup_ >= 0) Wake(wakeup_);
  thread_.reset();
  for (const auto& [fd, connection] : watched_) {
    ledger_->Remove(connection.network);
    close(fd);
  }
  for (const Ended& each : ended_) close(each.watched);
  if (wakeup_ >= 0) close(wakeup_);
  if (poll_ >= 0) close(poll_);
}

void ConnectionAcceptor::AddTo(grpc::ServerBuilder* builder, std::shared_ptr<grpc::ServerCredentials> credentials) {
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  grpc_ = builder->experimental().AddExternalConnectionAcceptor(Type::FROM_FD, std::move(credentials));
}

void ConnectionAcceptor::Start(Sweep sweep, FirstBytes::Options first_bytes) {
  sweep_ = std::move(sweep);
  first_bytes_ = std::move(first_bytes);
  WatchListeners(true);
  thread_ = std::make_unique<ThreadPool>("arm-accept", 1, 1);
  thread_->RunAdmitted([this] { Run(); });
}

void ConnectionAcceptor::StopAccepting() {
  if (!accepts_.exchange(false)) return;
  if (thread_ == nullptr) return CloseListeners();
  Wake(wakeup_);
  closed_.WaitForNotification();
}

void ConnectionAcceptor::WatchListeners(bool on) {
  for (const int listener : bound_.sockets) {
    epoll_event event = EventOf(listener, EPOLLIN);
    epoll_ctl(poll_, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listener, &event);
  }
  is_pausing_ = !on;
}

void ConnectionAcceptor::CloseListeners() {
  sockaddr_un name = {};
  socklen_t size = sizeof(name);
  for (const int listener : bound_.sockets) {
    getsockname(listener, reinterpret_cast<sockaddr*>(&name), &size);
    if (name.sun_family == AF_UNIX) unlink(name.sun_path);
    close(listener);
  }
}

void ConnectionAcceptor::Run() {
  std::array<epoll_event, 64> events;
  bool listens = true;
  while (!ends_) {
    const int count = epoll_wait(poll_, events.data(), events.size(), UntilSweepMs());
    SweepIfDue();
    if (listens && !accepts_) {
      listens = false;
      CloseListeners();
      closed_.Notify();
    }
    if (is_pausing_ && listens) WatchListeners(true);
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<size_t>(i)];
      const auto fd = static_cast<int>(static_cast<uint32_t>(event.data.u64));
      const auto number = static_cast<uint32_t>(event.data.u64 >> 32);
      if (fd == wakeup_) {
        uint64_t value = 0;
        static_cast<void>(read(wakeup_, &value, sizeof(value)));
      } else if (number != 0) {
        const auto found = watched_.find(fd);
        const bool is_known = found != watched_.end() && found->second.number == number;
        if (is_known && (event.events & EPOLLHUP) != 0) {
          Forget(fd);
        } else if (is_known) {
          LookAtNew(fd);
        }
      } else if (listens) {
        AcceptSome(fd);
      }
    }
  }
}

int ConnectionAcceptor::UntilSweepMs() const {
  const int64_t left_ns = std::max<int64_t>(next_sweep_ns_ - MonotonicNs(), 0);
  return static_cast<int>((left_ns + kNsPerMs - 1) / kNsPerMs);
}

void ConnectionAcceptor::SweepIfDue() {
  // The coarse clock may be half a pause behind.
  const int64_t now_ns = MonotonicNs();
  if (now_ns < next_sweep_ns_ && !is_hastened_.exchange(false)) return;
  const absl::Duration pause = std::clamp(sweep_(), kPauseMin, kPauseMax);
  if (now_ns >= next_note_ns_) {
    NoteReceived();
    EndLateNew();
    next_note_ns_ = now_ns + kNoteNs;
  }
  next_sweep_ns_ = MonotonicNs() + absl::ToInt64Nanoseconds(pause);
}

// Asking about 20,000 connections takes about 10 ms.
void ConnectionAcceptor::NoteReceived() {
  for (auto& [watched, connection] : watched_) {
    const std::optional<tcp_info> info = InfoOf(watched);
    if (info.has_value()) connection.received_before = connection.former.received + info->tcpi_bytes_received;
  }
}

std::optional<TransferCounts> ConnectionAcceptor::Transferred(const std::string& peer) const {
  const auto found = by_peer_.find(peer);
  if (found == by_peer_.end()) return std::nullopt;
  return CountsOf(found->second, watched_.find(found->second)->second);
}

std::optional<TransferCounts> ConnectionAcceptor::CountsOf(int watched, const Connection& connection) {
  const std::optional<tcp_info> info = InfoOf(watched);
  if (!info.has_value()) return std::nullopt;
  return TransferCounts{.received = connection.former.received + info->tcpi_bytes_received,
                        .acknowledged = connection.former.acknowledged + info->tcpi_bytes_acked,
                        .received_before = connection.received_before,
                        .unread = UnreadOf(watched)};
}

void ConnectionAcceptor::Break(const std::string& peer) {
  // gRPC sees the end of the connection, and closes it.
  if (peer != kUnixPeer) {
    const auto found = by_peer_.find(peer);
    if (found != by_peer_.end()) shutdown(found->second, SHUT_RDWR);
    return;
  }
  // All clients on Unix sockets have the same name. Much unsent output tells that one does not read.
  for (const auto& [watched, connection] : watched_) {
    int unsent_bytes = 0;
    if (connection.peer != kUnixPeer || ioctl(watched, SIOCOUTQ, &unsent_bytes) != 0) continue;
    if (unsent_bytes >= kUnreadBytes) shutdown(watched, SHUT_RDWR);
  }
}

void ConnectionAcceptor::LookAtAll(LookAt look) {
  std::erase_if(ended_, [](const Ended& each) {
    const bool is_over = each.looks_left == 0 || each.waits_left == 0;
    if (is_over) close(each.watched);
    return is_over;
  });
  for (Ended& each : ended_) {
    std::optional<TransferCounts> counts = CountsOf(each.watched, each.connection);
    --(counts.has_value() && counts->unread > 0 ? each.waits_left : each.looks_left);
    if (!counts.has_value()) continue;
    counts->has_ended = true;
    look(each.connection.peer, *counts);
  }
  for (const auto& [peer, watched] : by_peer_) {
    if (const auto counts = CountsOf(watched, watched_.find(watched)->second)) look(peer, *counts);
  }
}

void ConnectionAcceptor::Hasten() {
  is_hastened_ = true;
  Wake(wakeup_);
}

std::optional<int64_t> ConnectionAcceptor::SinceReceivedMs(const std::string& peer) const {
  const absl::ReaderMutexLock lock(&peers_mutex_);
  const auto found = by_peer_.find(peer);
  const std::optional<tcp_info> info = found == by_peer_.end() ? std::nullopt : InfoOf(found->second);
  return info.has_value() ? std::optional(int64_t{info->tcpi_last_data_recv}) : std::nullopt;
}

uint64_t ConnectionAcceptor::UnreadBytes(uint64_t most) const {
  const absl::ReaderMutexLock lock(&peers_mutex_);
  uint64_t bytes = 0;
  int asked = 0;
  for (const auto& [peer, watched] : by_peer_) {
    if (++asked > kAskedMax) break;
    bytes += std::min(UnreadOf(watched), most);
  }
  return bytes;
}

bool ConnectionAcceptor::Bar(const std::string& peer) {
  const auto found = by_peer_.find(peer);
  if (found == by_peer_.end()) {
    const auto ended = FindEnded(peer);
    if (ended == ended_.end()) return false;
    if (ended->connection.network.has_value()) BarNetwork(*ended->connection.network);
    Discard(ended->watched);
    TakeEnded(peer);
    return true;
  }
  const int watched = found->second;
  ForgetPeer(peer, watched);
  Discard(watched);
  const std::optional<PeerNetwork>& network = watched_.find(watched)->second.network;
  if (network.has_value()) BarNetwork(*network);
  return true;
}

void ConnectionAcceptor::Discard(int watched) {
  // Nothing arrives any more after this. gRPC would still serve the calls that have arrived, thousands perhaps.
  shutdown(watched, SHUT_RDWR);
  recv(watched, nullptr, kDiscardedBytes, MSG_TRUNC | MSG_DONTWAIT);
}

void ConnectionAcceptor::BarNetwork(const PeerNetwork& network) {
  const int64_t now_ns = CoarseNowNs();
  absl::erase_if(barred_, [&](const auto& each) { return each.second.until_ns + kBarMaxNs < now_ns; });
  Barred& barred = barred_[network];
  barred.for_ns = std::clamp(barred.for_ns * 2, kBarMinNs, kBarMaxNs);
  barred.until_ns = now_ns + barred.for_ns;
}

bool ConnectionAcceptor::IsBarred(const std::optional<PeerNetwork>& network) {
  if (barred_.empty() || !network.has_value()) return false;
  const auto found = barred_.find(*network);
  return found != barred_.end() && CoarseNowNs() < found->second.until_ns;
}

void ConnectionAcceptor::AcceptSome(int listener) {
  int accepted = 0;
  while (accepted < kAcceptsPerTurn && AcceptOne(listener)) ++accepted;
}

// False if there is nothing more to accept now.
bool ConnectionAcceptor::AcceptOne(int listener) {
  const int socket = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (socket >= 0) {
    Adopt(socket);
    return true;
  }
  if (errno == EAGAIN) return false;
  // Other errors concern that one connection only.
  if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return true;
  LOG_EVERY_N(WARNING, kLogRefusedEvery) << "grpc: cannot accept connections error=" << std::strerror(errno);
  if (!is_pausing_) WatchListeners(false);
  return false;
}

void ConnectionAcceptor::Adopt(int socket) {
  sockaddr_storage peer = {};
  socklen_t size = sizeof(peer);
  const int watched = fcntl(socket, F_DUPFD_CLOEXEC, 0);
  const bool is_connected = watched >= 0 && getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) == 0;
  const std::optional<PeerNetwork> network = NetworkOf(peer);
  const bool is_barred = IsBarred(network);
  if (is_barred) refused_barred_.fetch_add(1, std::memory_order_relaxed);
  std::string name = PeerNameOf(peer);
  if (!is_connected || is_barred || !IsNameFree(name) || !ledger_->TryAdd(std::max(socket, watched), network)) {
    if (watched >= 0) close(watched);
    close(socket);
    return;
  }
  if (peer.ss_family != AF_UNIX) SetOptions(socket);
  if (name != kUnixPeer) {
    const absl::MutexLock lock(&peers_mutex_);
    by_peer_[name] = watched;
  }
  const TransferCounts former = TakeEnded(name);
  if (++last_number_ == 0) ++last_number_;
  const Connection connection{.network = network,
                              .peer = std::move(name),
                              .former = former,
                              .received_before = former.received,
                              .number = last_number_};
  watched_.emplace(watched, connection);
  open_.store(watched_.size(), std::memory_order_relaxed);
  new_.try_emplace(watched, socket, &first_bytes_);
  // EPOLLHUP is always reported.
  epoll_event event = EventOf(watched, EPOLLIN | EPOLLET, last_number_);
  if (epoll_ctl(poll_, EPOLL_CTL_ADD, watched, &event) != 0) Forget(watched);
}

void ConnectionAcceptor::LookAtNew(int watched) {
  const auto found = new_.find(watched);
  if (found == new_.end()) return;
  // The server may be shutting down.
  if (!accepts_) return Forget(watched);
  switch (found->second.Look()) {
    case FirstBytes::Verdict::kWait:
      return;
    case FirstBytes::Verdict::kEnd:
      return Forget(watched);
    case FirstBytes::Verdict::kServe:
      break;
  }
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
  parameters.fd = found->second.TakeSocket();
  new_.erase(found);
  epoll_event event = EventOf(watched, EPOLLET, watched_.find(watched)->second.number);
  epoll_ctl(poll_, EPOLL_CTL_MOD, watched, &event);
  grpc_->HandleNewConnection(&parameters);
}

void ConnectionAcceptor::EndLateNew() {
  std::vector<int> late;
  for (const auto& [watched, first_bytes] : new_) {
    if (first_bytes.IsLate(CoarseNowNs())) late.push_back(watched);
  }
  for (const int watched : late) Forget(watched);
}

void ConnectionAcceptor::ForgetPeer(const std::string& peer, int watched) {
  const absl::MutexLock lock(&peers_mutex_);
  const auto found = by_peer_.find(peer);
  if (found != by_peer_.end() && found->second == watched) by_peer_.erase(found);
}

bool ConnectionAcceptor::NoteEnded(int watched, const Connection& connection) {
  const auto found = by_peer_.find(connection.peer);
  if (found == by_peer_.end() || found->second != watched) return false;
  const std::optional<TransferCounts> counts = CountsOf(watched, connection);
  if (!counts.has_value() || counts->received <= kFewBytes) return false;
  const Ended ended{watched, connection, counts->received, kLooksAtEnded, kWaitsForEnded};
  if (ended_.size() < kEndedMax) {
    ended_.push_back(ended);
    return true;
  }
  const auto least = std::min_element(ended_.begin(), ended_.end(),
                                      [](const Ended& a, const Ended& b) { return a.received < b.received; });
  if (least->received >= ended.received) return false;
  close(least->watched);
  *least = ended;
  return true;
}

bool ConnectionAcceptor::IsNameFree(const std::string& peer) {
  const auto found = by_peer_.find(peer);
  if (found == by_peer_.end()) return true;
  pollfd state = {.fd = found->second, .events = 0, .revents = 0};
  poll(&state, 1, 0);
  // Its end will be noticed in this turn.
  if ((state.revents & POLLHUP) != 0) Forget(found->second);
  return (state.revents & POLLHUP) != 0;
}

std::vector<ConnectionAcceptor::Ended>::iterator ConnectionAcceptor::FindEnded(const std::string& peer) {
  return std::find_if(ended_.begin(), ended_.end(), [&](const Ended& each) { return each.connection.peer == peer; });
}

TransferCounts ConnectionAcceptor::TakeEnded(const std::string& peer) {
  const auto found = FindEnded(peer);
  if (found == ended_.end()) return {};
  TransferCounts counts = CountsOf(found->watched, found->connection).value_or(found->connection.former);
  counts.received -= std::min(counts.received, counts.unread);
  close(found->watched);
  ended_.erase(found);
  return counts;
}

void ConnectionAcceptor::Forget(int watched) {
  const auto found = watched_.find(watched);
  ledger_->Remove(found->second.network);
  new_.erase(watched);
  // gRPC's descriptor keeps the socket open, and its events would go on after ours is closed.
  epoll_ctl(poll_, EPOLL_CTL_DEL, watched, nullptr);
  const bool is_kept = NoteEnded(watched, found->second);
  ForgetPeer(found->second.peer, watched);
  if (!is_kept) close(watched);
  watched_.erase(found);
  open_.store(watched_.size(), std::memory_order_relaxed);
}

}  // namespace armature::daemon
