#include "daemon/api/pipeline_messages.h"

#include <utility>

#include "storage/base/api_error.h"
#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

constexpr uint32_t kIdField = 1;

absl::Status NotAMessage() { return SerializationError("The bytes are not a message of type PipelineRequest."); }

// The last operation counts. Repeated pieces of one operation are merged by joining them.
void SetOperation(const model::WireField& field, PipelineOperation* operation) {
  if (operation->number != field.number) {
    operation->number = field.number;
    operation->request = field.bytes;
    return;
  }
  std::string joined(operation->request);
  joined.append(field.bytes);
  operation->joined = std::move(joined);
  operation->request = operation->joined;
}

}  // namespace

absl::Status ParsePipelineRequest(std::string_view message, PipelineOperation* operation) {
  while (!message.empty()) {
    model::WireField field;
    if (!model::TakeField(&message, &field)) return NotAMessage();
    if (field.number == kIdField) {
      if (field.type != model::WireType::kVarint) return NotAMessage();
      operation->id = field.varint;
    } else if (field.number >= kPipelineNumberFirst && field.number <= kPipelineNumberLast) {
      if (field.type != model::WireType::kBytes) return NotAMessage();
      SetOperation(field, operation);
    }
  }
  return absl::OkStatus();
}

std::string PipelineResponseHead(uint64_t id, uint32_t number, size_t result_bytes) {
  std::string head(1, static_cast<char>(model::WireTag(kIdField, model::WireType::kVarint)));
  model::AppendVarint(id, &head);
  head.push_back(static_cast<char>(model::WireTag(number, model::WireType::kBytes)));
  model::AppendVarint(result_bytes, &head);
  return head;
}

}  // namespace armature::daemon
