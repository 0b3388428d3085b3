#ifndef ARMATURE_ENGINE_ITEMS_EXPIRY_CHANGE_H_
#define ARMATURE_ENGINE_ITEMS_EXPIRY_CHANGE_H_

// The time at which an item expires, and the row by which it is found then.

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/items/row_write.h"
#include "storage/model/item_view.h"
#include "storage/store/commit/write_unit.h"

namespace armature::engine {

// An item whose time is longer ago than this does not expire: the time is taken for something else.
inline constexpr int64_t kExpiryAgeMaxMs = int64_t{5} * 365 * 24 * 3600 * 1000;
// Times before 2020 are longer ago on every clock that is right, so such items are not indexed.
inline constexpr int64_t kEarliestDueMs = 1'577'836'800'000;

// The top-level attribute `attribute` of the item, a number of seconds since 1970, in milliseconds rounded down. The
// item has expired when this is less than the present time in milliseconds. Nullopt if it never expires: the attribute
// is absent or no number, or the time is before 2020 or has more than 13 digits.
std::optional<int64_t> DueTimeMs(const model::ItemView& item, std::string_view attribute);

// Adds the change of the row in the index by time to `unit`, if the table has time to live. The write is decided.
void RecordExpiryChange(const RowWrite& row, store::WriteUnit* unit);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_EXPIRY_CHANGE_H_
