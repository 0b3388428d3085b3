#include "storage/codec/item_codec.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/canonical_text.h"
#include "storage/codec/in_place_canonical.h"
#include "storage/model/item_errors.h"
#include "storage/model/item_view.h"
#include "storage/model/limits.h"
#include "storage/model/number.h"
#include "storage/model/wire.h"

namespace armature::codec {
namespace {

using model::TakeField;
using model::ValueType;
using model::WireField;
using model::WireTag;
using model::WireType;

// Field numbers of the messages inside an Item. A map has the same structure as an item.
constexpr uint32_t kEntriesField = 1;  // Item.attributes, Map.entries
constexpr uint32_t kEntryNameField = 1;
constexpr uint32_t kEntryValueField = 2;
constexpr uint32_t kElementsField = 1;  // values of StringSet, NumberSet, BinarySet, List

// Length of a set shown in the error about duplicates.
constexpr size_t kEchoMaxBytes = 4096;

absl::Status MalformedError(std::string_view what) {
  return SerializationError(Cat("Malformed ", what, " in the request"));
}

absl::Status WrongWireTypeError(std::string_view what) {
  return SerializationError(Cat("Unexpected wire type for ", what, " in the request"));
}

absl::Status Utf8Error(std::string_view what) { return SerializationError(Cat("Invalid UTF-8 in ", what)); }

// Extracts the elements of a set, as sent, from the body of its message.
absl::Status TakeSetElements(std::string_view body, std::vector<std::string_view>* elements) {
  elements->clear();
  while (!body.empty()) {
    WireField field;
    if (!TakeField(&body, &field)) return MalformedError("set");
    if (field.number != kElementsField) continue;
    if (field.type != WireType::kBytes) return WrongWireTypeError("an element of a set");
    elements->push_back(field.bytes);
  }
  return absl::OkStatus();
}

// "[a, b, a]", truncated if too long.
template <class Print>
std::string PrintElements(const std::vector<std::string_view>& elements, std::string_view separator, Print print) {
  std::string text = "[";
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i > 0) text.append(separator);
    const std::string element = print(elements[i]);
    if (text.size() + element.size() > kEchoMaxBytes) {
      text.append("...");
      break;
    }
    text.append(element);
  }
  text.push_back(']');
  return text;
}

// The elements in the order in which the current layer prints duplicates: ascending up to the first repeated element,
// then as sent.
std::vector<std::string_view> UpToRepeat(const std::vector<std::string_view>& elements) {
  std::set<std::string_view> seen;
  size_t repeat = 0;
  while (repeat < elements.size() && seen.insert(elements[repeat]).second) ++repeat;
  std::vector<std::string_view> shown(seen.begin(), seen.end());
  shown.insert(shown.end(), elements.begin() + static_cast<ptrdiff_t>(repeat), elements.end());
  return shown;
}

absl::Status CurrentDuplicateError(ValueType type, const std::vector<std::string_view>& elements) {
  const bool is_text = type == ValueType::kStringSet;
  const auto quoted = [is_text](std::string_view element) {
    return Cat("\"", is_text ? std::string(element) : absl::Base64Escape(Av(element)), "\"");
  };
  const std::string list = PrintElements(UpToRepeat(elements), is_text ? ", " : ",", quoted);
  return InvalidParameterError(Cat("Input collection ", list, is_text ? " " : "of type BS ", "contains duplicates."));
}

absl::Status DuplicateError(ValueType type, ValueTexts texts, const std::vector<std::string_view>& elements) {
  if (texts == ValueTexts::kCurrent) return CurrentDuplicateError(type, elements);
  if (type == ValueType::kStringSet) {
    const std::string list =
        PrintElements(elements, ", ", [](std::string_view element) { return std::string(element); });
    return InvalidParameterError(Cat("Input collection ", list, " contains duplicates."));
  }
  const std::string list =
      PrintElements(elements, ", ", [](std::string_view element) { return absl::Base64Escape(Av(element)); });
  return InvalidParameterError(Cat("Input collection ", list, "of type BS contains duplicates."));
}

// Name and value of one map entry. A part missing on the wire is empty.
struct Entry {
  std::string_view name;
  std::string_view value;
};

absl::StatusOr<Entry> CutEntry(std::string_view body) {
  Entry entry;
  bool has_value = false;
  while (!body.empty()) {
    WireField field;
    if (!TakeField(&body, &field)) return MalformedError("map entry");
    if (field.number != kEntryNameField && field.number != kEntryValueField) continue;
    if (field.type != WireType::kBytes) return WrongWireTypeError("a map entry");
    if (field.number == kEntryNameField) {
      entry.name = field.bytes;
      continue;
    }
    // Protobuf would merge two values into one, which no client intends.
    if (std::exchange(has_value, true)) return MalformedError("map entry: two values");
    entry.value = field.bytes;
  }
  return entry;
}

// Writes canonical bytes while it walks the request's bytes.
//
// Each function appends one element and returns its API size. A length that is not known before the body is written
// reserves as many bytes as the length in the request had. Bytes are moved only if that guess fails. Errors leave the
// output incomplete; the caller discards it.
class Canonicalizer {
 public:
  Canonicalizer(bool placeholders, ValueTexts texts) : placeholders_(placeholders), texts_(texts) {}

  absl::StatusOr<size_t> AppendTopLevel(std::string_view wire) {
    // Canonical bytes are seldom longer than the sent bytes.
    out_.reserve(wire.size());
    return AppendEntries(wire, kTopLevelDepth);
  }
  absl::StatusOr<size_t> AppendValue(std::string_view wire, int depth);

  std::string TakeOutput() { return std::move(out_); }
  // True if some of the numbers that were written are compact, even if a later entry of the same name replaced them.
  bool compact_numbers() const { return compact_numbers_; }
  bool has_repeated() const { return has_repeated_; }

  // Depth of an item. Its values are at level one.
  static constexpr int kTopLevelDepth = 0;

 private:
  // One written entry of the current map or item.
  struct WrittenEntry {
    std::string_view name;
    size_t begin = 0;
    size_t end = 0;
    size_t api_size = 0;
  };

  absl::StatusOr<size_t> AppendEntries(std::string_view wire, int depth);
  absl::StatusOr<size_t> AppendEntry(const Entry& entry, int depth);
  void SortEntries(std::vector<WrittenEntry>* entries);
  absl::Status CheckName(std::string_view name, int depth) const;

  absl::StatusOr<size_t> AppendMember(const WireField& member, int depth);
  absl::StatusOr<size_t> AppendFlag(const WireField& member);
  absl::StatusOr<size_t> AppendText(std::string_view text);
  absl::StatusOr<model::Number> ParseNumber(std::string_view text) const;
  absl::StatusOr<size_t> AppendNumber(uint32_t field, std::string_view text);
  size_t AppendParsed(uint32_t field, const model::Number& number);
  absl::StatusOr<size_t> AppendSet(ValueType type, std::string_view body);
  absl::StatusOr<size_t> AppendByteSet(ValueType type);
  absl::StatusOr<size_t> AppendNumberSet();
  absl::StatusOr<size_t> AppendList(std::string_view body, int depth);
  absl::StatusOr<size_t> AppendMap(std::string_view body, int depth);

  void AppendTag(uint32_t field) { out_.push_back(static_cast<char>(WireTag(field, WireType::kBytes))); }

  const bool placeholders_;
  const ValueTexts texts_;
  std::string out_;
  bool compact_numbers_ = false;
  bool has_repeated_ = false;
  std::vector<std::string_view> elements_;  // elements of the current set; sets do not nest
};

absl::Status Canonicalizer::CheckName(std::string_view name, int depth) const {
  if (!IsValidUtf8(name)) return Utf8Error("an attribute name");
  // The caller checks placeholders.
  if (placeholders_ && depth == kTopLevelDepth) return absl::OkStatus();
  if (name.empty() && depth > kTopLevelDepth && texts_ == ValueTexts::kStored) return absl::OkStatus();
  return model::CheckAttributeName(name);
}

absl::StatusOr<size_t> Canonicalizer::AppendEntries(std::string_view wire, int depth) {
  const size_t begin = out_.size();
  std::vector<WrittenEntry> entries;
  bool ascending = true;
  while (!wire.empty()) {
    WireField field;
    if (!TakeField(&wire, &field)) return MalformedError(depth == kTopLevelDepth ? "item" : "map");
    if (field.number != kEntriesField) continue;
    if (field.type != WireType::kBytes) return WrongWireTypeError("a map entry");
    ARM_ASSIGN_OR_RETURN(const Entry entry, CutEntry(field.bytes));
    ARM_RETURN_IF_ERROR(CheckName(entry.name, depth));
    WrittenEntry written;
    written.name = entry.name;
    written.begin = out_.size();
    ARM_ASSIGN_OR_RETURN(written.api_size, AppendEntry(entry, depth));
    written.end = out_.size();
    ascending = ascending && (entries.empty() || entries.back().name < entry.name);
    entries.push_back(written);
  }
  if (!ascending) {
    SortEntries(&entries);
    std::string sorted;
    sorted.reserve(out_.size() - begin);
    for (const WrittenEntry& entry : entries) {
      sorted.append(out_, entry.begin, entry.end - entry.begin);
    }
    out_.replace(begin, std::string::npos, sorted);
  }
  size_t api_size = 0;
  for (const WrittenEntry& entry : entries) {
    api_size += entry.api_size + (depth == kTopLevelDepth ? 0 : model::kMemberApiBytes);
  }
  return api_size;
}

// Sorts by name. If a name repeats, only its last entry is kept.
void Canonicalizer::SortEntries(std::vector<WrittenEntry>* entries) {
  std::stable_sort(entries->begin(), entries->end(),
                   [](const WrittenEntry& a, const WrittenEntry& b) { return a.name < b.name; });
  size_t kept = 0;
  for (size_t i = 0; i < entries->size(); ++i) {
    const bool repeated = i + 1 < entries->size() && (*entries)[i + 1].name == (*entries)[i].name;
    if (!repeated) (*entries)[kept++] = (*entries)[i];
  }
  has_repeated_ = has_repeated_ || kept < entries->size();
  entries->resize(kept);
}

absl::StatusOr<size_t> Canonicalizer::AppendEntry(const Entry& entry, int depth) {
  AppendTag(kEntriesField);
  const model::OpenLength entry_length =
      model::BeginLength(model::BytesFieldSize(entry.name.size()) + model::BytesFieldSize(entry.value.size()), &out_);
  model::AppendBytesField(kEntryNameField, entry.name, &out_);
  AppendTag(kEntryValueField);
  const model::OpenLength value_length = model::BeginLength(entry.value.size(), &out_);
  const absl::StatusOr<size_t> api_size = AppendValue(entry.value, depth + 1);
  if (!api_size.ok()) {
    const std::optional<ApiError> error = GetApiError(api_size.status());
    const bool wrap = placeholders_ && texts_ == ValueTexts::kOlder && depth == kTopLevelDepth && error.has_value() &&
                      error->type == ApiErrorType::kValidation;
    if (!wrap) return api_size.status();
    return ValidationError(
        Cat("ExpressionAttributeValues contains invalid value: ", error->message, " for key ", entry.name));
  }
  model::EndLength(value_length, &out_);
  model::EndLength(entry_length, &out_);
  return entry.name.size() + *api_size;
}

absl::StatusOr<size_t> Canonicalizer::AppendValue(std::string_view wire, int depth) {
  // Checked first, so that excessive nesting ends the recursion early.
  if (depth > model::kNestingDepthMax) return model::NestingError();
  size_t members = 0;
  size_t api_size = 0;
  while (!wire.empty()) {
    WireField field;
    if (!TakeField(&wire, &field)) return MalformedError("attribute value");
    if (field.number > static_cast<uint32_t>(ValueType::kMap)) continue;
    ARM_ASSIGN_OR_RETURN(api_size, AppendMember(field, depth));
    ++members;
  }
  if (members == 0) return ValidationError(kEmptyValueText);
  if (members > 1) {
    return ValidationError(
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
        "supported datatypes");
  }
  return api_size;
}

absl::StatusOr<size_t> Canonicalizer::AppendMember(const WireField& member, int depth) {
  const auto type = static_cast<ValueType>(member.number);
  const bool is_flag = type == ValueType::kBool || type == ValueType::kNull;
  if (member.type != (is_flag ? WireType::kVarint : WireType::kBytes)) {
    return WrongWireTypeError(Cat("member ", model::ValueTypeName(type), " of an attribute value"));
  }
  switch (type) {
    case ValueType::kString:
      return AppendText(member.bytes);
    case ValueType::kNumber:
      return AppendNumber(member.number, member.bytes);
    case ValueType::kBinary:
      model::AppendBytesField(member.number, member.bytes, &out_);
      return member.bytes.size();
    case ValueType::kBool:
    case ValueType::kNull:
      return AppendFlag(member);
    case ValueType::kStringSet:
    case ValueType::kNumberSet:
    case ValueType::kBinarySet:
      return AppendSet(type, member.bytes);
    case ValueType::kList:
      return AppendList(member.bytes, depth);
    case ValueType::kMap:
      return AppendMap(member.bytes, depth);
  }
  return MalformedError("attribute value");
}

absl::StatusOr<size_t> Canonicalizer::AppendFlag(const WireField& member) {
  const bool value = member.varint != 0;
  if (!value && static_cast<ValueType>(member.number) == ValueType::kNull) {
    return InvalidParameterError("Null attribute value types must have the value of true");
  }
  out_.push_back(static_cast<char>(WireTag(member.number, WireType::kVarint)));
  out_.push_back(value ? 1 : 0);
  return size_t{1};
}

absl::StatusOr<size_t> Canonicalizer::AppendText(std::string_view text) {
  if (!IsValidUtf8(text)) return Utf8Error("a string value");
  model::AppendBytesField(static_cast<uint32_t>(ValueType::kString), text, &out_);
  return text.size();
}

// Requires UTF-8, because the error quotes the text.
absl::StatusOr<model::Number> Canonicalizer::ParseNumber(std::string_view text) const {
  if (texts_ != ValueTexts::kCurrent) return model::Number::ParseScaled(text);
  if (text.empty()) return ValidationError("The parameter cannot be converted to a numeric value: ");
  return model::Number::Parse(text);
}

// Appends `text` as `field` in canonical form.
absl::StatusOr<size_t> Canonicalizer::AppendNumber(uint32_t field, std::string_view text) {
  if (IsShortCanonicalNumber(text)) {
    model::AppendBytesField(field, text, &out_);
    return model::NumberApiSize(text);
  }
  if (!IsValidUtf8(text)) return Utf8Error("a number value");
  ARM_ASSIGN_OR_RETURN(const model::Number number, ParseNumber(text));
  return AppendParsed(field, number);
}

size_t Canonicalizer::AppendParsed(uint32_t field, const model::Number& number) {
  const std::string text = number.CanonicalText();
  compact_numbers_ = compact_numbers_ || model::IsCompactNumber(text);
  model::AppendBytesField(field, text, &out_);
  return model::NumberApiSize(text);
}

absl::StatusOr<size_t> Canonicalizer::AppendSet(ValueType type, std::string_view body) {
  ARM_RETURN_IF_ERROR(TakeSetElements(body, &elements_));
  if (elements_.empty()) {
    if (type == ValueType::kBinarySet) {
      return InvalidParameterError("Binary sets should not be empty");
    }
    return InvalidParameterError(
        Cat("An ", type == ValueType::kStringSet ? "string" : "number", " set  may not be empty"));
  }
  AppendTag(static_cast<uint32_t>(type));
  const model::OpenLength length = model::BeginLength(body.size(), &out_);
  ARM_ASSIGN_OR_RETURN(const size_t api_size, type == ValueType::kNumberSet ? AppendNumberSet() : AppendByteSet(type));
  model::EndLength(length, &out_);
  return api_size;
}

// Appends elements_ as the elements of a string or binary set.
absl::StatusOr<size_t> Canonicalizer::AppendByteSet(ValueType type) {
  bool ascending = true;
  for (size_t i = 0; i < elements_.size(); ++i) {
    if (type == ValueType::kStringSet && !IsValidUtf8(elements_[i])) {
      return Utf8Error("an element of a string set");
    }
    ascending = ascending && (i == 0 || elements_[i - 1] < elements_[i]);
  }
  if (!ascending) {
    std::vector<std::string_view> sorted = elements_;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      return DuplicateError(type, texts_, elements_);
    }
    elements_.swap(sorted);
  }
  size_t api_size = 0;
  for (const std::string_view element : elements_) {
    model::AppendBytesField(kElementsField, element, &out_);
    api_size += element.size();
  }
  return api_size;
}

// Appends elements_ as the elements of a number set.
absl::StatusOr<size_t> Canonicalizer::AppendNumberSet() {
  std::vector<model::Number> numbers;
  numbers.reserve(elements_.size());
  bool ascending = true;
  for (const std::string_view element : elements_) {
    if (!IsValidUtf8(element)) return Utf8Error("an element of a number set");
    ARM_ASSIGN_OR_RETURN(const model::Number number, ParseNumber(element));
    ascending = ascending && (numbers.empty() || numbers.back() < number);
    numbers.push_back(number);
  }
  if (!ascending) {
    std::sort(numbers.begin(), numbers.end());
    if (std::adjacent_find(numbers.begin(), numbers.end()) != numbers.end()) {
      if (texts_ == ValueTexts::kCurrent) return InvalidParameterError("Input collection contains duplicates.");
      return ValidationError("Input collection contains duplicates");
    }
  }
  size_t api_size = 0;
  for (const model::Number& number : numbers) api_size += AppendParsed(kElementsField, number);
  return api_size;
}

absl::StatusOr<size_t> Canonicalizer::AppendList(std::string_view body, int depth) {
  AppendTag(static_cast<uint32_t>(ValueType::kList));
  const model::OpenLength length = model::BeginLength(body.size(), &out_);
  size_t api_size = model::kDocumentApiBytes;
  while (!body.empty()) {
    WireField field;
    if (!TakeField(&body, &field)) return MalformedError("list");
    if (field.number != kElementsField) continue;
    if (field.type != WireType::kBytes) return WrongWireTypeError("an element of a list");
    AppendTag(kElementsField);
    const model::OpenLength element_length = model::BeginLength(field.bytes.size(), &out_);
    ARM_ASSIGN_OR_RETURN(const size_t element_size, AppendValue(field.bytes, depth + 1));
    model::EndLength(element_length, &out_);
    api_size += model::kMemberApiBytes + element_size;
  }
  model::EndLength(length, &out_);
  return api_size;
}

absl::StatusOr<size_t> Canonicalizer::AppendMap(std::string_view body, int depth) {
  AppendTag(static_cast<uint32_t>(ValueType::kMap));
  const model::OpenLength length = model::BeginLength(body.size(), &out_);
  ARM_ASSIGN_OR_RETURN(const size_t entries_size, AppendEntries(body, depth));
  model::EndLength(length, &out_);
  return model::kDocumentApiBytes + entries_size;
}

absl::StatusOr<CanonicalItem> CanonicalizeEntries(std::string_view wire, bool placeholders, ValueTexts texts) {
  Canonicalizer canonicalizer(placeholders, texts);
  CanonicalItem item;
  ARM_ASSIGN_OR_RETURN(item.api_size, canonicalizer.AppendTopLevel(wire));
  item.bytes = canonicalizer.TakeOutput();
  item.compact_numbers =
      canonicalizer.compact_numbers() && (!canonicalizer.has_repeated() || model::Measure(item.view()).compact_numbers);
  return item;
}

}  // namespace

absl::StatusOr<CanonicalItem> CanonicalizeItem(std::string_view wire, ValueTexts texts) {
  std::string own(wire);
  return CanonicalizeItem(&own, texts);
}

absl::StatusOr<CanonicalItem> CanonicalizeItem(std::string* wire, ValueTexts texts) {
  if (const std::optional<size_t> api_size = SortItem(wire); api_size.has_value()) {
    return CanonicalItem{std::move(*wire), *api_size};
  }
  return CanonicalizeEntries(*wire, /*placeholders=*/false, texts);
}

absl::StatusOr<CanonicalItem> CanonicalizeExpressionValues(std::string_view wire, ValueTexts texts) {
  return CanonicalizeEntries(wire, /*placeholders=*/true, texts);
}

absl::StatusOr<std::string> CanonicalizeValue(std::string_view wire, ValueTexts texts) {
  Canonicalizer canonicalizer(/*placeholders=*/false, texts);
  ARM_ASSIGN_OR_RETURN(const size_t api_size, canonicalizer.AppendValue(wire, Canonicalizer::kTopLevelDepth + 1));
  static_cast<void>(api_size);
  return canonicalizer.TakeOutput();
}

}  // namespace armature::codec
