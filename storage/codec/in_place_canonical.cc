#include "storage/codec/in_place_canonical.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include "storage/codec/canonical_text.h"
#include "storage/model/item_view.h"
#include "storage/model/limits.h"
#include "storage/model/number.h"
#include "storage/model/wire.h"

namespace armature::codec {
namespace {

using model::ValueType;
using model::WireTag;
using model::WireType;

constexpr char BytesTag(uint32_t field) { return static_cast<char>(WireTag(field, WireType::kBytes)); }
constexpr char BytesTag(ValueType type) { return BytesTag(static_cast<uint32_t>(type)); }
constexpr char FlagTag(ValueType type) {
  return static_cast<char>(WireTag(static_cast<uint32_t>(type), WireType::kVarint));
}

// Item.attributes, Map.entries, values of lists and sets.
constexpr char kMemberTag = BytesTag(1);
constexpr char kNameTag = BytesTag(1);
constexpr char kValueTag = BytesTag(2);

constexpr size_t kShortIntegerMax = 18;

// Bytes of the item that are not read yet, within the message around them.
class Reader {
 public:
  Reader(char* begin, char* end) : next_(begin), end_(end) {}

  bool at_end() const { return next_ == end_; }
  char* next() const { return next_; }

  // Takes a field with this tag and opens its body. False if the next field has another tag, or its length takes more
  // bytes than it must, or exceeds the message.
  bool Take(char tag, Reader* body) {
    if (next_ == end_ || *next_ != tag) return false;
    ++next_;
    size_t length = 0;
    if (!TakeLength(&length) || length > size()) return false;
    *body = {next_, next_ + length};
    next_ += length;
    return true;
  }

  // Takes the field if the message has nothing else.
  bool TakeLast(char tag, Reader* body) {
    // Most lengths have one byte.
    if (size() >= 2 && *next_ == tag && size() - 2 <= kShortMax && ByteAt(1) == size() - 2) {
      *body = {next_ + 2, end_};
      next_ = end_;
      return true;
    }
    return Take(tag, body) && at_end();
  }

  // Takes an entry, which has a name and a value and nothing else.
  bool TakeEntry(Reader* name, Reader* value) {
    // Most have lengths of one byte.
    if (size() >= 4 && next_[0] == kMemberTag && next_[2] == kNameTag && (ByteAt(1) | ByteAt(3)) <= kShortMax) {
      if (ByteAt(1) > size() - 2 || ByteAt(3) + 2 > ByteAt(1)) return false;
      char* const name_end = next_ + 4 + ByteAt(3);
      char* const entry_end = next_ + 2 + ByteAt(1);
      *name = {next_ + 4, name_end};
      next_ = entry_end;
      return Reader(name_end, entry_end).TakeLast(kValueTag, value);
    }
    Reader entry = *this;
    return Take(kMemberTag, &entry) && entry.Take(kNameTag, name) && entry.TakeLast(kValueTag, value);
  }

  std::string_view rest() const { return {next_, size()}; }

 private:
  static constexpr size_t kShortMax = 0x7F;  // of lengths of one byte

  size_t size() const { return static_cast<size_t>(end_ - next_); }
  size_t ByteAt(size_t i) const { return static_cast<uint8_t>(next_[i]); }

  bool TakeLength(size_t* length) {
    for (int shift = 0; shift < 35; shift += 7) {
      if (next_ == end_) return false;
      const auto byte = static_cast<uint8_t>(*next_++);
      *length |= static_cast<size_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return byte != 0 || shift == 0;
    }
    return false;
  }

  char* next_;
  char* end_;
};

// API size of a number of a few digits without sign and point, which needs no further check; 0 for other texts.
inline size_t ShortIntegerApiSize(std::string_view text) {
  static_assert(kShortIntegerMax < model::kPlacingZerosMin);
  if (text.empty() || text.size() > kShortIntegerMax || text[0] == '0') return 0;
  size_t significant = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') return 0;
    if (text[i] != '0') significant = i + 1;
  }
  return 1 + (significant + 1) / 2;
}

// The order of names, which mostly differ in their first bytes.
inline bool IsBefore(std::string_view a, std::string_view b) {
  if (!a.empty() && !b.empty() && a[0] != b[0]) return static_cast<uint8_t>(a[0]) < static_cast<uint8_t>(b[0]);
  return a < b;
}

// Each function returns false if the bytes need more than sorting.
class Sorter {
 public:
  // Values of the entries are at `depth` + 1.
  bool SortEntries(Reader body, int depth);
  size_t api_size() const { return api_size_; }

  // Depth of an item. Its values are at level one.
  static constexpr int kTopLevelDepth = 0;

 private:
  struct Entry {
    std::string_view name;
    std::string_view bytes;
  };

  bool CheckValue(Reader value, int depth);
  bool CheckNumber(std::string_view text);
  bool CheckNumberSet(Reader body);
  bool CheckByteSet(Reader body, bool is_text);
  bool CheckList(Reader body, int depth);
  // Sorts the entries of `body` by their names.
  bool Arrange(Reader body);

  size_t api_size_ = 0;
  // For the map that is sorted, one at a time; members, so that they keep their memory.
  std::vector<Entry> entries_;
  std::string sorted_;
};

bool Sorter::SortEntries(Reader body, int depth) {
  const Reader entries = body;
  bool ascending = true;
  std::optional<std::string_view> last;
  while (!body.at_end()) {
    Reader name = body;
    Reader value = body;
    if (!body.TakeEntry(&name, &value)) return false;
    const std::string_view text = name.rest();
    if (text.empty() || text.size() > model::kAttributeNameMaxBytes || !IsValidUtf8(text)) return false;
    api_size_ += text.size() + (depth == kTopLevelDepth ? 0 : model::kMemberApiBytes);
    if (!CheckValue(value, depth + 1)) return false;
    ascending = ascending && (!last.has_value() || IsBefore(*last, text));
    last = text;
  }
  return ascending || Arrange(entries);
}

bool Sorter::Arrange(Reader body) {
  char* const begin = body.next();
  entries_.clear();
  while (!body.at_end()) {
    char* const entry = body.next();
    Reader name = body;
    Reader value = body;
    if (!body.TakeEntry(&name, &value)) return false;
    entries_.push_back({name.rest(), {entry, static_cast<size_t>(body.next() - entry)}});
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return IsBefore(a.name, b.name); });
  const auto same = [](const Entry& a, const Entry& b) { return a.name == b.name; };
  if (std::adjacent_find(entries_.begin(), entries_.end(), same) != entries_.end()) return false;
  sorted_.clear();
  for (const Entry& entry : entries_) sorted_.append(entry.bytes);
  std::copy(sorted_.begin(), sorted_.end(), begin);
  return true;
}

bool Sorter::CheckValue(Reader value, int depth) {
  if (depth > model::kNestingDepthMax || value.at_end()) return false;
  const char tag = *value.next();
  if (tag == FlagTag(ValueType::kBool) || tag == FlagTag(ValueType::kNull)) {
    const std::string_view flag = value.rest().substr(1);
    api_size_ += 1;
    return flag.size() == 1 && (flag[0] == 1 || (flag[0] == 0 && tag == FlagTag(ValueType::kBool)));
  }
  Reader body = value;
  if (!value.TakeLast(tag, &body)) return false;
  switch (tag) {
    case BytesTag(ValueType::kString):
      api_size_ += body.rest().size();
      return IsValidUtf8(body.rest());
    case BytesTag(ValueType::kNumber):
      return CheckNumber(body.rest());
    case BytesTag(ValueType::kBinary):
      api_size_ += body.rest().size();
      return true;
    case BytesTag(ValueType::kStringSet):
    case BytesTag(ValueType::kBinarySet):
      return CheckByteSet(body, tag == BytesTag(ValueType::kStringSet));
    case BytesTag(ValueType::kNumberSet):
      return CheckNumberSet(body);
    case BytesTag(ValueType::kList):
      return CheckList(body, depth);
    case BytesTag(ValueType::kMap):
      api_size_ += model::kDocumentApiBytes;
      return SortEntries(body, depth);
    default:
      return false;
  }
}

bool Sorter::CheckNumber(std::string_view text) {
  if (const size_t size = ShortIntegerApiSize(text); size > 0) {
    api_size_ += size;
    return true;
  }
  if (!IsShortCanonicalNumber(text)) return false;
  api_size_ += model::NumberApiSize(text);
  return true;
}

bool Sorter::CheckNumberSet(Reader body) {
  if (body.at_end()) return false;
  std::optional<std::string_view> last;
  while (!body.at_end()) {
    Reader element = body;
    if (!body.Take(kMemberTag, &element)) return false;
    const std::string_view text = element.rest();
    if (!CheckNumber(text)) return false;
    if (last.has_value() && std::is_gteq(model::CompareCanonicalNumbers(*last, text))) return false;
    last = text;
  }
  return true;
}

bool Sorter::CheckByteSet(Reader body, bool is_text) {
  if (body.at_end()) return false;
  std::optional<std::string_view> last;
  while (!body.at_end()) {
    Reader element = body;
    if (!body.Take(kMemberTag, &element)) return false;
    const std::string_view bytes = element.rest();
    if ((is_text && !IsValidUtf8(bytes)) || (last.has_value() && *last >= bytes)) return false;
    api_size_ += bytes.size();
    last = bytes;
  }
  return true;
}

bool Sorter::CheckList(Reader body, int depth) {
  api_size_ += model::kDocumentApiBytes;
  while (!body.at_end()) {
    Reader element = body;
    if (!body.Take(kMemberTag, &element) || !CheckValue(element, depth + 1)) return false;
    api_size_ += model::kMemberApiBytes;
  }
  return true;
}

}  // namespace

std::optional<size_t> SortItem(std::string* wire) {
  Sorter sorter;
  if (!sorter.SortEntries({wire->data(), wire->data() + wire->size()}, Sorter::kTopLevelDepth)) return std::nullopt;
  return sorter.api_size();
}

}  // namespace armature::codec
