#ifndef ARMATURE_DAEMON_JSON_ITEM_ANSWERS_H_
#define ARMATURE_DAEMON_JSON_ITEM_ANSWERS_H_

// Parts of answers about items.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/json/json_writer.h"
#include "engine/capacity.h"
#include "engine/items/request.h"

namespace armature::daemon {

// A structure ConsumedCapacity as a value.
void WriteConsumedCapacity(const engine::ConsumedCapacity& capacity, JsonWriter* writer);

// A structure ItemCollectionMetrics as a value.
void WriteCollection(const engine::ItemCollectionMetrics& collection, JsonWriter* writer);

// The member ConsumedCapacity, if there is one.
void WriteCapacityMember(const std::optional<engine::ConsumedCapacity>& capacity, JsonWriter* writer);

// The member ItemCollectionMetrics, if there is one.
void WriteCollectionMember(const std::optional<engine::ItemCollectionMetrics>& collection, JsonWriter* writer);

// The answer to a query or scan, its items written as they come.
//
// Thread-safety: thread-compatible.
class JsonPage final : public engine::PageWriter {
 public:
  // `limit`: of the request. `with_items`: whether the answer has a list of items, be it empty.
  JsonPage(std::optional<int64_t> limit, bool with_items);

  void Add(std::string_view item_bytes) override;
  void Clear() override;
  // The whole answer. Called once, at the end.
  std::string Finish(const engine::ReadResult& result);

 private:
  void Begin();

  const int64_t limit_;
  const bool with_items_;
  bool first_ = true;
  JsonWriter writer_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_ITEM_ANSWERS_H_
