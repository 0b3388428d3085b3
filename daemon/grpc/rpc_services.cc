#include "daemon/grpc/rpc_services.h"

#include <utility>

#include "daemon/admin/admin_operations.h"
#include "daemon/grpc/unary_handler.h"
#include "engine/operations.h"

namespace armature::daemon {

template <class Stream>
void RpcServices::AddStreams(std::string_view operation, StreamSet<Stream>* streams) {
  front_->Add(engine::FindOperation(operation)->path, [gate = gate_, streams](const std::shared_ptr<RpcCall>& call) {
    streams->Open(std::make_shared<Stream>(gate, call));
  });
}

RpcServices::RpcServices(const CallGate* gate, RpcFront* front, std::string data_dir, const RequestStats* stats)
    : gate_(gate), front_(front), admin_(AdminOperations(std::move(data_dir), stats)) {
  for (const MessageOperation& each : ItemMessageOperations()) operations_.push_back(each);
  for (const UnaryOperation& each : UnaryOperations()) operations_.push_back(MessageOperationOf(gate, each));
  for (const UnaryOperation& each : admin_) operations_.push_back(MessageOperationOf(gate, each));
  operations_.push_back(EchoOperation());
  for (const MessageOperation& each : operations_) {
    front->Add(each.facts->path, [gate, &each](const std::shared_ptr<RpcCall>& call) {
      std::make_shared<UnaryHandler>(gate, call, &each)->Start();
    });
  }
  AddStreams("Pipeline", &pipelines_);
  AddStreams("Watch", &watches_);
  AddStreams("admin:ExportTable", &exports_);
}

void RpcServices::Drain() {
  pipelines_.Drain();
  watches_.Drain();
  exports_.Drain();
}

}  // namespace armature::daemon
