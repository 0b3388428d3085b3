#include "storage/codec/stored_item.h"

#include <utility>

#include "storage/base/status_macros.h"
#include "storage/model/number.h"

namespace armature::codec {
namespace {

constexpr char kPlainVersion = 1;    // format 1: numbers in plain texts of any length
constexpr char kVersion = 2;         // no compact number
constexpr char kCompactVersion = 3;  // with compact numbers

// Makes the item of a row of format 1 canonical.
absl::Status Convert(StoredItemView* stored) {
  if (!model::HasRunOfZeros(stored->item.bytes())) return absl::OkStatus();
  absl::StatusOr<CanonicalItem> item = CanonicalizeItem(stored->item.bytes(), ValueTexts::kStored);
  if (!item.ok()) return DataLossError(Cat("stored item: expected a canonical item; ", Sv(item.status().message())));
  if (!item->compact_numbers) return absl::OkStatus();
  stored->converted = std::make_shared<const std::string>(std::move(item->bytes));
  stored->item = model::ItemView(*stored->converted);
  stored->compact_numbers = true;
  return absl::OkStatus();
}

}  // namespace

void AppendStoredItemHead(size_t api_size, bool compact_numbers, std::string* out) {
  out->push_back(compact_numbers ? kCompactVersion : kVersion);
  model::AppendVarint(api_size, out);
}

std::string StoredItemHead(const CanonicalItem& item) {
  std::string head;
  AppendStoredItemHead(item.api_size, item.compact_numbers, &head);
  return head;
}

bool TakeStoredItemHead(std::string_view* in, std::string_view* head) {
  const std::string_view before = *in;
  if (in->empty() || (in->front() != kVersion && in->front() != kCompactVersion)) return false;
  in->remove_prefix(1);
  uint64_t api_size = 0;
  if (!model::TakeVarint(in, &api_size)) return false;
  *head = before.substr(0, before.size() - in->size());
  return head->size() == StoredItemHeadBytes(api_size);
}

std::string EncodeStoredItem(const CanonicalItem& item) { return Cat(StoredItemHead(item), item.bytes); }

bool IsSimpleItem(std::string_view value) { return value.starts_with(kVersion); }

absl::StatusOr<StoredItemView> ParseStoredItem(std::string_view value) {
  if (value.empty()) return DataLossError("stored item: expected a version byte, found nothing");
  const char version = value.front();
  if (version < kPlainVersion || version > kCompactVersion) {
    return DataLossError(Cat("stored item: expected a version up to ", static_cast<int>(kCompactVersion), ", found ",
                             static_cast<int>(static_cast<uint8_t>(version))));
  }
  value.remove_prefix(1);
  const size_t size_before = value.size();
  uint64_t api_size = 0;
  if (!model::TakeVarint(&value, &api_size) || size_before - value.size() != model::VarintSize(api_size)) {
    return DataLossError("stored item: expected the size as a varint of least length");
  }
  StoredItemView stored{api_size, model::ItemView(value), version == kCompactVersion, nullptr};
  if (version == kPlainVersion) ARM_RETURN_IF_ERROR(Convert(&stored));
  return stored;
}

}  // namespace armature::codec
