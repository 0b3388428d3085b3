#ifndef ARMATURE_STORAGE_BASE_COLLECTION_ERROR_H_
#define ARMATURE_STORAGE_BASE_COLLECTION_ERROR_H_

// Names of the item collections that exceed the size limit, carried in an error.

#include <compare>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace armature {

// Location of a collection's size counter. Collections of two tables may have the same key.
struct CollectionName {
  std::string keyspace;
  std::string key;

  auto operator<=>(const CollectionName&) const = default;
};

// ItemCollectionSizeLimitExceededException for all of `collections`.
absl::Status ItemCollectionSizeLimitExceededError(const std::vector<CollectionName>& collections);

// The collections in `status`; empty if it has none.
std::vector<CollectionName> ExceededCollections(const absl::Status& status);

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_COLLECTION_ERROR_H_
