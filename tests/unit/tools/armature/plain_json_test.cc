#include "tools/armature/plain_json.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "google/protobuf/util/message_differencer.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"
#include "tests/support/random.h"
#include "tests/unit/storage/model/naive_decimal.h"
#include "tests/unit/storage/model/random_seed.h"
#include "tools/armature/message_json.h"

namespace armature::cli::plain_json_test {

using api::v1::AttributeValue;
using api::v1::Item;
using google::protobuf::util::MessageDifferencer;
using testing::HasSubstr;

// The typed JSON of what the plain `text` means, or the error.
std::string Typed(const std::string& text) {
  const absl::StatusOr<Item> item = ItemFromPlain(text);
  return item.ok() ? CompactJson(MessageToJson(*item)) : std::string(Sv(item.status().message()));
}

std::string TypedValue(const std::string& text) {
  const absl::StatusOr<AttributeValue> value = ValueFromPlain(text);
  return value.ok() ? CompactJson(MessageToJson(*value)) : std::string(Sv(value.status().message()));
}

// The plain text of what the plain `text` means.
std::string Again(const std::string& text) {
  const absl::StatusOr<Item> item = ItemFromPlain(text);
  return item.ok() ? PlainItem(*item) : std::string(Sv(item.status().message()));
}

TEST(PlainJsonTest, BareValuesHaveTheirTypes) {
  EXPECT_EQ(Typed(R"({"s": "x", "n": -12.50, "t": true, "f": false, "z": null, "l": [1, "a", []], "m": {"k": {}}})"),
            R"({"f":{"BOOL":false},"l":{"L":[{"N":"1"},{"S":"a"},{"L":[]}]},"m":{"M":{"k":{"M":{}}}},)"
            R"("n":{"N":"-12.50"},"s":{"S":"x"},"t":{"BOOL":true},"z":{"NULL":true}})");
  EXPECT_EQ(Typed("{}"), "{}");
}

TEST(PlainJsonTest, TypedValuesMayStandAmongBareOnes) {
  EXPECT_EQ(Typed(R"({"a": {"SS": ["x", ""]}, "b": {"NS": [1, "2"]}, "c": {"B": "AP8="}, "d": {"BS": ["AA=="]},
                      "e": {"L": [1, {"S": "x"}]}, "f": {"M": {"n": 1, "t": {"N": "2"}}}, "g": {"N": 3}})"),
            R"({"a":{"SS":["x",""]},"b":{"NS":["1","2"]},"c":{"B":"AP8="},"d":{"BS":["AA=="]},)"
            R"("e":{"L":[{"N":"1"},{"S":"x"}]},"f":{"M":{"n":{"N":"1"},"t":{"N":"2"}}},"g":{"N":"3"}})");
}

TEST(PlainJsonTest, ObjectsThatAreNoTypedValuesAreMaps) {
  EXPECT_EQ(Typed(R"({"a": {"S": 1}})"), R"({"a":{"M":{"S":{"N":"1"}}}})");
  EXPECT_EQ(Typed(R"({"a": {"S": "x", "N": "1"}})"), R"({"a":{"M":{"N":{"S":"1"},"S":{"S":"x"}}}})");
  EXPECT_EQ(Typed(R"({"a": {"s": "x"}})"), R"({"a":{"M":{"s":{"S":"x"}}}})");
  EXPECT_EQ(Typed(R"({"a": {"M": {"S": "x"}}})"), R"({"a":{"M":{"S":{"S":"x"}}}})");
  EXPECT_EQ(Typed(R"({"a": {"M": {"M": {"x": 1}}}})"), R"({"a":{"M":{"M":{"M":{"x":{"N":"1"}}}}}})");
}

TEST(PlainJsonTest, OutermostObjectOfAnItemIsNoTypedValue) {
  EXPECT_EQ(Typed(R"({"S": "x"})"), R"({"S":{"S":"x"}})");
  EXPECT_EQ(Typed(R"({"M": {"M": {"a": 1}}})"), R"({"M":{"M":{"a":{"N":"1"}}}})");
  EXPECT_EQ(TypedValue(R"({"S": "x"})"), R"({"S":"x"})");
  EXPECT_EQ(TypedValue("12"), R"({"N":"12"})");
}

TEST(PlainJsonTest, NumbersKeepAllDigits) {
  for (const std::string number : {"0", "-1", "18446744073709551616", "-9223372036854775809", "0.1", "1.50", "-0.00",
                                   "12345678901234567890123456789012345678", "0.12345678901234567890123456789012345678",
                                   "9.9999999999999999999999999999999999999E+125", "1e-130"}) {
    EXPECT_EQ(Typed(Cat(R"({"n": )", number, "}")), Cat(R"({"n":{"N":")", number, R"("}})"));
  }
  const std::string stored = Cat("9", std::string(125, '0'));
  EXPECT_EQ(Again(Cat(R"({"n": )", stored, "}")), Cat(R"({"n": )", stored, "}"));
}

TEST(PlainJsonTest, NumbersThatAreNoJsonArePrintedInQuotes) {
  for (const std::string number : {"+1", "01", "1.", ".5", "1e3", "-", "", "abc", "-0", "1.2.3"}) {
    const std::string text = Cat(R"({"n": {"N": ")", number, R"("}})");
    EXPECT_EQ(Again(text), text);
  }
}

TEST(PlainJsonTest, PrintsOneLineSortedByNameAfterTheNamesThatComeFirst) {
  const std::string text = R"({"B": {"B": "AP8="}, "a": "line\nfeed \u0001 \"é\"", "c": [1, {"x": null}], "d": {}})";
  EXPECT_EQ(Again(text), text);
  const absl::StatusOr<Item> item = ItemFromPlain(text);
  ASSERT_TRUE(item.ok());
  EXPECT_EQ(PlainItem(*item, {"d", "none", "c"}),
            R"({"d": {}, "c": [1, {"x": null}], "B": {"B": "AP8="}, "a": "line\nfeed \u0001 \"é\""})");
}

TEST(PlainJsonTest, ControlCharactersAreEscaped) {
  EXPECT_EQ(QuotedJson("\x1b[2J \x7f \xc2\x9b \xc2\x85 \xe2\x80\xa8 \xe2\x80\xa9 \xc2\xa0 \xe2\x80\xa6 \xc2"),
            "\"\\u001b[2J \\u007f \\u009b \\u0085 \\u2028 \\u2029 \xc2\xa0 \xe2\x80\xa6 \xc2\"");
}

TEST(PlainJsonTest, MapsThatLookTypedArePrintedAsTyped) {
  for (const std::string text : {
           R"({"a": {"M": {"S": "x"}}})",
           R"({"a": {"M": {"N": 1}}})",
           R"({"a": {"M": {"M": {}}}})",
           R"({"a": {"M": {"M": {"M": {"S": "x"}}}}})",
           R"({"a": {"M": {"M": {"SS": ["x"]}}}})",
           R"({"a": {"M": {"L": []}}})",
           R"({"a": {"M": {"NULL": false}}})",
           R"({"a": {"S": null}})",
           R"({"a": {"S": "x", "T": "y"}})",
           R"({"a": [{"M": {"SS": ["x"]}}]})",
       }) {
    EXPECT_EQ(Again(text), text);
  }
}

TEST(PlainJsonTest, ErrorsNameThePlace) {
  EXPECT_EQ(Typed(R"({"a": {"t": [1, {"SS": ["x", 1]}]}})"), "a.t[1].SS[1]: must be a string, not number");
  EXPECT_EQ(Typed(R"({"a": {"SS": []}})"), "a.SS: a set must not be empty");
  EXPECT_EQ(Typed(R"({"a": {"NS": [true]}})"), "a.NS[0]: must be a string, not boolean");
  EXPECT_EQ(Typed(R"({"a": {"BS": ["AA==", "A"]}})"), "a.BS[1]: must be base64 with padding");
  EXPECT_EQ(Typed(R"({"a": {"NULL": false}})"), "a.NULL: must be true");
  EXPECT_EQ(Typed(R"({"a": [{"b": 1, "b": 2}]})"), "a[0]: member \"b\" occurs twice");
  EXPECT_EQ(Typed(R"({"a": 1, "a": 1})"), "member \"a\" occurs twice");
  EXPECT_EQ(Typed("[]"), "must be an object, not array");
  EXPECT_EQ(Typed("12"), "must be an object, not number");
  EXPECT_THAT(Typed("{\n  \"a\": x}"), HasSubstr("not valid JSON: parse error at line 2, column 8"));
  for (const std::string text : {"", "{", "{} x", "{'a': 1}", "{\"a\": 1,}", "{\"a\": \"\xff\"}", "{\"a\": NaN}",
                                 "{\"a\": 01}", "{\"a\": \"\\ud800\"}", "{\"a\": 1e400}"}) {
    EXPECT_THAT(Typed(text), HasSubstr("not valid JSON")) << text;
  }
}

TEST(PlainJsonTest, Base64IsCanonical) {
  for (const char* bytes : {"A", "AP8", "AP 8=", "AP9=", "-_8=", "!!!!", "===="}) {
    EXPECT_EQ(TypedValue(Cat(R"({"B":")", bytes, R"("})")), "B: must be base64 with padding") << bytes;
  }
}

TEST(PlainJsonTest, NestingIsBounded) {
  const auto nested = [](int levels, const std::string& open, const std::string& close) {
    std::string text = R"("x")";
    for (int i = 1; i < levels; ++i) text = open + text + close;
    return Cat(R"({"a":)", text, "}");
  };
  const int most = model::kNestingDepthMax;
  for (const auto& [open, close] :
       {std::pair("[", "]"), std::pair(R"({"L":[)", "]}"), std::pair(R"({"M":{"k":)", "}}")}) {
    EXPECT_TRUE(ItemFromPlain(nested(most, open, close)).ok()) << open;
    EXPECT_THAT(Typed(nested(most + 1, open, close)), HasSubstr("nests deeper than 32 levels")) << open;
  }
  EXPECT_THAT(Typed(nested(100'000, "[", "]")), HasSubstr("nested too deeply"));
}

// Makes items with names and values that could be mistaken for typed values.
class AdversarialItems {
 public:
  explicit AdversarialItems(uint64_t seed) : random_(seed) {}

  Item Make() {
    Item item;
    Fill(4, item.mutable_attributes());
    return item;
  }

 private:
  std::string Text() {
    const std::vector<std::string> pieces{
        "S", "N", "M", "a", "1", "\"", "\\", "\n", "\x01", "\x7f", "\xc2\x85", "\xe2\x80\xa8", "é", "😀", " ", "true"};
    std::string text;
    for (size_t i = random_.Below(size_t{4}); i > 0; --i) text += random_.Pick(pieces);
    return text;
  }

  std::string Name() {
    const std::vector<std::string> types{"S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"};
    return random_.OneIn(4) ? Text() : random_.Pick(types);
  }

  std::string Number() { return model::MakeRandomNumber(random_.rng()).text; }

  template <class Make>
  void FillSet(Make add) {
    for (size_t i = 1 + random_.Below(size_t{3}); i > 0; --i) add();
  }

  void Fill(int depth, google::protobuf::Map<std::string, AttributeValue>* values) {
    const size_t count = random_.OneIn(3) ? random_.Below(size_t{4}) : 1;
    for (size_t i = 0; i < count; ++i) (*values)[Name()] = Value(depth - 1);
  }

  AttributeValue Value(int depth) {
    AttributeValue value;
    switch (random_.Below(depth > 0 ? 14 : 8)) {
      case 0:
        value.set_s(Text());
        break;
      case 1:
        value.set_n(Number());
        break;
      case 2:
        value.set_b(Cat(Text(), "\xff", Text()));
        break;
      case 3:
        value.set_bool_(random_.OneIn(2));
        break;
      case 4:
        value.set_null(true);
        break;
      case 5:
        FillSet([&] { value.mutable_ss()->add_values(Text()); });
        break;
      case 6:
        FillSet([&] { value.mutable_ns()->add_values(Number()); });
        break;
      case 7:
        FillSet([&] { value.mutable_bs()->add_values(Text()); });
        break;
      case 8:
      case 9:
        value.mutable_l();
        for (size_t i = random_.Below(size_t{3}); i > 0; --i) *value.mutable_l()->add_values() = Value(depth - 1);
        break;
      default:
        Fill(depth, value.mutable_m()->mutable_entries());
        break;
    }
    return value;
  }

  test::Random random_;
};

TEST(PlainJsonTest, RandomItemsComeBackAsTheyWere) {
  AdversarialItems items(PrintedTestSeed());
  for (int i = 0; i < 1'000; ++i) {
    const Item item = items.Make();
    for (const std::string& text : {PlainItem(item), CompactJson(MessageToJson(item))}) {
      const absl::StatusOr<Item> again = ItemFromPlain(text);
      ASSERT_TRUE(again.ok()) << text << ": " << again.status();
      ASSERT_TRUE(MessageDifferencer::Equals(*again, item)) << text;
    }
    for (const auto& [name, value] : item.attributes()) {
      const absl::StatusOr<AttributeValue> again = ValueFromPlain(PlainValue(value));
      ASSERT_TRUE(again.ok() && MessageDifferencer::Equals(*again, value)) << PlainValue(value);
    }
  }
}

}  // namespace armature::cli::plain_json_test
