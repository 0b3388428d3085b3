#include "engine/operations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "armature/admin/v1/admin.pb.h"
#include "armature/api/v1/items.pb.h"
#include "daemon/api/unary_operation.h"
#include "storage/base/strings.h"
#include "tests/support/test_data.h"

namespace armature::daemon::operations_test {

using engine::Operation;
using engine::Plane;

std::set<std::string> NamesOf(const std::initializer_list<Plane>& planes) {
  std::set<std::string> names;
  for (const Operation& operation : engine::kOperations) {
    if (std::find(planes.begin(), planes.end(), operation.plane) != planes.end()) {
      names.insert(std::string(operation.name));
    }
  }
  return names;
}

std::set<std::string> MethodsOf(const char* service, std::string_view prefix) {
  // Uses the generated code, which otherwise would not be linked.
  EXPECT_NE(admin::v1::EchoRequest::descriptor(), nullptr);
  const auto* const descriptor = google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(service);
  std::set<std::string> names;
  if (descriptor == nullptr) return names;
  for (int i = 0; i < descriptor->method_count(); ++i) names.insert(Cat(prefix, descriptor->method(i)->name()));
  return names;
}

TEST(Operations, AreTheMethodsOfTheServices) {
  EXPECT_EQ(NamesOf({Plane::kItem}), MethodsOf("armature.api.v1.ItemService", ""));
  EXPECT_EQ(NamesOf({Plane::kTable}), MethodsOf("armature.api.v1.TableService", ""));
  EXPECT_EQ(NamesOf({Plane::kStream}), MethodsOf("armature.api.v1.StreamService", ""));
  EXPECT_EQ(NamesOf({Plane::kStatement}), MethodsOf("armature.api.v1.StatementService", ""));
  EXPECT_EQ(NamesOf({Plane::kAdmin}), MethodsOf("armature.admin.v1.AdminService", "admin:"));
}

TEST(Operations, OnMessagesHaveAFunctionEach) {
  std::multiset<std::string> names;
  for (const UnaryOperation& operation : UnaryOperations()) {
    names.insert(std::string(operation.name()));
    EXPECT_EQ(FindUnaryOperation(operation.name()), &operation);
  }
  const std::set<std::string> expected = NamesOf({Plane::kTable, Plane::kStream, Plane::kStatement});
  std::multiset<std::string> unary(expected.begin(), expected.end());
  unary.erase("Watch");  // a stream of answers
  EXPECT_EQ(names, unary);
  for (const std::string_view other : {"GetItem", "Watch", "admin:Echo", "DoMagic", ""}) {
    EXPECT_EQ(FindUnaryOperation(other), nullptr) << other;
  }
}

// Without the field that names the resource, every caller would be authorised.
TEST(Operations, NameFieldsOfTheirRequests) {
  for (const UnaryOperation& operation : UnaryOperations()) {
    const auto messages = operation.NewMessages();
    for (const std::string_view field : {operation.facts().subject, operation.facts().source}) {
      if (field.empty()) continue;
      google::protobuf::Message* message = messages->request.get();
      std::string_view name = field;
      // A dot leads into a member message.
      for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
        const auto* const member = message->GetDescriptor()->FindFieldByName(std::string(name.substr(0, dot)));
        ASSERT_NE(member, nullptr) << operation.name() << " " << field;
        message = message->GetReflection()->MutableMessage(message, member);
        name.remove_prefix(dot + 1);
      }
      const auto* const found = message->GetDescriptor()->FindFieldByName(std::string(name));
      ASSERT_NE(found, nullptr) << operation.name() << " " << field;
      message->GetReflection()->SetString(message, found, "thing");
    }
    operation.FindSubject(messages.get());
    EXPECT_EQ(messages->subject, operation.facts().subject.empty() ? "" : "thing") << operation.name();
    EXPECT_EQ(messages->source, operation.facts().source.empty() ? "" : "thing") << operation.name();
  }
}

TEST(Operations, AreFoundByName) {
  for (const Operation& operation : engine::kOperations) {
    EXPECT_EQ(engine::FindOperation(operation.name), &operation);
  }
  EXPECT_EQ(engine::FindOperation("DoMagic"), nullptr);
  EXPECT_EQ(engine::FindOperation(""), nullptr);
}

TEST(Operations, StandInTheListOfDifferences) {
  std::ifstream file(test::TestDataPath("../../docs/reference/compatibility.md"));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const Operation& operation : engine::kOperations) {
    if (operation.plane == Plane::kAdmin) continue;  // not in the original API
    const std::string_view state = "there";
    const size_t row = text.find(Cat(operation.name, " | "));
    ASSERT_NE(row, std::string::npos) << operation.name;
    const std::string rest = text.substr(row + operation.name.size() + 3, 8);
    const bool is_right = rest.starts_with(state) || (state == "there" && rest.starts_with("setting"));
    EXPECT_TRUE(is_right) << operation.name << ": " << rest;
  }
}

}  // namespace armature::daemon::operations_test
