#include "engine/expr/key_condition.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/engine/expr/expr_test_util.h"

namespace armature::expr::key_condition_test {

using model::KeySchema;
using model::ScalarType;
using testing::B;
using testing::BindError;
using testing::ErrorText;
using testing::N;
using testing::Request;
using testing::S;

constexpr ExpressionKind kKey = ExpressionKind::kKeyCondition;

struct Case {
  std::string_view text;
  std::string_view error;
};

constexpr Case kRestrictions[] = {
    {"h = :s OR r = :s", "Invalid operator used in KeyConditionExpression: OR"},
    {"h = :s AND (r = :s OR r = :s2)", "Invalid operator used in KeyConditionExpression: OR"},
    {"NOT h = :s", "Invalid operator used in KeyConditionExpression: NOT"},
    {"NOT NOT h = :s", "Invalid operator used in KeyConditionExpression: NOT"},
    {"h IN (:s)", "Invalid operator used in KeyConditionExpression: IN"},
    {"h <> :s", "Invalid operator used in KeyConditionExpression: <>"},
    {"attribute_exists(h)", "Invalid operator used in KeyConditionExpression: attribute_exists"},
    {"attribute_not_exists(h)", "Invalid operator used in KeyConditionExpression: attribute_not_exists"},
    {"attribute_type(h, :type_s)", "Invalid operator used in KeyConditionExpression: attribute_type"},
    {"contains(h, :s)", "Invalid operator used in KeyConditionExpression: contains"},
    {"size(h) = :n", "KeyConditionExpressions cannot contain nested operations"},
    {"h = size(r)", "KeyConditionExpressions cannot contain nested operations"},
    {"begins_with(size(h), :s)",
     "Incorrect operand type for operator or function; operator or function: begins_with, operand "
     "type: N"},
    {"h.x = :s", "KeyConditionExpressions cannot have conditions on nested attributes"},
    {"h = :s AND r[0] = :s", "KeyConditionExpressions cannot have conditions on nested attributes"},
    {"h = r", "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
    {"begins_with(h, r)",
     "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
    {"h BETWEEN :s AND r",
     "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"},
    {":s = :s2", "Invalid condition in KeyConditionExpression: No key attribute specified"},
    {":s BETWEEN :s AND :s2", "Invalid condition in KeyConditionExpression: No key attribute specified"},
    {":s BETWEEN h AND :s2",
     "Invalid condition in KeyConditionExpression: BETWEEN operator must have the key attribute as "
     "its first operand"},
    {"begins_with(:s, h)",
     "Invalid condition in KeyConditionExpression: begins_with operator must have the key "
     "attribute "
     "as its first operand"},
    {"h = :s AND #h = :s2", "KeyConditionExpressions must only contain one condition per key"},
    {"h = :s AND r > :s AND r < :s2", "KeyConditionExpressions must only contain one condition per key"},
    // Constants that cannot be a key, in the order of the text.
    {"begins_with(h, :n)",
     "Incorrect operand type for operator or function; operator or function: begins_with, operand "
     "type: N"},
    {"h < :true AND begins_with(r, :n)",
     "Incorrect operand type for operator or function; operator or function: <, operand type: "
     "BOOL"},
    {"h = :s AND r BETWEEN :true AND :true",
     "Incorrect operand type for operator or function; operator or function: BETWEEN, operand "
     "type: BOOL"},
    {"h = :s AND r BETWEEN :n2 AND :n",
     "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower "
     "bound operand: AttributeValue: {N:10}, upper bound operand: AttributeValue: {N:5}"},
    {"h = :s AND r BETWEEN :n AND :s",
     "The BETWEEN operator requires same data type for lower and upper bounds; lower bound "
     "operand: AttributeValue: {N:5}, upper bound operand: AttributeValue: {S:abc}"},
};

TEST(KeyCondition, RefusesWhatKeysDoNotAllow) {
  for (const Case& c : kRestrictions) {
    EXPECT_EQ(BindError(kKey, c.text), Cat("Invalid KeyConditionExpression: ", c.error)) << c.text;
  }
}

struct MirrorCase {
  std::string_view text;
  KeyOperator op;
};

TEST(KeyCondition, MirrorsAComparisonWithTheValueFirst) {
  constexpr MirrorCase kCases[] = {
      {"r = :s", KeyOperator::kEqual},
      {":s = r", KeyOperator::kEqual},
      {"r < :s", KeyOperator::kLess},
      {":s < r", KeyOperator::kGreater},
      {"r <= :s", KeyOperator::kLessOrEqual},
      {":s <= r", KeyOperator::kGreaterOrEqual},
      {"r > :s", KeyOperator::kGreater},
      {":s > r", KeyOperator::kLess},
      {"r >= :s", KeyOperator::kGreaterOrEqual},
      {":s >= r", KeyOperator::kLessOrEqual},
      {"begins_with(r, :s)", KeyOperator::kBeginsWith},
      {"(((r) BETWEEN :s AND :s2) AND #h = :s)", KeyOperator::kBetween},
  };
  for (const MirrorCase& c : kCases) {
    Request request;
    const auto bound = request.With(kKey, c.text).Bind();
    ASSERT_TRUE(bound.ok()) << c.text << ": " << bound.status();
    const KeyConditionTerm& term = bound->key_condition->terms[0];
    EXPECT_EQ(term.attribute, "r");
    EXPECT_EQ(term.op, c.op) << c.text;
    EXPECT_EQ(term.first.scalar(), "abc");
    EXPECT_EQ(term.second.has_value(), c.op == KeyOperator::kBetween);
  }
}

const KeySchema& HashOnly() {
  static const auto* const kSchema = new KeySchema{{{"h", ScalarType::kString}}, {}};
  return *kSchema;
}
const KeySchema& HashAndRange() {
  static const auto* const kSchema = new KeySchema{{{"h", ScalarType::kString}}, {{"r", ScalarType::kNumber}}};
  return *kSchema;
}
const KeySchema& BinaryRange() {
  static const auto* const kSchema = new KeySchema{{{"h", ScalarType::kNumber}}, {{"r", ScalarType::kBinary}}};
  return *kSchema;
}
// The index of the tournament example in the developer guide. Its attribute `region` is a reserved word.
const KeySchema& Tournament() {
  static const auto* const kSchema = new KeySchema{
      {{"tournamentId", ScalarType::kString}, {"region", ScalarType::kString}},
      {{"round", ScalarType::kString}, {"bracket", ScalarType::kString}, {"matchId", ScalarType::kString}}};
  return *kSchema;
}

std::string MatchError(std::string_view text, const KeySchema& schema) {
  Request request;
  const auto bound = request.With(kKey, text).Bind();
  if (!bound.ok()) return "bind: " + ErrorText(bound.status());
  return ErrorText(MatchKeyCondition(*bound->key_condition, schema).status());
}

struct SchemaCase {
  const KeySchema& (*schema)();
  std::string_view text;
  std::string_view error;
};

constexpr std::string_view kTypeMismatch =
    "One or more parameter values were invalid: Condition parameter type does not match schema "
    "type";

constexpr SchemaCase kSchemaCases[] = {
    {HashOnly, "h = :s", "OK"},
    {HashOnly, ":s = h", "OK"},
    {HashAndRange, "h = :s", "OK"},
    {HashAndRange, "h = :s AND r = :n", "OK"},
    {HashAndRange, "r >= :n AND h = :s", "OK"},
    {HashAndRange, "h = :s AND r BETWEEN :n AND :n2", "OK"},
    {BinaryRange, "h = :n AND begins_with(r, :b)", "OK"},
    {HashOnly, "x = :s", "Query condition missed key schema element: h"},
    {HashAndRange, "r = :n", "Query condition missed key schema element: h"},
    {HashAndRange, "r = :n AND x = :n", "Query condition missed key schema element: h"},
    {HashOnly, "h > :s", "Query key condition not supported"},
    {HashOnly, "begins_with(h, :s)", "Query key condition not supported"},
    {HashAndRange, "h BETWEEN :s AND :s2 AND r = :n", "Query key condition not supported"},
    {HashAndRange, "h = :s AND x = :s", "Query condition missed key schema element: r"},
    {HashOnly, "h = :s AND x = :s",
     "The number of query conditions (2) exceeds the number of key attributes defined in the "
     "schema (1)"},
    {HashAndRange, "h = :s AND r = :n AND x = :s",
     "The number of query conditions (3) exceeds the number of key attributes defined in the "
     "schema (2)"},
    // Values of another type than the key attribute.
    {HashAndRange, "h = :n", kTypeMismatch},
    {HashAndRange, "h = :true", kTypeMismatch},
    {HashAndRange, "h = :ss AND r = :n", kTypeMismatch},
    {HashAndRange, "h = :s AND r = :null", kTypeMismatch},
    {HashAndRange, "h = :s AND r > :b", kTypeMismatch},
    {HashAndRange, "h = :s AND r BETWEEN :s AND :s2", kTypeMismatch},
    {HashAndRange, "h = :s AND begins_with(r, :s)", kTypeMismatch},
    {BinaryRange, "h = :n AND begins_with(r, :s)", kTypeMismatch},
    // Empty values.
    {HashAndRange, "h = :empty",
     "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
     "contain an empty string value. Key: h"},
    {BinaryRange, "h = :n AND r > :nob",
     "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
     "contain an empty binary value. Key: r"},
    {BinaryRange, "h = :n AND begins_with(r, :nob)",
     "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
     "contain an empty binary value. Key: r"},
    // Several partition attributes and several sort attributes.
    {Tournament, "tournamentId = :s AND #region = :s", "OK"},
    {Tournament, "#region = :s AND tournamentId = :s AND round = :s", "OK"},
    {Tournament, "tournamentId = :s",
     "HASH key attributes region must have equality conditions specified in the query"},
    {Tournament, "round = :s",
     "HASH key attributes tournamentId, region must have equality conditions specified in the "
     "query"},
    {Tournament, "tournamentId = :s AND #region > :s",
     "HASH key attributes region must have equality conditions specified in the query"},
    {Tournament, "tournamentId BETWEEN :s AND :s2 AND #region = :s",
     "HASH key attributes tournamentId must have equality conditions specified in the query"},
    {Tournament, "tournamentId = :s AND begins_with(#region, :s)",
     "HASH key attributes region must have equality conditions specified in the query"},
    {Tournament, "tournamentId = :s AND #region = :s AND bracket = :s",
     "RANGE key attributes round must have equality conditions specified in the query because a "
     "condition is present on key attribute bracket"},
    {Tournament, "tournamentId = :s AND #region = :s AND matchId = :s",
     "RANGE key attributes round, bracket must have equality conditions specified in the query "
     "because a condition is present on key attribute matchId"},
    {Tournament, "tournamentId = :s AND #region = :s AND round = :s AND matchId = :s",
     "RANGE key attributes bracket must have equality conditions specified in the query because a "
     "condition is present on key attribute matchId"},
    {Tournament, "tournamentId = :s AND #region = :s AND round = :s AND bracket = :s", "OK"},
    {Tournament, "tournamentId = :s AND #region = :s AND round = :s AND begins_with(bracket, :s)", "OK"},
    {Tournament, "matchId < :s AND tournamentId = :s AND #region = :s AND round = :s AND bracket = :s", "OK"},
    {Tournament, "tournamentId = :s AND #region = :s AND round > :s AND bracket = :s",
     "RANGE key attributes round must have equality conditions specified in the query because a "
     "condition is present on key attribute bracket"},
    {Tournament, "tournamentId = :s AND #region = :s AND round = :s AND round = :s2",
     "bind: Invalid KeyConditionExpression: KeyConditionExpressions must only contain one "
     "condition "
     "per key"},
    {Tournament, "tournamentId = :s AND #region = :s AND x = :s", "Query condition missed key schema element: round"},
    {Tournament, "tournamentId = :s AND #region = :s AND round = :n", kTypeMismatch},
    {Tournament, "tournamentId = :s AND #region = :empty",
     "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
     "contain an empty string value. Key: region"},
};

TEST(MatchKeyCondition, FollowsTheSchema) {
  for (const SchemaCase& c : kSchemaCases) EXPECT_EQ(MatchError(c.text, c.schema()), c.error) << c.text;
}

TEST(MatchKeyCondition, NonKeyWithoutAFreeSortAttributeIsNotSupported) {
  // Only a hand-made condition gets here: the check of the count refuses it otherwise.
  Request request;
  const auto bound = request.With(kKey, "h = :s").Bind();
  ASSERT_TRUE(bound.ok());
  const KeySchema twice{{{"h", ScalarType::kString}, {"h", ScalarType::kString}}, {}};
  KeyCondition condition = *bound->key_condition;
  condition.terms.push_back(condition.terms[0]);
  condition.terms[1].attribute = "x";
  EXPECT_EQ(ErrorText(MatchKeyCondition(condition, twice).status()), "Query key condition not supported");
}

TEST(MatchKeyCondition, SortsTermsIntoPlaces) {
  Request request;
  const auto bound = request
                         .With(kKey,
                               "bracket BETWEEN :s AND :s2 AND #region = :type_n AND round = "
                               ":type_m AND tournamentId = :type_s")
                         .Bind();
  ASSERT_TRUE(bound.ok()) << bound.status();
  const auto matched = MatchKeyCondition(*bound->key_condition, Tournament());
  ASSERT_TRUE(matched.ok()) << matched.status();
  ASSERT_EQ(matched->partition.size(), 2u);
  EXPECT_EQ(matched->partition[0].scalar(), "S");
  EXPECT_EQ(matched->partition[1].scalar(), "N");
  ASSERT_EQ(matched->sort_equal.size(), 1u);
  EXPECT_EQ(matched->sort_equal[0].scalar(), "M");
  ASSERT_TRUE(matched->sort_range.has_value());
  EXPECT_EQ(matched->sort_range->attribute, "bracket");
  EXPECT_EQ(matched->sort_range->op, KeyOperator::kBetween);
  EXPECT_EQ(matched->sort_range->first.scalar(), "abc");
  EXPECT_EQ(matched->sort_range->second->scalar(), "abd");
}

TEST(MatchKeyCondition, EqualityOnTheLastSortAttributeIsNoRange) {
  Request request;
  const auto bound = request.With(kKey, "h = :s AND r = :n").Bind();
  ASSERT_TRUE(bound.ok());
  const auto matched = MatchKeyCondition(*bound->key_condition, HashAndRange());
  ASSERT_TRUE(matched.ok());
  EXPECT_EQ(matched->sort_equal.size(), 1u);
  EXPECT_FALSE(matched->sort_range.has_value());
}

std::string SizeError(const KeySchema& schema, std::string_view text, size_t x, size_t y) {
  Request request;
  const auto bound =
      request.With(kKey, text).WithValue(":x", S(std::string(x, 'x'))).WithValue(":y", S(std::string(y, 'y'))).Bind();
  if (!bound.ok()) return ErrorText(bound.status());
  return ErrorText(MatchKeyCondition(*bound->key_condition, schema).status());
}

TEST(MatchKeyCondition, BoundsTheSizeOfKeyValues) {
  const std::string partition =
      "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size "
      "limit of2048 bytes";
  const std::string sort =
      "One or more parameter values were invalid: Aggregated size of all range keys has exceeded "
      "the size limit of 1024 bytes";
  const KeySchema plain{{{"h", ScalarType::kString}}, {{"r", ScalarType::kString}}};
  EXPECT_EQ(SizeError(plain, "h = :x AND r = :y", 2048, 1024), "OK");
  EXPECT_EQ(SizeError(plain, "h = :x AND r = :y", 2049, 1025), partition);
  EXPECT_EQ(SizeError(plain, "h = :x AND r = :y", 1, 1025), sort);
  EXPECT_EQ(SizeError(plain, "h = :x AND r > :y", 1, 1025), sort);
  EXPECT_EQ(SizeError(plain, "h = :x AND r BETWEEN :x AND :y", 1024, 1024), "OK");
  EXPECT_EQ(SizeError(plain, "h = :x AND r BETWEEN :x AND :y", 1, 1025), sort);
  // The limit applies to the sum of the attributes.
  EXPECT_EQ(SizeError(Tournament(), "tournamentId = :x AND #region = :y", 1024, 1024), "OK");
  EXPECT_EQ(SizeError(Tournament(), "tournamentId = :x AND #region = :y", 1024, 1025), partition);
  const std::string_view two = "tournamentId = :x AND #region = :x AND round = :x AND bracket > :y";
  EXPECT_EQ(SizeError(Tournament(), two, 512, 512), "OK");
  EXPECT_EQ(SizeError(Tournament(), two, 512, 513), sort);
}

}  // namespace armature::expr::key_condition_test
