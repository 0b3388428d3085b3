#include "daemon/message_json/json_reader.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/unit/daemon/json/json_test_util.h"

namespace armature::daemon::json_reader_test {

constexpr std::string_view kNoJson = "SerializationException: The body is no JSON document of a request";

std::string ParseErrorOf(const std::string& json) { return ErrorTextOf(JsonDocument::Parse(json).status()); }

template <class T>
std::string ErrorOf(std::string_view json, absl::Status (*read)(JsonValue, T*)) {
  return ErrorTextOf(ReadMember<T>(Cat(R"({"v":)", json, "}"), read).status());
}

std::string Nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonDocument, TakesObjectsOnly) {
  for (const std::string_view json : {"{}", " {\"a\": [1, {}, null, true, \"\\u0000\"]}\n", "{\"\":0}"}) {
    EXPECT_TRUE(JsonDocument::Parse(std::string(json)).ok()) << json;
  }
  const std::string bad[] = {
      "",
      " ",
      "[]",
      "1",
      "\"x\"",
      "null",
      "{",
      "}",
      "{}}",
      "{} {}",
      "{\"a\"}",
      "{\"a\":}",
      "{\"a\":1,}",
      "{'a':1}",
      "{a:1}",
      "{\"a\":01}",
      "{\"a\":NaN}",
      "{\"a\":\"\n\"}",
      "{\"a\":\"\\x\"}",
      "{\"a\":\"\\ud800\"}",
      "{\"a\":\"\\ud800\\u0041\"}",
      "{\"a\":\"\\udc00\"}",
      "{\"a\":\"\xFF\"}",
      "{\"a\":\"\xC0\x80\"}",
      "{\"a\":\"\xED\xA0\x80\"}",
      "{\"a\":\"\xE2\x82\"}",
      std::string("{\0}", 3),
      "{\"a\":1e999}",
      "{\"a\":123456789012345678901234567890}",
      "//\n{}",
  };
  for (const std::string& json : bad) EXPECT_EQ(ParseErrorOf(json), kNoJson) << json;
}

TEST(JsonDocument, BoundsItsDepthAndItsSize) {
  EXPECT_EQ(ParseErrorOf("{\"a\":" + Nested(JsonDocument::kDepthMax - 2) + "}"), "OK");
  EXPECT_EQ(ParseErrorOf("{\"a\":" + Nested(JsonDocument::kDepthMax) + "}"), kNoJson);
  EXPECT_EQ(ParseErrorOf(std::string(size_t{16} << 20, '[')), kNoJson);
  EXPECT_EQ(ParseErrorOf("{}" + std::string(JsonDocument::kTextBytesMax, ' ')), kNoJson);
}

TEST(JsonDocument, GarbageOf16MegabytesIsNoDocument) {
  for (const std::string_view piece : {"{\"a\":", "\"", "\\", "0,", "\xFF", "nul", "{}"}) {
    std::string text = "{";
    while (text.size() < size_t{16} << 20) text += piece;
    EXPECT_EQ(ParseErrorOf(text), kNoJson) << piece;
  }
}

TEST(JsonDocument, SeveralLiveOnOneThread) {
  std::vector<JsonDocument> documents;
  for (const char* const json : {R"({"v":"a"})", R"({"v":"b"})", R"({"v":"c"})"}) {
    absl::StatusOr<JsonDocument> document = JsonDocument::Parse(json);
    ASSERT_TRUE(document.ok());
    documents.push_back(*std::move(document));
  }
  std::string all;
  for (const JsonDocument& document : documents) {
    ASSERT_TRUE(ReadStructure(document.root(), "Test", [&all](std::string_view, JsonValue value) {
                  std::string text;
                  const absl::Status read = ReadString(value, &text);
                  all += text;
                  return read;
                }).ok());
  }
  EXPECT_EQ(all, "abc");
}

TEST(JsonDocument, ALargeOneLeavesAUsableParser) {
  const std::string large = R"({"v":")" + std::string(3 << 20, 'x') + R"("})";
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<std::string> text = ReadMember<std::string>(large, ReadString);
    ASSERT_TRUE(text.ok());
    EXPECT_EQ(text->size(), size_t{3} << 20);
    EXPECT_EQ(*ReadMember<std::string>(R"({"v":"x"})", ReadString), "x");
  }
}

TEST(JsonReader, StringsAreTextWithAllItsCharacters) {
  EXPECT_EQ(*ReadMember<std::string>(R"({"v":"a\u0000\ud83d\ude00\"\\\/\b\u00e9"})", ReadString),
            std::string("a\0\xF0\x9F\x98\x80\"\\/\b\xC3\xA9", 12));
}

TEST(JsonReader, OthersAreNoStrings) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {"3", "NUMBER_VALUE cannot be converted to String"},
      {"-3", "NUMBER_VALUE cannot be converted to String"},
      {"18446744073709551615", "NUMBER_VALUE cannot be converted to String"},
      {"3.5", "DECIMAL_VALUE cannot be converted to String"},
      {"true", "TRUE_VALUE cannot be converted to String"},
      {"false", "FALSE_VALUE cannot be converted to String"},
      {"[]", "Unrecognized collection type class java.lang.String"},
      {"{}", "Start of structure or map found where not expected"},
  };
  for (const auto& [json, text] : kCases) {
    EXPECT_EQ(ErrorOf<std::string>(json, ReadString), Cat("SerializationException: ", text)) << json;
  }
}

TEST(JsonReader, IntegersAreNumbersWithoutFraction) {
  using Limits = std::numeric_limits<int64_t>;
  const std::pair<std::string_view, int64_t> good[] = {
      {"0", 0},
      {"-1", -1},
      {"9223372036854775807", Limits::max()},
      {"9223372036854775808", Limits::max()},
      {"18446744073709551615", Limits::max()},
      {"-9223372036854775808", Limits::min()},
      {"1.0", 1},
      {"1e3", 1000},
      {"1e300", 9'200'000'000'000'000'000},
      {"-1e300", -9'200'000'000'000'000'000},
  };
  for (const auto& [json, value] : good) {
    const auto read = ReadMember<std::optional<int64_t>>(Cat(R"({"v":)", json, "}"), ReadInteger);
    ASSERT_TRUE(read.ok()) << json;
    EXPECT_EQ(*read, value) << json;
  }
  constexpr std::pair<std::string_view, std::string_view> kBad[] = {
      {"\"1\"", "STRING_VALUE cannot be converted to Integer"},
      {"1.5", "DECIMAL_VALUE cannot be converted to Integer"},
      {"true", "TRUE_VALUE cannot be converted to Integer"},
      {"[1]", "Unrecognized collection type class java.lang.Integer"},
      {"{}", "Start of structure or map found where not expected"},
  };
  for (const auto& [json, text] : kBad) {
    EXPECT_EQ(ErrorOf<std::optional<int64_t>>(json, ReadInteger), Cat("SerializationException: ", text)) << json;
  }
  EXPECT_EQ(*ReadMember<int64_t>(R"({"v":"25"})", ReadLong), 25);
  for (const char* const text : {R"("1x")", R"("1.5")", R"("")", R"("99999999999999999999")"}) {
    EXPECT_EQ(ErrorOf<int64_t>(text, ReadLong), "SerializationException: STRING_VALUE cannot be converted to Long");
  }
}

TEST(JsonReader, BooleansMayBeWords) {
  for (const std::string_view json : {"true", "\"true\"", "\"TRUE\"", "\"1\"", "\"Yes\""}) {
    EXPECT_EQ(*ReadMember<bool>(Cat(R"({"v":)", json, "}"), ReadBoolean), true) << json;
  }
  for (const std::string_view json : {"false", "\"False\"", "\"0\"", "\"nO\""}) {
    EXPECT_EQ(*ReadMember<std::optional<bool>>(Cat(R"({"v":)", json, "}"), ReadBoolean), false) << json;
  }
  constexpr std::pair<std::string_view, std::string_view> kBad[] = {
      {"\"maybe\"", "Unexpected token received from parser"},
      {"\"\"", "Unexpected token received from parser"},
      {"\"true \"", "Unexpected token received from parser"},
      {"1", "NUMBER_VALUE cannot be converted to Boolean"},
      {"0.5", "DECIMAL_VALUE cannot be converted to Boolean"},
      {"[]", "Unrecognized collection type class java.lang.Boolean"},
      {"{}", "Start of structure or map found where not expected"},
  };
  for (const auto& [json, text] : kBad) {
    EXPECT_EQ(ErrorOf<bool>(json, ReadBoolean), Cat("SerializationException: ", text)) << json;
  }
}

TEST(JsonReader, ListsMapsAndStructuresAreNoScalars) {
  using Map = std::optional<StringMap<std::string>>;
  using List = std::optional<std::vector<std::string>>;
  EXPECT_EQ(ErrorOf<List>("\"x\"", ReadStringList), "SerializationException: Unexpected field type");
  EXPECT_EQ(ErrorOf<List>("{}", ReadStringList),
            "SerializationException: Start of structure or map found where not expected");
  EXPECT_EQ(ErrorOf<List>("[\"x\",1]", ReadStringList),
            "SerializationException: NUMBER_VALUE cannot be converted to String");
  EXPECT_EQ(ErrorOf<List>("[null]", ReadStringList),
            "SerializationException: NULL_VALUE cannot be converted to String");
  EXPECT_EQ(ErrorOf<Map>("1", ReadStringMap), "SerializationException: Unexpected field type");
  EXPECT_EQ(ErrorOf<Map>("[]", ReadStringMap),
            "SerializationException: Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>");
  EXPECT_EQ(ErrorOf<Map>("{\"a\":[]}", ReadStringMap),
            "SerializationException: Unrecognized collection type class java.lang.String");
  const auto read_structure = [](JsonValue value, int*) {
    return ReadStructure(value, "StreamSpecification", [](std::string_view, JsonValue) { return absl::OkStatus(); });
  };
  EXPECT_EQ(ErrorOf<int>("true", read_structure), "SerializationException: Unexpected field type");
  EXPECT_EQ(ErrorOf<int>("[]", read_structure),
            "SerializationException: Unrecognized collection type class "
            "com.amazonaws.dynamodb.v20120810.StreamSpecification");
}

TEST(JsonReader, EmptyListsAndMapsAreThere) {
  using Map = std::optional<StringMap<std::string>>;
  using List = std::optional<std::vector<std::string>>;
  EXPECT_EQ(*ReadMember<List>(R"({"v":[]})", ReadStringList), List(std::in_place));
  EXPECT_EQ(*ReadMember<List>(R"({"v":null})", ReadStringList), List());
  EXPECT_EQ(*ReadMember<List>("{}", ReadStringList), List());
  EXPECT_EQ(*ReadMember<Map>(R"({"v":{}})", ReadStringMap), Map(std::in_place));
}

TEST(JsonReader, TheLastOfSeveralMembersCounts) {
  using Map = std::optional<StringMap<std::string>>;
  using List = std::optional<std::vector<std::string>>;
  EXPECT_EQ(*ReadMember<std::string>(R"({"v":"a","v":"b"})", ReadString), "b");
  EXPECT_EQ(*ReadMember<List>(R"({"v":["a"],"v":["b"]})", ReadStringList), List({"b"}));
  EXPECT_EQ((**ReadMember<Map>(R"({"v":{"k":"a","k":"b"}})", ReadStringMap))["k"], "b");
  EXPECT_EQ(ErrorTextOf(ReadMember<std::string>(R"({"v":1,"v":"b"})", ReadString).status()),
            "SerializationException: NUMBER_VALUE cannot be converted to String")
      << "and yet all are judged";
}

}  // namespace armature::daemon::json_reader_test
