#ifndef ARMATURE_INDEX_PROJECTION_H_
#define ARMATURE_INDEX_PROJECTION_H_

// The part of an item that an index entry holds.

#include <string>
#include <string_view>
#include <vector>

#include "storage/model/item_view.h"
#include "storage/model/table_descriptor.h"
#include "storage/store/catalog/catalog.h"

namespace armature::index {

// The entry's item in canonical bytes: key attributes of index and table, plus the listed attributes (INCLUDE) or all
// attributes (ALL).
std::string ProjectEntry(const store::Index& index, const model::ItemView& item);

// True if the entry holds the top-level attribute `name` of its item.
bool ProjectsAttribute(const store::Index& index, std::string_view name);

}  // namespace armature::index

#endif  // ARMATURE_INDEX_PROJECTION_H_
