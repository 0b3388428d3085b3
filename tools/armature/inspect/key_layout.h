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

// What the catalog says of the keys of a family.
struct KeyLayout {
  std::vector<model::KeyAttribute> attributes;  // one for each component, in order; empty: not known
  size_t partition_count = 0;                   // how many of them the hash is made of
};

KeyLayout LayoutOfTable(const model::TableDescriptor& table);
KeyLayout LayoutOfIndex(const model::TableDescriptor& table, const model::IndexDescriptor& index);
// Of the sizes of item collections: the partition alone.
KeyLayout LayoutOfCollections(const model::TableDescriptor& table);

// A record in its JSON form, and what is wrong with it.
struct Decoded {
  Json json = Json::object();
  std::vector<std::string> problems;
};

// KeyHex, Hash, and Components, each with its Value in the JSON form of attribute values and the name of its Attribute
// if the layout is known. Otherwise PartitionComponents tells how many of the first components the hash is made of.
// What can be decoded of a damaged key is there; hash, types and number of components are checked.
Decoded DecodeKey(std::string_view key, const KeyLayout& layout);

// The components that DecodeKey has made, on one line.
std::string ComponentsText(const Json& components);

std::string Hex(std::string_view bytes);

}  // namespace armature::cli

#endif  // ARMATURE_TOOLS_ARMATURE_INSPECT_KEY_LAYOUT_H_
