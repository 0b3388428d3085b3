#include "daemon/api/wire_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "armature/api/v1/items.pb.h"
#include "daemon/api/item_messages.h"
#include "storage/base/api_error.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/model/random_seed.h"

namespace armature::daemon::wire_source_test {

namespace v1 = ::armature::api::v1;

constexpr uint32_t kValuesField = v1::PutItemRequest::kExpressionAttributeValuesFieldNumber;

// A length-delimited field with any number.
std::string Field(uint32_t number, std::string_view body) {
  std::string bytes;
  model::AppendVarint(number << 3 | 2, &bytes);
  model::AppendVarint(body.size(), &bytes);
  return bytes.append(body);
}

TEST(WireSource, FieldsMayComeInAnyOrder) {
  const std::string item = codec::Item({{"pk", codec::S("a")}});
  std::string value_entry;
  model::AppendBytesField(1, ":v", &value_entry);
  model::AppendBytesField(2, codec::S("b"), &value_entry);
  std::vector<std::string> fields = {Field(1, "table"), Field(kItemField, item), Field(3, "cond"),
                                     Field(kValuesField, value_entry), std::string("\x30\x02", 2)};
  std::sort(fields.begin(), fields.end());
  int orders = 0;
  do {
    std::string request;
    for (const std::string& field : fields) request += field;
    const auto put = ParsePutItem(request);
    ASSERT_TRUE(put.ok()) << put.status();
    EXPECT_EQ(put->table_name, "table");
    EXPECT_EQ(put->item_wire, item);
    EXPECT_EQ(put->expressions.condition, "cond");
    EXPECT_EQ(put->expressions.values_wire, codec::Item({{":v", codec::S("b")}}));
    EXPECT_EQ(put->return_consumed_capacity, "TOTAL");
    ++orders;
  } while (std::next_permutation(fields.begin(), fields.end()));
  EXPECT_EQ(orders, 120);
}

TEST(WireSource, RepeatedFieldsAreJoined) {
  const std::string a = codec::Item({{"a", codec::S("1")}});
  const std::string b = codec::Item({{"b", codec::S("2")}});
  const auto put =
      ParsePutItem(Field(kItemField, a) + Field(kValuesField, "x") + Field(kItemField, b) + Field(kValuesField, "yz"));
  ASSERT_TRUE(put.ok()) << put.status();
  EXPECT_EQ(put->item_wire, a + b);
  EXPECT_EQ(put->expressions.values_wire, std::string("\x0a\x01x\x0a\x02yz"));
}

TEST(WireSource, OfSeveralScalarsTheLastCounts) {
  v1::QueryRequest first;
  first.set_table_name("first");
  first.set_limit(7);
  first.set_select(v1::SELECT_COUNT);
  (*first.mutable_expression_attribute_names())["#n"] = "first";
  v1::QueryRequest second;
  second.set_table_name("second");
  second.set_limit(-1);
  second.set_scan_index_forward(false);
  (*second.mutable_expression_attribute_names())["#n"] = "second";
  const auto query = ParseQuery(first.SerializeAsString() + second.SerializeAsString());
  ASSERT_TRUE(query.ok()) << query.status();
  EXPECT_EQ(query->table_name, "second");
  EXPECT_EQ(query->limit, -1);
  EXPECT_EQ(query->select, "COUNT");
  EXPECT_FALSE(query->scan_index_forward);
  EXPECT_EQ(query->expressions.names->size(), 1U);
  EXPECT_EQ(query->expressions.names->at("#n"), "second");
}

TEST(WireSource, AbsentAndEmptyDiffer) {
  const auto absent = ParseQuery("");
  ASSERT_TRUE(absent.ok());
  EXPECT_FALSE(absent->exclusive_start_key_wire.has_value());
  EXPECT_FALSE(absent->expressions.values_wire.has_value());
  EXPECT_FALSE(absent->index_name.has_value());
  // Required members have no presence.
  EXPECT_EQ(absent->table_name, "");
  EXPECT_EQ(ParsePutItem("")->item_wire, "");
  const auto empty = ParseQuery(Field(kItemField, "") + Field(v1::QueryRequest::kIndexNameFieldNumber, ""));
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->exclusive_start_key_wire, "");
  EXPECT_EQ(empty->index_name, "");
}

// An action has some of the fields of an update.
TEST(WireSource, FieldsThatTheMessageLacksAreIgnored) {
  v1::UpdateItemRequest update;
  update.set_table_name("t");
  update.set_update_expression("SET a = :a");
  update.set_return_values(v1::RETURN_VALUES_ALL_NEW);
  update.GetReflection()->MutableUnknownFields(&update)->AddVarint(31, 1);
  update.GetReflection()->MutableUnknownFields(&update)->AddVarint(1000, 1);
  const std::string bytes = update.SerializeAsString();
  EXPECT_EQ(ParseUpdateItem(bytes)->expressions.update, "SET a = :a");
  EXPECT_FALSE(ParsePutItem(bytes)->expressions.update.has_value());
  const auto writes = ParseTransactWriteItems(Field(v1::TransactWriteItemsRequest::kTransactItemsFieldNumber,
                                                    Field(v1::TransactWriteItem::kPutFieldNumber, bytes)));
  ASSERT_TRUE(writes.ok()) << writes.status();
  EXPECT_EQ(writes->actions.at(0).write.table_name, "t");
  EXPECT_EQ(writes->actions.at(0).write.return_values, "");
  EXPECT_FALSE(writes->actions.at(0).write.expressions.update.has_value());
}

TEST(WireSource, BytesThatAreNoMessageAreRefused) {
  const std::string malformed[] = {
      "\x0a",                      // no length
      "\x0a\x05tabl",              // too short
      std::string("\x00\x01", 2),  // field 0
      "\x0b",                      // a group
      "\x0f",                      // wire type 7
      "\x10\x01",                  // the item as a varint
      "\x78\x01",                  // the values as a varint
      "\x0a\x01\xff",              // a table name that is not UTF-8
      Field(14, Field(1, "\xff")),
      Field(14, Field(2, "\xff")),
      "\x15"
      "abcd",                                          // the item as four bytes
      "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",  // endless tag
  };
  for (const std::string& bytes : malformed) {
    const auto put = ParsePutItem(bytes);
    ASSERT_FALSE(put.ok()) << codec::ToHex(bytes);
    EXPECT_EQ(GetApiError(put.status())->message,
              "The request is not a valid PutItem message: malformed, or text that is not UTF-8");
  }
}

TEST(WireSource, DamagedRequestsAreRefusedOrReadInBounds) {
  const std::string valid =
      Field(1, "table") + Field(kItemField, codec::Item({{"pk", codec::S("a")}})) + Field(kValuesField, "entry");
  codec::ForEachDamage(valid, [](std::string_view bytes) {
    const auto put = ParsePutItem(bytes);
    if (!put.ok()) return;
    EXPECT_LE(put->table_name->size() + put->item_wire->size(), bytes.size());
  });
}

}  // namespace armature::daemon::wire_source_test

namespace armature::daemon::legacy_messages_test {

namespace v1 = ::armature::api::v1;

v1::AttributeValue Number(const std::string& text) {
  v1::AttributeValue value;
  value.set_n(text);
  return value;
}

v1::Condition ConditionOf(v1::ComparisonOperator op, const std::vector<std::string>& numbers) {
  v1::Condition condition;
  condition.set_comparison_operator(op);
  for (const std::string& number : numbers) *condition.add_attribute_value_list() = Number(number);
  return condition;
}

template <class Message>
v1::ExpectedAttributeValue& Expect(Message* message, const std::string& name) {
  return (*message->mutable_expected())[name];
}

// The result of parsing Expected, for any kind of write.
template <class Message>
std::string WithExpected() {
  Message message;
  message.set_table_name("t");
  Expect(&message, "b").set_exists(false);
  *Expect(&message, "a").mutable_value() = Number("1");
  Expect(&message, "a").set_exists(true);
  Expect(&message, "c").set_comparison_operator(v1::COMPARISON_OPERATOR_BETWEEN);
  *Expect(&message, "c").add_attribute_value_list() = Number("2");
  *Expect(&message, "c").add_attribute_value_list() = Number("3.0");
  message.set_conditional_operator(v1::CONDITIONAL_OPERATOR_OR);
  return message.SerializeAsString();
}

void ExpectThem(const engine::LegacyParameters& legacy) {
  EXPECT_EQ(legacy.conditional_operator, "OR");
  ASSERT_TRUE(legacy.expected.has_value());
  ASSERT_EQ(legacy.expected->size(), 3U);
  EXPECT_EQ(legacy.expected->at(0).attribute, "a");
  EXPECT_EQ(legacy.expected->at(0).value_wire, codec::N("1"));
  EXPECT_EQ(legacy.expected->at(0).exists, true);
  EXPECT_EQ(legacy.expected->at(0).comparison_operator, "");
  EXPECT_EQ(legacy.expected->at(0).argument_wires, std::nullopt);
  EXPECT_EQ(legacy.expected->at(1).attribute, "b");
  EXPECT_EQ(legacy.expected->at(1).value_wire, std::nullopt);
  EXPECT_EQ(legacy.expected->at(1).exists, false);
  EXPECT_EQ(legacy.expected->at(2).exists, std::nullopt);
  EXPECT_EQ(legacy.expected->at(2).comparison_operator, "BETWEEN");
  EXPECT_EQ(legacy.expected->at(2).argument_wires, (std::vector<std::string>{codec::N("2"), codec::N("3.0")}));
}

TEST(LegacyMessages, ExpectedOfAllWrites) {
  const auto put = ParsePutItem(WithExpected<v1::PutItemRequest>());
  ASSERT_TRUE(put.ok()) << put.status();
  ExpectThem(put->expressions.legacy);
  const auto deletion = ParseDeleteItem(WithExpected<v1::DeleteItemRequest>());
  ASSERT_TRUE(deletion.ok()) << deletion.status();
  ExpectThem(deletion->expressions.legacy);
}

TEST(LegacyMessages, AttributeUpdates) {
  v1::UpdateItemRequest message;
  auto& updates = *message.mutable_attribute_updates();
  *updates["a"].mutable_value() = Number("1");
  updates["b"].set_action(v1::ATTRIBUTE_ACTION_DELETE);
  updates["c"].set_action(v1::ATTRIBUTE_ACTION_ADD);
  updates["d"].set_action(static_cast<v1::AttributeAction>(77));
  Expect(&message, "e").set_exists(false);
  const auto update = ParseUpdateItem(message.SerializeAsString());
  ASSERT_TRUE(update.ok()) << update.status();
  const engine::LegacyParameters& legacy = update->expressions.legacy;
  ASSERT_TRUE(legacy.attribute_updates.has_value());
  ASSERT_EQ(legacy.attribute_updates->size(), 4U);
  EXPECT_EQ(legacy.attribute_updates->at(0).attribute, "a");
  EXPECT_EQ(legacy.attribute_updates->at(0).value_wire, codec::N("1"));
  EXPECT_EQ(legacy.attribute_updates->at(0).action, "");
  EXPECT_EQ(legacy.attribute_updates->at(1).value_wire, std::nullopt);
  EXPECT_EQ(legacy.attribute_updates->at(1).action, "DELETE");
  EXPECT_EQ(legacy.attribute_updates->at(2).action, "ADD");
  EXPECT_EQ(legacy.attribute_updates->at(3).action, "77");
  ASSERT_TRUE(legacy.expected.has_value());
  ASSERT_EQ(legacy.expected->size(), 1U);
  EXPECT_EQ(legacy.expected->at(0).exists, false);
}

TEST(LegacyMessages, ConditionsOfReads) {
  v1::QueryRequest query;
  (*query.mutable_key_conditions())["h"] = ConditionOf(v1::COMPARISON_OPERATOR_EQ, {"1"});
  (*query.mutable_query_filter())["y"] = ConditionOf(v1::COMPARISON_OPERATOR_NOT_NULL, {});
  (*query.mutable_query_filter())["x"] = ConditionOf(v1::COMPARISON_OPERATOR_UNSPECIFIED, {"2", "3"});
  query.set_conditional_operator(v1::CONDITIONAL_OPERATOR_AND);
  query.add_attributes_to_get("b");
  query.add_attributes_to_get("a");
  const auto parsed = ParseQuery(query.SerializeAsString());
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const engine::LegacyParameters& legacy = parsed->expressions.legacy;
  ASSERT_TRUE(legacy.key_conditions.has_value());
  ASSERT_EQ(legacy.key_conditions->size(), 1U);
  EXPECT_EQ(legacy.key_conditions->at(0).comparison_operator, "EQ");
  EXPECT_EQ(legacy.key_conditions->at(0).argument_wires, std::vector<std::string>{codec::N("1")});
  ASSERT_TRUE(legacy.query_filter.has_value());
  ASSERT_EQ(legacy.query_filter->size(), 2U);
  EXPECT_EQ(legacy.query_filter->at(0).attribute, "x");
  EXPECT_EQ(legacy.query_filter->at(0).comparison_operator, "");
  EXPECT_EQ(legacy.query_filter->at(0).argument_wires.size(), 2U);
  EXPECT_EQ(legacy.query_filter->at(1).comparison_operator, "NOT_NULL");
  EXPECT_FALSE(legacy.scan_filter.has_value());
  EXPECT_EQ(legacy.conditional_operator, "AND");
  EXPECT_EQ(legacy.attributes_to_get, (std::vector<std::string>{"b", "a"}));

  v1::ScanRequest scan;
  (*scan.mutable_scan_filter())["x"] = ConditionOf(static_cast<v1::ComparisonOperator>(99), {"1"});
  const auto scanned = ParseScan(scan.SerializeAsString());
  ASSERT_TRUE(scanned.ok()) << scanned.status();
  ASSERT_TRUE(scanned->expressions.legacy.scan_filter.has_value());
  ASSERT_EQ(scanned->expressions.legacy.scan_filter->size(), 1U);
  EXPECT_EQ(scanned->expressions.legacy.scan_filter->at(0).comparison_operator, "99");
  EXPECT_FALSE(scanned->expressions.legacy.query_filter.has_value());
  EXPECT_EQ(scanned->expressions.legacy.attributes_to_get, std::nullopt);
}

TEST(LegacyMessages, RequestsWithoutThemHaveNone) {
  v1::GetItemRequest get;
  get.set_table_name("t");
  const auto parsed = ParseGetItem(get.SerializeAsString());
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed->expressions.legacy.empty());
  get.add_attributes_to_get("a");
  EXPECT_EQ(ParseGetItem(get.SerializeAsString())->expressions.legacy.attributes_to_get, std::vector<std::string>{"a"});
  const auto put = ParsePutItem(v1::PutItemRequest().SerializeAsString());
  ASSERT_TRUE(put.ok());
  EXPECT_TRUE(put->expressions.legacy.empty());
}

TEST(LegacyMessages, ValuesComeAsTheyStandOnTheWire) {
  // Two types in one value, which a parsed message could not hold, and deeper nesting than message parsers allow.
  std::string deep = codec::S("x");
  for (int i = 0; i < 500; ++i) deep = codec::L({deep});
  for (const std::string& value : {codec::S("a") + codec::N("1"), deep}) {
    std::string expected;
    model::AppendBytesField(v1::ExpectedAttributeValue::kValueFieldNumber, value, &expected);
    std::string entry;
    model::AppendBytesField(1, "a", &entry);
    model::AppendBytesField(2, expected, &entry);
    std::string request;
    model::AppendBytesField(v1::PutItemRequest::kExpectedFieldNumber, entry, &request);
    const auto put = ParsePutItem(request);
    ASSERT_TRUE(put.ok()) << put.status();
    ASSERT_TRUE(put->expressions.legacy.expected.has_value());
    ASSERT_EQ(put->expressions.legacy.expected->size(), 1U);
    EXPECT_EQ(put->expressions.legacy.expected->at(0).value_wire, value);
  }
}

TEST(LegacyMessages, TheLastEntryOfANameCounts) {
  v1::QueryRequest first;
  (*first.mutable_query_filter())["a"] = ConditionOf(v1::COMPARISON_OPERATOR_EQ, {"1"});
  v1::QueryRequest second;
  (*second.mutable_query_filter())["a"] = ConditionOf(v1::COMPARISON_OPERATOR_NE, {"2"});
  const auto parsed = ParseQuery(first.SerializeAsString() + second.SerializeAsString());
  ASSERT_TRUE(parsed.ok());
  ASSERT_TRUE(parsed->expressions.legacy.query_filter.has_value());
  ASSERT_EQ(parsed->expressions.legacy.query_filter->size(), 1U);
  EXPECT_EQ(parsed->expressions.legacy.query_filter->at(0).comparison_operator, "NE");
}

TEST(LegacyMessages, WhatIsNotWellFormedIsASerializationException) {
  std::string valid;
  {
    v1::PutItemRequest message;
    *Expect(&message, "name").mutable_value() = Number("1");
    Expect(&message, "name").set_exists(true);
    *Expect(&message, "name").add_attribute_value_list() = Number("2");
    valid = message.SerializeAsString();
  }
  int refused = 0;
  codec::ForEachDamage(valid, [&refused](std::string_view bytes) {
    const auto put = ParsePutItem(bytes);
    if (put.ok()) return;
    ++refused;
    EXPECT_EQ(GetApiError(put.status())->type, ApiErrorType::kSerialization) << codec::ToHex(bytes);
  });
  EXPECT_GT(refused, 0);
  std::string entry;
  model::AppendBytesField(1, "\xff", &entry);
  std::string request;
  model::AppendBytesField(v1::PutItemRequest::kExpectedFieldNumber, entry, &request);
  EXPECT_EQ(GetApiError(ParsePutItem(request).status())->message, "Invalid UTF-8 in an attribute name");
}

}  // namespace armature::daemon::legacy_messages_test
