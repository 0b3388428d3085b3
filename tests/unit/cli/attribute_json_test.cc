#include "tools/armature/attribute_json.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"

namespace armature::cli {
namespace {

using testing::HasSubstr;

Json Parsed(const std::string& text) {
  auto json = ParseJson(text);
  EXPECT_TRUE(json.ok()) << text << ": " << json.status();
  return json.ok() ? *json : Json();
}

// The error of reading the item `text`; empty if it is valid.
std::string Complaint(const std::string& text) {
  return std::string(Sv(ItemFromJson(Parsed(text), "Item").status().message()));
}

std::string Nested(int levels) {
  std::string text = R"({"S":"x"})";
  for (int i = 1; i < levels; ++i) text = Cat(R"({"L":[)", text, "]}");
  return Cat(R"({"a":)", text, "}");
}

TEST(AttributeJsonTest, EveryTypeComesBackAsItWas) {
  for (const std::string text : {
           R"({})",
           R"({"a":{"S":""}})",
           R"({"a":{"S":"quote \" backslash \\ line\nfeed \u0000 é 😀"}})",
           R"({"a":{"N":"-12.5e3"}})",
           R"({"a":{"B":""}})",
           R"({"a":{"B":"AP8="}})",
           R"({"a":{"BOOL":false},"b":{"BOOL":true},"c":{"NULL":true}})",
           R"({"a":{"SS":["x",""]},"b":{"NS":["1","2"]},"c":{"BS":["AA==","/w=="]}})",
           R"({"a":{"L":[]},"b":{"M":{}}})",
           R"({"a":{"L":[{"M":{"S":{"S":"x"},"":{"N":"1"}}},{"L":[{"NULL":true}]}]}})",
           R"({"dotted.name":{"S":"x"}," ":{"S":"y"}})",
       }) {
    const auto item = ItemFromJson(Parsed(text), "");
    ASSERT_TRUE(item.ok()) << text << ": " << item.status();
    const Json again = ItemToJson(*item);
    // nlohmann::json compares objects without their order.
    EXPECT_EQ(nlohmann::json(again), nlohmann::json(Parsed(text))) << text;
  }
}

TEST(AttributeJsonTest, BytesAreDecoded) {
  const auto value = AttributeValueFromJson(Parsed(R"({"B":"AP8="})"), "");
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(value->b(), std::string("\0\xff", 2));
}

TEST(AttributeJsonTest, MembersAreSorted) {
  const auto item = ItemFromJson(Parsed(R"({"b":{"S":""},"C":{"S":""},"a":{"S":""}})"), "");
  ASSERT_TRUE(item.ok());
  EXPECT_EQ(CompactJson(ItemToJson(*item)), R"({"C":{"S":""},"a":{"S":""},"b":{"S":""}})");
}

TEST(AttributeJsonTest, ErrorsNameThePath) {
  EXPECT_EQ(Complaint(R"({"a":{"M":{"t":{"L":[{"S":"x"},{"N":1}]}}}})"),
            "Item.a.M.t.L[1].N: must be a string, not number; write numbers in quotes");
  EXPECT_THAT(Complaint(R"({"a":"x"})"), HasSubstr("Item.a: must be an object"));
  EXPECT_THAT(Complaint(R"({"a":{}})"), HasSubstr("Item.a: must be an object"));
  EXPECT_THAT(Complaint(R"({"a":{"S":"x","N":"1"}})"), HasSubstr("Item.a: must be an object"));
  EXPECT_THAT(Complaint(R"({"a":{"s":"x"}})"), HasSubstr("\"s\" is no type"));
  EXPECT_THAT(Complaint(R"({"a":{"BOOL":"true"}})"), HasSubstr("Item.a.BOOL: must be true or"));
  EXPECT_THAT(Complaint(R"({"a":{"NULL":null}})"), HasSubstr("Item.a.NULL: must be true or"));
  EXPECT_THAT(Complaint(R"({"a":{"SS":"x"}})"), HasSubstr("Item.a.SS: must be an array"));
  EXPECT_THAT(Complaint(R"({"a":{"NS":["1",2]}})"), HasSubstr("Item.a.NS[1]: must be a string"));
  EXPECT_THAT(Complaint(R"({"a":{"M":[]}})"), HasSubstr("Item.a.M: must be an object"));
  EXPECT_THAT(Complaint(R"({"a":{"L":{}}})"), HasSubstr("Item.a.L: must be an array"));
  EXPECT_THAT(Complaint("[]"), HasSubstr("Item: must be an object, not array"));
}

TEST(AttributeJsonTest, Base64IsCanonical) {
  for (const char* bytes : {"A", "AP8", "AP 8=", "AP8=\\n", "AP9=", "-_8=", "!!!!"}) {
    EXPECT_EQ(Complaint(Cat(R"({"a":{"B":")", bytes, R"("}})")), "Item.a.B: must be base64 with padding") << bytes;
  }
}

TEST(AttributeJsonTest, DepthIsBounded) {
  EXPECT_EQ(Complaint(Nested(kValueDepthMax)), "");
  EXPECT_THAT(Complaint(Nested(kValueDepthMax + 1)), HasSubstr("nests deeper than 32 levels"));
}

TEST(JsonTextTest, RefusesWhatIsAmbiguousOrBroken) {
  EXPECT_THAT(ParseJson(R"({"a":1,"a":2})").status().message(), HasSubstr("\"a\" occurs twice"));
  EXPECT_TRUE(ParseJson(R"([{"a":1},{"a":2}])").ok());
  for (const std::string text : {"", "{", "{} x", "{'a':1}", "nul", "\"\xff\"", "{\"a\":1,}"}) {
    EXPECT_THAT(ParseJson(text).status().message(), HasSubstr("not valid JSON")) << text;
  }
  EXPECT_THAT(ParseJson(std::string(100000, '[') + std::string(100000, ']')).status().message(),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(ParseJsonArgument("@/no/such/file").status().message(), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace armature::cli
