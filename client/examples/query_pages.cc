// Puts some items in a batch, then queries the index "by_place" page by page, and scans the table item by item. Run
// create_table first. Usage: example_query_pages HOST:PORT

#include <cstdint>
#include <iostream>
#include <string>

#include "armature/client/batch_writer.h"
#include "armature/client/client.h"
#include "armature/client/item_builder.h"
#include "client/examples/example.h"

namespace {

using armature::client::BatchWriter;
using armature::client::Client;
using armature::client::ItemBuilder;
using armature::client::N;
using armature::client::S;
namespace v1 = armature::api::v1;

// Returns the change sequence of the last write. A query of the index can wait for it.
absl::StatusOr<uint64_t> PutUsers(const Client& client) {
  BatchWriter writer(client);
  for (int i = 0; i < 10; ++i) {
    const auto user = ItemBuilder()
                          .Set("user", S("user" + std::to_string(i)))
                          .Set("country", S("de"))
                          .Set("city", S("Bonn"))
                          .Set("visits", N(i))
                          .Build();
    if (absl::Status added = writer.Put("example_users", user); !added.ok()) return added;
  }
  if (absl::Status sent = writer.Flush(); !sent.ok()) return sent;
  return writer.change_sequence();
}

absl::Status QueryIndex(const Client& client, uint64_t sequence) {
  v1::QueryRequest query;
  query.set_table_name("example_users");
  query.set_index_name("by_place");
  query.set_key_condition_expression("country = :country AND city = :city AND visits >= :least");
  auto& values = *query.mutable_expression_attribute_values();
  values[":country"] = S("de");
  values[":city"] = S("Bonn");
  values[":least"] = N(3);
  query.set_limit(4);
  query.set_at_least_sequence(sequence);
  for (auto& page : client.QueryPages(query)) {
    if (!page.ok()) return page.status();
    std::cout << "page of " << page->count() << "\n";
  }
  return absl::OkStatus();
}

absl::Status ScanTable(const Client& client) {
  v1::ScanRequest scan;
  scan.set_table_name("example_users");
  for (auto& item : client.ScanItems(scan)) {
    if (!item.ok()) return item.status();
    std::cout << item->attributes().at("user").s() << "\n";
  }
  return absl::OkStatus();
}

absl::Status Run(const Client& client) {
  auto sequence = PutUsers(client);
  if (!sequence.ok()) return sequence.status();
  if (absl::Status status = QueryIndex(client, *sequence); !status.ok()) return status;
  return ScanTable(client);
}

}  // namespace

int main(int argc, char** argv) { return RunExample(argc, argv, Run); }
