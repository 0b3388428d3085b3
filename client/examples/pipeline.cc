// Puts a thousand items into the table "example_users" over one stream, and reads some of them back the same way.
// Run create_table first. Usage: example_pipeline HOST:PORT

#include <atomic>
#include <iostream>
#include <memory>
#include <vector>

#include "armature/client/client.h"
#include "armature/client/item_builder.h"
#include "armature/client/pipeline.h"
#include "client/examples/example.h"

namespace {

using armature::client::Client;
using armature::client::ItemBuilder;
using armature::client::N;
using armature::client::Pipeline;
using armature::client::S;
namespace v1 = armature::api::v1;

absl::Status Run(const Client& client) {
  auto pipeline = client.OpenPipeline();
  if (!pipeline.ok()) return pipeline.status();

  std::atomic<int> failures = 0;
  for (int i = 0; i < 1000; ++i) {
    v1::PutItemRequest put;
    put.set_table_name("example_users");
    *put.mutable_item() = ItemBuilder().Set("user", S("user-" + std::to_string(i))).Set("visits", N(i)).Build();
    // Blocks while too many operations are in flight.
    (*pipeline)->Ask(put, [&failures](const absl::StatusOr<v1::PutItemResponse>& answer) {
      if (!answer.ok()) ++failures;
    });
  }
  (*pipeline)->WaitUntilIdle();
  std::cout << failures << " of 1000 puts failed\n";

  std::vector<std::future<absl::StatusOr<v1::GetItemResponse>>> answers;
  for (int i = 0; i < 1000; i += 100) {
    v1::GetItemRequest get;
    get.set_table_name("example_users");
    *get.mutable_key() = ItemBuilder().Set("user", S("user-" + std::to_string(i))).Build();
    answers.push_back((*pipeline)->Ask(get));
  }
  for (auto& future : answers) {
    const auto answer = future.get();
    if (!answer.ok()) return answer.status();
    std::cout << answer->item().ShortDebugString() << "\n";
  }
  return (*pipeline)->Close();
}

}  // namespace

int main(int argc, char** argv) { return RunExample(argc, argv, Run); }
