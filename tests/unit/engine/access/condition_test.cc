#include "engine/access/condition.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "engine/access/pattern.h"
#include "storage/base/strings.h"

namespace armature::access::condition_test {

absl::StatusOr<Conditions> Parse(std::string_view json) {
  simdjson::dom::parser parser;
  const simdjson::padded_string text(json);
  simdjson::dom::element root;
  if (parser.parse(text).get(root) != simdjson::SUCCESS) return absl::InternalError("the test is not JSON");
  return Conditions::Parse(root, "condition");
}

// Facts of a test: the values of LeadingKeys and Attributes as words, and the other keys, "" for absent.
struct Given {
  std::string_view leading;
  std::string_view attributes = "";
  std::string_view select = "";
  std::string_view full_scan = "";

  Facts ToFacts() const {
    Facts facts;
    const auto set = [&facts](ConditionKey key, std::string_view words) {
      while (!words.empty()) {
        const size_t end = words.find(' ');
        facts[key].emplace_back(words.substr(0, end));
        words = end == std::string_view::npos ? "" : words.substr(end + 1);
      }
    };
    set(ConditionKey::kLeadingKeys, leading);
    set(ConditionKey::kAttributes, attributes);
    set(ConditionKey::kSelect, select);
    set(ConditionKey::kFullTableScan, full_scan);
    return facts;
  }
};

bool Hold(std::string_view json, Effect effect, const Given& given) {
  const absl::StatusOr<Conditions> conditions = Parse(json);
  EXPECT_TRUE(conditions.ok()) << conditions.status() << json;
  const auto source = [&]() -> absl::StatusOr<Facts> { return given.ToFacts(); };
  LazyFacts facts(source);
  return conditions.ok() && conditions->Hold(effect, &facts);
}

TEST(Conditions, AreEvaluatedByOperatorQuantifierAndEffect) {
  const struct {
    std::string_view json;
    Given given;
    bool allows;
    bool denies;
  } kCases[] = {
      {R"({"StringEquals": {"dynamodb:LeadingKeys": "t1"}})", {"t1"}, true, true},
      {R"({"StringEquals": {"dynamodb:LeadingKeys": "t1"}})", {"t2"}, false, false},
      {R"({"StringEquals": {"dynamodb:LeadingKeys": "t1"}})", {"T1"}, false, false},
      {R"({"StringEquals": {"dynamodb:LeadingKeys": ["t0", "t1"]}})", {"t1"}, true, true},
      // Several values, no quantifier: all to allow, one to deny.
      {R"({"StringEquals": {"dynamodb:LeadingKeys": "t1"}})", {"t1 t2"}, false, true},
      {R"({"StringNotEquals": {"dynamodb:LeadingKeys": "t1"}})", {"t1 t2"}, false, true},
      {R"({"StringNotEquals": {"dynamodb:LeadingKeys": "t1"}})", {"t2"}, true, true},
      {R"({"StringNotEquals": {"dynamodb:LeadingKeys": "t1"}})", {"t1"}, false, false},
      {R"({"StringNotEquals": {"dynamodb:LeadingKeys": ["t1", "t2"]}})", {"t2"}, false, false},
      {R"({"StringLike": {"dynamodb:LeadingKeys": "t1#*"}})", {"t1#a"}, true, true},
      {R"({"StringLike": {"dynamodb:LeadingKeys": "t1#*"}})", {"t12#a"}, false, false},
      {R"({"StringLike": {"dynamodb:LeadingKeys": "t?"}})", {"t9"}, true, true},
      {R"({"StringNotLike": {"dynamodb:LeadingKeys": "t1#*"}})", {"t1#a"}, false, false},
      {R"({"StringNotLike": {"dynamodb:LeadingKeys": "t1#*"}})", {"t2#a"}, true, true},
      {R"({"StringEquals": {"dynamodb:LeadingKeys": "t*"}})", {"t1"}, false, false},
      // Quantifiers.
      {R"({"ForAllValues:StringEquals": {"dynamodb:Attributes": ["a", "b"]}})", {"", "a b"}, true, true},
      {R"({"ForAllValues:StringEquals": {"dynamodb:Attributes": ["a", "b"]}})", {"", "a c"}, false, false},
      {R"({"ForAnyValue:StringEquals": {"dynamodb:Attributes": ["a", "b"]}})", {"", "a c"}, true, true},
      {R"({"ForAnyValue:StringEquals": {"dynamodb:Attributes": ["a", "b"]}})", {"", "c d"}, false, false},
      {R"({"ForAnyValue:StringNotEquals": {"dynamodb:Attributes": "a"}})", {"", "a c"}, true, true},
      {R"({"ForAllValues:StringNotEquals": {"dynamodb:Attributes": "a"}})", {"", "a c"}, false, false},
      {R"({"ForAnyValue:StringLike": {"dynamodb:Attributes": "secret*"}})", {"", "name secret_pin"}, true, true},
      {R"({"forallvalues:stringlike": {"DynamoDB:leadingkeys": "t1*"}})", {"t1a t1b"}, true, true},
      // An absent key never allows, but for IfExists and Null.
      {R"({"StringEquals": {"dynamodb:LeadingKeys": "t1"}})", {""}, false, false},
      {R"({"StringNotEquals": {"dynamodb:LeadingKeys": "t1"}})", {""}, false, true},
      {R"({"StringLike": {"dynamodb:LeadingKeys": "*"}})", {""}, false, false},
      {R"({"StringNotLike": {"dynamodb:LeadingKeys": "t1"}})", {""}, false, true},
      {R"({"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": "t1"}})", {""}, false, true},
      {R"({"ForAnyValue:StringNotEquals": {"dynamodb:LeadingKeys": "t1"}})", {""}, false, false},
      {R"({"StringEqualsIfExists": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"}})", {""}, true, true},
      {R"({"StringEqualsIfExists": {"dynamodb:Select": "SPECIFIC_ATTRIBUTES"}})", {"", "", "COUNT"}, false, false},
      {R"({"StringNotEqualsIfExists": {"dynamodb:Select": "COUNT"}})", {"", "", "ALL_ATTRIBUTES"}, true, true},
      {R"({"ForAllValues:StringEqualsIfExists": {"dynamodb:LeadingKeys": "t1"}})", {""}, true, true},
      {R"({"Null": {"dynamodb:LeadingKeys": "true"}})", {""}, true, true},
      {R"({"Null": {"dynamodb:LeadingKeys": true}})", {"t1"}, false, false},
      {R"({"Null": {"dynamodb:LeadingKeys": ["false"]}})", {"t1"}, true, true},
      {R"({"Null": {"dynamodb:LeadingKeys": false}})", {""}, false, false},
      {R"({"Bool": {"dynamodb:FullTableScan": true}})", {"", "", "", "true"}, true, true},
      {R"({"Bool": {"dynamodb:FullTableScan": "True"}})", {"", "", "", "true"}, true, true},
      {R"({"Bool": {"dynamodb:FullTableScan": "false"}})", {"", "", "", "true"}, false, false},
      {R"({"Bool": {"dynamodb:FullTableScan": "true"}})", {""}, false, false},
      {R"({"BoolIfExists": {"dynamodb:FullTableScan": "false"}})", {""}, true, true},
      // All conditions must hold.
      {R"({"StringEquals": {"dynamodb:LeadingKeys": "t1", "dynamodb:Select": "COUNT"}})",
       {"t1", "", "COUNT"},
       true,
       true},
      {R"({"StringEquals": {"dynamodb:LeadingKeys": "t1", "dynamodb:Select": "COUNT"}})",
       {"t2", "", "COUNT"},
       false,
       false},
      {R"({"StringEquals": {"dynamodb:LeadingKeys": "t1"}, "Bool": {"dynamodb:FullTableScan": false}})",
       {"t1", "", "", "true"},
       false,
       false},
      {"{}", {""}, true, true},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Hold(c.json, Effect::kAllow, c.given), c.allows) << c.json << " of " << c.given.leading;
    EXPECT_EQ(Hold(c.json, Effect::kDeny, c.given), c.denies) << c.json << " of " << c.given.leading;
  }
}

TEST(Conditions, OfARequestWithUnknownFactsDenyAndDoNotAllow) {
  const auto unknown = []() -> absl::StatusOr<Facts> { return absl::InvalidArgumentError("no such table"); };
  for (const std::string_view json :
       {R"({"StringEquals": {"dynamodb:LeadingKeys": "t1"}})", R"({"StringNotEquals": {"dynamodb:LeadingKeys": "t1"}})",
        R"({"StringEqualsIfExists": {"dynamodb:Select": "COUNT"}})", R"({"Null": {"dynamodb:LeadingKeys": "true"}})"}) {
    const absl::StatusOr<Conditions> conditions = Parse(json);
    ASSERT_TRUE(conditions.ok());
    LazyFacts facts(unknown);
    EXPECT_FALSE(conditions->Hold(Effect::kAllow, &facts)) << json;
    EXPECT_TRUE(conditions->Hold(Effect::kDeny, &facts)) << json;
  }
  LazyFacts facts(unknown);
  EXPECT_TRUE(Conditions().Hold(Effect::kAllow, &facts)) << "no condition needs no facts";
}

TEST(Conditions, FactsAreDeterminedOnceAndOnlyIfNeeded) {
  int calls = 0;
  const auto source = [&calls]() -> absl::StatusOr<Facts> {
    ++calls;
    return Facts();
  };
  LazyFacts facts(source);
  EXPECT_TRUE(Conditions().Hold(Effect::kAllow, &facts));
  EXPECT_EQ(calls, 0);
  const absl::StatusOr<Conditions> conditions = Parse(R"({"Null": {"dynamodb:Select": true}})");
  ASSERT_TRUE(conditions.ok());
  EXPECT_TRUE(conditions->Hold(Effect::kAllow, &facts));
  EXPECT_TRUE(conditions->Hold(Effect::kAllow, &facts));
  EXPECT_EQ(calls, 1);
}

TEST(Conditions, UnsupportedOnesAreRefused) {
  const struct {
    std::string json;
    std::string_view fault;
  } kCases[] = {
      {"[]", "condition: must be an object"},
      {R"({"StringEquals": "x"})", "condition.StringEquals: must be an object"},
      {R"({"StringEqualsIgnoreCase": {"dynamodb:Select": "x"}})",
       "condition.StringEqualsIgnoreCase: is not a supported operator"},
      {R"({"NumericEquals": {"dynamodb:Select": "1"}})", "condition.NumericEquals: is not a supported operator"},
      {R"({"ForSomeValues:StringEquals": {"dynamodb:Select": "1"}})",
       "condition.ForSomeValues:StringEquals: is not a supported operator"},
      {R"({"IfExists": {"dynamodb:Select": "1"}})", "condition.IfExists: is not a supported operator"},
      {R"({"NullIfExists": {"dynamodb:Select": true}})", "condition.NullIfExists: Null takes neither IfExists"},
      {R"({"ForAllValues:Null": {"dynamodb:Select": true}})", "Null takes neither"},
      {R"({"StringEquals": {"aws:username": "x"}})",
       "condition.StringEquals.aws:username: is not a supported condition key"},
      {R"({"StringEquals": {"LeadingKeys": "x"}})", "is not a supported condition key"},
      {R"({"StringEquals": {"dynamodb:FullTableScan": "true"}})", "Bool is the operator of dynamodb:FullTableScan"},
      {R"({"Bool": {"dynamodb:Select": "true"}})", "Bool is the operator of dynamodb:FullTableScan"},
      {R"({"ForAllValues:StringEquals": {"dynamodb:Select": "x"}})", "has one value"},
      {R"({"ForAnyValue:Bool": {"dynamodb:FullTableScan": true}})", "has one value"},
      {R"({"StringEquals": {"dynamodb:Select": 1}})", "condition.StringEquals.dynamodb:Select: must be a string"},
      {R"({"StringEquals": {"dynamodb:Select": []}})", "must not be empty"},
      {R"({"StringEquals": {"dynamodb:Select": ["x", 1]}})", "dynamodb:Select[1]: must be a string"},
      {R"({"StringEquals": {"dynamodb:LeadingKeys": "${aws:username}"}})", "policy variables are not supported"},
      {R"({"StringEquals": {"dynamodb:Select": "x", "dynamodb:Select": "y"}})", "is there twice"},
      {R"({"Bool": {"dynamodb:FullTableScan": "yes"}})", "must be true or false"},
      {R"({"Null": {"dynamodb:Select": [true, false]}})", "must be true or false"},
      {Cat(R"({"StringEquals": {"dynamodb:LeadingKeys": ")", std::string(2049, 'x'), "\"}}"),
       "must have at most 2048 bytes"},
  };
  for (const auto& c : kCases) {
    const absl::StatusOr<Conditions> conditions = Parse(c.json);
    ASSERT_FALSE(conditions.ok()) << c.json;
    EXPECT_NE(conditions.status().message().find(Av(c.fault)), absl::string_view::npos) << conditions.status();
  }
}

TEST(Conditions, TheirNumberIsBounded) {
  std::string many = "{";
  for (const std::string_view prefix : {"", "ForAllValues:", "ForAnyValue:"}) {
    for (const std::string_view suffix : {"", "IfExists"}) {
      for (const std::string_view op : {"StringEquals", "StringNotEquals", "StringLike", "StringNotLike"}) {
        many += Cat(many.size() > 1 ? "," : "", "\"", prefix, op, suffix,
                    R"(": {"dynamodb:LeadingKeys": "x", "dynamodb:Attributes": "x", "DYNAMODB:Attributes": "x"})");
      }
    }
  }
  const absl::StatusOr<Conditions> conditions = Parse(many + "}");
  ASSERT_FALSE(conditions.ok());
  EXPECT_NE(conditions.status().message().find("has more than 50 conditions"), absl::string_view::npos);
}

}  // namespace armature::access::condition_test
