#ifndef ARMATURE_DAEMON_GRPC_ITEM_SERVICE_H_
#define ARMATURE_DAEMON_GRPC_ITEM_SERVICE_H_

// Items over gRPC: raw bytes in, raw bytes out, the engine between.

#include <string_view>

#include "armature/api/v1/service.grpc.pb.h"
#include "daemon/grpc/call_gate.h"
#include "daemon/grpc/item_operations.h"
#include "daemon/grpc/pipeline_stream.h"
#include "daemon/grpc/stream_set.h"

namespace armature::daemon {

namespace item_service_internal {

using Api = api::v1::ItemService;
// Raw, as items pass. All are callback methods, so that no thread waits for calls.
using Base =
    Api::WithRawCallbackMethod_GetItem<Api::WithRawCallbackMethod_PutItem<Api::WithRawCallbackMethod_DeleteItem<
        Api::WithRawCallbackMethod_Query<Api::WithRawCallbackMethod_Scan<Api::WithRawCallbackMethod_UpdateItem<
            Api::WithRawCallbackMethod_BatchGetItem<Api::WithRawCallbackMethod_BatchWriteItem<
                Api::WithRawCallbackMethod_TransactGetItems<Api::WithRawCallbackMethod_TransactWriteItems<
                    Api::WithRawCallbackMethod_Pipeline<Api::Service>>>>>>>>>>>;

}  // namespace item_service_internal

// Thread-safety: thread-safe. Lifetime: `gate` must outlive the server.
class ItemService final : public item_service_internal::Base {
 public:
  explicit ItemService(const CallGate* gate) : gate_(gate) {}

  grpc::ServerUnaryReactor* GetItem(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* PutItem(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* UpdateItem(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* DeleteItem(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* Query(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* Scan(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* response) override;

  grpc::ServerUnaryReactor* BatchGetItem(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* BatchWriteItem(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* TransactGetItems(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* TransactWriteItems(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                               grpc::ByteBuffer* response) override;
  PipelineStream* Pipeline(grpc::CallbackServerContext* context) override;

  // Ends the streams of Pipeline once they have answered what they have read: the server is about to stop.
  void Drain() { pipelines_.Drain(); }

 private:
  grpc::ServerUnaryReactor* Serve(std::string_view name, ItemOperation operation, grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request, grpc::ByteBuffer* response) const;

  const CallGate* const gate_;
  StreamSet<PipelineStream> pipelines_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_ITEM_SERVICE_H_
