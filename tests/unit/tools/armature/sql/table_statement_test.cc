#include "tools/armature/sql/table_statement.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"

namespace armature::cli::table_statement_test {

using testing::HasSubstr;
using Kind = TableStatement::Kind;

absl::StatusOr<TableStatement> Parse(std::string_view statement) {
  const auto tokens = TokenizeSql(statement);
  if (!tokens.ok()) return tokens.status();
  return ParseTableStatement(*tokens);
}

absl::StatusOr<api::v1::CreateTableRequest> Create(std::string_view statement) {
  const absl::StatusOr<TableStatement> parsed = Parse(statement);
  if (!parsed.ok()) return parsed.status();
  return CreateRequestOf(*parsed);
}

std::string FaultOf(std::string_view statement) {
  const absl::Status status = Create(statement).status();
  const auto place = PlaceOf(status, statement);
  if (status.ok() || !place.has_value()) return Cat("no fault: ", statement);
  return std::string(statement.substr(place->begin, place->end - place->begin));
}

// The description of the table that the request makes.
api::v1::TableDescription Made(const api::v1::CreateTableRequest& request) {
  api::v1::TableDescription table;
  table.set_table_name(request.table_name());
  *table.mutable_attribute_definitions() = request.attribute_definitions();
  *table.mutable_key_schema() = request.key_schema();
  table.mutable_billing_mode_summary()->set_billing_mode(request.billing_mode());
  const auto fill = [](const api::v1::ProvisionedThroughput& from, api::v1::ProvisionedThroughputDescription* to) {
    to->set_read_capacity_units(from.read_capacity_units());
    to->set_write_capacity_units(from.write_capacity_units());
  };
  fill(request.provisioned_throughput(), table.mutable_provisioned_throughput());
  for (const auto& from : request.local_secondary_indexes()) {
    auto& to = *table.add_local_secondary_indexes();
    to.set_index_name(from.index_name());
    *to.mutable_key_schema() = from.key_schema();
    *to.mutable_projection() = from.projection();
  }
  for (const auto& from : request.global_secondary_indexes()) {
    auto& to = *table.add_global_secondary_indexes();
    to.set_index_name(from.index_name());
    *to.mutable_key_schema() = from.key_schema();
    *to.mutable_projection() = from.projection();
    fill(from.provisioned_throughput(), to.mutable_provisioned_throughput());
  }
  if (request.has_stream_specification()) *table.mutable_stream_specification() = request.stream_specification();
  table.set_deletion_protection_enabled(request.deletion_protection_enabled());
  table.mutable_table_class_summary()->set_table_class(request.table_class());
  return table;
}

TEST(TableStatement, Kinds) {
  EXPECT_EQ(Parse("show tables;")->kind, Kind::kShowTables);
  EXPECT_EQ(Parse("SHOW INDEXES OF t")->kind, Kind::kShowIndexes);
  EXPECT_EQ(Parse("SHOW INDEX FROM \"a.b\"")->table, "a.b");
  EXPECT_EQ(Parse("SHOW CREATE TABLE t")->kind, Kind::kShowCreate);
  EXPECT_EQ(Parse("DESCRIBE t")->kind, Kind::kDescribe);
  EXPECT_EQ(Parse("DESC TABLE t")->table, "t");
  EXPECT_EQ(Parse("DROP TABLE t")->kind, Kind::kDrop);
  EXPECT_TRUE(Parse("DROP TABLE IF EXISTS t")->is_tolerant);
  EXPECT_EQ(Parse("ALTER TABLE t DROP INDEX i")->index, "i");
  EXPECT_EQ(Parse("ALTER TABLE t ADD INDEX i (a S | b)")->kind, Kind::kAddIndex);
  EXPECT_EQ(Parse("ALTER TABLE t SET (ttl = OFF, stream = OFF)")->settings.ttl, "");
}

TEST(TableStatement, CreatesKeysIndexesAndSettings) {
  const auto request = Create(
      "CREATE TABLE Orders (id S, at N, a S, b N, c B, PRIMARY KEY (id, at)), GLOBAL INDEX ByA (a, b | c, at) PROJECT "
      "(x, \"y z\"), LOCAL INDEX ByB (b) PROJECT KEYS, INDEX ByC (c) WITH (stream = NEW_IMAGE, protected = true)");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->key_schema_size(), 2);
  EXPECT_EQ(request->attribute_definitions_size(), 5);
  EXPECT_EQ(request->billing_mode(), api::v1::BILLING_MODE_PAY_PER_REQUEST);
  ASSERT_EQ(request->global_secondary_indexes_size(), 2);
  const auto& by_a = request->global_secondary_indexes(0);
  ASSERT_EQ(by_a.key_schema_size(), 4);
  EXPECT_EQ(by_a.key_schema(1).key_type(), api::v1::KEY_TYPE_HASH);
  EXPECT_EQ(by_a.key_schema(2).key_type(), api::v1::KEY_TYPE_RANGE);
  EXPECT_EQ(by_a.projection().non_key_attributes(1), "y z");
  EXPECT_EQ(request->local_secondary_indexes(0).key_schema(0).attribute_name(), "id");
  EXPECT_EQ(request->local_secondary_indexes(0).key_schema(1).attribute_name(), "b");
  EXPECT_EQ(request->stream_specification().stream_view_type(), api::v1::STREAM_VIEW_TYPE_NEW_IMAGE);
  EXPECT_TRUE(request->deletion_protection_enabled());
  EXPECT_EQ(Create("CREATE TABLE t (id S PRIMARY KEY)")->key_schema_size(), 1);
}

// A shown statement makes a table that is shown by the same statement.
TEST(TableStatement, ShownTablesAreMadeAgain) {
  for (const std::string_view statement :
       {"CREATE TABLE t (id S PRIMARY KEY)",
        "CREATE TABLE \"my.table\" (\"order\" S, n N, \"a\"\"b\" B, PRIMARY KEY (\"order\", n)), LOCAL INDEX L "
        "(\"a\"\"b\")",
        "CREATE TABLE t (a S, b S, c S, d S, e N, f N, g N, h N, PRIMARY KEY (a)), GLOBAL INDEX i (a, b, c, d | e, f, "
        "g, "
        "h) PROJECT (x, y), GLOBAL INDEX j (b) PROJECT KEYS WITH (class = INFREQUENT_ACCESS, protected = TRUE)",
        "CREATE TABLE t (id S, x N, PRIMARY KEY (id)), INDEX i (x | id) CAPACITY (3, 4) WITH (capacity = (1, 2))"}) {
    const auto request = Create(statement);
    ASSERT_TRUE(request.ok()) << statement << request.status();
    const std::string shown = CreateTextOf(Made(*request), "expires at");
    const auto again = Create(shown);
    ASSERT_TRUE(again.ok()) << shown << again.status();
    EXPECT_EQ(CreateTextOf(Made(*again), "expires at"), shown);
    EXPECT_EQ(again->DebugString(), request->DebugString()) << shown;
    EXPECT_EQ(Parse(shown)->settings.ttl, "expires at");
  }
}

TEST(TableStatement, FaultsHaveTheirPlace) {
  EXPECT_EQ(FaultOf("CREATE TABLE t (id S)"), ")");
  EXPECT_EQ(FaultOf("CREATE TABLE t (id, PRIMARY KEY (id))"), ",");
  EXPECT_EQ(FaultOf("CREATE TABLE t (id S, x N, PRIMARY KEY (id))"), "x");
  EXPECT_EQ(FaultOf("CREATE TABLE t (id S, PRIMARY KEY (at))"), "at");
  EXPECT_EQ(FaultOf("CREATE TABLE t (id S, id N, PRIMARY KEY (id))"), "id");
  EXPECT_EQ(FaultOf("CREATE TABLE t (id S, PRIMARY KEY (id), PRIMARY KEY (id))"), "PRIMARY");
  EXPECT_EQ(FaultOf("CREATE TABLE t (a S, b S, c S, PRIMARY KEY (a, b | c))"), "PRIMARY");
  EXPECT_EQ(FaultOf("CREATE TABLE t (a S PRIMARY KEY), INDEX i (a, b S, c S)"), "c");
  EXPECT_EQ(FaultOf("CREATE TABLE t (a S PRIMARY KEY), INDEX i (b)"), "b");
  EXPECT_EQ(FaultOf("CREATE TABLE t (a S PRIMARY KEY), LOCAL INDEX i (b S | c S)"), "LOCAL");
  EXPECT_EQ(FaultOf("CREATE TABLE t (a S PRIMARY KEY) WITH (streams = OFF)"), "streams");
  EXPECT_EQ(FaultOf("CREATE TABLE t (a S PRIMARY KEY) WITH (ttl = x, ttl = y)"), "ttl");
  EXPECT_EQ(FaultOf("CREATE TABLE t (a S PRIMARY KEY) WITH (stream = NEW)"), "NEW");
  EXPECT_EQ(FaultOf("CREATE TABLE t (a S PRIMARY KEY) extra"), "extra");
  EXPECT_EQ(FaultOf("CREATE TABLE key (a S PRIMARY KEY)"), "key");
  EXPECT_EQ(FaultOf("CREATE TABLE t (a S PRIMARY KEY), INDEX i (a) CAPACITY (1, 1)"), "INDEX");
  EXPECT_EQ(FaultOf("ALTER TABLE t ADD LOCAL INDEX i (a)"), "LOCAL");
  EXPECT_EQ(FaultOf("SHOW nothing"), "nothing");
}

TEST(TableStatement, AddedIndexesKnowTheTypesOfTheTable) {
  const auto made = Create("CREATE TABLE t (id S, at N, PRIMARY KEY (id, at))");
  ASSERT_TRUE(made.ok());
  const api::v1::TableDescription table = Made(*made);
  const auto request = AddIndexRequestOf(*Parse("ALTER TABLE t ADD INDEX i (at, x B | id) PROJECT KEYS"), table);
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->attribute_definitions_size(), 3);
  EXPECT_EQ(request->global_secondary_index_updates(0).create().key_schema_size(), 3);
  EXPECT_THAT(AddIndexRequestOf(*Parse("ALTER TABLE t ADD INDEX i (x)"), table).status().message(),
              HasSubstr("the type of x is not known"));
  EXPECT_FALSE(AddIndexRequestOf(*Parse("ALTER TABLE t ADD INDEX i (at S)"), table).ok());
}

}  // namespace armature::cli::table_statement_test
