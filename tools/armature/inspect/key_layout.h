#ifndef ARMATURE_TOOLS_ARMATURE_INSPECT_KEY_LAYOUT_H_
#define ARMATURE_TOOLS_ARMATURE_INSPECT_KEY_LAYOUT_H_

// Keys of rows as people read them. docs/FORMAT.md, "Keys".

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/table_descriptor.h"
#include "tools/armature/json_text.h"

namespace armature::cli {

// The structure of the keys of a family, according to the catalog.
struct KeyLayout {
  std::vector<model::KeyAttribute> attributes;  // one for each component, in order; empty: unknown
  size_t partition_count = 0;                   // number of attributes in the hash
};

KeyLayout LayoutOfTable(const model::TableDescriptor& table);
KeyLayout LayoutOfIndex(const model::TableDescriptor& table, const model::IndexDescriptor& index);
// The layout of the family of item collections: the partition attributes only.
KeyLayout LayoutOfCollections(const model::TableDescriptor& table);

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

std::string Hex(std::string_view bytes);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_INSPECT_KEY_LAYOUT_H_
