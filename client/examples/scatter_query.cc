// Spreads the users of one city over four shards of the index "by_place", "Bonn.1" to "Bonn.4", and reads them page by
// page in the order of their visits. Each query needs only the continuation of the query before it. Run create_table
// first. Usage: example_scatter_query HOST:PORT

#include <iostream>
#include <string>

#include "absl/random/random.h"
#include "armature/client/client.h"
#include "armature/client/item_builder.h"
#include "armature/client/scatter_query.h"
#include "client/examples/example.h"

namespace {

using armature::client::Client;
using armature::client::ItemBuilder;
using armature::client::N;
using armature::client::S;
using armature::client::ScatterOptions;
using armature::client::ScatterQuery;
using armature::client::SuffixedShards;
namespace v1 = armature::api::v1;

constexpr int kShards = 4;

absl::Status PutUsers(const Client& client) {
  absl::BitGen random;
  for (int i = 0; i < 20; ++i) {
    v1::PutItemRequest put;
    put.set_table_name("example_users");
    *put.mutable_item() = ItemBuilder()
                              .Set("user", S("spread" + std::to_string(i)))
                              .Set("country", S("de"))
                              .Set("city", S("Bonn." + std::to_string(absl::Uniform(random, 1, kShards + 1))))
                              .Set("visits", N(i))
                              .Build();
    if (auto answer = client.PutItem(put); !answer.ok()) return answer.status();
  }
  return absl::OkStatus();
}

absl::StatusOr<ScatterOptions> Options(const Client& client) {
  v1::DescribeTableRequest describe;
  describe.set_table_name("example_users");
  auto described = client.DescribeTable(describe);
  if (!described.ok()) return described.status();
  auto keys = armature::client::KeysOf(described->table(), "by_place");
  if (!keys.ok()) return keys.status();
  ScatterOptions options;
  options.value_name = ":city";
  options.shard_value = SuffixedShards("Bonn");
  options.shard_count = kShards;
  options.keys = *keys;
  options.page_items_max = 7;
  return options;
}

absl::Status Run(const Client& connected) {
  // The queries wait until the index holds the puts of this client.
  const Client client = connected.WithReadYourWrites();
  if (absl::Status status = PutUsers(client); !status.ok()) return status;
  auto options = Options(client);
  if (!options.ok()) return options.status();

  v1::QueryRequest query;
  query.set_table_name("example_users");
  query.set_index_name("by_place");
  query.set_key_condition_expression("country = :country AND city = :city");
  (*query.mutable_expression_attribute_values())[":country"] = S("de");
  query.set_scan_index_forward(false);
  std::string continuation;
  do {
    auto users = ScatterQuery::Begin(client, query, *options, continuation);
    if (!users.ok()) return users.status();
    auto page = users->NextPage();
    if (!page.ok()) return page.status();
    std::cout << "page of " << (*page)->items.size() << "\n";
    for (const auto& item : (*page)->items) {
      std::cout << item.attributes().at("visits").n() << " " << item.attributes().at("city").s() << "\n";
    }
    continuation = (*page)->continuation;
  } while (!continuation.empty());
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) { return RunExample(argc, argv, Run); }
