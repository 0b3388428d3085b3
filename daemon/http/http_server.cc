#include "daemon/http/http_server.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "daemon/http/io_loop.h"
#include "daemon/http/listener.h"
#include "daemon/http/server_state.h"
#include "daemon/net/connection_ledger.h"
#include "daemon/net/listening_socket.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/thread_pool.h"

namespace armature::daemon {

HttpServerOptions OperatorsOptions(const std::string& listen) {
  constexpr size_t kConnectionsMax = 64;
  constexpr size_t kBodyBytesMax = 1024;
  HttpServerOptions options;
  options.door.listen = listen;
  options.io_threads = 1;
  options.connections_max = kConnectionsMax;
  options.limits.body_bytes_max = kBodyBytesMax;
  return options;
}

struct HttpServer::Impl {
  std::shared_ptr<ServerState> state;
  std::vector<std::shared_ptr<IoLoop>> loops;
  std::vector<std::unique_ptr<Listener>> listeners;
  std::string address;                  // of the first door
  std::unique_ptr<ThreadPool> threads;  // one for each loop; null: before Start, or after Stop

  absl::StatusOr<std::string> Open(HttpDoor opened);
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() { Stop(absl::ZeroDuration()); }

const std::string& HttpServer::address() const { return impl_->address; }
size_t HttpServer::connections() const { return impl_->state->connections.value(); }
uint64_t HttpServer::late_requests() const { return impl_->state->late_requests.load(std::memory_order_relaxed); }
H2Counts HttpServer::h2_counts() const {
  const ServerState& state = *impl_->state;
  const auto broken = [&](H2Break why) {
    return state.h2_broken[static_cast<size_t>(why)].load(std::memory_order_relaxed);
  };
  return {.connections = state.h2_connections.load(std::memory_order_relaxed),
          .stalled = broken(H2Break::kStalled),
          .memory = broken(H2Break::kMemory),
          .flooding = broken(H2Break::kFrames),
          .heads = broken(H2Break::kHeads),
          .protocol = broken(H2Break::kProtocol)};
}
size_t HttpServer::held_bytes() const { return impl_->state->budget->held(); }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpServerOptions& options, HttpHandler* handler) {
  auto impl = std::make_unique<Impl>();
  impl->state = std::make_shared<ServerState>(options, handler);
  const size_t threads = std::max<size_t>(options.io_threads, 1);
  for (size_t i = 0; i < threads; ++i) impl->loops.push_back(std::make_shared<IoLoop>(impl->state));
  ARM_ASSIGN_OR_RETURN(impl->address, impl->Open(options.door));
  impl->threads = std::make_unique<ThreadPool>("armature-http", threads, threads);
  for (const auto& loop : impl->loops) impl->threads->RunAdmitted([loop] { loop->Run(); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

absl::StatusOr<std::string> HttpServer::Open(HttpDoor door) {
  if (impl_->threads == nullptr) return absl::UnavailableError("the HTTP server has stopped");
  return impl_->Open(std::move(door));
}

absl::StatusOr<std::string> HttpServer::Impl::Open(HttpDoor opened) {
  const auto door = std::make_shared<const HttpDoor>(std::move(opened));
  ARM_ASSIGN_OR_RETURN(BoundSockets bound, Listen(door->listen));
  std::vector<std::unique_ptr<Listener>> made;
  absl::Status status;
  for (const int socket : bound.sockets) {
    absl::StatusOr<std::unique_ptr<Listener>> listener = Listener::Make(socket, door, loops);
    status.Update(listener.status());
    if (listener.ok()) made.push_back(*std::move(listener));
  }
  ARM_RETURN_IF_ERROR(status);
  for (auto& listener : made) {
    listener->Start();
    listeners.push_back(std::move(listener));
  }
  return bound.address;
}

void HttpServer::Stop(absl::Duration grace) {
  if (impl_->threads == nullptr) return;
  impl_->state->draining = true;
  for (const auto& listener : impl_->listeners) listener->Stop();
  for (const auto& loop : impl_->loops) loop->Drain();
  if (!impl_->state->connections.AwaitNone(grace)) {
    LOG(WARNING) << "http: connections closed after the grace period count=" << connections();
  }
  for (const auto& loop : impl_->loops) loop->Abort();
  impl_->threads.reset();
  impl_->listeners.clear();
}

uint64_t RaiseDescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

}  // namespace armature::daemon
