#include "daemon/http/http_server.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "daemon/http/io_loop.h"
#include "daemon/http/server_state.h"
#include "daemon/net/connection_ledger.h"
#include "daemon/net/listening_socket.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/thread_pool.h"

namespace armature::daemon {
namespace {

namespace asio = boost::asio;

constexpr int kAcceptsAtEnd = 4096;
// Accepts before the loop's other work gets a turn.
constexpr int kAcceptsPerTurn = 64;
// Pause after descriptors ran out: they come back only when connections end.
constexpr std::chrono::milliseconds kPause(50);
// Repeated warnings are logged once per this many.
constexpr int kLogEvery = 1000;

constexpr std::string_view kTooMany =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

int OpenSpare() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

// Accepts connections and gives each to the least loaded loop.
//
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

Listener::Listener(std::vector<std::shared_ptr<IoLoop>> loops)
    : loops_(std::move(loops)),
      socket_(loops_[0]->io().get_executor()),
      pause_(loops_[0]->io().get_executor()),
      spare_descriptor_(OpenSpare()) {}

Listener::~Listener() {
  if (spare_descriptor_ >= 0) close(spare_descriptor_);
}

absl::StatusOr<std::unique_ptr<Listener>> Listener::Make(int socket, std::vector<std::shared_ptr<IoLoop>> loops) {
  std::unique_ptr<Listener> listener(new Listener(std::move(loops)));
  boost::system::error_code ec;
  listener->socket_.assign(socket, ec);
  if (ec) {
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
    boost::system::error_code ec;
    socket_.close(ec);
    pause_.cancel();
    stopped.Notify();
  });
  stopped.WaitForNotification();
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
  SetTcpOptions(fd);
  LeastLoaded().Adopt({.socket = fd, .peer = PeerText(peer, size), .network = network});
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
  if (!loops_[0]->state().options.tls) send(socket, kTooMany.data(), kTooMany.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
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

}  // namespace

HttpServerOptions OperatorsOptions(const std::string& listen) {
  constexpr size_t kConnectionsMax = 64;
  constexpr size_t kBodyBytesMax = 1024;
  HttpServerOptions options;
  options.listen = listen;
  options.io_threads = 1;
  options.connections_max = kConnectionsMax;
  options.limits.body_bytes_max = kBodyBytesMax;
  return options;
}

struct HttpServer::Impl {
  std::shared_ptr<ServerState> state;
  std::vector<std::shared_ptr<IoLoop>> loops;
  std::unique_ptr<Listener> listener;
  std::string address;
  std::unique_ptr<ThreadPool> threads;  // one for each loop
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() { Stop(absl::ZeroDuration()); }

const std::string& HttpServer::address() const { return impl_->address; }
size_t HttpServer::connections() const { return impl_->state->connections.value(); }
uint64_t HttpServer::late_requests() const { return impl_->state->late_requests.load(std::memory_order_relaxed); }
size_t HttpServer::held_bytes() const { return impl_->state->budget->held(); }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpServerOptions& options, HttpHandler* handler) {
  auto impl = std::make_unique<Impl>();
  impl->state = std::make_shared<ServerState>(options, handler);
  const size_t threads = std::max<size_t>(options.io_threads, 1);
  for (size_t i = 0; i < threads; ++i) impl->loops.push_back(std::make_shared<IoLoop>(impl->state));
  ARM_ASSIGN_OR_RETURN(BoundSockets bound, Listen(options.listen, ListenOn::kFirst));
  impl->address = std::move(bound.address);
  ARM_ASSIGN_OR_RETURN(impl->listener, Listener::Make(bound.sockets.front(), impl->loops));
  impl->threads = std::make_unique<ThreadPool>("armature-http", threads, threads);
  for (const auto& loop : impl->loops) impl->threads->RunAdmitted([loop] { loop->Run(); });
  impl->listener->Start();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

void HttpServer::Stop(absl::Duration grace) {
  if (impl_->threads == nullptr) return;
  impl_->state->draining = true;
  impl_->listener->Stop();
  for (const auto& loop : impl_->loops) loop->Drain();
  if (!impl_->state->connections.AwaitNone(grace)) {
    LOG(WARNING) << "http: connections closed after the grace period count=" << connections();
  }
  for (const auto& loop : impl_->loops) loop->Abort();
  impl_->threads.reset();
  impl_->listener.reset();
}

uint64_t RaiseDescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace armature::daemon
