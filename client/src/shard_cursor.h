#ifndef ARMATURE_CLIENT_SRC_SHARD_CURSOR_H_
#define ARMATURE_CLIENT_SRC_SHARD_CURSOR_H_

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "armature/api/v1/items.pb.h"
#include "armature/client/client.h"
#include "armature/client/item_builder.h"
#include "armature/client/options.h"
#include "armature/client/scatter_query.h"
#include "client/src/scatter_continuation.h"

namespace armature::client {

// Reads the items of one shard of a scattered query ahead. Keeps the position of the returned items and the position of
// the fetched items.
//
// Thread-safety: thread-compatible.
class ShardCursor {
 public:
  // `request`: the request of the shard. Begins at `position`.
  ShardCursor(api::v1::QueryRequest request, ShardPosition position);

  bool has_item() const { return next_ < items_.size(); }
  // True if the shard has no more items to fetch.
  bool is_exhausted() const { return exhausted_; }
  // True if the shard has more items to fetch, and half of the items of the last call are returned.
  bool RunsLow() const { return !exhausted_ && items_.size() - next_ <= fetched_ / 2; }

  // Makes one call, which may return no items. Errors: those of Query; INVALID_ARGUMENT if an item lacks one of `keys`.
  // An error changes nothing.
  absl::Status Fetch(const Client& client, const ScatterKeys& keys, const CallOptions& options);

  // Takes the next item. Precondition: there is one.
  const Item& front() const { return items_[next_]; }
  Item Pop();
  // Marks the taken items as returned. `key`: the key of the last one.
  void Deliver(Item key) { delivered_ = std::move(key); }

  // The position after the returned items.
  ShardPosition position() const;

 private:
  api::v1::QueryRequest request_;  // request of the next call
  std::optional<Item> delivered_;
  bool exhausted_;
  std::vector<Item> items_;  // valid from next_ on
  size_t next_ = 0;
  size_t fetched_ = 0;  // number of items of the last call
};

// The order of two values of one key attribute: numbers by value, strings and binaries by their bytes. Values of
// different types, which no index holds, are ordered by type.
std::weak_ordering CompareKeyValues(const AttributeValue& a, const AttributeValue& b);

// The order of two items by these attributes, in the given order. Both items must have all of them.
std::weak_ordering CompareKeys(const Item& a, const Item& b, const std::vector<std::string>& names);

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_SRC_SHARD_CURSOR_H_
