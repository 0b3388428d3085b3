#include "daemon/api/wire_split.h"

#include "storage/model/wire.h"

namespace armature::daemon {

bool Split(std::string_view request, const LegacyFields& legacy, SplitRequest* split) {
  while (!request.empty()) {
    model::WireField field;
    if (!model::TakeField(&request, &field)) return false;
    if (legacy.Contains(field.number)) {
      split->legacy.push_back(field);
      continue;
    }
    if (field.number != kItemField && field.number != kValuesField) {
      split->rest.append(field.raw);
      continue;
    }
    if (field.type != model::WireType::kBytes) return false;
    if (field.number == kItemField) {
      if (!split->item.has_value()) split->item.emplace();
      split->item->append(field.bytes);
    } else {
      if (!split->values.has_value()) split->values.emplace();
      model::AppendBytesField(1, field.bytes, &*split->values);
    }
  }
  return true;
}

}  // namespace armature::daemon
