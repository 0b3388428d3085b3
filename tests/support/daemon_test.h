#ifndef ARMATURE_TESTS_SUPPORT_DAEMON_TEST_H_
#define ARMATURE_TESTS_SUPPORT_DAEMON_TEST_H_

// What tests against a daemon share: requests written as the JSON of the documented API, and short ways to read
// answers.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/client/errors.h"
#include "armature/client/item_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/daemon_process.h"

namespace armature::test {

// A message from its documented JSON form, such as {"TableName": "Thread", "Limit": 2}. Throws if it is none.
void ReadMessage(std::string_view json, google::protobuf::Message* message);
template <class Message>
Message FromJson(std::string_view json) {
  Message message;
  ReadMessage(json, &message);
  return message;
}

// An item as compact JSON, its attributes sorted by name: {"a":{"S":"x"},"b":{"N":"1"}}.
std::string ToJson(const client::Item& item);
// The same form of a text that is written in another way.
std::string Canonical(std::string_view item_json);

// The scalar of one attribute of each item, as text; "-" if the item lacks it.
std::vector<std::string> Column(const google::protobuf::RepeatedPtrField<client::Item>& items, std::string_view name);
// The names of an item's attributes, sorted.
std::vector<std::string> Names(const client::Item& item);

// The content of a sample file of tools/demo.
std::string SampleFile(std::string_view name);

// The status of a refused call: the name of its exception and its whole text.
MATCHER_P2(IsRefused, exception, message, "") {
  *result_listener << client::ErrorName(arg) << ": " << arg.message();
  return client::ErrorName(arg) == exception && std::string(arg.message()) == message;
}

// One daemon for each test.
class DaemonTest : public testing::Test {
 protected:
  // `flags` are added to those that every daemon gets.
  explicit DaemonTest(std::vector<std::string> flags = {}) : daemon_(std::move(flags)) {}

  const client::Client& client() const { return daemon_.client(); }
  DaemonProcess& daemon() { return daemon_; }

  // These fail the test, by an exception, if the daemon refuses. Create waits until the table serves.
  void Create(std::string_view table_json);
  // The answer's change_sequence.
  uint64_t Put(std::string_view table, const client::Item& item);
  uint64_t Put(std::string_view table, std::string_view item_json);
  uint64_t Delete(std::string_view table, std::string_view key_json);
  api::v1::QueryResponse Query(std::string_view json);
  api::v1::ScanResponse Scan(std::string_view json);
  // Until the global indexes hold the change.
  void WaitForIndexes(std::string_view table, uint64_t change_sequence);
  // A sample table with its items, visible in all indexes.
  void CreateSample(const std::string& table);

  // What the daemon says to a request that may be wrong.
  absl::Status TryCreate(std::string_view table_json);
  absl::Status TryPut(std::string_view table, std::string_view item_json);
  absl::Status TryQuery(std::string_view json);
  absl::Status TryScan(std::string_view json);

 private:
  DaemonProcess daemon_;
};

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_DAEMON_TEST_H_
