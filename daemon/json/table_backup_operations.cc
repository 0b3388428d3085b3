// Backups of tables over the JSON protocol.

#include <utility>

#include "daemon/json/operations.h"
#include "daemon/json/table_answers.h"
#include "daemon/json/table_backup_answers.h"
#include "daemon/json/table_backup_requests.h"
#include "engine/engine.h"

namespace armature::daemon {
namespace {

// What is done with a backup is done with the table that it was made of.
template <class Request>
absl::Status AdmitBackup(const JsonCall& call, const absl::StatusOr<Request>& request) {
  return request.ok() ? CheckAccess(call, TableOf(request->backup_arn)) : request.status();
}

void CreateBackup(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  absl::StatusOr<engine::CreateBackupRequest> request = ParseCreateBackup(call.body);
  if (const absl::Status status = Admit(call, request); !status.ok()) return Fail(call, status, std::move(done));
  engine->CreateBackup(*std::move(request), AnswerWith<engine::TableBackup>(call, std::move(done), WriteBackupDetails));
}

void DescribeBackup(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  const absl::StatusOr<BackupArnRequest> request = ParseBackupArn(call.body);
  if (const absl::Status status = AdmitBackup(call, request); !status.ok()) return Fail(call, status, std::move(done));
  engine->DescribeBackup(request->backup_arn,
                         AnswerWith<engine::TableBackup>(call, std::move(done), WriteBackupDescription));
}

void ListBackups(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  absl::StatusOr<engine::ListTableBackupsRequest> request = ParseListBackups(call.body);
  if (const absl::Status status = Admit(call, request); !status.ok()) return Fail(call, status, std::move(done));
  engine->ListTableBackups(*std::move(request),
                           AnswerWith<engine::ListTableBackupsResult>(call, std::move(done), WriteBackupSummaries));
}

void DeleteBackup(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  const absl::StatusOr<BackupArnRequest> request = ParseBackupArn(call.body);
  if (const absl::Status status = AdmitBackup(call, request); !status.ok()) return Fail(call, status, std::move(done));
  engine->DeleteBackup(request->backup_arn,
                       AnswerWith<engine::TableBackup>(call, std::move(done), WriteBackupDescription));
}

// Who restores a table reads what is in the backup, so rights on the new table alone are not enough. That one is asked
// about last: it is what the audit log names.
absl::Status AdmitRestore(const JsonCall& call, const absl::StatusOr<engine::RestoreTableRequest>& request) {
  if (const absl::Status status = AdmitBackup(call, request); !status.ok()) return status;
  return CheckAccess(call, TableOf(request->target_table_name));
}

void RestoreTableFromBackup(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  absl::StatusOr<engine::RestoreTableRequest> request = ParseRestoreTable(call.body);
  if (const absl::Status status = AdmitRestore(call, request); !status.ok()) return Fail(call, status, std::move(done));
  const auto write = [](const engine::TableDescription& description, JsonWriter* writer) {
    WriteTableDescription(description, &writer->BeginObject().Key("TableDescription"));
    writer->EndObject();
  };
  engine->RestoreTableFromBackup(*std::move(request),
                                 AnswerWith<engine::TableDescription>(call, std::move(done), write));
}

constexpr JsonOperation kOperations[] = {
    {"CreateBackup", CreateBackup},
    {"DeleteBackup", DeleteBackup},
    {"DescribeBackup", DescribeBackup},
    {"ListBackups", ListBackups},
    {"RestoreTableFromBackup", RestoreTableFromBackup},
};

}  // namespace

std::span<const JsonOperation> BackupOperations() { return kOperations; }

}  // namespace armature::daemon
