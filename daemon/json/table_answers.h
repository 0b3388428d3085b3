#ifndef ARMATURE_DAEMON_JSON_TABLE_ANSWERS_H_
#define ARMATURE_DAEMON_JSON_TABLE_ANSWERS_H_

// Descriptions of tables as the JSON protocol writes them.

#include <optional>
#include <string_view>

#include "daemon/json/json_writer.h"
#include "engine/tables/table_ops.h"

namespace armature::daemon {

// A structure TableDescription as a value. Of a table being deleted the API leaves out keys and indexes.
void WriteTableDescription(const engine::TableDescription& description, JsonWriter* writer);

// Parts of it and of others, each a value.
void WriteKeySchema(const model::KeySchema& key, JsonWriter* writer);
void WriteProjection(const model::Projection& projection, JsonWriter* writer);

// Members of it and of others, left out if there is nothing to tell: OnDemandThroughput, the stream as `member`,
// SSEDescription.
void WriteOnDemand(const std::optional<model::Throughput>& throughput, JsonWriter* writer);
void WriteStreamSpecification(std::string_view member, const model::TableSettings& settings, JsonWriter* writer);
void WriteEncryption(const model::TableSettings& settings, JsonWriter* writer);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_TABLE_ANSWERS_H_
