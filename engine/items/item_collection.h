#ifndef ARMATURE_ENGINE_ITEMS_ITEM_COLLECTION_H_
#define ARMATURE_ENGINE_ITEMS_ITEM_COLLECTION_H_

// Item collections: items and local index entries with one partition key value, in tables with local indexes.
//
// Source: the developer guide, "Item collections in Local Secondary Indexes".

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/items/request.h"
#include "storage/model/item_view.h"
#include "storage/store/catalog/catalog.h"

namespace armature::engine {

// Key of the size counter of a row's collection: the hash and partition components at the front of `row_key`.
std::string CollectionKey(const store::Table& table, std::string_view row_key);

// Metrics of the collection of `item_or_key`, which has the key attributes: its partition key, and lower and upper
// bound of its size in whole GB (2^30 bytes).
ItemCollectionMetrics MetricsOf(const store::Table& table, const model::ItemView& item_or_key, int64_t bytes);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_ITEM_COLLECTION_H_
