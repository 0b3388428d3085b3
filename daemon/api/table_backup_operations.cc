// The operations on backups of tables, on their messages.

#include "daemon/api/operation_lists.h"
#include "daemon/api/table_backup_messages.h"
#include "daemon/api/table_messages.h"
#include "daemon/message_json/given_fields.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

void CreateBackup(const OperationContext& context, const v1::CreateBackupRequest& request,
                  v1::CreateBackupResponse* response, Finished done) {
  context.engine->CreateBackup(ToCreateBackup(request), AnswerIn<engine::TableBackup>(
                                                            response->mutable_backup_details(), std::move(done), Fill));
}

void DescribeBackup(const OperationContext& context, const v1::DescribeBackupRequest& request,
                    v1::DescribeBackupResponse* response, Finished done) {
  context.engine->DescribeBackup(
      GivenText(request, request.kBackupArnFieldNumber),
      AnswerIn<engine::TableBackup>(response->mutable_backup_description(), std::move(done), Fill));
}

void ListBackups(const OperationContext& context, const v1::ListBackupsRequest& request,
                 v1::ListBackupsResponse* response, Finished done) {
  context.engine->ListTableBackups(ToListTableBackups(request),
                                   AnswerIn<engine::ListTableBackupsResult>(response, std::move(done), Fill));
}

void DeleteBackup(const OperationContext& context, const v1::DeleteBackupRequest& request,
                  v1::DeleteBackupResponse* response, Finished done) {
  context.engine->DeleteBackup(
      GivenText(request, request.kBackupArnFieldNumber),
      AnswerIn<engine::TableBackup>(response->mutable_backup_description(), std::move(done), Fill));
}

void RestoreTableFromBackup(const OperationContext& context, const v1::RestoreTableFromBackupRequest& request,
                            v1::RestoreTableFromBackupResponse* response, Finished done) {
  absl::StatusOr<engine::RestoreTableRequest> restore = ToRestoreTable(request);
  if (!restore.ok()) return std::move(done)(restore.status());
  context.engine->RestoreTableFromBackup(
      *std::move(restore),
      AnswerIn<engine::TableDescription>(response->mutable_table_description(), std::move(done), Fill));
}

}  // namespace

void AddBackupOperations(std::vector<UnaryOperation>* to) {
  to->emplace_back(CreateBackup);
  to->emplace_back(DeleteBackup);
  to->emplace_back(DescribeBackup);
  to->emplace_back(ListBackups);
  to->emplace_back(RestoreTableFromBackup);
}

}  // namespace armature::daemon
