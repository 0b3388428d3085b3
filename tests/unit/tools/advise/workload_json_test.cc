#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "armature/api/v1/tables.pb.h"
#include "google/protobuf/text_format.h"
#include "storage/base/strings.h"
#include "tests/unit/tools/advise/advise_testing.h"

namespace armature::advise::workload_json_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kSmall[] = R"({
  "table": {
    "name": "T", "identity": "k",
    "attributes": {"k": {}, "n": {"type": "N", "distinct": 50}, "d": {"type": "B"}, "m": {"type": "M"}, "b": {"type": "BOOL"}}
  },
  "patterns": [{"equality": "n"}, {"name": "second", "equality": ["k"]}]
})";

Json Parsed(std::string_view text) { return Json::parse(text, nullptr, false); }

// The file above with the value at a JSON pointer replaced.
Json With(const std::string& pointer, const Json& value) {
  Json json = Parsed(kSmall);
  json[Json::json_pointer(pointer)] = value;
  return json;
}

std::string Refusal(const Json& json) {
  const absl::StatusOr<Workload> workload = WorkloadFromJson(json);
  return workload.ok() ? "accepted" : std::string(Sv(workload.status().message()));
}

TEST(AdviseFile, WhatIsLeftOutHasDefaults) {
  const absl::StatusOr<Workload> workload = WorkloadFromJson(Parsed(kSmall));
  ASSERT_TRUE(workload.ok()) << workload.status();
  const std::vector<Attribute>& attributes = workload->table.attributes;
  EXPECT_EQ(attributes[0].type, AttributeType::kString);
  EXPECT_DOUBLE_EQ(attributes[0].value_bytes, 20);
  EXPECT_DOUBLE_EQ(attributes[1].value_bytes, 5);
  EXPECT_DOUBLE_EQ(attributes[4].value_bytes, 1);
  EXPECT_FALSE(attributes[3].CanBeKey());
  EXPECT_FALSE(workload->table.items.has_value());
  const Pattern& pattern = workload->patterns[0];
  EXPECT_EQ(pattern.name, "pattern 1");
  EXPECT_TRUE(pattern.returns_all);
  EXPECT_FALSE(pattern.strong);
  EXPECT_DOUBLE_EQ(pattern.per_second, 1);
  EXPECT_TRUE(Advise(*workload).ok());
}

TEST(AdviseFile, EveryMistakeIsRefusedWithItsPlace) {
  const Json one = 1;
  struct Case {
    Json json;
    std::string_view message;
  };
  const Case cases[] = {
      {Json::array(), "the file: must be an object"},
      {Json::object(), "table: is required"},
      {With("/color", one), "color: is not known here; known are table, patterns"},
      {With("/table", one), "table: must be an object"},
      {With("/table/name", one), "table.name: must be a text"},
      {With("/table/colour", one), "table.colour: is not known here"},
      {With("/table/attributes", Json::object()), "table.attributes: must have 1 to"},
      {With("/table/attributes/k", one), "table.attributes.k: must be an object"},
      {With("/table/attributes/k", {{"typ", "S"}}), "table.attributes.k.typ: is not known"},
      {With("/table/attributes/k", {{"type", "X"}}), R"(table.attributes.k.type: must be "S", "N")"},
      {With("/table/attributes/k", {{"share", 0}}), "table.attributes.k.share: must be from"},
      {With("/table/attributes/k", {{"bytes", -1}}), "table.attributes.k.bytes: must be from 0"},
      {With("/table/attributes/k", {{"bytes", "1"}}), "table.attributes.k.bytes: must be a number"},
      {With("/table/attributes/n", {{"distinct", 4}, {"hot_share", 0.1}}), "table.attributes.n.hot_share: the most"},
      {With("/table/identity", "x"), R"(table.identity: "x" is not in table.attributes)"},
      {With("/table/identity", {"k", "k"}), R"(table.identity[1]: "k" occurs twice)"},
      {With("/table/key", {{"partition", "k"}}), "table.identity: says what table.key says"},
      {With("/table/key", {{"sort", "k"}}), "table.key.partition: is required"},
      {With("/table/key", {{"partition", {"k", "n"}}}), "table.key: at most 1"},
      {With("/table/key", {{"partition", "k"}, {"sort", "k"}}), "table.key.sort: repeats"},
      {With("/table/key", {{"partition", "m"}}), "table.key: m cannot be a key attribute"},
      {With("/table/items", true), "table.items: must be a number"},
      {With("/table/items", -5), "table.items: must be from 0"},
      {With("/table/item_bytes", 500'000), "table.item_bytes: must be from 1 to 409600"},
      {With("/table/created", 1), "table.created: must be true or false"},
      {With("/table/writes", {{"puts", 1}}), "table.writes.puts: is not known"},
      {With("/table/writes", {{"updates", {{"attributes", "n"}}}}), "table.writes.updates: must be a list"},
      {With("/table/writes", {{"updates", Json::array({Json::object()})}}),
       "table.writes.updates[0].attributes: is req"},
      {With("/table/writes", {{"updates", Json::array({Json{{"attributes", {"n", "z"}}}})}}),
       R"(table.writes.updates[0].attributes[1]: "z" is not in table.attributes)"},
      {With("/table/indexes", one), "table.indexes: must be a list"},
      {With("/table/indexes", Json::array({Json{{"name", "i"}}})), "table.indexes[0].key: is required"},
      {With("/patterns", Json::array()), "patterns: must have 1 to"},
      {With("/patterns/0", "n"), "patterns[0]: must be an object"},
      {With("/patterns/0/equal", one), "patterns[0].equal: is not known"},
      {With("/patterns/0/equality", one), "patterns[0].equality: must be a list"},
      {With("/patterns/0/equality", {"k", 5}), "patterns[0].equality[1]: must be the name"},
      {With("/patterns/0/range", "d"), "patterns[0].range: must be an object"},
      {With("/patterns/0/range", Json::object()), "patterns[0].range.attribute: is required"},
      {With("/patterns/0/range", {{"attribute", "d"}, {"kind", "near"}}), "patterns[0].range.kind: must be"},
      {With("/patterns/0/range", {{"attribute", "n"}}), "patterns[0].range.attribute: n is given by equality"},
      {With("/patterns/1/range", {{"attribute", "n"}, {"kind", "begins_with"}}), "patterns[1].range.kind: begins_with"},
      {With("/patterns/0/returns", "some"), R"(patterns[0].returns: must be "all", "keys")"},
      {With("/patterns/0/consistency", "weak"), R"(patterns[0].consistency: must be "eventual" or "strong")"},
      {With("/patterns/0/rows", "many"), "patterns[0].rows: must be a number"},
      {With("/patterns/1/name", "pattern 1"), R"(patterns[1].name: "pattern 1" occurs twice)"},
  };
  for (const Case& c : cases) EXPECT_THAT(Refusal(c.json), StartsWith(std::string(c.message)));
}

TEST(AdviseFile, AKeyOrAnIdentityIsNeeded) {
  Json json = Parsed(kSmall);
  json["table"].erase("identity");
  const absl::StatusOr<Workload> workload = WorkloadFromJson(json);
  ASSERT_TRUE(workload.ok()) << "a live table may tell the key";
  EXPECT_THAT(std::string(Sv(Advise(*workload).status().message())), HasSubstr(R"(give "key" if it is decided)"));
  const absl::StatusOr<Workload> of_map = WorkloadFromJson(With("/table/identity", "m"));
  EXPECT_THAT(std::string(Sv(Advise(*of_map).status().message())), HasSubstr("m cannot be a key attribute"));
}

// Replaces each value of the file in turn. The result is refused or answered, without a crash.
TEST(AdviseFile, GarbageIsRefusedOrAnswered) {
  std::ifstream file(std::string(ARMATURE_ADVISE_EXAMPLES) + "/game-scores.json");
  const Json good = Json::parse(file, nullptr, false);
  ASSERT_TRUE(good.is_object());
  const std::vector<Json> values = {nullptr,
                                    true,
                                    -1,
                                    0,
                                    1,
                                    1e15,
                                    1e300,
                                    0.5,
                                    "",
                                    "UserId",
                                    "Award",
                                    "\xf0\x9f\x98\x80",
                                    Json::array(),
                                    Json::object(),
                                    Json::array({"UserId", "GameTitle", "Award"}),
                                    Json::array({Json::array({1})}),
                                    Json{{"attribute", "Award"}}};
  size_t accepted = 0;
  size_t refused = 0;
  const Json flat = good.flatten();
  for (const auto& member : flat.items()) {
    for (std::string pointer = member.key(); !pointer.empty(); pointer.resize(pointer.rfind('/'))) {
      for (const Json& value : values) {
        Json json = good;
        json[Json::json_pointer(pointer)] = value;
        const absl::StatusOr<Workload> workload = WorkloadFromJson(json);
        const absl::StatusOr<Advice> advice = workload.ok() ? Advise(*workload) : workload.status();
        ++(advice.ok() ? accepted : refused);
        if (advice.ok()) {
          EXPECT_FALSE(AdviceToJson(*advice).empty());
        } else {
          EXPECT_THAT(std::string(Sv(advice.status().message())), HasSubstr(": ")) << json.dump();
        }
      }
    }
  }
  EXPECT_GT(accepted, 100u);
  EXPECT_GT(refused, 1000u);
}

TEST(AdviceJson, HasARequestThatMakesTheTable) {
  const Json request = AdviceToJson(AdviseOnExample("forum.json"))["CreateTable"];
  EXPECT_EQ(request["TableName"], "Thread");
  EXPECT_EQ(request["KeySchema"].dump(), R"([{"AttributeName":"ForumName","KeyType":"HASH"},)"
                                         R"({"AttributeName":"Subject","KeyType":"RANGE"}])");
  EXPECT_EQ(request["AttributeDefinitions"].size(), 3u);
  EXPECT_EQ(request["LocalSecondaryIndexes"][0]["Projection"].dump(),
            R"({"ProjectionType":"INCLUDE","NonKeyAttributes":["Replies"]})");
  EXPECT_FALSE(request.contains("GlobalSecondaryIndexes"));
  const Json shards = AdviceToJson(AdviseOnExample("order-status.json"))["CreateTable"];
  EXPECT_EQ(shards["AttributeDefinitions"][2].dump(), R"({"AttributeName":"StatusShard","AttributeType":"N"})");
}

TEST(AdviceJson, ForACreatedTableAddsOneIndexAtATime) {
  WorkloadBuilder builder;
  builder.Attribute("k", 1e6).Attribute("a", 1000).Attribute("b", 1000).TableKey("k").Pattern("p", {"a"});
  builder.Pattern("q", {"b"});
  builder.workload().table.created = true;
  const Json json = AdviceToJson(builder.Advise());
  EXPECT_FALSE(json.contains("CreateTable"));
  ASSERT_EQ(json["UpdateTable"].size(), 2u);
  EXPECT_EQ(json["UpdateTable"][1]["GlobalSecondaryIndexUpdates"][0]["Create"]["IndexName"], "b-index");
}

using LiveTable = api::v1::TableDescription;

LiveTable Live() {
  LiveTable live;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        table_name: "T"
        attribute_definitions { attribute_name: "k" attribute_type: SCALAR_ATTRIBUTE_TYPE_S }
        attribute_definitions { attribute_name: "n" attribute_type: SCALAR_ATTRIBUTE_TYPE_N }
        key_schema { attribute_name: "k" key_type: KEY_TYPE_HASH }
        item_count: 1000
        table_size_bytes: 200000
        global_secondary_indexes {
          index_name: "i"
          key_schema { attribute_name: "n" key_type: KEY_TYPE_HASH }
          projection { projection_type: PROJECTION_TYPE_INCLUDE non_key_attributes: "extra" }
        }
        global_secondary_indexes { index_name: "gone" index_status: INDEX_STATUS_DELETING })pb",
      &live));
  return live;
}

TEST(AdviseLive, FillsInWhatTheFileLeavesOut) {
  Workload workload = WorkloadFromJson(Parsed(kSmall)).value();
  std::vector<std::string> notes;
  ASSERT_TRUE(AddLiveTable(Live(), &workload, &notes).ok());
  EXPECT_THAT(notes, testing::IsEmpty());
  EXPECT_TRUE(workload.table.created);
  EXPECT_DOUBLE_EQ(workload.table.items.value(), 1000);
  EXPECT_DOUBLE_EQ(workload.table.item_bytes.value(), 200);
  ASSERT_EQ(workload.table.indexes.size(), 1u);
  EXPECT_EQ(workload.table.attributes.back().name, "extra");
  EXPECT_TRUE(Advise(workload).ok());
}

TEST(AdviseLive, SaysThatAnEmptyTableTellsNothing) {
  LiveTable live = Live();
  live.set_item_count(0);
  Workload workload = WorkloadFromJson(Parsed(kSmall)).value();
  std::vector<std::string> notes;
  ASSERT_TRUE(AddLiveTable(live, &workload, &notes).ok());
  EXPECT_THAT(notes, ElementsAre(HasSubstr("is empty, or does not know its number of items yet")));
  EXPECT_FALSE(workload.table.items.has_value());
}

TEST(AdviseLive, ContradictionsAreRefused) {
  std::vector<std::string> notes;
  Workload workload = WorkloadFromJson(Parsed(kSmall)).value();
  LiveTable live = Live();
  live.mutable_attribute_definitions(0)->set_attribute_type(api::v1::SCALAR_ATTRIBUTE_TYPE_B);
  EXPECT_THAT(std::string(Sv(AddLiveTable(live, &workload, &notes).message())), HasSubstr("table.attributes.k.type"));
  workload.table.key = {{1}, {}};
  EXPECT_THAT(std::string(Sv(AddLiveTable(Live(), &workload, &notes).message())), HasSubstr("has the key k"));
}

}  // namespace armature::advise::workload_json_test
