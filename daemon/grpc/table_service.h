#ifndef ARMATURE_DAEMON_GRPC_TABLE_SERVICE_H_
#define ARMATURE_DAEMON_GRPC_TABLE_SERVICE_H_

// Tables over gRPC.

#include <array>
#include <string_view>

#include "armature/api/v1/service.grpc.pb.h"
#include "daemon/grpc/call_gate.h"

namespace armature::daemon {

// Operations of later versions answer UNIMPLEMENTED.
//
// Thread-safety: thread-safe. Lifetime: `gate` must outlive the server.
class TableService final : public api::v1::TableService::CallbackService {
 public:
  // Those that ask the gate themselves.
  static constexpr std::array<std::string_view, 4> kGatedMethods = {
      "/armature.api.v1.TableService/CreateTable", "/armature.api.v1.TableService/DescribeTable",
      "/armature.api.v1.TableService/ListTables", "/armature.api.v1.TableService/DeleteTable"};

  explicit TableService(const CallGate* gate) : gate_(gate) {}

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
  const CallGate* const gate_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_TABLE_SERVICE_H_
