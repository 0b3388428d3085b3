#include "engine/items/expiry_change.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "storage/store/meta_keys.h"

namespace armature::engine {
namespace {

constexpr size_t kSecondsDigitsMax = 13;
constexpr size_t kMillisDigits = 3;

}  // namespace

std::optional<int64_t> DueTimeMs(const model::ItemView& item, std::string_view attribute) {
  const std::optional<model::ValueView> value = item.Find(attribute);
  if (!value.has_value() || value->type() != model::ValueType::kNumber) return std::nullopt;
  const std::string_view text = value->scalar();
  const size_t digits = std::min(text.size(), text.find('.'));
  // Texts with an exponent are above 10^19 or below 10^-19.
  if (digits > kSecondsDigitsMax || text.find('e') != std::string_view::npos) return std::nullopt;
  int64_t due_ms = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;  // negative
    due_ms = due_ms * 10 + (text[i] - '0');
  }
  for (size_t i = digits + 1; i <= digits + kMillisDigits; ++i) {
    due_ms = due_ms * 10 + (i < text.size() ? text[i] - '0' : 0);
  }
  if (due_ms < kEarliestDueMs) return std::nullopt;
  return due_ms;
}

void RecordExpiryChange(const RowWrite& row, store::WriteUnit* unit) {
  const store::Table& table = row.table();
  if (table.expiry.family == nullptr) return;
  const model::TableSettings& settings = table.descriptor.settings;
  const std::string_view attribute = settings.time_to_live_attribute;
  std::optional<int64_t> before;
  std::optional<int64_t> after;
  if (row.before.has_value()) before = DueTimeMs(row.before->item, attribute);
  if (row.effect.after != nullptr) after = DueTimeMs(row.effect.after->view(), attribute);
  if (before == after) return;
  const auto key = [&](int64_t due_ms) {
    return store::ExpiryKey(table.descriptor.id, settings.time_to_live_generation, due_ms, row.key);
  };
  if (before.has_value()) unit->Delete(table.expiry, key(*before));
  if (!after.has_value()) return;
  unit->Put(table.expiry, key(*after), {});
  table.due_mark->Note(*after);
}

}  // namespace armature::engine
