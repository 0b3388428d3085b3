#ifndef ARMATURE_DAEMON_ADMIN_ADMIN_SERVICE_H_
#define ARMATURE_DAEMON_ADMIN_ADMIN_SERVICE_H_

// The admin service: the state of the process and of its indexes, and an echo to measure against.

#include <array>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "armature/admin/v1/admin.grpc.pb.h"
#include "daemon/admin/export_stream.h"
#include "daemon/grpc/call_gate.h"
#include "daemon/grpc/stream_set.h"

namespace armature::daemon {

namespace admin_service_internal {

using Api = admin::v1::AdminService;
using Base = Api::WithCallbackMethod_GetServerInfo<Api::WithCallbackMethod_ListIndexStatus<
    Api::WithCallbackMethod_GetIndexStatus<Api::WithCallbackMethod_ListIndexViolations<
        Api::WithCallbackMethod_VerifyTable<Api::WithCallbackMethod_StartBackup<
            Api::WithCallbackMethod_GetBackupJob<Api::WithCallbackMethod_CancelBackupJob<
                Api::WithCallbackMethod_ListBackups<Api::WithCallbackMethod_RestoreTable<
                    Api::WithRawCallbackMethod_ExportTable<Api::WithRawCallbackMethod_Echo<Api::Service>>>>>>>>>>>>;

}  // namespace admin_service_internal

// Thread-safety: thread-safe. Lifetime: `gate` must outlive the server.
class AdminService final : public admin_service_internal::Base {
 public:
  // Those that ask the gate themselves.
  static constexpr std::array<std::string_view, 12> kGatedMethods = {
      "/armature.admin.v1.AdminService/GetServerInfo",  "/armature.admin.v1.AdminService/ListIndexStatus",
      "/armature.admin.v1.AdminService/GetIndexStatus", "/armature.admin.v1.AdminService/ListIndexViolations",
      "/armature.admin.v1.AdminService/VerifyTable",    "/armature.admin.v1.AdminService/StartBackup",
      "/armature.admin.v1.AdminService/GetBackupJob",   "/armature.admin.v1.AdminService/CancelBackupJob",
      "/armature.admin.v1.AdminService/ListBackups",    "/armature.admin.v1.AdminService/RestoreTable",
      "/armature.admin.v1.AdminService/ExportTable",    "/armature.admin.v1.AdminService/Echo"};

  AdminService(const CallGate* gate, std::string data_dir);

  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* context,
                                          const admin::v1::GetServerInfoRequest* request,
                                          admin::v1::GetServerInfoResponse* response) override;
  grpc::ServerUnaryReactor* ListIndexStatus(grpc::CallbackServerContext* context,
                                            const admin::v1::ListIndexStatusRequest* request,
                                            admin::v1::ListIndexStatusResponse* response) override;
  grpc::ServerUnaryReactor* GetIndexStatus(grpc::CallbackServerContext* context,
                                           const admin::v1::GetIndexStatusRequest* request,
                                           admin::v1::GetIndexStatusResponse* response) override;
  grpc::ServerUnaryReactor* ListIndexViolations(grpc::CallbackServerContext* context,
                                                const admin::v1::ListIndexViolationsRequest* request,
                                                admin::v1::ListIndexViolationsResponse* response) override;
  grpc::ServerUnaryReactor* VerifyTable(grpc::CallbackServerContext* context,
                                        const admin::v1::VerifyTableRequest* request,
                                        admin::v1::VerifyTableResponse* response) override;
  grpc::ServerUnaryReactor* StartBackup(grpc::CallbackServerContext* context,
                                        const admin::v1::StartBackupRequest* request,
                                        admin::v1::StartBackupResponse* response) override;
  grpc::ServerUnaryReactor* GetBackupJob(grpc::CallbackServerContext* context,
                                         const admin::v1::GetBackupJobRequest* request,
                                         admin::v1::GetBackupJobResponse* response) override;
  grpc::ServerUnaryReactor* CancelBackupJob(grpc::CallbackServerContext* context,
                                            const admin::v1::CancelBackupJobRequest* request,
                                            admin::v1::CancelBackupJobResponse* response) override;
  grpc::ServerUnaryReactor* ListBackups(grpc::CallbackServerContext* context,
                                        const admin::v1::ListBackupsRequest* request,
                                        admin::v1::ListBackupsResponse* response) override;
  grpc::ServerUnaryReactor* RestoreTable(grpc::CallbackServerContext* context,
                                         const admin::v1::RestoreTableRequest* request,
                                         admin::v1::RestoreTableResponse* response) override;
  ExportStream* ExportTable(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override;
  // Sends the payload back, or as many bytes as were asked for: what a call costs that does nothing. Not audited, for
  // load generators call it without end.
  grpc::ServerUnaryReactor* Echo(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* response) override;

  // Ends the streams of ExportTable: the server is about to stop.
  void Drain() { exports_.Drain(); }

 private:
  const CallGate* const gate_;
  const std::string data_dir_;
  const absl::Time start_;
  const int64_t start_monotonic_ns_;
  StreamSet<ExportStream> exports_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_ADMIN_ADMIN_SERVICE_H_
