// Replaces the retry policies, and reacts to a failed condition by the name of the exception.
// Run create_table first. Usage: example_errors_and_retries HOST:PORT

#include <iostream>

#include "absl/time/time.h"
#include "armature/client/client.h"
#include "armature/client/errors.h"
#include "armature/client/item_builder.h"
#include "armature/client/retry_policy.h"
#include "client/examples/example.h"

namespace {

using armature::client::Client;
using armature::client::ErrorDetailOf;
using armature::client::ErrorName;
using armature::client::ItemBuilder;
using armature::client::S;
namespace v1 = armature::api::v1;

absl::Status Run(const Client& client) {
  v1::PutItemRequest put;
  put.set_table_name("example_users");
  *put.mutable_item() = ItemBuilder().Set("user", S("once")).Build();
  if (auto answer = client.PutItem(put); !answer.ok()) return answer.status();

  // The second put has a condition, and fails because the item exists. After a lost connection a conditional write is
  // repeated only if it certainly was not applied.
  put.set_condition_expression("attribute_not_exists(#user)");
  (*put.mutable_expression_attribute_names())["#user"] = "user";
  put.set_return_values_on_condition_check_failure(v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
  armature::client::CallOptions options;
  options.timeout = absl::Seconds(2);
  auto answer = client.PutItem(put, options);
  if (answer.ok()) return absl::InternalError("the condition held");
  if (ErrorName(answer.status()) != "ConditionalCheckFailedException") return answer.status();
  std::cout << "not put, because there is\n" << ErrorDetailOf(answer.status())->item().DebugString();
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  armature::client::ClientOptions options;
  options.retry = armature::client::LimitedAttempts(5);
  options.backoff =
      armature::client::ExponentialBackoff({.initial = absl::Milliseconds(10), .max = absl::Seconds(1), .factor = 3});
  return RunExample(argc, argv, Run, options);
}
