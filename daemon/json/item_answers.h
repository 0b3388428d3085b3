#ifndef ARMATURE_DAEMON_JSON_ITEM_ANSWERS_H_
#define ARMATURE_DAEMON_JSON_ITEM_ANSWERS_H_

// Answers to operations on items, single and in batches and transactions, as documents.

#include <cstdint>
#include <optional>
#include <string_view>

#include "daemon/message_json/json_writer.h"
#include "engine/items/request.h"

namespace armature::daemon {

void WriteAnswer(const engine::GetItemResult& result, JsonWriter* writer);
void WriteAnswer(const engine::WriteResult& result, JsonWriter* writer);
void WriteAnswer(const engine::BatchGetResult& result, JsonWriter* writer);
void WriteAnswer(const engine::BatchWriteResult& result, JsonWriter* writer);
void WriteAnswer(const engine::TransactGetResult& result, JsonWriter* writer);
void WriteAnswer(const engine::TransactWriteResult& result, JsonWriter* writer);

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

#endif  // ARMATURE_DAEMON_JSON_ITEM_ANSWERS_H_
