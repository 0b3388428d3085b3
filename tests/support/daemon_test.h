#ifndef ARMATURE_TESTS_SUPPORT_DAEMON_TEST_H_
#define ARMATURE_TESTS_SUPPORT_DAEMON_TEST_H_

// Shared helpers of daemon tests: requests as documented JSON, and short access to answers.

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

// A message from its documented JSON form, such as {"TableName": "Thread", "Limit": 2}. Throws if it is invalid.
void ReadMessage(std::string_view json, google::protobuf::Message* message);
template <class Message>
Message FromJson(std::string_view json) {
  Message message;
  ReadMessage(json, &message);
  return message;
}

// An item as compact JSON with sorted attributes: {"a":{"S":"x"},"b":{"N":"1"}}.
std::string ToJson(const client::Item& item);
// The form of ToJson for any JSON text of an item.
std::string Canonical(std::string_view item_json);

// The scalar of one attribute of each item, as text; "-" if the item lacks it.
std::vector<std::string> Column(const google::protobuf::RepeatedPtrField<client::Item>& items, std::string_view name);
// The names of an item's attributes, sorted.
std::vector<std::string> Names(const client::Item& item);

// The content of a sample file of tools/demo.
std::string SampleFile(std::string_view name);

// Matches the status of a refused call by exception name and whole text.
MATCHER_P2(IsRefused, exception, message, "") {
  *result_listener << client::ErrorName(arg) << ": " << arg.message();
  return client::ErrorName(arg) == exception && std::string(arg.message()) == message;
}

// A fixture with one daemon per test.
class DaemonTest : public testing::Test {
 protected:
  // `flags` are added to those of every daemon.
  explicit DaemonTest(std::vector<std::string> flags = {}) : daemon_(std::move(flags)) {}

  const client::Client& client() const { return daemon_.client(); }
  DaemonProcess& daemon() { return daemon_; }

  // These calls throw, and so fail the test, if the daemon refuses. Create waits until the table is active.
  void Create(std::string_view table_json);
  // Returns the change_sequence of the answer.
  uint64_t Put(std::string_view table, const client::Item& item);
  uint64_t Put(std::string_view table, std::string_view item_json);
  uint64_t Delete(std::string_view table, std::string_view key_json);
  api::v1::QueryResponse Query(std::string_view json);
  api::v1::ScanResponse Scan(std::string_view json);
  // Waits until the global indexes have applied the change.
  void WaitForIndexes(std::string_view table, uint64_t change_sequence);
  // Creates a sample table with its items, and waits until all indexes have them.
  void CreateSample(const std::string& table);

  // Calls that the daemon may refuse.
  absl::Status TryCreate(std::string_view table_json);
  absl::Status TryPut(std::string_view table, std::string_view item_json);
  absl::Status TryQuery(std::string_view json);
  absl::Status TryScan(std::string_view json);

 private:
  DaemonProcess daemon_;
};

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_DAEMON_TEST_H_
