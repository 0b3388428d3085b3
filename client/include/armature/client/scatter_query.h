#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_SCATTER_QUERY_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_SCATTER_QUERY_H_

// A query over a partition that is spread over shards: all are asked at once, and their items come in one order.
//
// An index whose partition key has few values, such as a day or a status, takes all its writes in few places. The
// remedy is to spread each value over N shards: the writer appends a random number from 1 to N to the key,
// "2024-10-01.7", or keeps the number in a partition attribute of its own. The price is paid by readers, who ask N
// times. This does.
//
//   v1::QueryRequest query;
//   query.set_table_name("orders");
//   query.set_index_name("by_day");
//   query.set_key_condition_expression("order_day = :day AND amount >= :least");
//   (*query.mutable_expression_attribute_values())[":least"] = N(100);
//
//   ScatterOptions options;
//   options.value_name = ":day";
//   options.shard_value = SuffixedShards("2024-10-01");  // "2024-10-01.1" to "2024-10-01.10"
//   options.shard_count = 10;
//   options.keys = {.sort = {"amount"}, .others = {"order_day", "order_id"}};
//
//   absl::StatusOr<ScatterQuery> orders = ScatterQuery::Begin(client, query, options);
//   if (!orders.ok()) return orders.status();
//   for (absl::StatusOr<Item>& item : *orders) {
//     if (!item.ok()) return item.status();
//     ...
//   }

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/items.pb.h"
#include "armature/api/v1/tables.pb.h"
#include "armature/client/client.h"
#include "armature/client/item_builder.h"
#include "armature/client/options.h"
#include "armature/client/paginator.h"

namespace armature::client {

// The key attributes of an index, by name. Each item of the query must have them all: a projection has to keep them.
struct ScatterKeys {
  std::vector<std::string> sort;    // the index's sort attributes, in their order; may be empty
  std::vector<std::string> others;  // its partition attributes, and the table's whole key
};

// As DescribeTable tells them. `index_name`: empty for the table itself. Errors: NOT_FOUND if the table has no such
// index.
absl::StatusOr<ScatterKeys> KeysOf(const api::v1::TableDescription& table, std::string_view index_name);

// The partition value of a shard, by its number. Called by Begin only.
using ShardValue = std::function<AttributeValue(int shard)>;

// Strings: `prefix`, `separator`, number.
ShardValue SuffixedShards(std::string_view prefix, std::string_view separator = ".");
// The number itself, for a partition attribute of its own.
ShardValue NumberedShards();

inline constexpr int kShardsMax = 1000;

struct ScatterOptions {
  // The value in the key condition that stands for the shard, ":day". Whatever the request has for it is replaced.
  std::string value_name;
  ShardValue shard_value;
  // Shards are numbered from `first_shard`, `shard_count` of them: 1 to kShardsMax.
  int first_shard = 1;
  int shard_count = 0;
  ScatterKeys keys;

  // Items of a page. Positive.
  int page_items_max = 1000;
  // Calls that are under way at a time, each on a thread of its own. 1 to 64.
  int parallel_max = 8;
  // Of each call.
  CallOptions call;
};

struct ScatterPage {
  std::vector<Item> items;
  // Where the next page begins: text of letters, digits, '-' and '_', of about the size of a key for each shard.
  // Empty after the last page.
  std::string continuation;
};

// The items of all shards in the order of their sort attributes, as the index orders them: numbers by value, strings
// and binaries by their bytes; backwards if scan_index_forward is false. Items of equal sort attributes come in the
// order of their shards, and within a shard as the index has them; backwards is the exact reverse.
//
// A page may come short, or empty, only if it is the last one or a shard failed after it.
//
// An error of one shard ends the walk: what is in order before it is given out as a page, and the next call, like all
// after it, gives the error, with the number of the shard in its text. The continuation of the last page begins behind
// what was given out, so that a new ScatterQuery can go on from there.
//
// The shards are not read at one moment: what is written during the walk may be seen or not, and an item whose sort
// attribute changes may be seen twice. A shard that was read to its end is not asked again.
//
// Thread-safety: thread-compatible. Uses threads of its own only within a call.
// Lifetime: iterators point into the query. There is one position, so only one walk.
// Cost: at first a call for each shard; later, when one has run out, a call for each that is about to. The limit of the
// request is that of one call to one shard; without one it is chosen so that a page takes about one call to each. What
// was read and not given out yet is held in memory, at most one call and a half of each shard. What the calls consumed
// is not reported.
class ScatterQuery {
 public:
  using iterator = StatusOrIterator<ScatterQuery, Item>;

  // Of the pages of `request`, from the beginning or from a page's continuation. Makes no call.
  // Errors: INVALID_ARGUMENT for options outside their ranges; for a request that has an exclusive_start_key, or that
  // only counts; for a continuation that is none, or that is of another query: another table, index, direction or other
  // shards. Other parts of the request may change between two pages.
  static absl::StatusOr<ScatterQuery> Begin(Client client, api::v1::QueryRequest request, ScatterOptions options,
                                            std::string_view continuation = {});
  ScatterQuery(ScatterQuery&& other) noexcept;
  ScatterQuery& operator=(ScatterQuery&& other) noexcept;
  ~ScatterQuery();

  // The next page, or nothing after the last one. Errors: those of Query; INVALID_ARGUMENT if an item lacks a key
  // attribute.
  absl::StatusOr<std::optional<ScatterPage>> NextPage();

  // Item by item, over all pages that are left. Do not mix with NextPage.
  iterator begin() { return iterator(this); }
  iterator end() { return iterator(); }

 private:
  friend iterator;
  class Walk;

  explicit ScatterQuery(std::unique_ptr<Walk> walk);
  std::optional<absl::StatusOr<Item>> Advance();

  std::unique_ptr<Walk> walk_;
  ScatterPage page_;  // of the iteration
  size_t next_ = 0;
  bool failed_ = false;  // an iterator has passed on an error
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_SCATTER_QUERY_H_
