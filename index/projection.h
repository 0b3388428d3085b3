#ifndef ARMATURE_INDEX_PROJECTION_H_
#define ARMATURE_INDEX_PROJECTION_H_

// What of an item an index entry holds.

#include <string>
#include <string_view>
#include <vector>

#include "storage/model/item_view.h"
#include "storage/model/table_descriptor.h"
#include "storage/store/catalog/catalog.h"

namespace armature::index {

// The entry's item: index keys and table keys, plus the listed attributes (INCLUDE) or everything (ALL).
// Canonical bytes.
std::string ProjectEntry(const store::Index& index, const model::ItemView& item);

// Whether the entry holds the top-level attribute `name` of its item.
bool ProjectsAttribute(const store::Index& index, std::string_view name);

}  // namespace armature::index

#endif  // ARMATURE_INDEX_PROJECTION_H_
