#ifndef ARMATURE_TOOLS_ARMATURE_INSPECT_CATALOG_JSON_H_
#define ARMATURE_TOOLS_ARMATURE_INSPECT_CATALOG_JSON_H_

// Tables, indexes and the records of the family `meta` in JSON.
//
// Times are seconds since the epoch, in members that end in DateTime; 0 stands for never.

#include <string_view>

#include "storage/store/inspector.h"
#include "tools/armature/inspect/key_layout.h"
#include "tools/armature/inspect/tables.h"
#include "tools/armature/json_text.h"

namespace armature::cli {

// All fields of a table record.
Json DescriptorToJson(const model::TableDescriptor& table);

// The same with the families of the table and its indexes, their totals, and the progress of each global index.
Json TableToJson(const model::TableDescriptor& table, const Tables& tables);

// The key schema on one line: "pk S | sk N", with the partition attributes before the bar.
std::string KeySchemaText(const model::KeySchema& key);

// Kind, and the members of this kind. An unreadable record has its key in hex.
Decoded MetaRecordToJson(std::string_view key, const store::MetaRecord& record);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_INSPECT_CATALOG_JSON_H_
