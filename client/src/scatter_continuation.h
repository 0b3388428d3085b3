#ifndef ARMATURE_CLIENT_SRC_SCATTER_CONTINUATION_H_
#define ARMATURE_CLIENT_SRC_SCATTER_CONTINUATION_H_

// The position of a scattered query, encoded as text.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "armature/client/item_builder.h"

namespace armature::client {

// The position of one shard.
struct ShardPosition {
  bool is_done = false;             // all items are returned
  std::optional<Item> start_after;  // key of the last returned item; absent: not begun
};

// `query`: bytes that identify the query. Decoding accepts only texts with the same bytes.
std::string EncodeContinuation(std::string_view query, const std::vector<ShardPosition>& shards);

// The positions of `shard_count` shards. Errors: INVALID_ARGUMENT for a text that EncodeContinuation has not made, or
// has made for another query or number of shards.
absl::StatusOr<std::vector<ShardPosition>> DecodeContinuation(std::string_view text, std::string_view query,
                                                              size_t shard_count);

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_SRC_SCATTER_CONTINUATION_H_
