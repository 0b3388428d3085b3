#ifndef ARMATURE_ENGINE_ITEMS_ITEM_COLLECTION_H_
#define ARMATURE_ENGINE_ITEMS_ITEM_COLLECTION_H_

// Item collections: the items and local index entries of one partition key value, in tables with local indexes.
//
// Source: the developer guide, "Item collections in Local Secondary Indexes".

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/items/request.h"
#include "storage/model/item_view.h"
#include "storage/store/catalog/catalog.h"

namespace armature::engine {

// Under which the size of the collection of a row is kept: hash and partition components at the front of `row_key`.
std::string CollectionKey(const store::Table& table, std::string_view row_key);

// What is told of the collection of `item_or_key`, which has the key attributes: its partition key, and between which
// whole GB (2^30 bytes) its size is.
ItemCollectionMetrics MetricsOf(const store::Table& table, const model::ItemView& item_or_key, int64_t bytes);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_ITEM_COLLECTION_H_
