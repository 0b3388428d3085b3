#ifndef ARMATURE_CLIENT_SRC_KEY_ORDER_H_
#define ARMATURE_CLIENT_SRC_KEY_ORDER_H_

// The order of items in an index, computed from the items.

#include <compare>
#include <string>
#include <vector>

#include "armature/client/item_builder.h"

namespace armature::client {

// The order of two values of one key attribute: numbers by value, strings and binaries by their bytes. Values of
// different types, which no index holds, are ordered by type.
std::weak_ordering CompareKeyValues(const AttributeValue& a, const AttributeValue& b);

// The order of two items by these attributes, in the given order. Both items must have all of them.
std::weak_ordering CompareKeys(const Item& a, const Item& b, const std::vector<std::string>& names);

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_SRC_KEY_ORDER_H_
