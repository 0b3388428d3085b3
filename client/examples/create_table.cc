// Creates the table "example_users" with a global index on two partition attributes and one sort
// attribute, and waits until it can be used. Usage: example_create_table HOST:PORT

#include <iostream>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "armature/client/client.h"
#include "armature/client/errors.h"
#include "armature/client/wait.h"
#include "client/examples/example.h"

namespace {

using armature::client::Client;
namespace v1 = armature::api::v1;

void Define(v1::CreateTableRequest& request, const std::string& name, v1::ScalarAttributeType type) {
  auto* definition = request.add_attribute_definitions();
  definition->set_attribute_name(name);
  definition->set_attribute_type(type);
}

template <class Keyed>
void AddKey(Keyed& keyed, const std::string& name, v1::KeyType type) {
  auto* element = keyed.add_key_schema();
  element->set_attribute_name(name);
  element->set_key_type(type);
}

v1::CreateTableRequest Request() {
  v1::CreateTableRequest request;
  request.set_table_name("example_users");
  request.set_billing_mode(v1::BILLING_MODE_PAY_PER_REQUEST);
  Define(request, "user", v1::SCALAR_ATTRIBUTE_TYPE_S);
  Define(request, "country", v1::SCALAR_ATTRIBUTE_TYPE_S);
  Define(request, "city", v1::SCALAR_ATTRIBUTE_TYPE_S);
  Define(request, "visits", v1::SCALAR_ATTRIBUTE_TYPE_N);
  AddKey(request, "user", v1::KEY_TYPE_HASH);

  auto& index = *request.add_global_secondary_indexes();
  index.set_index_name("by_place");
  AddKey(index, "country", v1::KEY_TYPE_HASH);
  AddKey(index, "city", v1::KEY_TYPE_HASH);
  AddKey(index, "visits", v1::KEY_TYPE_RANGE);
  index.mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_ALL);
  return request;
}

absl::Status Run(const Client& client) {
  auto created = client.CreateTable(Request());
  if (armature::client::ErrorName(created.status()) == "ResourceInUseException") {
    std::cout << "the table is there already\n";
  } else if (!created.ok()) {
    return created.status();
  }
  return armature::client::WaitForTable(client, "example_users", absl::Now() + absl::Seconds(30));
}

}  // namespace

int main(int argc, char** argv) { return RunExample(argc, argv, Run); }
