#include "storage/model/plain_item.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "storage/model/item_view.h"
#include "storage/model/limits.h"
#include "storage/model/number.h"
#include "storage/model/wire.h"

namespace armature::model {
namespace {

// Writes an item with plain numbers in two passes: the first finds the sizes of all values that may change inside,
// since a length stands before its value.
class PlainWriter {
 public:
  std::string Write(const ItemView& item) {
    out_.reserve(MeasureMembers(item, /*depth=*/1));
    AppendMembers(item, /*depth=*/1);
    return std::move(out_);
  }

 private:
  // True for a value whose elements may change. `depth` is the level of the value.
  static bool IsOpened(const ValueView& value, int depth) {
    const ValueType type = value.type();
    return type == ValueType::kNumberSet ||
           ((type == ValueType::kList || type == ValueType::kMap) && depth <= kNestingDepthMax);
  }

  static size_t EntrySize(const AttributeView& member, size_t value_size) {
    return BytesFieldSize(member.name.size()) + BytesFieldSize(value_size);
  }

  // The encoded size of a value that is not opened.
  static size_t LeafSize(const ValueView& value) {
    if (value.type() != ValueType::kNumber) return value.wire().size();
    return BytesFieldSize(PlainNumberSize(value.scalar()));
  }

  // First pass. Returns encoded sizes, and keeps the body sizes of opened values in the order in which they begin.
  size_t MeasureMembers(const ItemView& item, int depth) {
    size_t size = 0;
    item.ForEach([&](const AttributeView& member) {
      size += BytesFieldSize(EntrySize(member, MeasureValue(member.value, depth)));
      return true;
    });
    return size;
  }

  size_t MeasureValue(const ValueView& value, int depth) {
    if (!IsOpened(value, depth)) return LeafSize(value);
    const size_t slot = bodies_.size();
    bodies_.push_back(0);
    size_t size = 0;
    if (value.type() == ValueType::kMap) {
      size = MeasureMembers(value.map(), depth + 1);
    } else if (value.type() == ValueType::kList) {
      value.ForEachListElement([&](const ValueView& element) {
        size += BytesFieldSize(MeasureValue(element, depth + 1));
        return true;
      });
    } else {
      value.ForEachSetElement([&size](std::string_view element) {
        size += BytesFieldSize(PlainNumberSize(element));
        return true;
      });
    }
    bodies_[slot] = size;
    return BytesFieldSize(size);
  }

  // Second pass.
  void AppendHead(uint32_t field, size_t size) {
    out_.push_back(static_cast<char>(WireTag(field, WireType::kBytes)));
    AppendVarint(size, &out_);
  }

  // The size of the value that is appended next.
  size_t NextSize(const ValueView& value, int depth) const {
    return IsOpened(value, depth) ? BytesFieldSize(bodies_[next_]) : LeafSize(value);
  }

  void AppendMembers(const ItemView& item, int depth) {
    item.ForEach([&](const AttributeView& member) {
      const size_t size = NextSize(member.value, depth);
      AppendHead(1, EntrySize(member, size));
      AppendBytesField(1, member.name, &out_);
      AppendHead(2, size);
      AppendValue(member.value, depth);
      return true;
    });
  }

  void AppendPlain(uint32_t field, std::string_view number) {
    AppendHead(field, PlainNumberSize(number));
    AppendPlainNumber(number, &out_);
  }

  void AppendValue(const ValueView& value, int depth) {
    const auto field = static_cast<uint32_t>(value.type());
    if (value.type() == ValueType::kNumber) return AppendPlain(field, value.scalar());
    if (!IsOpened(value, depth)) {
      out_.append(value.wire());
      return;
    }
    AppendHead(field, bodies_[next_++]);
    if (value.type() == ValueType::kMap) return AppendMembers(value.map(), depth + 1);
    if (value.type() == ValueType::kList) {
      value.ForEachListElement([&](const ValueView& element) {
        AppendHead(kElementsField, NextSize(element, depth + 1));
        AppendValue(element, depth + 1);
        return true;
      });
      return;
    }
    value.ForEachSetElement([&](std::string_view element) {
      AppendPlain(kElementsField, element);
      return true;
    });
  }

  std::vector<size_t> bodies_;
  size_t next_ = 0;
  std::string out_;
};

}  // namespace

std::string PlainItem(std::string_view item_bytes) { return PlainWriter().Write(ItemView(item_bytes)); }

}  // namespace armature::model
