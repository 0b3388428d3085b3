#include "daemon/api/table_messages.h"

#include <gtest/gtest.h>

#include "google/protobuf/text_format.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

constexpr char kCreate[] = R"pb(
  table_name: "orders"
  attribute_definitions { attribute_name: "pk" attribute_type: SCALAR_ATTRIBUTE_TYPE_S }
  attribute_definitions { attribute_name: "sk" attribute_type: SCALAR_ATTRIBUTE_TYPE_N }
  attribute_definitions { attribute_name: "g" attribute_type: SCALAR_ATTRIBUTE_TYPE_B }
  key_schema { attribute_name: "pk" key_type: KEY_TYPE_HASH }
  key_schema { attribute_name: "sk" key_type: KEY_TYPE_RANGE }
  local_secondary_indexes {
    index_name: "local"
    key_schema { attribute_name: "pk" key_type: KEY_TYPE_HASH }
    key_schema { attribute_name: "g" key_type: KEY_TYPE_RANGE }
    projection {
      projection_type: PROJECTION_TYPE_INCLUDE
      non_key_attributes: [ "z", "a" ]
    }
  }
  global_secondary_indexes {
    index_name: "global"
    key_schema { attribute_name: "g" key_type: KEY_TYPE_HASH }
    projection { projection_type: PROJECTION_TYPE_KEYS_ONLY }
    on_demand_throughput { max_read_request_units: 7 }
  }
  billing_mode: BILLING_MODE_PAY_PER_REQUEST
  stream_specification { stream_enabled: true stream_view_type: STREAM_VIEW_TYPE_NEW_IMAGE }
  tags { key: "k" value: "v" }
  table_class: TABLE_CLASS_STANDARD
  deletion_protection_enabled: true
)pb";

v1::CreateTableRequest Request(const char* text = kCreate) {
  v1::CreateTableRequest request;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &request));
  return request;
}

TEST(TableMessages, RequestBecomesADefinitionInTheWordsOfTheApi) {
  const model::TableDefinition definition = ToTableDefinition(Request());
  EXPECT_EQ(definition.table_name, "orders");
  ASSERT_EQ(definition.attribute_definitions.size(), 3u);
  EXPECT_EQ(definition.attribute_definitions[1].attribute_type, "N");
  EXPECT_EQ(definition.key_schema[1].key_type, "RANGE");
  ASSERT_TRUE(definition.local_indexes.has_value() && definition.global_indexes.has_value());
  EXPECT_EQ(definition.local_indexes->at(0).projection.projection_type, "INCLUDE");
  EXPECT_EQ(definition.local_indexes->at(0).projection.non_key_attributes, (std::vector<std::string>{"z", "a"}));
  EXPECT_EQ(definition.global_indexes->at(0).projection.projection_type, "KEYS_ONLY");
  EXPECT_FALSE(definition.global_indexes->at(0).projection.non_key_attributes.has_value());
  EXPECT_EQ(definition.global_indexes->at(0).on_demand_max, (model::Throughput{7, model::kThroughputNotGiven}));
  EXPECT_FALSE(definition.global_indexes->at(0).provisioned.has_value());
  EXPECT_EQ(definition.billing_mode, "PAY_PER_REQUEST");
  EXPECT_EQ(definition.stream->enabled, true);
  EXPECT_EQ(definition.stream->view_type, "NEW_IMAGE");
  EXPECT_EQ(definition.table_class, "STANDARD");
  EXPECT_EQ(definition.deletion_protection, true);
  EXPECT_EQ(definition.tags, (std::vector<std::pair<std::string, std::string>>{{"k", "v"}}));
}

TEST(TableMessages, WhatIsNotSetIsAbsentAndUnknownEnumsBecomeTheirNumber) {
  v1::CreateTableRequest request = Request("table_name: 't' key_schema { attribute_name: 'a' }");
  request.set_billing_mode(static_cast<v1::BillingMode>(77));
  const model::TableDefinition definition = ToTableDefinition(request);
  EXPECT_EQ(definition.key_schema.at(0).key_type, "");
  EXPECT_EQ(definition.billing_mode, "77");
  EXPECT_FALSE(definition.local_indexes.has_value());
  EXPECT_FALSE(definition.global_indexes.has_value());
  EXPECT_FALSE(definition.stream.has_value());
  EXPECT_FALSE(definition.provisioned.has_value());
}

engine::TableDescription Describe() {
  const absl::StatusOr<model::TableDescriptor> table = model::BuildTableDescriptor(ToTableDefinition(Request()));
  EXPECT_TRUE(table.ok()) << table.status();
  engine::TableDescription description;
  description.descriptor = *table;
  description.descriptor.state = model::TableState::kActive;
  description.descriptor.uuid = "the-uuid";
  description.descriptor.creation_time_ms = 123;
  description.totals = {3, 400};
  description.local_indexes = {{1, 10}};
  description.global_indexes = {{2, 20}};
  return description;
}

TEST(TableMessages, DescriptionGivesBackWhatTheRequestSaid) {
  const v1::CreateTableRequest request = Request();
  v1::TableDescription to;
  Fill(Describe(), &to);
  EXPECT_EQ(to.table_name(), "orders");
  EXPECT_EQ(to.table_status(), v1::TABLE_STATUS_ACTIVE);
  EXPECT_EQ(to.creation_date_time_ms(), 123);
  EXPECT_EQ(to.table_id(), "the-uuid");
  EXPECT_EQ(to.table_arn(), "arn:aws:dynamodb:local:000000000000:table/orders");
  EXPECT_EQ(to.item_count(), 3);
  EXPECT_EQ(to.table_size_bytes(), 400);
  ASSERT_EQ(to.key_schema_size(), 2);
  EXPECT_EQ(to.key_schema(1).SerializeAsString(), request.key_schema(1).SerializeAsString());
  ASSERT_EQ(to.attribute_definitions_size(), 3);
  EXPECT_EQ(to.attribute_definitions(0).attribute_name(), "g");  // sorted by name
  ASSERT_EQ(to.local_secondary_indexes_size(), 1);
  EXPECT_EQ(to.local_secondary_indexes(0).index_size_bytes(), 10);
  const v1::Projection& projection = to.local_secondary_indexes(0).projection();
  EXPECT_EQ(projection.projection_type(), v1::PROJECTION_TYPE_INCLUDE);
  ASSERT_EQ(projection.non_key_attributes_size(), 2);
  EXPECT_EQ(projection.non_key_attributes(0), "a");  // sorted by name
  EXPECT_EQ(projection.non_key_attributes(1), "z");
  ASSERT_EQ(to.global_secondary_indexes_size(), 1);
  EXPECT_EQ(to.global_secondary_indexes(0).item_count(), 2);
  EXPECT_EQ(to.global_secondary_indexes(0).index_status(), v1::INDEX_STATUS_ACTIVE);
  EXPECT_EQ(to.global_secondary_indexes(0).key_schema(0).attribute_name(), "g");
  EXPECT_EQ(to.billing_mode_summary().billing_mode(), v1::BILLING_MODE_PAY_PER_REQUEST);
  EXPECT_TRUE(to.stream_specification().stream_enabled());
  EXPECT_EQ(to.stream_specification().stream_view_type(), v1::STREAM_VIEW_TYPE_NEW_IMAGE);
  EXPECT_EQ(to.table_class_summary().table_class(), v1::TABLE_CLASS_STANDARD);
  EXPECT_TRUE(to.deletion_protection_enabled());
}

TEST(TableMessages, DescriptionOfATableBeingDeletedHasNoKeysAndIndexes) {
  engine::TableDescription description = Describe();
  description.descriptor.state = model::TableState::kDeleting;
  v1::TableDescription to;
  Fill(description, &to);
  EXPECT_EQ(to.table_status(), v1::TABLE_STATUS_DELETING);
  EXPECT_EQ(to.key_schema_size(), 0);
  EXPECT_EQ(to.attribute_definitions_size(), 0);
  EXPECT_EQ(to.local_secondary_indexes_size(), 0);
  EXPECT_EQ(to.global_secondary_indexes_size(), 0);
}

}  // namespace
}  // namespace armature::daemon
