#ifndef ARMATURE_DAEMON_JSON_FRONT_JSON_FRONT_H_
#define ARMATURE_DAEMON_JSON_FRONT_JSON_FRONT_H_

// The original protocol's HTTP: what surrounds the JSON documents.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/auth/access.h"
#include "daemon/http/http_message.h"
#include "daemon/json/json_api.h"
#include "daemon/telemetry/request_stats.h"
#include "storage/base/thread_pool.h"
#include "storage/base/timer_queue.h"

namespace armature::daemon {

// Tells who sent a request.
//
// Thread-safety: thread-safe. Lifetime: must outlive the front that asks it.
class HttpAuthenticator {
 public:
  virtual ~HttpAuthenticator() = default;
  // Does not block. Errors: what JsonOperations::Refuse can write; then `*hold` may be set to how long the answer is to
  // be held back.
  virtual absl::StatusOr<std::shared_ptr<const Access>> Authenticate(const HttpRequest& request,
                                                                     absl::Duration* hold) = 0;
};

// The operations behind the front: JsonApi, or what a test puts in its place.
//
// Thread-safety: thread-safe. Lifetime: must outlive the front that calls it.
class JsonOperations {
 public:
  virtual ~JsonOperations() = default;
  // As JsonApi.
  virtual bool Knows(std::string_view target, std::string_view* operation) const = 0;
  virtual void Call(JsonCall call, JsonApi::Done done) = 0;
  // The answer to `call` if it failed with `status` before it was made. Its operation is known; it has neither body nor
  // access.
  virtual JsonAnswer Refuse(const JsonCall& call, const absl::Status& status) const = 0;
};

struct JsonFrontOptions {
  HttpAuthenticator* authenticator = nullptr;         // null: everybody may do everything
  absl::Duration request_timeout = absl::Minutes(1);  // for the waits of a request; ends with DeadlineExceeded
  size_t body_bytes_max = 16 << 20;                   // inflated; beyond: 413
  size_t compressed_answer_bytes_min = 4 << 10;       // smaller answers are never compressed
  size_t held_back_max = 1'000;                       // refusals; beyond, they are sent at once
  size_t coding_threads = 1;                          // compress and inflate, so that others need not wait for it
  size_t coding_queue_max = 256;                      // beyond: answers are not compressed, compressed requests get 503
  RequestStats* stats = nullptr;                      // null: requests are not counted
};

// Checks requests in the documented order, but for the body, which nobody looks into before its sender is known
// (docs/decisions/0006-authentication-before-parsing.md). Headers besides the documented ones, in decimal:
//   x-armature-at-least-sequence   of Query and Scan: a global index must have got this far
//   x-armature-change-sequence     of an answer to a write: how far that is
//
// Thread-safety: thread-safe. Lifetime: must outlive the server that calls it.
class JsonFront final : public HttpHandler {
 public:
  JsonFront(JsonOperations* operations, const JsonFrontOptions& options);
  // Finishes what is being inflated or compressed, and drops refusals that are held back.
  ~JsonFront() override;

  void Handle(HttpRequest request, Done done) override;
  HttpResponse Refuse(unsigned status) override;

 private:
  struct Exchange;

  // A request that may be carried out.
  struct Admitted {
    HttpRequest request;
    std::shared_ptr<const Access> access;
    uint64_t at_least_sequence = 0;
  };

  absl::Status Admit(Admitted* admitted, absl::Duration* hold) const;
  void Refuse(const Admitted& admitted, const absl::Status& status, absl::Duration hold, Exchange exchange);
  void Inflate(Admitted admitted, Exchange exchange);
  void Call(Admitted admitted, Exchange exchange);
  void Finish(Exchange exchange, JsonAnswer answer);

  JsonOperations* const operations_;
  const JsonFrontOptions options_;
  std::atomic<size_t> held_back_ = 0;
  ThreadPool coders_;
  TimerQueue timers_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_FRONT_JSON_FRONT_H_
