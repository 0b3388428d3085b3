#ifndef ARMATURE_TESTS_SUPPORT_REPEATING_CHANGE_RECORD_H_
#define ARMATURE_TESTS_SUPPORT_REPEATING_CHANGE_RECORD_H_

// Change records as builds of formats 1 to 5 wrote them. Later builds read them only.

#include <string>

#include "storage/codec/change_codec.h"
#include "storage/model/wire.h"

namespace armature::test {

// A record of version 1.
inline std::string RepeatingChangeRecord(const codec::ChangeRecord& record) {
  std::string bytes(1, codec::kRepeatingChangeVersion);
  const auto append_signed = [&bytes](int64_t value) {
    model::AppendVarint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63), &bytes);
  };
  const auto append_text = [&bytes](std::string_view head, std::string_view text) {
    model::AppendVarint(head.size() + text.size(), &bytes);
    bytes.append(head).append(text);
  };
  append_signed(record.time_ms);
  append_text({}, record.base_key);
  model::AppendVarint(record.index_changes.size(), &bytes);
  for (const codec::IndexRowChange& change : record.index_changes) {
    model::AppendVarint(change.index.value(), &bytes);
    bytes.push_back(change.is_delete ? 1 : 0);
    append_text({}, change.key);
    if (!change.is_delete) append_text(change.value_head, change.value);
    append_signed(change.item_delta);
    append_signed(change.byte_delta);
  }
  return bytes;
}

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_REPEATING_CHANGE_RECORD_H_
