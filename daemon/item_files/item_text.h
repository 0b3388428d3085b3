#ifndef ARMATURE_DAEMON_ITEM_FILES_ITEM_TEXT_H_
#define ARMATURE_DAEMON_ITEM_FILES_ITEM_TEXT_H_

// Items of texts in wire form (engine/items/request.h). Only the syntax is checked; the engine validates items.
//
// Errors: INVALID_ARGUMENT with the reason.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "storage/model/item_view.h"

namespace armature::daemon {

// Reads a record, {"Item": {...}} with the item in its documented JSON form. Other members are ignored. `record` gets
// capacity for the parser.
absl::Status ItemFromJson(std::string* record, std::string* wire);

// A column of a CSV file.
struct CsvColumn {
  std::string name;
  model::ValueType type = model::ValueType::kString;  // S, N or B
};

// Reads an item from its cells. An empty cell is no attribute; binary values are base64.
absl::Status ItemFromCells(const std::vector<CsvColumn>& columns, const std::vector<std::string>& cells,
                           std::string* wire);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_ITEM_FILES_ITEM_TEXT_H_
