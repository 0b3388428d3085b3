#include "storage/codec/item_codec.h"
#include "storage/codec/canonical_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/api_error.h"
#include "storage/model/item_view.h"
#include "tests/unit/storage/codec/codec_test_util.h"

namespace armature::codec::item_codec_test {

using std::string_literals::operator""s;

constexpr std::string_view kEmptyValue =
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";
constexpr std::string_view kSeveralMembers =
    "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
    "supported datatypes";
constexpr std::string_view kNotANumber = "The parameter cannot be converted to a numeric value";
constexpr std::string_view kNested =
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
    "beyond supported limit";
constexpr std::string_view kNameTooLarge =
    "1 validation error detected: Attribute name is too large, must be less than 65536 bytes";

// The text "One or more parameter values were invalid: DETAIL".
std::string Oomp(std::string_view detail) {
  return "One or more parameter values were invalid: " + std::string(detail);
}

// The error as type and text, or "OK".
std::string Error(const absl::Status& status) {
  if (status.ok()) return "OK";
  const std::optional<ApiError> error = GetApiError(status);
  if (!error.has_value()) return "internal: " + std::string(status.message());
  return std::string(error->type == ApiErrorType::kValidation      ? "VE "
                     : error->type == ApiErrorType::kSerialization ? "SE "
                                                                   : "?? ") +
         error->message;
}
std::string ErrorOf(std::string_view item) { return Error(CanonicalizeItem(item).status()); }
std::string ErrorOfValue(std::string_view value) { return ErrorOf(Item({{"a", std::string(value)}})); }

// An encoded field with number `field` and content `body`.
std::string Field(uint32_t field, std::string_view body) {
  std::string bytes;
  model::AppendVarint(field << 3 | 2, &bytes);
  model::AppendVarint(body.size(), &bytes);
  return bytes.append(body);
}

// `value` inside `levels` nested maps or lists.
std::string Nest(int levels, bool lists, std::string value) {
  for (int i = 0; i < levels; ++i) value = lists ? L({value}) : M({{"m", value}});
  return value;
}

TEST(CanonicalizeItem, MatchesTheGoldenVectors) {
  for (const auto& vector : ReadGolden("item.golden", 4, /*format=*/2)) {
    // The vectors have an empty key of a map, which requests must not have.
    const absl::StatusOr<CanonicalItem> item = CanonicalizeItem(FromHex(vector[0]), ValueTexts::kStored);
    ASSERT_TRUE(item.ok()) << vector[0] << " " << item.status();
    EXPECT_EQ(ToHex(item->bytes), vector[1]);
    EXPECT_EQ(std::to_string(item->api_size), vector[2]);
    EXPECT_EQ(CanonicalizeItem(item->bytes, ValueTexts::kStored)->bytes, item->bytes);
    EXPECT_EQ(model::ApiSize(model::ItemView(item->bytes)), item->api_size);
    EXPECT_EQ(model::Measure(item->view()).compact_numbers, item->compact_numbers);
  }
}

TEST(CanonicalizeItem, TextsOfFormat1AreStillAccepted) {
  for (const auto& vector : ReadGolden("item.golden", 4)) {
    EXPECT_EQ(ToHex(CanonicalizeItem(FromHex(vector[1]), ValueTexts::kStored)->bytes),
              ToHex(CanonicalizeItem(FromHex(vector[0]), ValueTexts::kStored)->bytes));
  }
}

TEST(CanonicalizeItem, NormalisesValues) {
  const struct {
    const char* what;
    std::string sent;
    std::string canonical;
  } kCases[] = {
      {"number", N("+007.50"), N("7.5")},
      {"negative zero", N("-0.0"), N("0")},
      {"canonical number", N("-123.456"), N("-123.456")},
      {"plain text with too many zeros", N("1" + std::string(125, '0')), N("1e125")},
      {"plain text with too many zeros that is short", N("-5" + std::string(20, '0')), N("-5e20")},
      {"compact number", N("12e-130"), N("12e-130")},
      {"exponent, which makes the length grow", N("1e19"), N("1" + std::string(19, '0'))},
      {"zeros between digits", N("1" + std::string(30, '0') + "1"), N("1" + std::string(30, '0') + "1")},
      {"true of any value", Bool(300), Bool(1)},
      {"false", Bool(0), Bool(0)},
      {"null of any value", Null(2), Null(1)},
      {"empty string", S(""), S("")},
      {"empty binary", B(""), B("")},
      {"binary is any bytes", B("\xFF\xC0\0"s), B("\xFF\xC0\0"s)},
      {"string set in byte order", Ss({"b", "\xC3\xA9", "", "B", "ab"}), Ss({"", "B", "ab", "b", "\xC3\xA9"})},
      {"binary set in byte order", Bs({"\xFF", "\x7F", "", "\0"s}), Bs({"", "\0"s, "\x7F", "\xFF"})},
      {"number set in numeric order", Ns({"10", "9.0", "-1", "1e2", "-20"}), Ns({"-20", "-1", "9", "10", "100"})},
      {"list keeps its order", L({S("b"), S("a"), N("01")}), L({S("b"), S("a"), N("1")})},
      {"empty list", L({}), L({})},
      {"empty map", M({}), M({})},
      {"map sorted", M({{"b", N("1.0")}, {"a", S("x")}}), M({{"a", S("x")}, {"b", N("1")}})},
      {"last of a repeated name wins", M({{"b", S("1")}, {"a", S("2")}, {"b", N("3.0")}, {"b", S("4")}}),
       M({{"a", S("2")}, {"b", S("4")}})},
      {"nested set", M({{"s", L({Ss({"b", "a"})})}}), M({{"s", L({Ss({"a", "b"})})}})},
      {"unknown fields of a value", Field(11, "x") + S("a") + Field(100, "y") + "\x60\x01", S("a")},
      {"unknown fields of a list", Member(model::ValueType::kList, Field(2, "x") + Field(1, S("a"))), L({S("a")})},
      {"unknown fields of a set", Member(model::ValueType::kStringSet, Field(2, "x") + Field(1, "a")), Ss({"a"})},
      {"unknown fields of a map", Member(model::ValueType::kMap, Field(2, "x") + Item({{"k", S("a")}})),
       M({{"k", S("a")}})},
      {"length in more bytes than needed", "\x0A\x81\x80\x00"s + "a", S("a")},
  };
  for (const auto& c : kCases) {
    const absl::StatusOr<std::string> value = CanonicalizeValue(c.sent);
    ASSERT_TRUE(value.ok()) << c.what << " " << value.status();
    EXPECT_EQ(ToHex(*value), ToHex(c.canonical)) << c.what;
    const absl::StatusOr<CanonicalItem> item = CanonicalizeItem(Item({{"z", c.sent}, {"a", S("")}}));
    ASSERT_TRUE(item.ok()) << c.what << " " << item.status();
    EXPECT_EQ(ToHex(item->bytes), ToHex(Item({{"a", S("")}, {"z", c.canonical}}))) << c.what;
    EXPECT_EQ(item->api_size, model::ApiSize(model::ItemView(item->bytes))) << c.what;
  }
}

TEST(CanonicalizeItem, TakesEntriesInAnyShape) {
  const std::string wanted = Item({{"a", S("1")}, {"b", S("2")}});
  const std::string value_first = Field(1, Field(2, S("2")) + Field(1, "b")) + Item({{"a", S("1")}});
  const std::string with_unknown =
      Field(7, "x") + Field(1, Field(1, "a") + Field(9, "?") + Field(2, S("1"))) + Item({{"b", S("2")}}) + "\x10\x05";
  const std::string name_twice = Field(1, Field(1, "?") + Field(1, "a") + Field(2, S("1"))) + Item({{"b", S("2")}});
  const std::string merged = Item({{"b", S("0")}}) + Item({{"a", S("1")}, {"b", S("2")}});
  for (const std::string& sent : {wanted, value_first, with_unknown, name_twice, merged}) {
    const absl::StatusOr<CanonicalItem> item = CanonicalizeItem(sent);
    ASSERT_TRUE(item.ok()) << ToHex(sent) << item.status();
    EXPECT_EQ(ToHex(item->bytes), ToHex(wanted));
    EXPECT_EQ(item->api_size, 4u);
  }
}

TEST(CanonicalizeItem, RefusesValuesWithTheDocumentedText) {
  const struct {
    std::string value;
    std::string error;
  } kCases[] = {
      {"", "VE " + std::string(kEmptyValue)},
      {Field(11, "unknown"), "VE " + std::string(kEmptyValue)},
      {S("a") + N("1"), "VE " + std::string(kSeveralMembers)},
      {S("a") + S("a"), "VE " + std::string(kSeveralMembers)},
      {L({}) + L({}), "VE " + std::string(kSeveralMembers)},
      {S("a") + N("x"), "VE " + std::string(kNotANumber) + ": x"},
      {Null(0) + S("a"), "VE " + Oomp("Null attribute value types must have the value of true")},
      {Null(0), "VE " + Oomp("Null attribute value types must have the value of true")},
      {N(""), "VE " + std::string(kNotANumber)},
      {N("dog"), "VE " + std::string(kNotANumber) + ": dog"},
      {N("1 "), "VE " + std::string(kNotANumber) + ": 1 "},
      {N("-"), "VE " + std::string(kNotANumber) + ": -"},
      {N("1."s + "x"), "VE " + std::string(kNotANumber) + ": 1.x"},
      {N(std::string(39, '1')), "VE Attempting to store more than 38 significant digits in a Number"},
      {N("1e126"),
       "VE Number overflow. Attempting to store a number with magnitude larger than supported "
       "range"},
      {N("1e-131"),
       "VE Number underflow. Attempting to store a number with magnitude smaller than supported "
       "range"},
      {Ss({}), "VE " + Oomp("An string set  may not be empty")},
      {Ns({}), "VE " + Oomp("An number set  may not be empty")},
      {Bs({}), "VE " + Oomp("Binary sets should not be empty")},
      {Member(model::ValueType::kStringSet, Field(2, "x")), "VE " + Oomp("An string set  may not be empty")},
      {Ss({"a", "a"}), "VE " + Oomp("Input collection [a, a] contains duplicates.")},
      {Ss({"b", "a", "b"}), "VE " + Oomp("Input collection [b, a, b] contains duplicates.")},
      {Bs({"b", "b"}), "VE " + Oomp("Input collection [Yg==, Yg==]of type BS contains duplicates.")},
      {Bs({"\xFF", "\0"s, "\0"s}), "VE " + Oomp("Input collection [/w==, AA==, AA==]of type BS contains duplicates.")},
      {Ns({"1", "1.0"}), "VE Input collection contains duplicates"},
      {Ns({"1", "2", "10e-1"}), "VE Input collection contains duplicates"},
      {Ns({"2", "dog", "2"}), "VE " + std::string(kNotANumber) + ": dog"},
      {Ns({"2", ""}), "VE " + std::string(kNotANumber)},
      {L({S("a"), ""}), "VE " + std::string(kEmptyValue)},
      {L({M({{"x", Ss({"a", "a"})}})}), "VE " + Oomp("Input collection [a, a] contains duplicates.")},
      {M({{"x", Null(0)}}), "VE " + Oomp("Null attribute value types must have the value of true")},
      // Invalid UTF-8.
      {S("\xFF"), "SE Invalid UTF-8 in a string value"},
      {S("\xED\xA0\x80"), "SE Invalid UTF-8 in a string value"},
      {N("\xFF"), "SE Invalid UTF-8 in a number value"},
      {Ss({"a", "\xC0\x80"}), "SE Invalid UTF-8 in an element of a string set"},
      {Ns({"1", "\xFF"}), "SE Invalid UTF-8 in an element of a number set"},
      {M({{"\xFF", S("")}}), "SE Invalid UTF-8 in an attribute name"},
      // Known members with a wrong wire type.
      {"\x08\x01", "SE Unexpected wire type for member S of an attribute value in the request"},
      {Field(4, "x"), "SE Unexpected wire type for member BOOL of an attribute value in the request"},
      {Field(5, "x"), "SE Unexpected wire type for member NULL of an attribute value in the request"},
      {"\x51" + std::string(8, 'x'), "SE Unexpected wire type for member M of an attribute value in the request"},
      {Field(6, "\x08\x01"), "SE Unexpected wire type for an element of a set in the request"},
      {Field(9, "\x08\x01"), "SE Unexpected wire type for an element of a list in the request"},
      {Field(10, "\x08\x01"), "SE Unexpected wire type for a map entry in the request"},
      // Bytes that do not form a message.
      {"\x0A\x05x", "SE Malformed attribute value in the request"},
      {"\x0B", "SE Malformed attribute value in the request"},
      {Field(6, "\x0A"), "SE Malformed set in the request"},
      {Field(9, "\x0A"), "SE Malformed list in the request"},
      {Field(10, "\x0A"), "SE Malformed map in the request"},
      {Field(10, Field(1, "\x0A")), "SE Malformed map entry in the request"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(ErrorOfValue(c.value), c.error) << ToHex(c.value);
    EXPECT_EQ(Error(CanonicalizeValue(c.value).status()), c.error) << ToHex(c.value);
  }
}

TEST(CanonicalizeItem, RefusesEntriesWithTheDocumentedText) {
  const struct {
    std::string item;
    std::string error;
  } kCases[] = {
      {Item({{"", S("a")}}), "VE Empty attribute name"},
      {Field(1, Field(2, S("a"))), "VE Empty attribute name"},
      {Field(1, ""), "VE Empty attribute name"},
      {Item({{"a", M({{"", S("a")}})}}), "VE Empty attribute name"},
      {Item({{"a", L({M({{"b", M({{"", N("1")}})}})})}}), "VE Empty attribute name"},
      {Field(1, Field(1, "a")), "VE " + std::string(kEmptyValue)},
      {Item({{std::string(65'536, 'a'), S("")}}), "VE " + std::string(kNameTooLarge)},
      {Item({{"m", M({{std::string(65'536, 'a'), S("")}})}}), "VE " + std::string(kNameTooLarge)},
      {Item({{std::string(65'535, 'a'), S("")}}), "OK"},
      {Item({{"\xE2\x82", S("")}}), "SE Invalid UTF-8 in an attribute name"},
      {Field(1, Field(1, "a") + Field(2, S("1")) + Field(2, S("2"))),
       "SE Malformed map entry: two values in the request"},
      {Field(1, "\x08\x01"), "SE Unexpected wire type for a map entry in the request"},
      {"\x08\x01", "SE Unexpected wire type for a map entry in the request"},
      {"\x0A\x7F", "SE Malformed item in the request"},
      {"garbage", "SE Malformed item in the request"},
  };
  for (const auto& c : kCases) EXPECT_EQ(ErrorOf(c.item), c.error) << ToHex(c.item.substr(0, 80));
}

TEST(CanonicalizeItem, TellsTheFirstErrorOfTheRequest) {
  EXPECT_EQ(ErrorOf(Item({{"z", N("first")}, {"a", N("second")}})), "VE " + std::string(kNotANumber) + ": first");
  EXPECT_EQ(ErrorOf(Item({{"z", M({{"deep", L({N("first")})}})}, {"", S("")}})),
            "VE " + std::string(kNotANumber) + ": first");
  EXPECT_EQ(ErrorOf(Item({{"a", L({S("ok"), L({Ss({})}), N("second")})}})),
            "VE " + Oomp("An string set  may not be empty"));
  // A value that a later duplicate replaces is validated too.
  EXPECT_EQ(ErrorOf(Item({{"a", N("first")}, {"a", N("1")}})), "VE " + std::string(kNotANumber) + ": first");
}

TEST(CanonicalizeItem, Allows32Levels) {
  for (const bool lists : {false, true}) {
    EXPECT_EQ(ErrorOfValue(Nest(31, lists, S("x"))), "OK");
    EXPECT_EQ(ErrorOfValue(Nest(31, lists, Ss({"x"}))), "OK") << "the elements of a set are no level";
    EXPECT_EQ(ErrorOfValue(Nest(32, lists, S("x"))), "VE " + std::string(kNested));
    EXPECT_EQ(ErrorOfValue(Nest(33, lists, S("x"))), "VE " + std::string(kNested));
    // Values below the last level are not validated.
    EXPECT_EQ(ErrorOfValue(Nest(32, lists, N("dog"))), "VE " + std::string(kNested));
    EXPECT_EQ(Error(CanonicalizeValue(Nest(31, lists, S("x"))).status()), "OK");
    EXPECT_EQ(Error(CanonicalizeValue(Nest(32, lists, S("x"))).status()), "VE " + std::string(kNested));
    EXPECT_EQ(Error(CanonicalizeExpressionValues(Item({{":v", Nest(32, lists, S("x"))}})).status()),
              "VE ExpressionAttributeValues contains invalid value: " + std::string(kNested) + " for key :v");
  }
}

// The field headers of nested values, as many as fit into `size` bytes, written from the inside out. `fields` lists the
// fields from one value to the enclosing one, innermost first.
std::string Deep(const std::vector<uint32_t>& fields, size_t size) {
  std::string reversed;
  while (reversed.size() < size) {
    for (const uint32_t field : fields) {
      std::string head(1, static_cast<char>(field << 3 | 2));
      model::AppendVarint(reversed.size(), &head);
      reversed.append(head.rbegin(), head.rend());
    }
  }
  const std::string value(reversed.rbegin(), reversed.rend());
  return Field(fields.front(), value);
}

TEST(CanonicalizeItem, RefusesMegabytesOfNestingAtOnce) {
  const std::vector<uint32_t> lists = {9, 1};     // a list, an element
  const std::vector<uint32_t> maps = {10, 2, 1};  // a map, the value of an entry, the entry without a name
  for (const auto& [fields, error] : {std::pair{lists, std::string(kNested)}, {maps, "Empty attribute name"}}) {
    const std::string value = Deep(fields, 16 << 20);
    EXPECT_EQ(ErrorOfValue(value), "VE " + error);
    EXPECT_EQ(Error(CanonicalizeValue(value).status()), "VE " + error);
    EXPECT_EQ(Error(CanonicalizeExpressionValues(Item({{":v", value}})).status()),
              "VE ExpressionAttributeValues contains invalid value: " + error + " for key :v");
  }
}

TEST(CanonicalizeItem, BigItemsTakeLinearTime) {
  // The deepest level allowed, with attributes in an order that makes every level sort and every length grow.
  Attributes many;
  for (int i = 100'000; i > 0; --i) many.emplace_back(std::to_string(i), N("1e9"));
  std::string value = M(many);
  for (int i = 0; i < 30; ++i) value = M({{"z", value}, {"a", S("")}});
  const absl::StatusOr<CanonicalItem> item = CanonicalizeItem(Item({{"a", value}}));
  ASSERT_TRUE(item.ok()) << item.status();
  EXPECT_EQ(item->api_size, model::ApiSize(model::ItemView(item->bytes)));
  EXPECT_EQ(CanonicalizeItem(item->bytes)->bytes, item->bytes);
}

TEST(CanonicalizeItem, RepeatsOnlyTheHeadOfALargeSet) {
  std::vector<std::string> elements(100'000, "element");
  const std::string error = ErrorOfValue(Ss(elements));
  EXPECT_LT(error.size(), 4300u);
  EXPECT_TRUE(error.ends_with(", ...] contains duplicates.")) << error.substr(4000);
}

TEST(CanonicalizeItem, OfNothingIsAnEmptyItem) {
  const absl::StatusOr<CanonicalItem> item = CanonicalizeItem("");
  ASSERT_TRUE(item.ok());
  EXPECT_EQ(item->bytes, "");
  EXPECT_EQ(item->api_size, 0u);
}

TEST(CanonicalizeExpressionValues, NamesThePlaceholder) {
  const auto error = [](const Attributes& values) {
    return Error(CanonicalizeExpressionValues(Item(values)).status());
  };
  const std::string head = "VE ExpressionAttributeValues contains invalid value: ";
  EXPECT_EQ(error({{":ok", S("")}, {":v", N("dog")}}), head + std::string(kNotANumber) + ": dog for key :v");
  EXPECT_EQ(error({{":v", ""}}), head + std::string(kEmptyValue) + " for key :v");
  EXPECT_EQ(error({{":s", Ss({})}}), head + Oomp("An string set  may not be empty") + " for key :s");
  EXPECT_EQ(error({{":m", M({{"x", L({Ns({"1", "1"})})}})}}), head + "Input collection contains duplicates for key :m");
  // Malformed values are reported without a placeholder.
  EXPECT_EQ(error({{":v", S("\xFF")}}), "SE Invalid UTF-8 in a string value");
  EXPECT_EQ(error({{":v", "\x08\x01"}}), "SE Unexpected wire type for member S of an attribute value in the request");
}

TEST(CanonicalizeExpressionValues, LeavesTheNamesToTheCaller) {
  const absl::StatusOr<CanonicalItem> values =
      CanonicalizeExpressionValues(Item({{":b", N("1.0")}, {"", S("x")}, {std::string(70'000, ':'), S("")}}));
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(model::ItemView(values->bytes).Find(":b")->scalar(), "1");
  EXPECT_EQ(model::ItemView(values->bytes).Find("")->scalar(), "x");
}

TEST(CanonicalizeItem, AReplacedEntryLeavesNoTrace) {
  const std::string plain = Item({{"a", S("x")}});
  const std::string replaced = Item({{"a", N("1e125")}}) + plain;
  const absl::StatusOr<CanonicalItem> item = CanonicalizeItem(replaced);
  ASSERT_TRUE(item.ok()) << item.status();
  EXPECT_EQ(item->bytes, CanonicalizeItem(plain)->bytes);
  EXPECT_FALSE(item->compact_numbers);
  EXPECT_TRUE(CanonicalizeItem(Item({{"b", N("1e125")}}) + replaced)->compact_numbers);
}

TEST(IsValidUtf8, AcceptsExactlyWhatIsWellFormed) {
  const std::string kGood[] = {"",
                               "ascii",
                               "\0"s,
                               "\x7F",
                               "\xC2\x80",
                               "\xDF\xBF",
                               "\xE0\xA0\x80",
                               "\xED\x9F\xBF",
                               "\xEE\x80\x80",
                               "\xEF\xBF\xBF",
                               "\xF0\x90\x80\x80",
                               "\xF4\x8F\xBF\xBF",
                               "mixed \xC3\xA9 and \xF0\x9F\x98\x80 in a longer text"};
  const std::string kBad[] = {"\x80",
                              "\xBF",
                              "\xC0\x80",
                              "\xC1\xBF",
                              "\xC2",
                              "\xC2\x41",
                              "\xE0\x9F\xBF",
                              "\xE1\x80",
                              "\xED\xA0\x80",
                              "\xED\xBF\xBF",
                              "\xF0\x8F\xBF\xBF",
                              "\xF0\x90\x80",
                              "\xF4\x90\x80\x80",
                              "\xF5\x80\x80\x80",
                              "\xFE",
                              "\xFF"};
  for (size_t offset = 0; offset < 18; ++offset) {
    const std::string before(offset, 'x');
    for (const std::string& text : kGood) EXPECT_TRUE(IsValidUtf8(before + text + before)) << ToHex(text);
    for (const std::string& text : kBad) {
      EXPECT_FALSE(IsValidUtf8(before + text)) << ToHex(text);
      EXPECT_FALSE(IsValidUtf8(before + text + before)) << ToHex(text);
      EXPECT_FALSE(IsValidUtf8(text + std::string(8, 'y'))) << ToHex(text);
    }
  }
}

}  // namespace armature::codec::item_codec_test
