#include "tests/crash/expected_rows.h"

#include <cstdlib>

#include "google/protobuf/util/message_differencer.h"

namespace armature::test {

using client::ItemBuilder;

client::Item KeyItem(const RowKey& key) {
  return ItemBuilder().Set("pk", client::S(key.first)).Set("sk", client::N(key.second)).Build();
}

client::Item ItemOfVersion(const RowKey& key, Version version) {
  client::Item item = KeyItem(key);
  auto& attributes = *item.mutable_attributes();
  attributes["v"] = client::N(version);
  if (version % 7 != 0) attributes["l"] = client::S("l" + std::to_string(version % 5));
  if (version % 4 != 0) attributes["g"] = client::S("g" + std::to_string(version % 6));
  attributes["text"] = client::S(std::string(static_cast<size_t>(version % 700), 't'));
  return item;
}

Version VersionOf(const client::Item& item) {
  const auto& attributes = item.attributes();
  for (const char* name : {"pk", "sk", "v"}) {
    if (!attributes.contains(name)) return 0;
  }
  const RowKey key{attributes.at("pk").s(), std::atoll(attributes.at("sk").n().c_str())};
  const Version version = std::atoll(attributes.at("v").n().c_str());
  const client::Item whole = ItemOfVersion(key, version);
  return google::protobuf::util::MessageDifferencer::Equals(item, whole) ? version : 0;
}

void ExpectedRows::Begin(const RowKey& key, Version version) {
  const absl::MutexLock lock(&mutex_);
  rows_[key].pending = version;
}

void ExpectedRows::Acknowledge(const RowKey& key) {
  const absl::MutexLock lock(&mutex_);
  Row& row = rows_[key];
  row.acknowledged = *row.pending;
  row.pending.reset();
  ++acknowledged_writes_;
}

void ExpectedRows::Withdraw(const RowKey& key) {
  const absl::MutexLock lock(&mutex_);
  rows_[key].pending.reset();
}

bool ExpectedRows::Settle(const RowKey& key, Version found) {
  const absl::MutexLock lock(&mutex_);
  Row& row = rows_[key];
  const bool expected = found == row.acknowledged || found == row.pending;
  row = {found, std::nullopt};
  return expected;
}

std::map<RowKey, Version> ExpectedRows::Acknowledged() const {
  const absl::MutexLock lock(&mutex_);
  std::map<RowKey, Version> all;
  for (const auto& [key, row] : rows_) all[key] = row.acknowledged;
  return all;
}

int64_t ExpectedRows::acknowledged_writes() const {
  const absl::MutexLock lock(&mutex_);
  return acknowledged_writes_;
}

}  // namespace armature::test
