#include "storage/model/item_view.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "storage/model/wire.h"

namespace armature::model::item_view_test {

std::string Field(ValueType type, std::string_view body) {
  std::string bytes;
  AppendBytesField(static_cast<uint32_t>(type), body, &bytes);
  return bytes;
}

std::string Flag(ValueType type, bool value) {
  return {static_cast<char>(WireTag(static_cast<uint32_t>(type), WireType::kVarint)), static_cast<char>(value)};
}

std::string Elements(const std::vector<std::string>& elements) {
  std::string body;
  for (const std::string& element : elements) AppendBytesField(1, element, &body);
  return body;
}

void Put(std::string_view name, std::string_view value, std::string* item) {
  const std::optional<ValueView> view = ValueView::FromWire(value);
  ASSERT_TRUE(view.has_value());
  AppendAttribute(name, *view, item);
}

// One attribute of each type.
std::string FullItem() {
  std::string inner;
  Put("x", Field(ValueType::kNumber, "1.5"), &inner);
  std::string item;
  Put("b", Field(ValueType::kBinary, std::string_view("\0\xFF", 2)), &item);
  Put("bool", Flag(ValueType::kBool, true), &item);
  Put("bs", Field(ValueType::kBinarySet, Elements({"a", "bc"})), &item);
  Put("l", Field(ValueType::kList, Elements({Field(ValueType::kString, "one"), Flag(ValueType::kNull, true)})), &item);
  Put("m", Field(ValueType::kMap, inner), &item);
  Put("n", Field(ValueType::kNumber, "-12"), &item);
  Put("ns", Field(ValueType::kNumberSet, Elements({"1", "200"})), &item);
  Put("null", Flag(ValueType::kNull, true), &item);
  Put("s", Field(ValueType::kString, "text"), &item);
  Put("ss", Field(ValueType::kStringSet, Elements({"", "abc"})), &item);
  return item;
}

TEST(ItemView, FindsEveryAttribute) {
  const std::string bytes = FullItem();
  const ItemView item(bytes);
  EXPECT_EQ(item.Find("b")->scalar(), std::string_view("\0\xFF", 2));
  EXPECT_TRUE(item.Find("bool")->boolean());
  EXPECT_EQ(item.Find("n")->scalar(), "-12");
  EXPECT_EQ(item.Find("s")->type(), ValueType::kString);
  EXPECT_EQ(item.Find("null")->type(), ValueType::kNull);
  EXPECT_EQ(item.Find("m")->map().Find("x")->scalar(), "1.5");
  EXPECT_EQ(item.Find("ss")->size(), 2u);
  EXPECT_EQ(item.Find("m")->size(), 1u);
  EXPECT_EQ(item.Find("s")->size(), 0u);
  for (const char* absent : {"", "a", "bb", "m.x", "t"}) EXPECT_FALSE(item.Find(absent)) << absent;

  std::vector<ValueType> types;
  item.Find("l")->ForEachListElement([&types](const ValueView& element) {
    types.push_back(element.type());
    return true;
  });
  EXPECT_EQ(types, (std::vector{ValueType::kString, ValueType::kNull}));
  std::vector<std::string_view> elements;
  item.Find("ns")->ForEachSetElement([&elements](std::string_view element) {
    elements.push_back(element);
    return false;
  });
  EXPECT_EQ(elements, (std::vector<std::string_view>{"1"})) << "stops when told to";
}

// Lengths of one, two and three bytes.
TEST(ItemView, FindsAttributesBehindLongOnes) {
  for (const size_t size : {size_t{100}, size_t{119}, size_t{120}, size_t{127}, size_t{128}, size_t{16'370},
                            size_t{16'383}, size_t{16'384}}) {
    for (const size_t name_size : {size_t{1}, size_t{127}, size_t{128}, size_t{300}}) {
      const std::string name(name_size, 'a');
      std::string item;
      Put(name, Field(ValueType::kString, std::string(size, 'v')), &item);
      Put("b", Field(ValueType::kString, "found"), &item);
      const std::optional<ValueView> first = ItemView(item).Find(name);
      ASSERT_TRUE(first.has_value()) << size << " " << name_size;
      EXPECT_EQ(first->scalar().size(), size);
      const std::optional<ValueView> second = ItemView(item).Find("b");
      ASSERT_TRUE(second.has_value()) << size << " " << name_size;
      EXPECT_EQ(second->scalar(), "found");
      // Cut within the lengths of the first entry.
      for (size_t end = 0; end < 8; ++end) {
        const std::string cut = item.substr(0, end);
        EXPECT_FALSE(ItemView(cut).Find("b").has_value());
        EXPECT_FALSE(ItemView(cut).Find(name).has_value());
      }
    }
  }
}

// The second name may be before, behind or equal to the first, and each may be missing.
TEST(AttributeFinder, FindsInAnyOrderWhatTheItemHas) {
  const std::string whole = FullItem();
  const std::string_view names[] = {"",   "a", "b",  "bool", "bs",   "bz", "l",  "m",
                                    "mm", "n", "na", "ns",   "null", "s",  "ss", "z"};
  for (size_t size = 0; size <= whole.size(); ++size) {
    const ItemView item(std::string_view(whole).substr(0, size));
    for (const std::string_view first : names) {
      for (const std::string_view second : names) {
        AttributeFinder finder(item);
        ASSERT_EQ(finder.Find(first), item.Find(first)) << first;
        ASSERT_EQ(finder.Find(second), item.Find(second)) << first << ", " << second << " in " << size << " bytes";
      }
    }
  }
}

TEST(ItemView, EntriesAppendedInOrderMakeTheSameItem) {
  const std::string bytes = FullItem();
  std::string by_value;
  std::string by_entry;
  ItemView(bytes).ForEach([&](const AttributeView& attribute) {
    AppendAttribute(attribute.name, attribute.value, &by_value);
    by_entry.append(attribute.entry);
    return true;
  });
  EXPECT_EQ(by_value, bytes);
  EXPECT_EQ(by_entry, bytes);
}

TEST(ItemView, CountsSizesAsTheApi) {
  const std::string bytes = FullItem();
  const ItemView item(bytes);
  const struct {
    const char* name;
    size_t size;
  } kCases[] = {
      {"b", 2},    {"bool", 1}, {"bs", 3}, {"l", 3 + 1 + 3 + 1 + 1}, {"m", 3 + 1 + 1 + 3}, {"n", 3}, {"ns", 4},
      {"null", 1}, {"s", 4},    {"ss", 3}};
  size_t total = 0;
  for (const auto& c : kCases) {
    EXPECT_EQ(ApiSize(*item.Find(c.name)), c.size) << c.name;
    total += std::string_view(c.name).size() + c.size;
  }
  EXPECT_EQ(ApiSize(item), total);

  // The example of the developer guide.
  std::string shirt;
  Put("shirt-color", Field(ValueType::kString, "R"), &shirt);
  Put("shirt-size", Field(ValueType::kString, "M"), &shirt);
  EXPECT_EQ(ApiSize(ItemView(shirt)), 23u);
}

TEST(ItemView, OfDamagedBytesIsShortAndStaysInBounds) {
  const std::string bytes = FullItem();
  const auto walk = [](std::string_view damaged) {
    // A copy of exact size, so that the address sanitizer sees a read beyond the end.
    const std::vector<char> copy(damaged.begin(), damaged.end());
    const ItemView item(std::string_view(copy.data(), copy.size()));
    size_t attributes = 0;
    item.ForEach([&attributes](const AttributeView&) {
      ++attributes;
      return true;
    });
    EXPECT_LE(attributes, 10u);
    ApiSize(item);
    item.Find("zzz");
  };
  for (size_t size = 0; size < bytes.size(); ++size) walk(std::string_view(bytes).substr(0, size));
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int flip = 1; flip < 256; ++flip) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      walk(damaged);
    }
  }
}

TEST(ValueView, RefusesWhatIsNoValue) {
  EXPECT_FALSE(ValueView::FromWire(""));
  EXPECT_FALSE(ValueView::FromWire("\x5A\x01x")) << "field 11";
  EXPECT_FALSE(ValueView::FromWire("\x08\x01")) << "S as a varint";
  EXPECT_FALSE(ValueView::FromWire("\x22\x01x")) << "BOOL as bytes";
  EXPECT_FALSE(ValueView::FromWire("\x0A\x02x")) << "cut short";
  EXPECT_FALSE(ValueView::FromWire(Field(ValueType::kString, "a") + Field(ValueType::kString, "b")));
}

}  // namespace armature::model::item_view_test
