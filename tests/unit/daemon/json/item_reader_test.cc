#include "daemon/message_json/item_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "storage/model/item_view.h"
#include "storage/model/limits.h"
#include "tests/unit/daemon/json/json_test_util.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/codec/random_item.h"
#include "tests/unit/storage/model/printed_item.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::daemon::item_reader_test {

std::string Printed(std::string_view json) {
  const absl::StatusOr<std::string> bytes = CanonicalOf(std::string(json));
  return bytes.ok() ? model::PrintedItem(model::ItemView(*bytes)) : ErrorTextOf(bytes.status());
}

std::string PrintedValue(std::string_view json) { return Printed(Cat(R"({"v":)", json, "}")); }

TEST(ItemReader, ReadsEveryType) {
  EXPECT_EQ(
      Printed(R"({"s": {"S": "x"}, "n": {"N": "1.50"}, "b": {"B": "aGk="}, "t": {"BOOL": true},
                        "f": {"BOOL": "No"}, "z": {"NULL": true}, "ss": {"SS": ["y", "x"]}, "ns": {"NS": ["2", "1e0"]},
                        "bs": {"BS": ["eW8=", "aGk="]}, "l": {"L": [{"S": "a"}, {"L": []}]}, "m": {"M": {"k": {"M": {}}}}})"),
      "b=B:hi, bs=<hi, yo>, f=false, l=[S:a, []], m={k={}}, n=N:1.5, ns=<1, 2>, s=S:x, ss=<x, y>, t=true, z=null");
  EXPECT_EQ(Printed("{}"), "");
  EXPECT_EQ(Printed(R"({"a": {"S": ""}, "b": {"B": ""}})"), "a=S:, b=B:");
}

TEST(ItemReader, NamesAndTextsKeepAllCharacters) {
  EXPECT_EQ(*CanonicalOf(R"({"a\u0000.\"": {"S": "\u0000\ud83d\ude00"}})"),
            codec::Item({{std::string("a\0.\"", 4), codec::S(std::string("\0\xF0\x9F\x98\x80", 5))}}));
}

TEST(ItemReader, WrongJsonTypesAreTold) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {R"("x")", "Unexpected value type in payload"},
      {"1", "Unexpected value type in payload"},
      {"true", "Unexpected value type in payload"},
      {"[]", "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue"},
      {R"({"S": 1})", "NUMBER_VALUE cannot be converted to String"},
      {R"({"S": [1]})", "Unrecognized collection type class java.lang.String"},
      {R"({"S": {}})", "Start of structure or map found where not expected"},
      {R"({"N": 1.5})", "DECIMAL_VALUE cannot be converted to String"},
      {R"({"N": false})", "FALSE_VALUE cannot be converted to String"},
      {R"({"B": 1})", "only base-64-encoded strings are convertible to bytes"},
      {R"({"B": true})", "only base-64-encoded strings are convertible to bytes"},
      {R"({"B": []})", "Unrecognized collection type class java.nio.ByteBuffer"},
      {R"({"B": {}})", "Start of structure or map found where not expected"},
      {R"({"B": "abc"})", "Base64 encoded length is expected a multiple of 4 bytes but found: 3"},
      {R"({"B": "abcde"})", "Base64 encoded length is expected a multiple of 4 bytes but found: 5"},
      {R"({"B": "a==="})", "Invalid last non-pad Base64 character dectected"},
      {R"({"B": "A-A="})", "Invalid last non-pad Base64 character dectected"},
      {R"({"BOOL": "maybe"})", "Unexpected token received from parser"},
      {R"({"BOOL": 1})", "NUMBER_VALUE cannot be converted to Boolean"},
      {R"({"NULL": []})", "Unrecognized collection type class java.lang.Boolean"},
      {R"({"SS": "x"})", "Unexpected field type"},
      {R"({"SS": {}})", "Start of structure or map found where not expected"},
      {R"({"SS": ["x", 1]})", "NUMBER_VALUE cannot be converted to String"},
      {R"({"SS": [null]})", "NULL_VALUE cannot be converted to String"},
      {R"({"NS": [1]})", "NUMBER_VALUE cannot be converted to String"},
      {R"({"BS": [1]})", "only base-64-encoded strings are convertible to bytes"},
      {R"({"BS": ["AA==", "x"]})", "Base64 encoded length is expected a multiple of 4 bytes but found: 1"},
      {R"({"L": "x"})", "Unexpected field type"},
      {R"({"L": {}})", "Start of structure or map found where not expected"},
      {R"({"L": ["x"]})", "Unexpected value type in payload"},
      {R"({"M": true})", "Unexpected field type"},
      {R"({"M": []})",
       "Unrecognized collection type java.util.Map<java.lang.String, "
       "com.amazonaws.dynamodb.v20120810.AttributeValue>"},
      {R"({"M": {"k": {"L": [{"S": 1}]}}})", "NUMBER_VALUE cannot be converted to String"},
  };
  for (const auto& [json, text] : kCases) {
    EXPECT_EQ(PrintedValue(json), Cat("SerializationException: ", text)) << json;
  }
  EXPECT_EQ(ErrorTextOf(ReadMember<std::string>(R"({"v": []})", ReadItem).status()),
            "SerializationException: Unrecognized collection type java.util.Map<java.lang.String, "
            "com.amazonaws.dynamodb.v20120810.AttributeValue>");
  EXPECT_EQ(ErrorTextOf(ReadMember<std::string>(R"({"v": "x"})", ReadItem).status()),
            "SerializationException: Unexpected field type");
}

TEST(ItemReader, TheFirstFaultInTheDocumentIsTold) {
  EXPECT_EQ(Printed(R"({"b": {"B": 1}, "a": {"S": 1}})"),
            "SerializationException: only base-64-encoded strings are convertible to bytes");
  EXPECT_EQ(Printed(R"({"b": {"N": "x"}, "a": {"S": 1}})"),
            "SerializationException: NUMBER_VALUE cannot be converted to String");
}

// Invalid values are passed to the engine, which reports them.
TEST(ItemReader, WhatIsWrongWithAValueReachesTheEngine) {
  constexpr std::string_view kEmpty =
      "ValidationException: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";
  constexpr std::string_view kMany =
      "ValidationException: Supplied AttributeValue has more than one datatypes set, must contain exactly one of the "
      "supported datatypes";
  for (const std::string_view json :
       {"{}", "null", R"({"X": "1"})", R"({"s": "x"})", R"({"S": null})", R"({"L": [null]})", R"({"L": [{}]})",
        R"({"M": {"k": null}})", R"({"M": {"k": {}}})", R"({"SN": "x"})", R"({"": "x"})", R"({"BOOLE": true})"}) {
    EXPECT_EQ(PrintedValue(json), kEmpty) << json;
  }
  for (const std::string_view json :
       {R"({"S": "1", "N": "1"})", R"({"N": "1", "S": "1"})", R"({"BOOL": false, "NULL": true})",
        R"({"L": [{"S": "x", "B": ""}]})", R"({"M": {}, "L": []})"}) {
    EXPECT_EQ(PrintedValue(json), kMany) << json;
  }
  EXPECT_EQ(PrintedValue(R"({"S": "1", "X": 1, "N": null})"), "v=S:1");
  EXPECT_EQ(PrintedValue(R"({"S": "1", "N": "one"})"),
            "ValidationException: The parameter cannot be converted to a numeric value: one");
  EXPECT_EQ(PrintedValue(R"({"NULL": "0"})"),
            "ValidationException: One or more parameter values were invalid: Null attribute value types must have the "
            "value of true");
  EXPECT_EQ(PrintedValue(R"({"SS": []})"),
            "ValidationException: One or more parameter values were invalid: An string set  may not be empty");
  EXPECT_EQ(Printed(R"({"": {"S": "x"}})"), "ValidationException: Empty attribute name");
}

TEST(ItemReader, TheLastOfSeveralMembersCounts) {
  EXPECT_EQ(PrintedValue(R"({"S": "a", "S": "b"})"), "v=S:b");
  EXPECT_EQ(PrintedValue(R"({"M": {"k": {"S": "a"}}, "M": {"j": {"N": "2"}}})"), "v={j=N:2}");
  EXPECT_EQ(Printed(R"({"a": {"S": "a"}, "b": {"S": "b"}, "a": {"N": "1"}})"), "a=N:1, b=S:b");
  EXPECT_EQ(PrintedValue(R"({"M": {"k": {"S": "a"}, "k": {"S": "b"}, "k": {"BOOL": true}}})"), "v={k=true}");
  EXPECT_EQ(Printed(R"({"a": {"N": "x"}, "a": {"N": "1"}})"), "a=N:1") << "the engine never sees the others";
  EXPECT_EQ(Printed(R"({"a": {"N": 1}, "a": {"N": "1"}})"),
            "SerializationException: NUMBER_VALUE cannot be converted to String");
  // Names that are equal in the part that is compared first.
  const std::string a(40, 'x');
  EXPECT_EQ(Printed(Cat(R"({")", a, R"(1": {"S": "a"}, ")", a, R"(2": {"S": "b"}})")), Cat(a, "1=S:a, ", a, "2=S:b"));
}

TEST(ItemReader, ManyNamesStayApart) {
  std::string json = "{";
  for (int i = 0; i < 5000; ++i) json += Cat(i > 0 ? "," : "", "\"n", i, "\":{\"N\":\"", i, "\"}");
  const absl::StatusOr<std::string> bytes = CanonicalOf(json + "}");
  ASSERT_TRUE(bytes.ok());
  int found = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto value = model::ItemView(*bytes).Find(Cat("n", i));
    found += value.has_value() && value->scalar() == Cat(i) ? 1 : 0;
  }
  EXPECT_EQ(found, 5000);
}

std::string NestedMaps(int levels) {
  std::string value = R"({"S":"x"})";
  for (int i = 1; i < levels; ++i) value = Cat(R"({"M":{"k":)", value, "}}");
  return value;
}

TEST(ItemReader, TheEngineJudgesNesting) {
  constexpr std::string_view kTooDeep =
      "ValidationException: Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
      "beyond supported limit";
  EXPECT_TRUE(PrintedValue(NestedMaps(model::kNestingDepthMax)).starts_with("v={k={k="));
  EXPECT_EQ(PrintedValue(NestedMaps(model::kNestingDepthMax + 1)), kTooDeep);
  EXPECT_EQ(PrintedValue(NestedMaps(250)), kTooDeep);
  EXPECT_EQ(PrintedValue(NestedMaps(300)), "SerializationException: The body is no JSON document of a request")
      << "beyond what is parsed";
}

TEST(ItemReader, ReadsAnItemOfTheLargestSize) {
  const std::string large(409'000, 'x');
  const absl::StatusOr<std::string> bytes = CanonicalOf(Cat(R"({"v":{"S":")", large, R"("},"l":{"L":[]}})"));
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(model::ItemView(*bytes).Find("v")->scalar(), large);
}

TEST(ItemReader, ListsOfValuesKeepTheirOrder) {
  using List = std::optional<std::vector<std::string>>;
  const auto wires = ReadMember<List>(R"({"v": [{"N": "2"}, {}, {"S": "a"}]})", ReadAttributeValueList);
  ASSERT_TRUE(wires.ok());
  EXPECT_EQ(*wires, List({codec::N("2"), "", codec::S("a")}));
  EXPECT_EQ(*ReadMember<List>(R"({"v": []})", ReadAttributeValueList), List(std::in_place));
}

TEST(ItemReader, WhatIsPrintedReadsBackTheSame) {
  codec::TwinMaker maker(PrintedTestSeed());
  for (int i = 0; i < 20'000; ++i) {
    const absl::StatusOr<codec::CanonicalItem> item = codec::CanonicalizeItem(maker.Item(5).first);
    ASSERT_TRUE(item.ok());
    const std::string json = JsonOf(item->bytes);
    const absl::StatusOr<std::string> again = CanonicalOf(json);
    ASSERT_TRUE(again.ok()) << again.status() << " " << json;
    ASSERT_EQ(codec::ToHex(*again), codec::ToHex(item->bytes)) << json;
  }
}

}  // namespace armature::daemon::item_reader_test
