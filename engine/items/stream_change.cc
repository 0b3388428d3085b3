#include "engine/items/stream_change.h"

#include <string>

#include "storage/codec/stream_codec.h"
#include "storage/model/key_schema.h"
#include "storage/store/stream/stream_log.h"

namespace armature::engine {
namespace {

codec::StreamEvent EventOf(const RowWrite& row) {
  if (!row.before.has_value()) return codec::StreamEvent::kInsert;
  return row.effect.after == nullptr ? codec::StreamEvent::kRemove : codec::StreamEvent::kModify;
}

}  // namespace

void RecordStreamChange(const RowWrite& row, int64_t now_ms, store::WriteUnit* unit) {
  const store::StreamSwitch::State stream = row.table().stream->state();
  if (stream.stream == StreamId(0)) return;
  const codec::CanonicalItem* const after = row.effect.after;
  codec::StreamImages images;
  std::string new_head;
  if (model::HasNewImages(stream.view) && after != nullptr) {
    new_head = codec::StoredItemHead(*after);
    images.new_image = {new_head, after->bytes};
  }
  if (model::HasOldImages(stream.view) && row.before.has_value()) images.old_image = {row.old_value, {}};
  codec::CanonicalItem keys;
  std::string keys_head;
  if (!images.new_image.has_value() && !images.old_image.has_value()) {
    const model::ItemView item = after != nullptr ? after->view() : row.before->item;
    keys.bytes = model::PickAttributes(item, row.table().key_names);
    const model::ItemMeasure measure = model::Measure(keys.view());
    keys.api_size = measure.api_size;
    keys.compact_numbers = measure.compact_numbers;
    keys_head = codec::StoredItemHead(keys);
    images.keys = {keys_head, keys.bytes};
  }
  unit->SetStreamRecord(stream.stream, store::StreamHashOf(row.key),
                        codec::EncodeStreamRecord(EventOf(row), row.mutation->is_expiry(), now_ms, images));
}

}  // namespace armature::engine
