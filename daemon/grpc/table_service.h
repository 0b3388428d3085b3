#ifndef ARMATURE_DAEMON_GRPC_TABLE_SERVICE_H_
#define ARMATURE_DAEMON_GRPC_TABLE_SERVICE_H_

// Tables over gRPC.

#include "armature/api/v1/service.grpc.pb.h"
#include "engine/engine.h"

namespace armature::daemon {

// Operations of later versions answer UNIMPLEMENTED.
//
// Thread-safety: thread-safe. Lifetime: `engine` must outlive the server.
class TableService final : public api::v1::TableService::CallbackService {
 public:
  explicit TableService(engine::Engine* engine) : engine_(engine) {}

  grpc::ServerUnaryReactor* CreateTable(grpc::CallbackServerContext* context,
                                        const api::v1::CreateTableRequest* request,
                                        api::v1::CreateTableResponse* response) override;
  grpc::ServerUnaryReactor* DescribeTable(grpc::CallbackServerContext* context,
                                          const api::v1::DescribeTableRequest* request,
                                          api::v1::DescribeTableResponse* response) override;
  grpc::ServerUnaryReactor* ListTables(grpc::CallbackServerContext* context, const api::v1::ListTablesRequest* request,
                                       api::v1::ListTablesResponse* response) override;
  grpc::ServerUnaryReactor* DeleteTable(grpc::CallbackServerContext* context,
                                        const api::v1::DeleteTableRequest* request,
                                        api::v1::DeleteTableResponse* response) override;

 private:
  engine::Engine* const engine_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_TABLE_SERVICE_H_
