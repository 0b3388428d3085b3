#ifndef ARMATURE_DAEMON_API_TABLE_MESSAGES_H_
#define ARMATURE_DAEMON_API_TABLE_MESSAGES_H_

// Table requests and answers between the wire and the engine.

#include <string>

#include "armature/api/v1/tables.pb.h"
#include "engine/table_ops.h"
#include "storage/model/table_definition.h"
#include "storage/model/table_update.h"

namespace armature::daemon {

model::TableDefinition ToTableDefinition(const api::v1::CreateTableRequest& request);

model::TableUpdate ToTableUpdate(const api::v1::UpdateTableRequest& request);

// `description` is the whole answer of DescribeTable and CreateTable; of a table being deleted the API leaves out keys
// and indexes.
void Fill(const engine::TableDescription& description, api::v1::TableDescription* to);

void Fill(const engine::ListTablesResult& result, api::v1::ListTablesResponse* to);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_TABLE_MESSAGES_H_
