#ifndef ARMATURE_DAEMON_API_TABLE_MESSAGES_H_
#define ARMATURE_DAEMON_API_TABLE_MESSAGES_H_

// Table requests and answers between the wire and the engine.

#include "armature/api/v1/tables.pb.h"
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

void Fill(const engine::ListTablesResult& result, api::v1::ListTablesResponse* to);

// Parts of them and of others. An amount that is not given is model::kThroughputNotGiven.
model::IndexDefinition ToIndex(const api::v1::LocalSecondaryIndex& index);
model::IndexDefinition ToIndex(const api::v1::GlobalSecondaryIndex& index);
model::Throughput ToThroughput(const api::v1::ProvisionedThroughput& throughput);
model::Throughput ToThroughput(const api::v1::OnDemandThroughput& throughput);
void Fill(const model::KeySchema& key, google::protobuf::RepeatedPtrField<api::v1::KeySchemaElement>* to);
void Fill(const model::Projection& from, api::v1::Projection* to);
void FillOnDemand(const model::Throughput& from, api::v1::OnDemandThroughput* to);
// For a table with an enabled stream, and for an encrypted table.
void FillStreamSpecification(const model::TableSettings& settings, api::v1::StreamSpecification* to);
void FillSse(const model::TableSettings& settings, api::v1::SseDescription* to);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_TABLE_MESSAGES_H_
