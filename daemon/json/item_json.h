#ifndef ARMATURE_DAEMON_JSON_ITEM_JSON_H_
#define ARMATURE_DAEMON_JSON_ITEM_JSON_H_

// Items as JSON, written directly from their bytes, and parts of answers about items.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/json/json_writer.h"
#include "engine/capacity.h"
#include "engine/items/request.h"

namespace armature::daemon {

// Writes {"name":{"S":"text"},...} as a value. `item_bytes` are canonical; malformed bytes end the item, as in
// model::ItemView.
void WriteItem(std::string_view item_bytes, JsonWriter* writer);

// Writes one value: {"S":"text"}. `wire` is an encoded armature.api.v1.AttributeValue.
void WriteAttributeValue(std::string_view wire, JsonWriter* writer);

// Writes a ConsumedCapacity structure.
void WriteConsumedCapacity(const engine::ConsumedCapacity& capacity, JsonWriter* writer);

// Writes the member ConsumedCapacity unless it is absent.
void WriteCapacityMember(const std::optional<engine::ConsumedCapacity>& capacity, JsonWriter* writer);

// The answer to a query or scan. Items are written as they arrive.
//
// Thread-safety: thread-compatible.
class JsonPage final : public engine::PageWriter {
 public:
  // `limit`: the limit of the request. `with_items`: true if the answer has a list of items, even an empty one.
  // `memory`: of the answer.
  JsonPage(std::optional<int64_t> limit, bool with_items, const MemorySource& memory = {});

  void Add(std::string_view item_bytes) override;
  void Clear() override;
  // Completes the answer, and returns its writer. Call it once, at the end.
  JsonWriter* Finish(const engine::ReadResult& result);

 private:
  void Begin();

  const std::optional<int64_t> limit_;
  const bool with_items_;
  bool first_ = true;
  JsonWriter writer_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_JSON_ITEM_JSON_H_
