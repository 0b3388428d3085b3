#ifndef ARMATURE_TESTS_UNIT_CLIENT_FAKE_SHARDS_H_
#define ARMATURE_TESTS_UNIT_CLIENT_FAKE_SHARDS_H_

// An in-memory index whose partitions are the shards of scattered queries.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "armature/client/connection.h"
#include "armature/client/item_builder.h"

namespace armature::client {

// Answers a Query for the partition ":p": its items in insertion order, after exclusive_start_key, which is found by
// the attribute "id". With the filter expression "drop", items with an attribute of that name are left out.
//
// Thread-safety: Call is thread-safe. Use the other methods before or after all calls.
class FakeShards final : public Connection {
 public:
  // Adds an item at the end of a shard.
  void Add(std::string_view shard, Item item) { shards_[std::string(shard)].push_back(std::move(item)); }

  // Queries of this shard succeed `good_calls` times and then fail.
  void FailAfter(std::string_view shard, int good_calls, absl::Status status) {
    failures_[std::string(shard)] = {good_calls, std::move(status)};
  }
  void Heal() { failures_.clear(); }
  // Each call waits until `calls` of them run at once, or `patience` has passed.
  void AwaitTogether(int calls, absl::Duration patience) {
    together_ = calls;
    patience_ = patience;
  }

  absl::Status Call(const Method&, const CallContext&, const google::protobuf::Message& request,
                    google::protobuf::Message* response) override {
    const auto& query = static_cast<const api::v1::QueryRequest&>(request);
    const std::string& shard = query.expression_attribute_values().at(":p").s();
    const absl::MutexLock lock(&mutex_);
    requests.push_back(query);
    under_way_max = std::max(under_way_max, ++under_way_);
    const auto met = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return under_way_max >= together_; };
    mutex_.AwaitWithTimeout(absl::Condition(&met), patience_);
    --under_way_;
    if (const auto failure = failures_.find(shard); failure != failures_.end() && failure->second.first-- <= 0) {
      return failure->second.second;
    }
    Answer(shards_[shard], query, static_cast<api::v1::QueryResponse*>(response));
    return absl::OkStatus();
  }

  std::vector<api::v1::QueryRequest> requests;
  int under_way_max = 0;

 private:
  static void Answer(std::vector<Item> items, const api::v1::QueryRequest& query, api::v1::QueryResponse* response) {
    if (query.has_scan_index_forward() && !query.scan_index_forward()) std::reverse(items.begin(), items.end());
    const auto id = [](const Item& item) { return item.attributes().at("id").s(); };
    size_t begin = 0;
    if (query.has_exclusive_start_key()) {
      while (begin < items.size() && id(items[begin]) != id(query.exclusive_start_key())) ++begin;
      ++begin;
    }
    const size_t limit = query.has_limit() ? static_cast<size_t>(query.limit()) : items.size();
    for (size_t i = begin; i < items.size(); ++i) {
      if (i - begin == limit) {
        Item& last = *response->mutable_last_evaluated_key();
        for (const char* const name : {"p", "n", "id"}) {
          (*last.mutable_attributes())[name] = items[i - 1].attributes().at(name);
        }
        return;
      }
      if (query.has_filter_expression() && items[i].attributes().contains("drop")) continue;
      *response->add_items() = items[i];
    }
  }

  absl::Mutex mutex_;
  std::map<std::string, std::vector<Item>> shards_;
  std::map<std::string, std::pair<int, absl::Status>> failures_;
  int together_ = 0;
  absl::Duration patience_ = absl::ZeroDuration();
  int under_way_ = 0;
};

}  // namespace armature::client

#endif  // ARMATURE_TESTS_UNIT_CLIENT_FAKE_SHARDS_H_
