#ifndef ARMATURE_TESTS_UNIT_DAEMON_HTTP_HANDLERS_H_
#define ARMATURE_TESTS_UNIT_DAEMON_HTTP_HANDLERS_H_

// Handlers and servers for tests of the HTTP server.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "daemon/http/http_message.h"
#include "daemon/http/http_server.h"

namespace armature::daemon {

// Answers each request at once with the result of `answer`, by default the request's body.
class InlineHandler final : public HttpHandler {
 public:
  using Answer = std::function<HttpResponse(const HttpRequest&)>;

  InlineHandler()
      : answer_([](const HttpRequest& request) { return HttpResponse{.headers = {}, .body = request.body}; }) {}
  explicit InlineHandler(Answer answer) : answer_(std::move(answer)) {}

  void Handle(HttpRequest request, Done done) override { std::move(done)(answer_(request)); }

 private:
  const Answer answer_;
};

// Holds requests until the test answers them.
class HoldingHandler final : public HttpHandler {
 public:
  struct Held {
    HttpRequest request;
    Done done;
  };

  void Handle(HttpRequest request, Done done) override {
    if (on_request) {
      is_in_request = true;
      on_request();
    }
    absl::MutexLock lock(&mutex_);
    held_.push_back({std::move(request), std::move(done)});
    came_.Signal();
  }

  // Waits for `count` requests and takes all.
  std::vector<Held> Take(size_t count) {
    absl::MutexLock lock(&mutex_);
    while (held_.size() < count) came_.Wait(&mutex_);
    return std::exchange(held_, {});
  }

  // Called on the I/O thread; set it while no request is on the way.
  std::function<void()> on_request;
  std::atomic<bool> is_in_request = false;

 private:
  absl::Mutex mutex_;
  absl::CondVar came_;
  std::vector<Held> held_;
};

inline std::unique_ptr<HttpServer> Serve(HttpHandler* handler, const HttpServerOptions& options = {}) {
  return HttpServer::Start(options, handler).value();
}

}  // namespace armature::daemon

#endif  // ARMATURE_TESTS_UNIT_DAEMON_HTTP_HANDLERS_H_
