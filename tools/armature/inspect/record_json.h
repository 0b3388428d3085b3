#ifndef ARMATURE_TOOLS_ARMATURE_INSPECT_RECORD_JSON_H_
#define ARMATURE_TOOLS_ARMATURE_INSPECT_RECORD_JSON_H_

// Keys, rows, records of the change log, and tables and other records of the family `meta` in JSON.
// docs/reference/format.md specifies them.
//
// Damaged records are shown as far as they can be read; the reasons are in Decoded::problems. Times are seconds since
// the epoch, in members that end in DateTime; 0 stands for never.

#include <string>
#include <string_view>
#include <vector>

#include "storage/store/inspector.h"
#include "tools/armature/inspect/inspection.h"
#include "tools/armature/json_text.h"

namespace armature::cli {

// A record as JSON, and its problems.
struct Decoded {
  Json json = Json::object();
  std::vector<std::string> problems;
};

// KeyHex, Hash, and Components, each with its Value in the JSON form of attribute values and, if the layout is known,
// the name of its Attribute. Without a layout, PartitionComponents is the number of components in the hash. Decodes as
// much of a damaged key as possible. Checks hash, types and number of components.
Decoded DecodeKey(std::string_view key, const KeyLayout& layout);

// The components of DecodeKey on one line.
std::string ComponentsText(const Json& components);

// A row of a table or an index: the members of DecodeKey, ItemSize by the rules of the API, StoredBytes, and Item.
// Problems: the key or the value cannot be read; the item is not canonical or has another size; its key attributes
// differ from the key.
Decoded DecodeRow(std::string_view key, std::string_view value, const KeyLayout& layout);

// The size of an item collection: the key, and CollectionBytes.
Decoded DecodeCollection(std::string_view key, std::string_view value, const KeyLayout& layout);

// A record of the change log: Sequence, TableId, TableName, DateTime, BaseKey and Changes. Without names if the catalog
// does not know the table.
Decoded DecodeLogRecord(std::string_view key, std::string_view value, const Tables& tables);

// A record of a stream: Segment, StreamId, Slot, Sequence, Event, DateTime, and the images that it has.
Decoded DecodeStreamRecord(std::string_view key, std::string_view value);

// The JSON with the problems. If there are problems, also with the value in hex.
Json WithProblems(const Decoded& decoded, std::string_view value);

// All fields of a table record, with the families of the table and its indexes, their totals, and the progress of each
// global index.
Json TableToJson(const model::TableDescriptor& table, const Tables& tables);

// The key schema on one line: "pk S | sk N", with the partition attributes before the bar.
std::string KeySchemaText(const model::KeySchema& key);

// Kind, and the members of this kind. An unreadable record has its key in hex.
Decoded MetaRecordToJson(std::string_view key, const store::MetaRecord& record);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_INSPECT_RECORD_JSON_H_
