#ifndef ARMATURE_STORAGE_BASE_COLLECTION_ERROR_H_
#define ARMATURE_STORAGE_BASE_COLLECTION_ERROR_H_

// Which item collection would have grown too large.

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace armature {

// ItemCollectionSizeLimitExceededException; `collection` is the key of the collection's size in storage.
absl::Status ItemCollectionSizeLimitExceededError(std::string_view collection);

// The collection in `status`; empty if it tells none.
std::string ExceededCollection(const absl::Status& status);

}  // namespace armature

#endif  // ARMATURE_STORAGE_BASE_COLLECTION_ERROR_H_
