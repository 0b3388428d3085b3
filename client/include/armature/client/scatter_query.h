#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_SCATTER_QUERY_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_SCATTER_QUERY_H_

// A query over a partition that is spread over shards. It queries all shards at once and returns their items in one
// order.
//
// An index whose partition key has few values, such as a day or a status, takes all its writes in few partitions. To
// avoid that, the writer spreads each value over N shards: it appends a random number from 1 to N to the key,
// "2024-10-01.7", or keeps the number in a partition attribute of its own. A reader then needs N queries, which
// ScatterQuery makes.
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

// The names of the key attributes of an index. Each item of the query must have all of them, so that a projection must
// include them.
struct ScatterKeys {
  std::vector<std::string> sort;    // the index's sort attributes, in their order; may be empty
  std::vector<std::string> others;  // its partition attributes, and the table's whole key
};

// The keys in a description of the table. `index_name`: empty for the table itself. Errors: NOT_FOUND if the table has
// no such index.
absl::StatusOr<ScatterKeys> KeysOf(const api::v1::TableDescription& table, std::string_view index_name);

// Returns the partition value of the shard with this number. Called by Begin only.
using ShardValue = std::function<AttributeValue(int shard)>;

// Strings: `prefix`, `separator`, number.
ShardValue SuffixedShards(std::string_view prefix, std::string_view separator = ".");
// The number itself, for a partition attribute of its own.
ShardValue NumberedShards();

inline constexpr int kShardsMax = 1000;

struct ScatterOptions {
  // The placeholder of the shard in the key condition, such as ":day". Its value in the request is replaced.
  std::string value_name;
  ShardValue shard_value;
  // Number of the first shard, and number of shards (1 to kShardsMax).
  int first_shard = 1;
  int shard_count = 0;
  ScatterKeys keys;

  // Maximum number of items of a page. Positive.
  int page_items_max = 1000;
  // Maximum number of concurrent calls, each on a thread of its own. 1 to 64.
  int parallel_max = 8;
  // Options of each call.
  CallOptions call;
};

struct ScatterPage {
  std::vector<Item> items;
  // Position of the next page: a text of letters, digits, '-' and '_', with about the size of a key for each shard.
  // Empty after the last page.
  std::string continuation;
};

// Returns the items of all shards in the order of the index: numbers by value, strings and binaries by their bytes.
// Items with equal sort attributes are in the order of their shards, and within a shard in the order of the index. If
// scan_index_forward is false the order is the exact reverse.
//
// Only the last page, and a page before an error, may have fewer than page_items_max items.
//
// An error of one shard ends the walk. The items that precede it in the order are returned as a page. All further calls
// return the error, with the number of the shard in its text. The continuation of the last page is the position after
// its items, so that a new ScatterQuery can continue there.
//
// The shards are not read at one moment: the walk may miss items written meanwhile, and may return an item twice if its
// sort attribute changes. A shard that was read to its end is not queried again.
//
// Thread-safety: thread-compatible. Uses threads of its own only within a call.
// Lifetime: iterators point into the query. There is one position, so only one walk.
// Cost: at first one call for each shard; later, when a shard has no items left in memory, one call for each shard with
// few items left. The limit of the request bounds one call to one shard; by default a page takes about one call to each
// shard. Items that are read and not returned yet are held in memory: at most those of one and a half calls of each
// shard. Consumed capacity is not reported.
class ScatterQuery {
 public:
  using iterator = StatusOrIterator<ScatterQuery, Item>;

  // Begins with the first page, or at the continuation of a page. Makes no call.
  // Errors: INVALID_ARGUMENT for options outside their ranges; for a request with an exclusive_start_key or with the
  // select COUNT; for a malformed continuation, or the continuation of a query with another table, index, direction or
  // other shards. Other parts of the request may change between two pages.
  static absl::StatusOr<ScatterQuery> Begin(Client client, api::v1::QueryRequest request, ScatterOptions options,
                                            std::string_view continuation = {});
  ScatterQuery(ScatterQuery&& other) noexcept;
  ScatterQuery& operator=(ScatterQuery&& other) noexcept;
  ~ScatterQuery();

  // The next page, or nothing after the last page. Errors: those of Query; INVALID_ARGUMENT if an item lacks a key
  // attribute.
  absl::StatusOr<std::optional<ScatterPage>> NextPage();

  // Iterates over the items of the remaining pages. Do not mix with NextPage.
  iterator begin() { return iterator(this); }
  iterator end() { return iterator(); }

 private:
  friend iterator;
  class Walk;

  explicit ScatterQuery(std::unique_ptr<Walk> walk);
  std::optional<absl::StatusOr<Item>> Advance();

  std::unique_ptr<Walk> walk_;
  ScatterPage page_;  // page of the iterators
  size_t next_ = 0;
  bool failed_ = false;  // an iterator has returned an error
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_SCATTER_QUERY_H_
