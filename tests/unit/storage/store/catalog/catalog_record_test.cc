#include "storage/store/catalog/catalog_record.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "google/protobuf/stubs/logging.h"
#include "storage/store/records/catalog.pb.h"
#include "tests/unit/storage/codec/codec_test_util.h"
#include "tests/unit/storage/model/random_seed.h"
#include "tests/unit/storage/store/store_test_util.h"

namespace armature::store::catalog_record_test {

// A descriptor that uses every field of version 1 records.
model::TableDescriptor FirstFullTable() {
  model::TableDescriptor table = IndexedTable("orders");
  table.id = TableId(7);
  table.uuid = "123e4567-e89b-42d3-a456-426614174000";
  table.state = model::TableState::kUpdating;
  table.creation_time_ms = 1'700'000'000'123;
  table.key.sort[0].type = model::ScalarType::kNumber;
  table.attribute_definitions = {{"g", model::ScalarType::kBinary}, {"pk", model::ScalarType::kString}};
  uint32_t id = 8;
  for (model::IndexDescriptor& index : table.local_indexes) index.id = IndexId(id++);
  for (model::IndexDescriptor& index : table.global_indexes) {
    index.id = IndexId(id++);
    index.state = model::IndexState::kCreating;
    index.provisioned = {1, 2};
    index.on_demand_max = {-1, 4};
    index.warm = {5, 6};
  }
  table.global_indexes[0].projection = {model::ProjectionType::kInclude, {"z", "a"}};
  model::TableSettings& settings = table.settings;
  settings.billing_mode = model::BillingMode::kPayPerRequest;
  settings.provisioned = {1, 2};
  settings.on_demand_max = {3, -1};
  settings.warm = {5, 6};
  settings.deletion_protection = true;
  settings.table_class = "STANDARD";
  settings.stream_enabled = true;
  settings.stream_view_type = "NEW_IMAGE";
  settings.sse_enabled = true;
  settings.sse_type = "KMS";
  settings.sse_kms_key = "key";
  settings.tags = {{"b", "2"}, {"a", ""}};
  return table;
}

// A descriptor that uses every field.
model::TableDescriptor FullTable() {
  model::TableDescriptor table = FirstFullTable();
  table.global_indexes[0].throughput_changes = {1'700'000'000'001, 1'700'000'000'002, 3};
  table.settings.throughput_changes = {1'700'000'000'004, 1'700'000'000'005, 6};
  table.settings.on_demand_since_ms = 1'700'000'000'007;
  table.settings.table_class_changed_ms = 1'700'000'000'008;
  table.settings.latest_stream_label = "2015-05-11T21:21:33.291";
  table.settings.time_to_live_attribute = "expires";
  table.settings.point_in_time_recovery = {1'700'000'000'009, 35};
  return table;
}

// A table with a global index under construction.
model::TableDescriptor BackfillingTable() {
  model::TableDescriptor table = FullTable();
  table.global_indexes[0].backfilling = true;
  return table;
}

// A table with a policy, which no record of an earlier build has.
model::TableDescriptor TableWithPolicy() {
  model::TableDescriptor table = FullTable();
  table.settings.resource_policy = {R"({"Statement": []})", "1700000000000000"};
  return table;
}

// A table with contributor insights, which no record of an earlier build has.
model::TableDescriptor TableWithInsights() {
  model::TableDescriptor table = BackfillingTable();
  table.settings.contributor_insights = {true, model::InsightsMode::kAccessedAndThrottledKeys, 1'700'000'000'010};
  table.global_indexes[0].contributor_insights = {false, model::InsightsMode::kThrottledKeys, 1'700'000'000'011};
  return table;
}

// A table that has asked for a number of shards, which no record of a build of format 6 has.
model::TableDescriptor TableWithShards() {
  model::TableDescriptor table = TableWithInsights();
  table.settings.stream_shards = 8;
  return table;
}

// A stream that uses every field.
model::StreamDescriptor FullStream() {
  model::StreamDescriptor stream;
  stream.id = StreamId(9);
  stream.table = TableId(7);
  stream.table_name = "orders";
  stream.label = "2015-05-11T21:21:33.291";
  stream.view = model::StreamView::kNewImage;
  stream.key = StringKey({"pk"}, {"sk"});
  stream.creation_time_ms = 1'700'000'000'001;
  stream.first_segment = SegmentId(2);
  stream.first_sequence = ChangeSequence(300);
  stream.last_segment = SegmentId(6);
  stream.last_sequence = ChangeSequence(700);
  stream.ended_ms = 1'700'000'000'002;
  stream.tags = {{"b", "2"}, {"a", ""}};
  stream.resource_policy = {R"({"Statement": []})", "1700000000000000"};
  stream.shard_counts = {{SegmentId(2), 1}, {SegmentId(5), 8}};
  stream.next_shards = 64;
  return stream;
}

// A stream of a build of format 6, which has no numbers of shards.
model::StreamDescriptor FormerStream() {
  model::StreamDescriptor stream = FullStream();
  stream.last_segment = SegmentId(0);
  stream.last_sequence = ChangeSequence(0);
  stream.ended_ms = 0;
  stream.shard_counts.clear();
  stream.next_shards = 0;
  return stream;
}

TEST(CatalogRecord, GoldenStreamsOfEveryVersionAreRead) {
  for (const std::vector<std::string>& vector :
       codec::ReadGolden("stream_descriptor.golden", 2, /*format=*/7, /*vectors_min=*/2)) {
    const model::StreamDescriptor stream = vector[0] == "full" ? FullStream() : FormerStream();
    EXPECT_EQ(codec::ToHex(EncodeStreamDescriptor(stream)), vector[1]);
    const absl::StatusOr<model::StreamDescriptor> parsed = ParseStreamDescriptor(codec::FromHex(vector[1]));
    ASSERT_TRUE(parsed.ok()) << vector[0] << ": " << parsed.status();
    EXPECT_EQ(*parsed, stream) << vector[0];
  }
}

TEST(CatalogRecord, StreamsHaveNumbersOfShardsBySegment) {
  const model::StreamDescriptor stream = FullStream();
  EXPECT_EQ(stream.ShardsIn(SegmentId(1)), 4u);
  EXPECT_EQ(stream.ShardsIn(SegmentId(2)), 1u);
  EXPECT_EQ(stream.ShardsIn(SegmentId(4)), 1u);
  EXPECT_EQ(stream.ShardsIn(SegmentId(5)), 8u);
  EXPECT_EQ(stream.ShardsIn(SegmentId(9)), 8u);
  EXPECT_EQ(FormerStream().ShardsIn(SegmentId(9)), 4u);
}

// A shard is found by a division.
TEST(CatalogRecord, ImpossibleNumbersOfShardsAreRefused) {
  for (const uint32_t shards : {0u, 3u, 128u, 1u << 31}) {
    model::StreamDescriptor stream = FullStream();
    stream.shard_counts[1].shards = shards;
    EXPECT_EQ(ParseStreamDescriptor(EncodeStreamDescriptor(stream)).status().code(), absl::StatusCode::kDataLoss);
    if (shards == 0) continue;
    stream = FullStream();
    stream.next_shards = shards;
    EXPECT_EQ(ParseStreamDescriptor(EncodeStreamDescriptor(stream)).status().code(), absl::StatusCode::kDataLoss);
    model::TableDescriptor table = TableWithShards();
    table.settings.stream_shards = shards;
    EXPECT_EQ(ParseTableRecord(EncodeTableRecord(table)).status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(CatalogRecord, RoundTripsEveryField) {
  for (const model::TableDescriptor& table :
       {FullTable(), BackfillingTable(), TableWithPolicy(), TableWithInsights(), TableWithShards(), [] {
          model::TableDescriptor plain = PlainTable("p");
          plain.id = TableId(1);
          return plain;
        }()}) {
    const absl::StatusOr<model::TableDescriptor> parsed = ParseTableRecord(EncodeTableRecord(table));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, table);
  }
}

template <class T>
std::set<std::string> MembersOf() {
  std::set<std::string> names;
  T value;
  T::VisitFields(value, [&names](const char* name, const auto&) { names.insert(name); });
  return names;
}

template <class Message>
std::set<std::string> FieldsOf() {
  std::set<std::string> names;
  for (int i = 0; i < Message::descriptor()->field_count(); ++i) names.insert(Message::descriptor()->field(i)->name());
  return names;
}

TEST(CatalogRecord, EveryFieldOfTheFormatIsAMember) {
  EXPECT_EQ(MembersOf<model::TableDescriptor>(), FieldsOf<disk::v1::TableRecord>());
  EXPECT_EQ(MembersOf<model::IndexDescriptor>(), FieldsOf<disk::v1::IndexRecord>());
  EXPECT_EQ(MembersOf<model::TableSettings>(), FieldsOf<disk::v1::TableSettings>());
  EXPECT_EQ(MembersOf<model::KeyAttribute>(), FieldsOf<disk::v1::KeyAttribute>());
  EXPECT_EQ(MembersOf<model::KeySchema>(), FieldsOf<disk::v1::KeySchema>());
  EXPECT_EQ(MembersOf<model::Projection>(), FieldsOf<disk::v1::Projection>());
  EXPECT_EQ(MembersOf<model::Throughput>(), FieldsOf<disk::v1::Throughput>());
  EXPECT_EQ(MembersOf<model::ThroughputChanges>(), FieldsOf<disk::v1::ThroughputChanges>());
  EXPECT_EQ(MembersOf<model::PointInTimeRecovery>(), FieldsOf<disk::v1::PointInTimeRecovery>());
  EXPECT_EQ(MembersOf<model::ContributorInsights>(), FieldsOf<disk::v1::ContributorInsights>());
  EXPECT_EQ(MembersOf<model::RestoreOrigin>(), FieldsOf<disk::v1::RestoreOrigin>());
  EXPECT_EQ(MembersOf<model::StreamDescriptor>(), FieldsOf<disk::v1::StreamRecord>());
  EXPECT_EQ(MembersOf<model::ShardCount>(), FieldsOf<disk::v1::ShardCount>());
}

TEST(CatalogRecord, HasTheBytesOfTheFormat) {
  model::TableDescriptor table;
  table.id = TableId(1);
  table.name = "t";
  table.uuid = "u";
  table.state = model::TableState::kActive;
  table.creation_time_ms = 5;
  table.key = StringKey({"pk"}, {});
  EXPECT_EQ(codec::ToHex(EncodeTableRecord(table)),
            "01"                    // version
            "0801"                  // id
            "120174"                // name
            "1a0175"                // uuid
            "2002"                  // state ACTIVE
            "2805"                  // creation time
            "32080a060a02706b1001"  // key: one partition attribute, pk of type S
            "52020801");            // settings: PROVISIONED
}

// The tables of the golden records, as today's build must read them.
model::TableDescriptor GoldenTable(std::string_view name) {
  if (name == "full") return FirstFullTable();
  if (name == "changed settings") return FullTable();
  if (name == "filled index") return BackfillingTable();
  if (name == "insights") return TableWithInsights();
  if (name == "shards") return TableWithShards();
  model::TableDescriptor table = name == "indexed" ? IndexedTable("indexed") : PlainTable(name);
  table.id = TableId(1);
  table.uuid = "123e4567-e89b-42d3-a456-426614174000";
  if (name == "creating") return table;
  table.state = name == "deleting" ? model::TableState::kDeleting : model::TableState::kActive;
  table.creation_time_ms = 1'700'000'000'123;
  table.settings.tags = {{"team", "blue"}};
  if (name == "on-demand") table.settings.billing_mode = model::BillingMode::kPayPerRequest;
  return table;
}

TEST(CatalogRecord, GoldenRecordsOfEveryVersionAreRead) {
  for (const std::vector<std::string>& vector : codec::ReadGolden("table.golden", 2)) {
    const absl::StatusOr<model::TableDescriptor> parsed = ParseTableRecord(codec::FromHex(vector[1]));
    ASSERT_TRUE(parsed.ok()) << vector[0] << ": " << parsed.status();
    EXPECT_EQ(*parsed, GoldenTable(vector[0])) << vector[0];
  }
}

// 257 does not fit a byte and must not be read as 1.
TEST(CatalogRecord, EnumValuesBeyondAByteAreRefused) {
  model::TableDescriptor table = PlainTable("t");
  table.id = TableId(1);
  std::string value = EncodeTableRecord(table);
  ASSERT_TRUE(ParseTableRecord(value).ok());
  value += std::string("\x20\x81\x02", 3);  // a second state: the last one counts
  EXPECT_EQ(ParseTableRecord(value).status().code(), absl::StatusCode::kDataLoss);
}

TEST(CatalogRecord, OtherVersionsAndNothingAreRefused) {
  std::string value = EncodeTableRecord(FullTable());
  value[0] = 2;
  EXPECT_EQ(ParseTableRecord(value).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ParseTableRecord("").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ParseTableRecord("\x01").status().code(), absl::StatusCode::kDataLoss);
}

struct UnknownCase {
  std::string_view what;
  void (*change)(model::TableDescriptor*);
};
constexpr UnknownCase kUnknown[] = {
    {"no id", [](model::TableDescriptor* t) { t->id = TableId(0); }},
    {"no name", [](model::TableDescriptor* t) { t->name.clear(); }},
    {"state 0", [](model::TableDescriptor* t) { t->state = model::TableState(0); }},
    {"state 5", [](model::TableDescriptor* t) { t->state = model::TableState(5); }},
    {"no key", [](model::TableDescriptor* t) { t->key = {}; }},
    {"key type", [](model::TableDescriptor* t) { t->key.sort[0].type = model::ScalarType(4); }},
    {"key name", [](model::TableDescriptor* t) { t->key.sort[0].name.clear(); }},
    {"index state", [](model::TableDescriptor* t) { t->global_indexes[1].state = model::IndexState(9); }},
    {"projection", [](model::TableDescriptor* t) { t->local_indexes[0].projection.type = model::ProjectionType(0); }},
    {"index key", [](model::TableDescriptor* t) { t->local_indexes[0].key.partition.clear(); }},
    {"attribute type", [](model::TableDescriptor* t) { t->attribute_definitions[0].type = model::ScalarType(0); }},
    {"billing mode", [](model::TableDescriptor* t) { t->settings.billing_mode = model::BillingMode(3); }},
};

TEST(CatalogRecord, ValuesOfAnotherBuildAreRefused) {
  for (const UnknownCase& c : kUnknown) {
    model::TableDescriptor table = FullTable();
    c.change(&table);
    EXPECT_EQ(ParseTableRecord(EncodeTableRecord(table)).status().code(), absl::StatusCode::kDataLoss) << c.what;
  }
}

// Parsing refuses `bytes`, or returns a descriptor that the catalog can serve and write again.
void ExpectRefusedOrValid(std::string_view bytes) {
  const absl::StatusOr<model::TableDescriptor> parsed = ParseTableRecord(bytes);
  if (!parsed.ok()) {
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kDataLoss);
    return;
  }
  const absl::StatusOr<model::TableDescriptor> again = ParseTableRecord(EncodeTableRecord(*parsed));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, *parsed);
}

TEST(CatalogRecord, EveryPrefixAndEveryFlippedByteIsRefusedOrValid) {
  const google::protobuf::LogSilencer silencer;
  codec::ForEachDamage(EncodeTableRecord(FullTable()), ExpectRefusedOrValid);
}

TEST(CatalogRecord, RandomDamageIsRefusedOrValid) {
  const google::protobuf::LogSilencer silencer;
  std::mt19937_64 random(PrintedTestSeed());
  const std::string valid = EncodeTableRecord(FullTable());
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = valid;
    for (uint64_t flips = random() % 6 + 1; flips > 0; --flips) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    ExpectRefusedOrValid(damaged);
  }
}

}  // namespace armature::store::catalog_record_test
