#include "daemon/item_files/item_text.h"

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "daemon/message_json/base64.h"
#include "daemon/message_json/item_reader.h"
#include "daemon/message_json/json_reader.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/canonical_text.h"
#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kItemMember = "Item";

// Field numbers of an Item and its entries.
constexpr uint32_t kEntryField = 1;
constexpr uint32_t kEntryNameField = 1;
constexpr uint32_t kEntryValueField = 2;

// The error of a JSON reader without its details for API clients.
absl::Status PlainError(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kResourceExhausted) return status;
  return absl::InvalidArgumentError(status.message().empty() ? "it is not a JSON object" : status.message());
}

// The value of the member "Item".
absl::StatusOr<JsonValue> WrappedItem(JsonValue root) {
  std::optional<JsonValue> wrapped;
  ARM_RETURN_IF_ERROR(ReadMap(root, "AttributeValue", [&](std::string_view name, JsonValue value) {
    if (name == kItemMember) wrapped = value;
    return absl::OkStatus();
  }));
  if (!wrapped.has_value()) return absl::InvalidArgumentError("the record has no member Item");
  return *wrapped;
}

}  // namespace

absl::Status ItemFromJson(std::string* record, std::string* wire) {
  record->reserve(record->size() + JsonDocument::kPadding);
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(*record);
  if (!document.ok()) return PlainError(document.status());
  const absl::StatusOr<JsonValue> wrapped = WrappedItem(document->root());
  if (!wrapped.ok()) return PlainError(wrapped.status());
  const absl::Status read = ReadItem(*wrapped, wire);
  return read.ok() ? read : PlainError(read);
}

absl::Status ItemFromCells(const std::vector<CsvColumn>& columns, const std::vector<std::string>& cells,
                           std::string* wire) {
  if (cells.size() != columns.size()) {
    return absl::InvalidArgumentError(Cat(cells.size(), " cells, where the header has ", columns.size()));
  }
  wire->clear();
  std::string binary;
  std::string value;
  std::string entry;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].empty()) continue;
    const CsvColumn& column = columns[i];
    if (!codec::IsValidUtf8(cells[i])) {
      return absl::InvalidArgumentError(Cat("the value of ", column.name, " is not UTF-8"));
    }
    std::string_view bytes = cells[i];
    if (column.type == model::ValueType::kBinary) {
      binary.resize(bytes.size() % 4 == 0 ? DecodedSize(bytes) : 0);
      if (bytes.size() % 4 != 0 || !DecodeBase64(bytes, binary.data())) {
        return absl::InvalidArgumentError(Cat("the value of ", column.name, " is not base64"));
      }
      bytes = binary;
    }
    value.clear();
    model::AppendBytesField(static_cast<uint32_t>(column.type), bytes, &value);
    entry.clear();
    model::AppendBytesField(kEntryNameField, column.name, &entry);
    model::AppendBytesField(kEntryValueField, value, &entry);
    model::AppendBytesField(kEntryField, entry, wire);
  }
  return absl::OkStatus();
}

}  // namespace armature::daemon
