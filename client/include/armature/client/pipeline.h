#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_PIPELINE_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_PIPELINE_H_

// Many operations of items at once, over one stream and without a thread for each.

#include <cstddef>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "armature/api/v1/items.pb.h"
#include "armature/client/connection.h"
#include "armature/client/options.h"

namespace armature::client {

class Client;
class PipelineStream;

struct PipelineOptions {
  // Operations that are asked and not answered; one more waits in Ask. At least 1. Of one stream the daemon itself
  // takes up a few hundred at once.
  size_t in_flight_max = 256;
  // Bytes of their requests. A larger request is let through alone.
  size_t in_flight_bytes_max = 16 << 20;
  // Of the stream, from its beginning to its end; what is not answered by then fails with DEADLINE_EXCEEDED.
  absl::Duration lifetime = absl::InfiniteDuration();
  // `timeout`: how long to wait for the daemon when the stream is opened.
  CallOptions call = {};
};

namespace pipeline_internal {

using In = api::v1::PipelineRequest;
using Out = api::v1::PipelineResponse;

template <class Request>
struct Operation;

template <class RequestMessage, class ResponseMessage, RequestMessage* (In::*kRequest)(),
          ResponseMessage* (Out::*kResponse)(), Out::ResultCase kCase>
struct Fields {
  using Response = ResponseMessage;
  static RequestMessage* RequestIn(In* in) { return (in->*kRequest)(); }
  static ResponseMessage* ResponseIn(Out* out) { return (out->*kResponse)(); }
  static constexpr Out::ResultCase kResult = kCase;
};

template <>
struct Operation<api::v1::GetItemRequest> : Fields<api::v1::GetItemRequest, api::v1::GetItemResponse,
                                                   &In::mutable_get_item, &Out::mutable_get_item, Out::kGetItem> {};
template <>
struct Operation<api::v1::PutItemRequest> : Fields<api::v1::PutItemRequest, api::v1::PutItemResponse,
                                                   &In::mutable_put_item, &Out::mutable_put_item, Out::kPutItem> {};
template <>
struct Operation<api::v1::UpdateItemRequest>
    : Fields<api::v1::UpdateItemRequest, api::v1::UpdateItemResponse, &In::mutable_update_item,
             &Out::mutable_update_item, Out::kUpdateItem> {};
template <>
struct Operation<api::v1::DeleteItemRequest>
    : Fields<api::v1::DeleteItemRequest, api::v1::DeleteItemResponse, &In::mutable_delete_item,
             &Out::mutable_delete_item, Out::kDeleteItem> {};
template <>
struct Operation<api::v1::QueryRequest>
    : Fields<api::v1::QueryRequest, api::v1::QueryResponse, &In::mutable_query, &Out::mutable_query, Out::kQuery> {};
template <>
struct Operation<api::v1::ScanRequest>
    : Fields<api::v1::ScanRequest, api::v1::ScanResponse, &In::mutable_scan, &Out::mutable_scan, Out::kScan> {};
template <>
struct Operation<api::v1::BatchGetItemRequest>
    : Fields<api::v1::BatchGetItemRequest, api::v1::BatchGetItemResponse, &In::mutable_batch_get_item,
             &Out::mutable_batch_get_item, Out::kBatchGetItem> {};
template <>
struct Operation<api::v1::BatchWriteItemRequest>
    : Fields<api::v1::BatchWriteItemRequest, api::v1::BatchWriteItemResponse, &In::mutable_batch_write_item,
             &Out::mutable_batch_write_item, Out::kBatchWriteItem> {};
template <>
struct Operation<api::v1::TransactGetItemsRequest>
    : Fields<api::v1::TransactGetItemsRequest, api::v1::TransactGetItemsResponse, &In::mutable_transact_get_items,
             &Out::mutable_transact_get_items, Out::kTransactGetItems> {};
template <>
struct Operation<api::v1::TransactWriteItemsRequest>
    : Fields<api::v1::TransactWriteItemsRequest, api::v1::TransactWriteItemsResponse, &In::mutable_transact_write_items,
             &Out::mutable_transact_write_items, Out::kTransactWriteItems> {};

}  // namespace pipeline_internal

// One stream of operations: GetItem, PutItem, UpdateItem, DeleteItem, Query, Scan, and those of batches and
// transactions, told apart by the types of their requests.
//
//   absl::StatusOr<std::unique_ptr<Pipeline>> pipeline = client.OpenPipeline();
//   if (!pipeline.ok()) return pipeline.status();
//   for (const api::v1::PutItemRequest& put : puts) {
//     (*pipeline)->Ask(put, [](absl::StatusOr<api::v1::PutItemResponse> answer) { ... });
//   }
//   return (*pipeline)->Close();
//
// Operations run side by side and are answered in any order: one that depends on another waits for its answer.
//
// Nothing is repeated, and a stream that broke is not opened again: both are the caller's affair, who can tell by
// IsTransient (retry_policy.h) and CertainlyNotApplied (errors.h). Answers count for no session of WithReadYourWrites.
//
// Thread-safety: thread-safe. Lifetime: independent of the client. The destructor cancels what is outstanding and
// returns once it has been answered; it must not run in a callback.
// Errors of an operation: those of the call of the same name; INVALID_ARGUMENT, without a name, for a request larger
// than kRequestBytesMax or than send_bytes_max (options.h), which is not sent. When the stream ends before the answer:
// what the daemon or gRPC gave as the reason, DEADLINE_EXCEEDED after `lifetime`, and UNAVAILABLE if the connection
// broke; the operation may have been applied, unless CertainlyNotApplied.
class Pipeline {
 public:
  template <class Request>
  using ResponseOf = typename pipeline_internal::Operation<Request>::Response;
  template <class Request>
  using Done = absl::AnyInvocable<void(absl::StatusOr<ResponseOf<Request>>) &&>;

  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Blocks while as much is outstanding as the options allow. `done` is called once, on a thread of gRPC's or, if the
  // stream has ended, on this one. It must be short: all answers of the stream wait for it. It may ask further, this
  // stream or another one; then Ask does not block, whatever is outstanding there.
  template <class Request>
  void Ask(Request request, Done<Request> done) {
    using Operation = pipeline_internal::Operation<Request>;
    api::v1::PipelineRequest message;
    *Operation::RequestIn(&message) = std::move(request);
    Send(std::move(message), [done = std::move(done)](absl::StatusOr<api::v1::PipelineResponse> answer) mutable {
      if (!answer.ok()) return std::move(done)(answer.status());
      if (answer->result_case() != Operation::kResult) {
        return std::move(done)(absl::InternalError("the daemon has answered another operation"));
      }
      std::move(done)(std::move(*Operation::ResponseIn(&*answer)));
    });
  }

  // The same for those who would rather wait than be called.
  template <class Request>
  std::future<absl::StatusOr<ResponseOf<Request>>> Ask(Request request) {
    std::promise<absl::StatusOr<ResponseOf<Request>>> promise;
    std::future<absl::StatusOr<ResponseOf<Request>>> future = promise.get_future();
    Ask(std::move(request), [promise = std::move(promise)](absl::StatusOr<ResponseOf<Request>> answer) mutable {
      promise.set_value(std::move(answer));
    });
    return future;
  }

  // Blocks until everything asked so far is answered and its callbacks have returned. Not in a callback.
  void WaitUntilIdle();

  // Takes no more, waits for all answers, and ends the stream. Not in a callback. Errors: why the stream broke; what
  // was then outstanding has got that too.
  absl::Status Close();

  // OK as long as the stream takes operations, and after Close if it ended well.
  absl::Status status() const;

 private:
  friend class Client;
  using Answered = absl::AnyInvocable<void(absl::StatusOr<api::v1::PipelineResponse>) &&>;

  static absl::StatusOr<std::unique_ptr<Pipeline>> Open(std::shared_ptr<Connection> connection,
                                                        const ClientOptions& client_options,
                                                        const PipelineOptions& options);
  explicit Pipeline(std::unique_ptr<PipelineStream> stream);

  void Send(api::v1::PipelineRequest request, Answered answered);

  const std::unique_ptr<PipelineStream> stream_;
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_PIPELINE_H_
