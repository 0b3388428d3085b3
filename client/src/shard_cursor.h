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

// One shard of a scattered query: reads ahead of what is given out, and knows both places.
//
// Thread-safety: thread-compatible.
class ShardCursor {
 public:
  // `request`: that of the shard. Goes on at `position`.
  ShardCursor(api::v1::QueryRequest request, ShardPosition position);

  bool has_item() const { return next_ < items_.size(); }
  // There is nothing to fetch any more.
  bool is_exhausted() const { return exhausted_; }
  // It can be fetched from, and has given out half of what a call brings.
  bool RunsLow() const { return !exhausted_ && items_.size() - next_ <= fetched_ / 2; }

  // One call: brings some items, or none. Errors: those of Query; INVALID_ARGUMENT if an item lacks one of `keys`.
  // Then nothing has changed.
  absl::Status Fetch(const Client& client, const ScatterKeys& keys, const CallOptions& options);

  // The next item; there must be one.
  const Item& front() const { return items_[next_]; }
  Item Pop();
  // The items that were taken are given out for good; `key` is that of the last one.
  void Deliver(Item key) { delivered_ = std::move(key); }

  // Behind what was given out.
  ShardPosition position() const;

 private:
  api::v1::QueryRequest request_;  // of the next call
  std::optional<Item> delivered_;
  bool exhausted_;
  std::vector<Item> items_;  // from next_ on
  size_t next_ = 0;
  size_t fetched_ = 0;  // by the last call
};

// The order of two values of one key attribute: numbers by value, strings and binaries by their bytes. Values of
// different types, which no index holds, are ordered by type.
std::weak_ordering CompareKeyValues(const AttributeValue& a, const AttributeValue& b);

// The order of two items by these attributes, the first one first. Both must have all of them.
std::weak_ordering CompareKeys(const Item& a, const Item& b, const std::vector<std::string>& names);

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_SRC_SHARD_CURSOR_H_
