#include "engine/items/validation_layer.h"

#include <optional>

#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/model/item_errors.h"
#include "storage/model/item_view.h"
#include "storage/model/wire.h"

namespace armature::engine {
namespace {

bool HasText(const absl::Status& status, std::string_view text) {
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() && error->type == ApiErrorType::kValidation &&
         error->message.find(text) != std::string::npos;
}

// The value of a map entry.
std::string_view EntryValue(std::string_view entry) {
  std::string_view value;
  model::WireField field;
  while (model::TakeField(&entry, &field)) {
    if (field.number == 2) value = field.bytes;
  }
  return value;
}

bool IsField(const model::WireField& field, model::ValueType type) {
  return field.number == static_cast<uint32_t>(type) && field.type == model::WireType::kBytes;
}

}  // namespace

bool NestsBeyond(std::string_view item_wire, int levels) {
  model::WireField entry;
  while (model::TakeField(&item_wire, &entry)) {
    if (entry.type == model::WireType::kBytes && ValueNestsBeyond(EntryValue(entry.bytes), levels)) return true;
  }
  return false;
}

// Recursion is bounded by `levels`.
bool ValueNestsBeyond(std::string_view value_wire, int levels) {
  model::WireField member;
  while (model::TakeField(&value_wire, &member)) {
    const bool is_map = IsField(member, model::ValueType::kMap);
    if (!is_map && !IsField(member, model::ValueType::kList)) continue;
    if (levels == 0) return true;
    if (is_map && NestsBeyond(member.bytes, levels - 1)) return true;
    if (is_map) continue;
    model::WireField element;
    while (model::TakeField(&member.bytes, &element)) {
      if (element.type == model::WireType::kBytes && ValueNestsBeyond(element.bytes, levels - 1)) return true;
    }
  }
  return false;
}

absl::Status Enveloped(const absl::Status& status) {
  const std::optional<ApiError> error = GetApiError(status);
  if (!error.has_value() || error->type != ApiErrorType::kValidation) return status;
  return error->message.starts_with(kEnvelope) ? status : ValidationError(Cat(kEnvelope, error->message));
}

bool IsNestingError(const absl::Status& status) { return HasText(status, model::kNestingRefusal); }

}  // namespace armature::engine
