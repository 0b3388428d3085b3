#ifndef ARMATURE_DAEMON_API_TABLE_MESSAGES_H_
#define ARMATURE_DAEMON_API_TABLE_MESSAGES_H_

// Requests and answers about tables and their backups, between the wire and the engine.

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "armature/api/v1/tables.pb.h"
#include "engine/backup/point_in_time.h"
#include "engine/backup/table_backups.h"
#include "engine/tables/table_ops.h"
#include "google/protobuf/repeated_field.h"
#include "storage/model/table_definition.h"
#include "storage/model/table_update.h"

namespace armature::daemon {

model::TableDefinition ToTableDefinition(const api::v1::CreateTableRequest& request);

model::TableUpdate ToTableUpdate(const api::v1::UpdateTableRequest& request);

// `description` is the whole answer of DescribeTable and CreateTable. For a table being deleted the API omits keys and
// indexes.
void Fill(const engine::TableDescription& description, api::v1::TableDescription* to);

void FillKeySchema(const model::KeySchema& key, google::protobuf::RepeatedPtrField<api::v1::KeySchemaElement>* to);

void Fill(const engine::ListTablesResult& result, api::v1::ListTablesResponse* to);

// `without_value`: position of the first tag whose value is absent; nullopt if there is none.
model::Tags ToTags(const google::protobuf::RepeatedPtrField<api::v1::Tag>& tags, std::optional<size_t>* without_value);

engine::CreateBackupRequest ToCreateBackup(const api::v1::CreateBackupRequest& request);
engine::ListTableBackupsRequest ToListTableBackups(const api::v1::ListBackupsRequest& request);
// Errors: UnknownOperationException for what is documented and not available.
engine::RestoreTableRequest ToRestoreTable(const api::v1::RestoreTableFromBackupRequest& request);
engine::RestoreToPointInTimeRequest ToRestoreToPointInTime(const api::v1::RestoreTableToPointInTimeRequest& request);

void Fill(const engine::TableBackup& backup, api::v1::BackupDetails* to);
void Fill(const engine::TableBackup& backup, api::v1::BackupDescription* to);
void Fill(const engine::ListTableBackupsResult& result, api::v1::ListBackupsResponse* to);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_TABLE_MESSAGES_H_
