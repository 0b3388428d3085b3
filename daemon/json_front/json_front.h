#ifndef ARMATURE_DAEMON_JSON_FRONT_JSON_FRONT_H_
#define ARMATURE_DAEMON_JSON_FRONT_JSON_FRONT_H_

// HTTP of the original protocol: headers, codings and errors around the JSON documents.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/auth/long_requests.h"
#include "daemon/auth/policy.h"
#include "daemon/http/http_message.h"
#include "daemon/http/readiness.h"
#include "daemon/http/site_rules.h"
#include "daemon/json/json_api.h"
#include "daemon/json_front/content_coding.h"
#include "daemon/net/memory_budget.h"
#include "daemon/telemetry/request_stats.h"
#include "engine/access/pattern.h"
#include "storage/base/thread_pool.h"
#include "storage/base/timer_queue.h"

namespace armature::daemon {

// Authenticates the sender of a request. Does not block. Errors: those that JsonOperations::Refuse can write; then
// `*hold` may be set to the time for which the answer must be held back.
using HttpAuthenticator =
    std::function<absl::StatusOr<std::shared_ptr<const Access>>(const HttpRequest& request, absl::Duration* hold)>;

struct JsonFrontOptions {
  HttpAuthenticator authenticate = nullptr;           // null: no authentication, all operations are permitted
  absl::Duration request_timeout = absl::Minutes(1);  // for the waits of a request; then DeadlineExceeded
  size_t body_bytes_max = 16 << 20;                   // inflated; larger: 413
  size_t compressed_answer_bytes_min = 4 << 10;       // smaller answers are never compressed
  size_t held_back_max = 1'000;                       // refusals; further ones are sent at once
  size_t coding_threads = 1;                          // for compression and inflation
  LongRequests* long_requests = nullptr;  // null: all requests run on the server's threads. Outlives the front
  std::function<access::MatchWeight()> resource_weight = nullptr;  // see LongRequests
  size_t coding_queue_max = 256;  // if full: answers are not compressed, compressed requests get 503
  RequestStats* stats = nullptr;  // null: requests are not counted
  // The server's. Without room, reads with large answers are refused before they run, and bodies are not inflated.
  // Null: neither. Outlives the front.
  MemoryBudget* budget = nullptr;
  ReadinessSource readiness = nullptr;  // for /readyz; null: always ready
  SiteRules sites = {};                 // refused requests get 403; answers to permitted web pages have CORS headers
  // One sentence that says where gRPC is, without characters of markup: for those who look for it here.
  std::function<std::string()> way_to_grpc = [] { return std::string(); };
};

// Checks requests in the documented order, except that the body is parsed only after authentication
// (docs/decisions/0006-authentication-before-parsing.md). Further headers, in decimal:
//   x-armature-at-least-sequence   on Query and Scan: sequence that the global index must have applied
//   x-armature-change-sequence     on answers to writes: sequence of the change
//
// Thread-safety: thread-safe. Lifetime: must outlive the server that calls it.
class JsonFront final : public HttpHandler {
 public:
  JsonFront(JsonOperations* operations, const JsonFrontOptions& options);
  // Finishes running compressions and inflations. Drops refusals that are held back.
  ~JsonFront() override;

  void Handle(HttpRequest request, Done done) override;
  HttpResponse Refuse(unsigned status) override;

  // No request reaches the operations after it, not even one that is being inflated; later answers are not compressed.
  // For the time between the end of the server and that of the operations.
  void Stop();

 private:
  struct Exchange;

  // An authenticated request.
  struct Admitted {
    HttpRequest request;
    std::shared_ptr<const Access> access;
    uint64_t at_least_sequence = 0;
  };

  bool HasRoom(const BudgetClient& client, size_t bytes) const;
  absl::Status Admit(Admitted* admitted, absl::Duration* hold) const;
  void Refuse(const Admitted& admitted, const absl::Status& status, absl::Duration hold, Exchange exchange);
  void InflateBody(Admitted admitted, Exchange exchange, ContentCoding coding);
  // Calls the operation, on another thread if the request is long.
  void Start(Admitted admitted, Exchange exchange);
  void Call(Admitted admitted, Exchange exchange);
  // Replaces the body, if there is memory for both.
  static void CompressBody(ContentCoding coding, HttpResponse* response);
  void Finish(Exchange exchange, JsonAnswer answer);

  JsonOperations* const operations_;
  const JsonFrontOptions options_;
  std::atomic<size_t> held_back_ = 0;
  std::atomic<bool> stopping_ = false;
  ThreadPool coders_;
  TimerQueue timers_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_FRONT_JSON_FRONT_H_
