// Values of rows of all formats. Input: the value of a row.

#include <optional>
#include <string>
#include <string_view>

#include "storage/codec/item_codec.h"
#include "storage/codec/stored_item.h"
#include "storage/model/plain_item.h"
#include "tests/fuzz/fuzz_util.h"

namespace armature::fuzz {
namespace {

void CheckItem(const codec::StoredItemView& stored, std::string_view value) {
  const std::string_view bytes = stored.item.bytes();
  Check(stored.converted == nullptr ? LiesIn(bytes, value) : bytes == *stored.converted, "an item lies in its bytes");
  const model::ItemMeasure measure = model::Measure(stored.item);
  const std::string plain = model::PlainItem(bytes);
  Check(plain.size() <= model::kPlainGrowthMax * bytes.size(), "an answer is bounded by the item");
  const absl::StatusOr<codec::CanonicalItem> canonical = codec::CanonicalizeItem(bytes);
  if (!canonical.ok() || canonical->bytes != bytes) return;
  Check(measure.api_size == canonical->api_size, "sizes agree");
  Check(measure.compact_numbers == canonical->compact_numbers, "marks agree");
  Check((plain == bytes) == !canonical->compact_numbers, "only compact numbers change");
  Check(codec::CanonicalizeItem(plain)->bytes == bytes, "an answer is the same item");
  const std::string again = codec::EncodeStoredItem(*canonical);
  Check(codec::ParseStoredItem(again)->item.bytes() == bytes, "a row is what was written");
}

}  // namespace
}  // namespace armature::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view value = armature::fuzz::Text(data, size);
  const absl::StatusOr<armature::codec::StoredItemView> stored = armature::codec::ParseStoredItem(value);
  if (stored.ok()) armature::fuzz::CheckItem(*stored, value);
  return 0;
}
