#include "daemon/http/http_server.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "daemon/http/io_loop.h"
#include "daemon/http/listener.h"
#include "daemon/http/server_state.h"
#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/thread_pool.h"

namespace armature::daemon {
namespace {

// Lowers connections_max to the descriptors that are available.
HttpServerOptions WithinDescriptors(HttpServerOptions options) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return options;
  const size_t allowed = limit.rlim_cur;
  const size_t reserved = std::min(options.descriptors_reserved, allowed - allowed / 4);
  if (options.connections_max > allowed - reserved) {
    options.connections_max = allowed - reserved;
    LOG(INFO) << "http: connections_max lowered to fit the descriptor limit connections_max=" << options.connections_max
              << " descriptors=" << allowed;
  }
  return options;
}

}  // namespace

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
size_t HttpServer::held_bytes() const { return impl_->state->budget.held(); }

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpServerOptions& options, HttpHandler* handler) {
  auto impl = std::make_unique<Impl>();
  impl->state = std::make_shared<ServerState>(WithinDescriptors(options), handler);
  const size_t threads = std::max<size_t>(options.io_threads, 1);
  for (size_t i = 0; i < threads; ++i) impl->loops.push_back(std::make_shared<IoLoop>(impl->state));
  ARM_ASSIGN_OR_RETURN(BoundSocket bound, ListenOn(options.listen));
  impl->address = std::move(bound.address);
  ARM_ASSIGN_OR_RETURN(impl->listener, Listener::Make(bound.socket, impl->loops));
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
