#ifndef ARMATURE_DAEMON_API_TABLE_MESSAGES_H_
#define ARMATURE_DAEMON_API_TABLE_MESSAGES_H_

// Table requests and answers between the wire and the engine.

#include <vector>

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

// Parts of these messages and of others. `Index` is LocalSecondaryIndex or GlobalSecondaryIndex.
template <class Index>
model::IndexDefinition ToIndex(const Index& index);
template <class Indexes>
std::vector<model::IndexDefinition> ToIndexes(const Indexes& indexes) {
  std::vector<model::IndexDefinition> to;
  for (const auto& index : indexes) to.push_back(ToIndex(index));
  return to;
}
// ProvisionedThroughput, OnDemandThroughput or WarmThroughput. An absent amount is model::kThroughputNotGiven.
model::Throughput ToThroughput(const google::protobuf::Message& throughput);
void Fill(const model::KeySchema& key, google::protobuf::RepeatedPtrField<api::v1::KeySchemaElement>* to);
void Fill(const model::Projection& from, api::v1::Projection* to);
void FillOnDemand(const model::Throughput& from, api::v1::OnDemandThroughput* to);
// For a table with an enabled stream, and for an encrypted table.
void FillStreamSpecification(const model::TableSettings& settings, api::v1::StreamSpecification* to);
void FillSse(const model::TableSettings& settings, api::v1::SseDescription* to);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_API_TABLE_MESSAGES_H_
