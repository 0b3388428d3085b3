#include "daemon/item_files/item_text.h"

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "daemon/json/base64.h"
#include "daemon/json/item_reader.h"
#include "daemon/json/json_reader.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/canonical_text.h"
#include "storage/model/wire.h"

namespace armature::daemon {
namespace {

// The parser reads so many bytes beyond the end of a text, or copies it.
constexpr size_t kParserPadding = 64;

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

// The value of the member "Item", if the document has no other member.
absl::StatusOr<std::optional<JsonValue>> WrappedItem(JsonValue root) {
  std::optional<JsonValue> wrapped;
  int64_t members = 0;
  ARM_RETURN_IF_ERROR(ReadMap(root, "AttributeValue", [&](std::string_view name, JsonValue value) {
    if (name == kItemMember) wrapped = value;
    ++members;
    return absl::OkStatus();
  }));
  if (members != 1) wrapped.reset();
  return wrapped;
}

}  // namespace

// No valid item has both readings: the values of one would be the types of the other.
absl::Status ItemFromJson(std::string* line, std::string* wire) {
  line->reserve(line->size() + kParserPadding);
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(*line);
  if (!document.ok()) return PlainError(document.status());
  const absl::StatusOr<std::optional<JsonValue>> wrapped = WrappedItem(document->root());
  if (!wrapped.ok()) return PlainError(wrapped.status());
  if (!wrapped->has_value()) {
    const absl::Status bare = ReadItem(document->root(), wire);
    return bare.ok() ? bare : PlainError(bare);
  }
  const absl::Status inner = ReadItem(**wrapped, wire);
  if (inner.ok() || ReadItem(document->root(), wire).ok()) return absl::OkStatus();
  return PlainError(inner);
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
