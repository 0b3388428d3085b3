#ifndef ARMATURE_TOOLS_ARMATURE_TABLES_TABLE_SCREEN_H_
#define ARMATURE_TOOLS_ARMATURE_TABLES_TABLE_SCREEN_H_

// Descriptions of tables for people.

#include <string>
#include <string_view>
#include <vector>

#include "armature/api/v1/tables.pb.h"

namespace armature::cli {

// A table, and its attribute with the expiry time of items; empty without expiry.
struct ShownTable {
  api::v1::TableDescription description;
  std::string expiry_attribute;
};

// The attributes of one side of a key with their types: "status S, amount N". Empty if the key has none of that type.
std::string KeySideText(const api::v1::TableDescription& table,
                        const google::protobuf::RepeatedPtrField<api::v1::KeySchemaElement>& key,
                        api::v1::KeyType type);

// The key of the table or of one of its indexes, with a bar before the sort attributes: "customer_id S | amount N".
std::string KeyText(const api::v1::TableDescription& table,
                    const google::protobuf::RepeatedPtrField<api::v1::KeySchemaElement>& key);

// One table on one screen.
std::string TableScreen(const ShownTable& table);

// One line for each table. `is_long`: more columns.
std::string TableList(const std::vector<ShownTable>& tables, bool is_long);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_TABLES_TABLE_SCREEN_H_
