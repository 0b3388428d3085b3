// Legacy (pre-expression) parameters, through the engine's operations.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/items/expressions.h"
#include "tests/unit/engine/engine_test_util.h"
#include "tests/unit/engine/item_model.h"

namespace armature::engine::legacy_parameters_test {

constexpr char kTable[] = "things";
constexpr char kInvalid[] = "One or more parameter values were invalid: ";
constexpr char kNoCondition[] = "The conditional request failed";

std::string TextOf(const absl::Status& status) {
  if (status.ok()) return "OK";
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() ? error->message : status.ToString();
}

LegacyCondition On(std::string attribute, std::string op, std::vector<std::string> arguments) {
  return {std::move(attribute), std::move(op), std::move(arguments)};
}

using Wires = std::vector<std::string>;

class LegacyEngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    model::TableDefinition table = PlainTable(kTable);
    table.attribute_definitions.push_back({"g", "S"});
    table.global_indexes = {IndexOf("ByG", {{"g", "HASH"}, {"sk", "RANGE"}}, "KEYS_ONLY")};
    const absl::Status created = engine_.CreateTable(table);
    ASSERT_TRUE(created.ok()) << created;
    for (const char* const sk : {"1", "2", "3"}) {
      ASSERT_TRUE(engine_.Put(WriteTo(kTable, PlainItem("p", sk, {{"x", codec::S(sk)}, {"a.b", codec::N(sk)}}))).ok());
    }
    ASSERT_TRUE(engine_.Put(WriteTo(kTable, PlainItem("q", "1", {{"y", codec::S("only")}}))).ok());
  }

  static ReadRequest Reading() {
    ReadRequest request;
    request.table_name = kTable;
    return request;
  }
  static ReadRequest QueryOf(std::vector<LegacyCondition> conditions) {
    ReadRequest request = Reading();
    request.expressions.legacy.key_conditions = std::move(conditions);
    return request;
  }
  static std::vector<LegacyCondition> PartitionP() { return {On("pk", "EQ", {codec::S("p")})}; }
  static std::string Column(const absl::StatusOr<Page>& page, const std::string& name) {
    if (!page.ok()) return TextOf(page.status());
    std::string text;
    for (const std::string& item : page->items) {
      const ModelItem decoded = Decode(item);
      text += (text.empty() ? "" : " ") + (decoded.contains(name) ? decoded.at(name).text : "-");
    }
    return text;
  }
  std::string QueryText(ReadRequest request) { return Column(engine_.Query(std::move(request)), "sk"); }
  std::string ScanText(ReadRequest request) { return Column(engine_.Scan(std::move(request)), "x"); }

  // Puts over the item ("p", "1") with `expected`.
  std::string PutText(std::vector<LegacyExpectation> expected, std::string conditional_operator = "") {
    WriteRequest request = WriteTo(kTable, PlainItem("p", "1", {{"x", codec::S("1")}, {"a.b", codec::N("1")}}));
    request.expressions.legacy.expected = std::move(expected);
    request.expressions.legacy.conditional_operator = std::move(conditional_operator);
    return TextOf(engine_.Put(std::move(request)).status());
  }

  TestEngine engine_;
};

TEST_F(LegacyEngineTest, GetsWhatAttributesToGetNames) {
  GetItemRequest request = GetFrom(kTable, PlainItem("p", "2"));
  request.expressions.legacy.attributes_to_get = {"a.b", "nothing", "pk"};
  absl::StatusOr<GetItemResult> got = engine_.Get(request);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(Printed(Decode(got->item->view())), "a.b=N:2 pk=S:p ");
  request.expressions.legacy.attributes_to_get = {"nothing"};
  got = engine_.Get(request);
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_TRUE(got->item.has_value());
  EXPECT_EQ(got->item->view(), "");
}

TEST_F(LegacyEngineTest, GetChecksInTheDocumentedOrder) {
  GetItemRequest request = GetFrom("missing", PlainItem("p", "dog"));
  request.expressions.legacy.attributes_to_get = {"a", "a"};
  request.expressions.projection = "!!!";
  EXPECT_EQ(TextOf(engine_.Get(request).status()),
            "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "
            "{AttributesToGet} Expression parameters: {ProjectionExpression}");
  request.expressions.projection.reset();
  EXPECT_EQ(TextOf(engine_.Get(request).status()), "The parameter cannot be converted to a numeric value: dog");
  request.key_wire = PlainItem("p", "1");
  EXPECT_EQ(TextOf(engine_.Get(request).status()), Cat(kInvalid, "Duplicate value in attribute name: a"));
  request.expressions.legacy.attributes_to_get = {"a"};
  EXPECT_EQ(ErrorNameOf(engine_.Get(request).status()), "ResourceNotFoundException");
}

TEST_F(LegacyEngineTest, AttributesToGetHasABoundedLength) {
  GetItemRequest request = GetFrom(kTable, PlainItem("p", "1"));
  request.expressions.legacy.attributes_to_get.emplace();
  EXPECT_EQ(TextOf(engine_.Get(request).status()),
            "1 validation error detected: Value '[]' at 'attributesToGet' failed to satisfy constraint: Member must "
            "have length greater than or equal to 1");
  for (int i = 0; i < 255; ++i)
    request.expressions.legacy.attributes_to_get->push_back("attribute" + std::to_string(i));
  EXPECT_TRUE(engine_.Get(request).ok());
  request.expressions.legacy.attributes_to_get->push_back("more");
  const std::string text = TextOf(engine_.Get(request).status());
  EXPECT_TRUE(text.starts_with("1 validation error detected: Value '[attribute0, attribute1, ")) << text;
  EXPECT_TRUE(
      text.ends_with("...' at 'attributesToGet' failed to satisfy constraint: Member must have length less "
                     "than or equal to 255"))
      << text;
}

TEST_F(LegacyEngineTest, WritesIfWhatIsExpectedHolds) {
  EXPECT_EQ(PutText({{"x", codec::S("1"), {}, "", {}}}), "OK");
  EXPECT_EQ(PutText({{"x", codec::S("2"), {}, "", {}}}), kNoCondition);
  EXPECT_EQ(PutText({{"nothing", {}, false, "", {}}}), "OK");
  EXPECT_EQ(PutText({{"x", {}, false, "", {}}}), kNoCondition);
  EXPECT_EQ(PutText({{"a.b", {}, {}, "BETWEEN", Wires{codec::N("0.5"), codec::N("1.50")}}}), "OK");
  EXPECT_EQ(PutText({{"nothing", {}, {}, "NOT_CONTAINS", Wires{codec::S("z")}}}), kNoCondition);
  EXPECT_EQ(PutText({{"x", {}, {}, "NOT_CONTAINS", Wires{codec::S("z")}}}), "OK");
  const std::vector<LegacyExpectation> two = {{"x", codec::S("1"), {}, "", {}}, {"y", codec::S("2"), {}, "", {}}};
  EXPECT_EQ(PutText(two), kNoCondition);
  EXPECT_EQ(PutText(two, "AND"), kNoCondition);
  EXPECT_EQ(PutText(two, "OR"), "OK");
}

TEST_F(LegacyEngineTest, DeletesIfWhatIsExpectedHolds) {
  WriteRequest request = WriteTo(kTable, PlainItem("q", "1"));
  request.expressions.legacy.expected = {{"y", {}, {}, "NULL", {}}};
  request.return_values_on_condition_check_failure = "ALL_OLD";
  const absl::Status refused = engine_.Delete(request).status();
  EXPECT_EQ(TextOf(refused), kNoCondition);
  EXPECT_EQ(Printed(Decode(GetApiError(refused)->item)), "pk=S:q sk=N:1 y=S:only ");
  request.expressions.legacy.expected = {{"y", {}, {}, "NOT_NULL", {}}};
  EXPECT_TRUE(engine_.Delete(request).ok());
  EXPECT_FALSE(engine_.Get(GetFrom(kTable, PlainItem("q", "1")))->item.has_value());
}

TEST_F(LegacyEngineTest, PutChecksInTheDocumentedOrder) {
  WriteRequest request = WriteTo("missing", PlainItem("p", "dog"));
  request.return_values = "ALL_NEW";
  request.expressions.legacy.expected = {{"x", codec::N("cat"), false, "", {}}};
  request.expressions.legacy.conditional_operator = "OR";
  request.expressions.condition = "!!!";
  EXPECT_EQ(
      TextOf(engine_.Put(request).status()),
      Cat(kEnvelope,
          "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "
          "{Expected, ConditionalOperator} Expression parameters: {ConditionExpression}"));
  request.expressions.condition.reset();
  EXPECT_EQ(TextOf(engine_.Put(request).status()),
            Cat(kEnvelope, "ConditionalOperator can only be used when Filter or Expected has two or more elements"));
  request.expressions.legacy.expected->push_back({"y", {}, false, "", {}});
  EXPECT_EQ(TextOf(engine_.Put(request).status()),
            Cat(kEnvelope, "The parameter cannot be converted to a numeric value: dog"));
  request.item_wire = PlainItem("p", "1");
  EXPECT_EQ(TextOf(engine_.Put(request).status()), Cat(kEnvelope, "ReturnValues can only be ALL_OLD or NONE"));
  request.return_values = "";
  EXPECT_EQ(TextOf(engine_.Put(request).status()),
            Cat(kEnvelope, "The parameter cannot be converted to a numeric value: cat"));
  request.expressions.legacy.expected->at(0).value_wire = codec::N("1");
  EXPECT_EQ(TextOf(engine_.Put(request).status()),
            Cat(kEnvelope, kInvalid, "Value cannot be used when Exists is false for Attribute: x"));
  request.expressions.legacy.expected.reset();
  EXPECT_EQ(TextOf(engine_.Put(request).status()),
            Cat(kEnvelope, "ConditionalOperator cannot be used without Filter or Expected"));
  request.expressions.legacy.conditional_operator.clear();
  request.expressions.legacy.expected = {{"x", {}, false, "", {}}};
  request.expressions.names = StringMap<std::string>{{"#x", "x"}};
  EXPECT_EQ(TextOf(engine_.Put(request).status()),
            Cat(kEnvelope, "ExpressionAttributeNames can only be specified when using expressions"));
  request.expressions.names.reset();
  EXPECT_EQ(ErrorNameOf(engine_.Put(request).status()), "ResourceNotFoundException");
}

TEST_F(LegacyEngineTest, ShapesAreCheckedFirstAndTogether) {
  WriteRequest request = WriteTo(kTable, PlainItem("p", "1"));
  request.return_values = "SOME";
  request.expressions.legacy.expected = {{"x", {}, {}, "==", {}}};
  request.expressions.legacy.conditional_operator = "XOR";
  EXPECT_EQ(
      TextOf(engine_.Put(request).status()),
      "2 validation errors detected: Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, "
      "UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]; Value '==' at 'expected.x.member.comparisonOperator' failed to satisfy "
      "constraint: Member must satisfy enum value set: [IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, "
      "BEGINS_WITH, GE, CONTAINS]");
  EXPECT_EQ(QueryText(QueryOf({On("pk", "", {})})),
            "1 validation error detected: Value null at 'keyConditions.pk.member.comparisonOperator' failed to satisfy "
            "constraint: Member must not be null");
  ReadRequest scan = Reading();
  scan.expressions.legacy.scan_filter = {On("x", "99", {})};
  EXPECT_TRUE(
      ScanText(scan).starts_with("1 validation error detected: Value '99' at "
                                 "'scanFilter.x.member.comparisonOperator' failed to satisfy constraint: "));
  request = WriteTo(kTable, PlainItem("p", "1"));
  request.expressions.legacy.expected = {{"", {}, false, "", {}}};
  EXPECT_EQ(TextOf(engine_.Put(request).status()), Cat(kEnvelope, "Empty attribute name"));
  request.expressions.legacy.expected = {{std::string(65'536, 'n'), {}, false, "", {}}};
  EXPECT_EQ(TextOf(engine_.Put(request).status()),
            "1 validation error detected: Attribute name is too large, must be less than 65536 bytes");
}

TEST_F(LegacyEngineTest, QueriesByKeyConditions) {
  EXPECT_EQ(QueryText(QueryOf(PartitionP())), "1 2 3");
  const std::pair<LegacyCondition, std::string_view> cases[] = {
      {On("sk", "EQ", {codec::N("2.0")}), "2"}, {On("sk", "LT", {codec::N("2")}), "1"},
      {On("sk", "LE", {codec::N("2")}), "1 2"}, {On("sk", "GT", {codec::N("2")}), "3"},
      {On("sk", "GE", {codec::N("2")}), "2 3"}, {On("sk", "BETWEEN", {codec::N("2"), codec::N("9")}), "2 3"}};
  for (const auto& [condition, found] : cases) {
    EXPECT_EQ(QueryText(QueryOf({On("pk", "EQ", {codec::S("p")}), condition})), found);
  }
}

TEST_F(LegacyEngineTest, KeyConditionsGoTogetherWithFilterAndProjectionExpressions) {
  ReadRequest request = QueryOf(PartitionP());
  request.expressions.filter = "x > :x";
  request.expressions.projection = "sk";
  request.expressions.values_wire = codec::Item({{":x", codec::S("1")}});
  EXPECT_EQ(QueryText(request), "2 3");
  request.expressions.key_condition = "pk = :p";
  EXPECT_EQ(QueryText(request),
            "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "
            "{KeyConditions} Expression parameters: {ProjectionExpression, FilterExpression, KeyConditionExpression}");
}

TEST_F(LegacyEngineTest, MixedStylesAreListedInTheDocumentedOrder) {
  ReadRequest request = QueryOf(PartitionP());
  request.expressions.legacy.attributes_to_get = {"x"};
  request.expressions.legacy.query_filter = {On("x", "NULL", {})};
  request.expressions.legacy.conditional_operator = "OR";
  request.expressions.filter = "x > :x";
  EXPECT_EQ(QueryText(request),
            "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "
            "{AttributesToGet, QueryFilter, ConditionalOperator} Expression parameters: {FilterExpression}");
  ReadRequest scan = Reading();
  scan.expressions.legacy.scan_filter = {On("x", "NULL", {})};
  scan.expressions.projection = "x";
  EXPECT_EQ(ScanText(scan),
            "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "
            "{ScanFilter} Expression parameters: {ProjectionExpression}");
  ExpressionParameters update;
  update.legacy.attribute_updates = {{"x", {}, "DELETE"}};
  update.legacy.expected = {{"x", {}, false, "", {}}};
  update.legacy.conditional_operator = "AND";
  update.update = "REMOVE x";
  update.condition = "attribute_exists(x)";
  EXPECT_EQ(TextOf(CheckParameterStyles(update, ValidationLayer::kEnveloped)),
            "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "
            "{AttributeUpdates, Expected, ConditionalOperator} Expression parameters: {UpdateExpression, "
            "ConditionExpression}");
}

TEST_F(LegacyEngineTest, KeyConditionsMustFitTheKey) {
  const LegacyCondition hash = On("pk", "EQ", {codec::S("p")});
  EXPECT_EQ(QueryText(QueryOf({})),
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.");
  EXPECT_EQ(QueryText(QueryOf({On("pk", "GT", {codec::S("p")})})), "Query key condition not supported");
  EXPECT_EQ(QueryText(QueryOf({On("sk", "EQ", {codec::N("1")})})), "Query condition missed key schema element: pk");
  EXPECT_EQ(QueryText(QueryOf({hash, On("x", "EQ", {codec::S("1")})})),
            "Query condition missed key schema element: sk");
  EXPECT_EQ(QueryText(QueryOf({On("pk", "EQ", {codec::N("1")})})),
            Cat(kInvalid, "Condition parameter type does not match schema type"));
  EXPECT_EQ(QueryText(QueryOf({hash, On("sk", "BEGINS_WITH", {codec::S("1")})})),
            Cat(kInvalid, "Condition parameter type does not match schema type"));
  EXPECT_EQ(QueryText(QueryOf({hash, On("sk", "BEGINS_WITH", {codec::N("1")})})),
            Cat(kInvalid, "ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type"));
  EXPECT_EQ(QueryText(QueryOf({hash, On("sk", "NE", {codec::N("1")})})),
            "Attempted conditional constraint is not an indexable operation");
  EXPECT_EQ(QueryText(QueryOf({On("pk", "NULL", {})})),
            "Attempted conditional constraint is not an indexable operation");
  EXPECT_EQ(QueryText(QueryOf({hash, On("sk", "EQ", {codec::N("1")}), On("x", "EQ", {codec::N("1")})})),
            "The number of query conditions (3) exceeds the number of key attributes defined in the schema (2)");
  EXPECT_EQ(
      QueryText(QueryOf({On("pk", "EQ", {codec::S("")})})),
      "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "
      "string value. Key: pk");
}

TEST_F(LegacyEngineTest, QueryChecksInTheDocumentedOrder) {
  ReadRequest request = QueryOf({});
  request.table_name = "missing";
  request.exclusive_start_key_wire = codec::Item({{"pk", codec::N("dog")}});
  request.expressions.legacy.attributes_to_get = {"x", "x"};
  request.expressions.legacy.query_filter = {On("x", "EQ", {})};
  EXPECT_EQ(QueryText(request), Cat(kInvalid, "Invalid number of argument(s) for the EQ ComparisonOperator"));
  request.expressions.legacy.query_filter.reset();
  EXPECT_EQ(QueryText(request), Cat(kInvalid, "Duplicate value in attribute name: x"));
  request.expressions.legacy.attributes_to_get.reset();
  EXPECT_EQ(QueryText(request), "The parameter cannot be converted to a numeric value: dog");
  request.exclusive_start_key_wire.reset();
  EXPECT_EQ(QueryText(request),
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.");
  request.expressions.legacy.key_conditions = {On("pk", "NE", {codec::S("p")})};
  request.expressions.filter = "!!!";
  EXPECT_TRUE(QueryText(request).starts_with("Invalid FilterExpression: Syntax error;")) << QueryText(request);
  request.expressions.filter.reset();
  EXPECT_EQ(QueryText(request), "Attempted conditional constraint is not an indexable operation");
  request.expressions.legacy.key_conditions = {On("x", "EQ", {codec::S("p")})};
  EXPECT_EQ(QueryText(request), "Requested resource not found");
}

TEST_F(LegacyEngineTest, QueryFilterMayNotNameKeys) {
  ReadRequest request = QueryOf(PartitionP());
  request.expressions.legacy.query_filter = {On("x", "IN", {codec::S("3"), codec::S("1")})};
  EXPECT_EQ(QueryText(request), "1 3");
  request.expressions.legacy.query_filter->push_back(On("sk", "EQ", {codec::N("1")}));
  EXPECT_EQ(QueryText(request), "QueryFilter can only contain non-primary key attributes: Primary key attribute: sk");
  request.expressions.legacy.query_filter = {On("x", "EQ", {codec::S("3")}), On("y", "NOT_NULL", {})};
  EXPECT_EQ(QueryText(request), "");
  request.expressions.legacy.conditional_operator = "OR";
  EXPECT_EQ(QueryText(request), "3");
}

TEST_F(LegacyEngineTest, ConditionalOperatorNeedsAFilter) {
  const std::string alone = "ConditionalOperator cannot be used without Filter or Expected";
  ReadRequest request = QueryOf(PartitionP());
  request.expressions.legacy.conditional_operator = "AND";
  EXPECT_EQ(QueryText(request), alone);
  ReadRequest scan = Reading();
  scan.expressions.legacy.conditional_operator = "AND";
  EXPECT_EQ(ScanText(scan), alone);
}

TEST_F(LegacyEngineTest, ScanFilterMayNameKeys) {
  ReadRequest request = Reading();
  request.expressions.legacy.scan_filter = {On("pk", "EQ", {codec::S("p")}), On("sk", "GE", {codec::N("2")})};
  request.expressions.legacy.attributes_to_get = {"x"};
  const absl::StatusOr<Page> page = engine_.Scan(request);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(Column(page, "x"), "2 3");
  EXPECT_EQ(Column(page, "pk"), "- -");
  EXPECT_EQ(page->result.scanned_count, 4);
}

TEST_F(LegacyEngineTest, SelectAndAttributesToGet) {
  ReadRequest request = QueryOf(PartitionP());
  request.select = "SPECIFIC_ATTRIBUTES";
  EXPECT_EQ(
      QueryText(request),
      "1 validation error detected: Must specify the AttributesToGet or ProjectionExpression when choosing to get "
      "SPECIFIC_ATTRIBUTES");
  request.expressions.legacy.attributes_to_get = {"sk"};
  EXPECT_EQ(QueryText(request), "1 2 3");
  request.select = "COUNT";
  EXPECT_EQ(QueryText(request),
            "1 validation error detected: Cannot specify the AttributesToGet when choosing to get only the Count");
  ReadRequest scan = Reading();
  scan.expressions.legacy.attributes_to_get = {"sk"};
  scan.select = "ALL_ATTRIBUTES";
  EXPECT_EQ(ScanText(scan), "Cannot specify the AttributesToGet when choosing to get ALL_ATTRIBUTES");
  scan.select = "";
  scan.index_name = "ByG";
  scan.expressions.legacy.attributes_to_get = {"sk", "x", "y"};
  EXPECT_EQ(ScanText(scan), Cat(kInvalid, "Global secondary index ByG does not project [x, y]"));
}

// An empty map counts as present, but has no effect.
TEST_F(LegacyEngineTest, EmptyMapsAreGiven) {
  WriteRequest put = WriteTo(kTable, PlainItem("p", "1"));
  put.expressions.legacy.expected.emplace();
  put.expressions.condition = "attribute_exists(pk)";
  EXPECT_EQ(
      TextOf(engine_.Put(put).status()),
      Cat(kEnvelope,
          "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "
          "{Expected} Expression parameters: {ConditionExpression}"));
  put.expressions.condition.reset();
  EXPECT_EQ(TextOf(engine_.Put(put).status()), "OK");
  put.expressions.legacy.conditional_operator = "OR";
  EXPECT_EQ(TextOf(engine_.Put(put).status()),
            Cat(kEnvelope, "ConditionalOperator cannot be used without Filter or Expected"));

  WriteRequest update = WriteTo(kTable, PlainItem("fresh", "1"));
  update.expressions.legacy.attribute_updates.emplace();
  EXPECT_EQ(TextOf(engine_.Update(update).status()), "OK");
  EXPECT_TRUE(engine_.Get(GetFrom(kTable, PlainItem("fresh", "1")))->item.has_value());

  ReadRequest query = QueryOf({});
  query.expressions.legacy.query_filter.emplace();
  EXPECT_EQ(QueryText(query),
            "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.");
  query.expressions.legacy.key_conditions = PartitionP();
  EXPECT_EQ(QueryText(query), "1 2 3");
  query.expressions.filter = "attribute_exists(x)";
  EXPECT_EQ(QueryText(query),
            "Can not use both expression and non-expression parameters in the same request: Non-expression parameters: "
            "{QueryFilter} Expression parameters: {FilterExpression}");
}

TEST_F(LegacyEngineTest, AnEmptyListOfArgumentsIsGiven) {
  EXPECT_EQ(PutText({{"x", {}, {}, "EQ", Wires{}}}),
            Cat(kEnvelope, kInvalid, "Invalid number of argument(s) for the EQ ComparisonOperator"));
  EXPECT_EQ(PutText({{"x", {}, {}, "EQ", {}}}),
            Cat(kEnvelope, kInvalid,
                "Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: x"));
  EXPECT_EQ(PutText({{"x", codec::S("1"), {}, "", Wires{}}}),
            Cat(kEnvelope, kInvalid, "Value and AttributeValueList cannot be used together for Attribute: x"));
  EXPECT_EQ(PutText({{"x", {}, {}, "", Wires{}}}),
            Cat(kEnvelope, kInvalid, "AttributeValueList can only be used with a ComparisonOperator for Attribute: x"));
  EXPECT_EQ(PutText({{"x", {}, {}, "NOT_NULL", Wires{}}}), "OK");
}

// AttributeUpdates are bound to an update tree before Expected is checked.
TEST(LegacyUpdateParameters, AreBoundInTheDocumentedOrder) {
  ExpressionParameters parameters;
  parameters.legacy.attribute_updates = {{"n", codec::N("1.0"), "ADD"}, {"x", codec::S("v"), ""}, {"y", {}, "ADD"}};
  parameters.legacy.expected = {{"x", {}, {}, "", {}}};
  const auto text = [&] {
    return TextOf(BindRequestExpressions(parameters, expr::kUpdateKinds, ValidationLayer::kOlder, nullptr).status());
  };
  EXPECT_EQ(text(), Cat(kInvalid, "Only DELETE action is allowed when no attribute value is specified"));
  parameters.legacy.attribute_updates->at(2).action = "DELETE";
  EXPECT_EQ(text(), Cat(kInvalid, "Value must be provided when Exists is null for Attribute: x"));
  parameters.legacy.expected = {{"x", codec::S("v"), {}, "", {}}};
  const auto bound = BindRequestExpressions(parameters, expr::kUpdateKinds, ValidationLayer::kOlder, nullptr);
  ASSERT_TRUE(bound.ok()) << bound.status();
  const expr::Update& update = *(*bound)->bound.update;
  EXPECT_EQ(update.style, expr::UpdateStyle::kAttributeUpdates);
  ASSERT_EQ(update.adds.size(), 1U);
  EXPECT_EQ(update.adds[0].operand.value->scalar(), "1");
  ASSERT_EQ(update.sets.size(), 1U);
  ASSERT_EQ(update.removes.size(), 1U);
  EXPECT_TRUE((*bound)->bound.condition.has_value());
}

TEST(LegacyUpdateParameters, HaveShapes) {
  LegacyParameters legacy;
  legacy.attribute_updates = {{"x", {}, "REMOVE"}};
  model::ConstraintList list;
  CheckLegacyShapes(legacy, RulesOf(ValidationLayer::kEnveloped), &list);
  EXPECT_EQ(TextOf(list.ToStatus()),
            "1 validation error detected: Value 'REMOVE' at 'attributeUpdates.x.member.action' failed to satisfy "
            "constraint: Member must satisfy enum value set: [ADD, PUT, DELETE]");
}

}  // namespace armature::engine::legacy_parameters_test
