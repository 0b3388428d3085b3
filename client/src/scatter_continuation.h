#ifndef ARMATURE_CLIENT_SRC_SCATTER_CONTINUATION_H_
#define ARMATURE_CLIENT_SRC_SCATTER_CONTINUATION_H_

// Where a scattered query goes on, as a text.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "armature/client/item_builder.h"

namespace armature::client {

// How far one shard was given out.
struct ShardPosition {
  bool is_done = false;             // to its end
  std::optional<Item> start_after;  // the key of the last item; absent: not begun
};

// `query` is any bytes that tell the query from others: a text is taken by the query only that it was made for.
std::string EncodeContinuation(std::string_view query, const std::vector<ShardPosition>& shards);

// The positions of `shard_count` shards. Errors: INVALID_ARGUMENT for what EncodeContinuation has not made, or has made
// for another query or number of shards.
absl::StatusOr<std::vector<ShardPosition>> DecodeContinuation(std::string_view text, std::string_view query,
                                                              size_t shard_count);

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_SRC_SCATTER_CONTINUATION_H_
