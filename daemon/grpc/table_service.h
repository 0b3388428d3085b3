#ifndef ARMATURE_DAEMON_GRPC_TABLE_SERVICE_H_
#define ARMATURE_DAEMON_GRPC_TABLE_SERVICE_H_

// Tables over gRPC.

#include <array>
#include <string_view>

#include "armature/api/v1/service.grpc.pb.h"
#include "daemon/grpc/call_gate.h"

namespace armature::daemon {

// Thread-safety: thread-safe. Lifetime: `gate` must outlive the server.
class TableService final : public api::v1::TableService::CallbackService {
 public:
  // Those that ask the gate themselves: all.
  static constexpr std::array<std::string_view, 19> kGatedMethods = {
      "/armature.api.v1.TableService/CreateTable",
      "/armature.api.v1.TableService/DescribeTable",
      "/armature.api.v1.TableService/ListTables",
      "/armature.api.v1.TableService/DeleteTable",
      "/armature.api.v1.TableService/UpdateTable",
      "/armature.api.v1.TableService/UpdateTimeToLive",
      "/armature.api.v1.TableService/DescribeTimeToLive",
      "/armature.api.v1.TableService/TagResource",
      "/armature.api.v1.TableService/UntagResource",
      "/armature.api.v1.TableService/ListTagsOfResource",
      "/armature.api.v1.TableService/DescribeLimits",
      "/armature.api.v1.TableService/DescribeEndpoints",
      "/armature.api.v1.TableService/DescribeContinuousBackups",
      "/armature.api.v1.TableService/UpdateContinuousBackups",
      "/armature.api.v1.TableService/CreateBackup",
      "/armature.api.v1.TableService/DescribeBackup",
      "/armature.api.v1.TableService/ListBackups",
      "/armature.api.v1.TableService/DeleteBackup",
      "/armature.api.v1.TableService/RestoreTableFromBackup"};

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
  grpc::ServerUnaryReactor* UpdateTable(grpc::CallbackServerContext* context,
                                        const api::v1::UpdateTableRequest* request,
                                        api::v1::UpdateTableResponse* response) override;
  grpc::ServerUnaryReactor* UpdateTimeToLive(grpc::CallbackServerContext* context,
                                             const api::v1::UpdateTimeToLiveRequest* request,
                                             api::v1::UpdateTimeToLiveResponse* response) override;
  grpc::ServerUnaryReactor* DescribeTimeToLive(grpc::CallbackServerContext* context,
                                               const api::v1::DescribeTimeToLiveRequest* request,
                                               api::v1::DescribeTimeToLiveResponse* response) override;
  grpc::ServerUnaryReactor* TagResource(grpc::CallbackServerContext* context,
                                        const api::v1::TagResourceRequest* request,
                                        api::v1::TagResourceResponse* response) override;
  grpc::ServerUnaryReactor* UntagResource(grpc::CallbackServerContext* context,
                                          const api::v1::UntagResourceRequest* request,
                                          api::v1::UntagResourceResponse* response) override;
  grpc::ServerUnaryReactor* ListTagsOfResource(grpc::CallbackServerContext* context,
                                               const api::v1::ListTagsOfResourceRequest* request,
                                               api::v1::ListTagsOfResourceResponse* response) override;
  grpc::ServerUnaryReactor* DescribeLimits(grpc::CallbackServerContext* context,
                                           const api::v1::DescribeLimitsRequest* request,
                                           api::v1::DescribeLimitsResponse* response) override;
  grpc::ServerUnaryReactor* DescribeEndpoints(grpc::CallbackServerContext* context,
                                              const api::v1::DescribeEndpointsRequest* request,
                                              api::v1::DescribeEndpointsResponse* response) override;
  grpc::ServerUnaryReactor* DescribeContinuousBackups(grpc::CallbackServerContext* context,
                                                      const api::v1::DescribeContinuousBackupsRequest* request,
                                                      api::v1::DescribeContinuousBackupsResponse* response) override;
  grpc::ServerUnaryReactor* UpdateContinuousBackups(grpc::CallbackServerContext* context,
                                                    const api::v1::UpdateContinuousBackupsRequest* request,
                                                    api::v1::UpdateContinuousBackupsResponse* response) override;
  grpc::ServerUnaryReactor* CreateBackup(grpc::CallbackServerContext* context,
                                         const api::v1::CreateBackupRequest* request,
                                         api::v1::CreateBackupResponse* response) override;
  grpc::ServerUnaryReactor* DescribeBackup(grpc::CallbackServerContext* context,
                                           const api::v1::DescribeBackupRequest* request,
                                           api::v1::DescribeBackupResponse* response) override;
  grpc::ServerUnaryReactor* ListBackups(grpc::CallbackServerContext* context,
                                        const api::v1::ListBackupsRequest* request,
                                        api::v1::ListBackupsResponse* response) override;
  grpc::ServerUnaryReactor* DeleteBackup(grpc::CallbackServerContext* context,
                                         const api::v1::DeleteBackupRequest* request,
                                         api::v1::DeleteBackupResponse* response) override;
  grpc::ServerUnaryReactor* RestoreTableFromBackup(grpc::CallbackServerContext* context,
                                                   const api::v1::RestoreTableFromBackupRequest* request,
                                                   api::v1::RestoreTableFromBackupResponse* response) override;

 private:
  const CallGate* const gate_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_GRPC_TABLE_SERVICE_H_
