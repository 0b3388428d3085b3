// Puts an item into the table "example_users", reads it back, and updates it under a condition.
// Run create_table first. Usage: example_put_get HOST:PORT

#include <iostream>

#include "armature/client/client.h"
#include "armature/client/item_builder.h"
#include "client/examples/example.h"

namespace {

using armature::client::Client;
using armature::client::ItemBuilder;
using armature::client::N;
using armature::client::S;
using armature::client::SS;
namespace v1 = armature::api::v1;

absl::Status Run(const Client& client) {
  v1::PutItemRequest put;
  put.set_table_name("example_users");
  *put.mutable_item() = ItemBuilder()
                            .Set("user", S("ann"))
                            .Set("country", S("de"))
                            .Set("city", S("Bonn"))
                            .Set("visits", N(1))
                            .Set("tags", SS({"new", "eu"}))
                            .Build();
  if (auto answer = client.PutItem(put); !answer.ok()) return answer.status();

  v1::UpdateItemRequest update;
  update.set_table_name("example_users");
  *update.mutable_key() = ItemBuilder().Set("user", S("ann")).Build();
  update.set_update_expression("SET visits = visits + :one");
  update.set_condition_expression("attribute_exists(visits)");
  (*update.mutable_expression_attribute_values())[":one"] = N(1);
  if (auto answer = client.UpdateItem(update); !answer.ok()) return answer.status();

  v1::GetItemRequest get;
  get.set_table_name("example_users");
  *get.mutable_key() = ItemBuilder().Set("user", S("ann")).Build();
  get.set_consistent_read(true);
  auto answer = client.GetItem(get);
  if (!answer.ok()) return answer.status();
  std::cout << answer->item().DebugString();
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) { return RunExample(argc, argv, Run); }
