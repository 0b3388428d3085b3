// Cost of an operation on items over gRPC without a database, on gRPC's own server library: a plain way to read and end
// calls, and RocksDB with the daemon's settings, with nothing of the data model between them. One thread writes what
// waits as one batch, synced, and ends the calls. FloorMethods says what the methods do. It was the lower bound of
// `put`, `batch`, `transact` and `pipeline` (and of `get`, `query` and `scan` with --reads) while the daemon used that
// library; h2_floor is the same on the daemon's own transport.
//
//   grpc_floor --directory=DIR                          prints its address, and serves until SIGTERM
//   armature-bench --target=ADDRESS --workload=put
//
// armature-bench takes it for a daemon, so "times echo" is the floor of that column. DIR is created and must not exist:
// choose one on the disk to measure.

#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/service_type.h"
#include "tests/bench/floor_main.h"
#include "tests/bench/floor_methods.h"
#include "tests/bench/grpc_floor_call.h"
#include "tests/bench/grpc_floor_pipeline.h"

namespace armature::bench {
namespace {

using grpc::internal::RpcMethod;
using grpc::internal::RpcServiceMethod;

// Methods by their paths.
class FloorService final : public grpc::Service {
 public:
  explicit FloorService(const FloorMethods& methods) {
    for (const FloorMethods::Method& each : methods.unary) {
      Add(each.path, RpcMethod::CLIENT_STREAMING, new GrpcFloorHandler(&relay_, &each.serve));
    }
    if (methods.pipeline == nullptr) return;
    using Handler = grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>;
    Add(kPipelinePath, RpcMethod::BIDI_STREAMING,
        new Handler(
            [serve = &methods.pipeline](grpc::CallbackServerContext*) { return GrpcFloorPipeline::Open(serve); }));
  }

 private:
  // Takes over the handler.
  void Add(const std::string& path, RpcMethod::RpcType type, grpc::internal::MethodHandler* handler) {
    const auto number = static_cast<int>(paths_.size());
    paths_.push_back(path);
    AddMethod(new RpcServiceMethod(paths_.back().c_str(), type, nullptr));
    MarkMethodRawCallback(number, handler);
  }

  GrpcFloorRelay relay_;
  std::deque<std::string> paths_;  // gRPC keeps pointers to them
};

class GrpcFloor final : public FloorServer {
 public:
  GrpcFloor(const FloorMethods& methods, const std::string& listen) : service_(methods) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort(listen, grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    address_ = listen.substr(0, listen.rfind(':') + 1) + std::to_string(port);
  }

  bool is_serving() const { return server_ != nullptr; }
  std::string address() const override { return address_; }
  void Stop() override { server_->Shutdown(std::chrono::system_clock::now()); }

 private:
  FloorService service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

std::unique_ptr<FloorServer> StartGrpcFloor(const FloorMethods& methods, const std::string& listen) {
  auto floor = std::make_unique<GrpcFloor>(methods, listen);
  if (floor->is_serving()) return floor;
  std::fprintf(stderr, "grpc_floor: cannot listen\n");
  return nullptr;
}

}  // namespace
}  // namespace armature::bench

int main(int argc, char** argv) {
  return armature::bench::FloorMain(argc, argv, "grpc_floor", armature::bench::StartGrpcFloor);
}
