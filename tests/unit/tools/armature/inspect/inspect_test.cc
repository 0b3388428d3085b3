// Sound and damaged records of a data directory as JSON, and `armature inspect` without a daemon.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "armature/api/v1/types.pb.h"
#include "storage/base/strings.h"
#include "storage/codec/change_codec.h"
#include "storage/codec/item_codec.h"
#include "storage/codec/key_codec.h"
#include "storage/codec/stored_item.h"
#include "storage/store/meta_keys.h"
#include "tests/support/repeating_change_record.h"
#include "tools/armature/command.h"
#include "tools/armature/inspect/record_json.h"
#include "tools/armature/message_json.h"

namespace armature::cli::inspect_test {

using model::ScalarType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A table with a local and a global index whose keys have several attributes, all known to the catalog.
class InspectTest : public testing::Test {
 protected:
  InspectTest() {
    table_.id = TableId(5);
    table_.name = "Orders";
    table_.state = model::TableState::kActive;
    table_.key = {{{"pk", ScalarType::kString}}, {{"sk", ScalarType::kNumber}}};
    model::IndexDescriptor local;
    local.id = IndexId(6);
    local.kind = model::IndexKind::kLocal;
    local.name = "by_b";
    local.key = {{{"pk", ScalarType::kString}}, {{"b", ScalarType::kBinary}}};
    table_.local_indexes.push_back(local);
    model::IndexDescriptor global;
    global.id = IndexId(7);
    global.name = "by_two";
    global.key = {{{"g", ScalarType::kString}, {"n", ScalarType::kNumber}}, {{"b", ScalarType::kBinary}}};
    table_.global_indexes.push_back(global);
    store::MetaRecord record;
    record.kind = store::MetaKind::kTable;
    record.table = table_.id;
    record.descriptor = table_;
    tables_.Add(record);
  }

  static codec::CanonicalItem Item(const std::string& json) {
    const auto message = ItemFromJson(*ParseJson(json), "");
    EXPECT_TRUE(message.ok()) << message.status();
    const auto item = codec::CanonicalizeItem(message->SerializeAsString());
    EXPECT_TRUE(item.ok()) << item.status();
    return *item;
  }
  static std::string Stored(const codec::CanonicalItem& item) { return codec::EncodeStoredItem(item); }
  std::string TableKey(const codec::CanonicalItem& item) const {
    return *codec::EncodeTableKey(table_.key, model::ItemView(item.bytes));
  }
  // An index key: hash | partition | sort of the index | key of the table.
  std::string GlobalKey(const codec::CanonicalItem& item) const {
    std::string key = *codec::EncodeTableKey(table_.global_indexes[0].key, model::ItemView(item.bytes));
    EXPECT_TRUE(codec::AppendKeyComponents(table_.key.partition, model::ItemView(item.bytes), &key));
    EXPECT_TRUE(codec::AppendKeyComponents(table_.key.sort, model::ItemView(item.bytes), &key));
    return key;
  }

  static constexpr char kItem[] =
      R"({"pk": {"S": "a"}, "sk": {"N": "7"}, "g": {"S": "x"}, "n": {"N": "-1.5"}, "b": {"B": "AP8="}, "l": {"L": []}})";

  model::TableDescriptor table_;
  Tables tables_;
};

TEST_F(InspectTest, AKeyHasItsComponentsWithoutACatalogToo) {
  // The example of docs/reference/format.md.
  const std::string key = TableKey(Item(R"({"pk": {"S": "a"}, "sk": {"N": "7"}})"));
  const Decoded bare = DecodeKey(key, KeyLayout());
  EXPECT_THAT(bare.problems, IsEmpty());
  EXPECT_EQ(CompactJson(bare.json),
            R"({"KeyHex":"b3b91bbd3061000122828c","Hash":"b3b91bbd","Components":[{"Value":{"S":"a"}},)"
            R"({"Value":{"N":"7"}}],"PartitionComponents":1})");
  const Decoded named = DecodeKey(key, tables_.LayoutOf("t5"));
  EXPECT_THAT(named.problems, IsEmpty());
  EXPECT_EQ(ComponentsText(named.json["Components"]), "pk=S:a, sk=N:7");
}

TEST_F(InspectTest, KeysOfIndexesNameTheAttributesOfBoth) {
  const codec::CanonicalItem item = Item(kItem);
  const Decoded row = DecodeRow(GlobalKey(item), Stored(item), tables_.LayoutOf("g5.7"));
  EXPECT_THAT(row.problems, IsEmpty());
  EXPECT_EQ(ComponentsText(row.json["Components"]), "g=S:x, n=N:-1.5, b=B:AP8=, pk=S:a, sk=N:7");
  EXPECT_EQ(DecodeKey(GlobalKey(item), KeyLayout()).json["PartitionComponents"], 2);
  EXPECT_EQ(row.json["ItemSize"], item.api_size);
  EXPECT_EQ(row.json["Item"], MessageToJson(*ItemFromJson(*ParseJson(kItem), "")));
  std::string local = *codec::EncodeTableKey(table_.local_indexes[0].key, model::ItemView(item.bytes));
  ASSERT_TRUE(codec::AppendKeyComponents(table_.key.sort, model::ItemView(item.bytes), &local));
  const Decoded local_row = DecodeRow(local, Stored(item), tables_.LayoutOf("l5.6"));
  EXPECT_THAT(local_row.problems, IsEmpty());
  EXPECT_EQ(ComponentsText(local_row.json["Components"]), "pk=S:a, b=B:AP8=, sk=N:7");
}

TEST_F(InspectTest, DamagedKeysTellWhatIsWrongWithThem) {
  const KeyLayout layout = tables_.LayoutOf("t5");
  const std::string key = TableKey(Item(kItem));
  const auto problems = [&](const std::string& damaged) { return DecodeKey(damaged, layout).problems; };
  EXPECT_THAT(problems("abc"), ElementsAre(HasSubstr("too few for a hash")));
  EXPECT_THAT(problems("x" + key.substr(1)), ElementsAre(HasSubstr("hash is not that of the partition")));
  EXPECT_THAT(problems(key + "\x21"), ElementsAre(HasSubstr("component 3 belongs to no attribute")));
  EXPECT_THAT(problems(key.substr(0, 8)), ElementsAre(HasSubstr("1 components of 2")));
  EXPECT_THAT(problems(key.substr(0, 8) + "\x7f"),
              ElementsAre(HasSubstr("unknown type code 127, at byte 8"), HasSubstr("1 components of 2")));
  std::string wrong_type = key.substr(0, 8);
  EXPECT_TRUE(codec::AppendKeyComponent(ScalarType::kString, "7", &wrong_type));
  EXPECT_THAT(problems(wrong_type), ElementsAre(HasSubstr("sk is of type S, not N")));
  std::string no_text = key.substr(0, 4);
  EXPECT_TRUE(codec::AppendKeyComponent(ScalarType::kString, "\xff", &no_text));
  EXPECT_THAT(DecodeKey(no_text, KeyLayout()).problems, testing::Contains(HasSubstr("is no UTF-8")));
  // Any damage to the hash or the partition is reported.
  for (size_t i = 0; i < 8; ++i) {
    std::string flipped = key;
    flipped[i] = static_cast<char>(~flipped[i]);
    EXPECT_FALSE(problems(flipped).empty()) << i;
    EXPECT_FALSE(problems(key.substr(0, i)).empty()) << i;
  }
}

TEST_F(InspectTest, DamagedRowsTellWhatIsWrongWithThem) {
  const KeyLayout layout = tables_.LayoutOf("t5");
  const codec::CanonicalItem item = Item(kItem);
  const std::string key = TableKey(item);
  const std::string value = Stored(item);
  const auto problems = [&](const std::string& damaged) { return DecodeRow(key, damaged, layout).problems; };
  EXPECT_THAT(problems(value), IsEmpty());
  EXPECT_THAT(problems(""), ElementsAre(HasSubstr("expected a version byte")));
  EXPECT_THAT(problems("\1" + value.substr(1)), IsEmpty()) << "a row of format 1";
  EXPECT_THAT(problems("\3" + value.substr(1)), ElementsAre("item: not in canonical form"));
  EXPECT_THAT(problems("\4" + value.substr(1)), ElementsAre(HasSubstr("expected a version up to 3")));
  EXPECT_THAT(problems(value.substr(0, value.size() - 1)), ElementsAre("item: malformed"));
  EXPECT_THAT(problems(codec::EncodeStoredItem({item.bytes, item.api_size + 1, false})),
              ElementsAre(HasSubstr("its size is ")));
  EXPECT_THAT(problems(codec::EncodeStoredItem({item.bytes + item.bytes, item.api_size, false})),
              ElementsAre("item: not in canonical form"));
  EXPECT_THAT(problems(Stored(Item(R"({"pk": {"S": "b"}, "sk": {"N": "7"}})"))),
              ElementsAre("item: has another pk than its key"));
  EXPECT_THAT(problems(Stored(Item(R"({"pk": {"S": "a"}, "sk": {"S": "7"}})"))),
              ElementsAre("item: has no sk of the type that the key needs"));
  const Json json = WithProblems(DecodeRow(key, "\2", layout), "\2");
  EXPECT_EQ(json["ValueHex"], "02");
  EXPECT_EQ(json["Problems"].size(), 1u);
  EXPECT_FALSE(WithProblems(DecodeRow(key, value, layout), value).contains("ValueHex"));
}

TEST_F(InspectTest, SizesOfCollectionsAreNumbers) {
  const std::string key = TableKey(Item(kItem)).substr(0, 8);
  const Decoded decoded = DecodeCollection(key, "\xac\x02", tables_.LayoutOf("c5"));
  EXPECT_THAT(decoded.problems, IsEmpty());
  EXPECT_EQ(decoded.json["CollectionBytes"], 300);
  EXPECT_THAT(DecodeCollection(key, "\xac", tables_.LayoutOf("c5")).problems, ElementsAre(HasSubstr("one varint")));
}

TEST_F(InspectTest, LogRecordsNameTableAndIndexes) {
  const codec::CanonicalItem item = Item(kItem);
  const std::string base_key = TableKey(item);
  const std::string index_key = GlobalKey(item);
  const std::string value = Stored(item);
  codec::ChangeRecord record;
  record.time_ms = 1'700'000'000'123;
  record.base_key = base_key;
  record.index_changes.push_back({IndexId(7), false, index_key, value, 1, 40});
  record.index_changes.push_back({IndexId(9), true, index_key, "", -1, -40});
  const std::string bytes = test::RepeatingChangeRecord(record);
  const Decoded decoded = DecodeLogRecord(store::LogKey(TableId(5), ChangeSequence(12)), bytes, tables_);
  EXPECT_THAT(decoded.problems, IsEmpty());
  EXPECT_EQ(decoded.json["Sequence"], 12);
  EXPECT_EQ(decoded.json["Version"], 1);
  EXPECT_EQ(decoded.json["TableName"], "Orders");
  EXPECT_EQ(decoded.json["DateTime"], 1'700'000'000.123);
  EXPECT_EQ(ComponentsText(decoded.json["BaseKey"]["Components"]), "pk=S:a, sk=N:7");
  const Json& changes = decoded.json["Changes"];
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0]["IndexName"], "by_two");
  EXPECT_EQ(changes[0]["Kind"], "PUT");
  EXPECT_EQ(changes[0]["Item"]["n"]["N"], "-1.5");
  EXPECT_EQ(changes[0]["ByteDelta"], 40);
  EXPECT_EQ(changes[1]["IndexId"], 9);
  EXPECT_FALSE(changes[1].contains("IndexName"));
  EXPECT_EQ(changes[1]["Kind"], "DELETE");
  EXPECT_EQ(changes[1]["ItemDelta"], -1);
  const Decoded unknown = DecodeLogRecord(store::LogKey(TableId(8), ChangeSequence(12)), bytes.substr(0, 9), Tables());
  EXPECT_THAT(unknown.problems, ElementsAre(HasSubstr("change record: ")));
  EXPECT_EQ(unknown.json["TableId"], 8);
  EXPECT_THAT(DecodeLogRecord("short", bytes, tables_).problems, ElementsAre(HasSubstr("key of the log")));
}

TEST_F(InspectTest, LogRecordsOfThePresentVersionShowWholeRows) {
  const codec::CanonicalItem item = Item(kItem);
  const std::string base_key = TableKey(item);
  const std::string index_key = GlobalKey(item);
  const codec::ItemExcerpt excerpt{{item.bytes}, /*is_whole=*/true, item.api_size, item.compact_numbers};
  codec::ItemChange change;
  change.base_key = base_key;
  change.indexes.push_back({IndexId(7), index_key, index_key, &excerpt, 1, 40});
  const std::string bytes = codec::EncodeItemChange(change);
  const Decoded decoded = DecodeLogRecord(store::LogKey(TableId(5), ChangeSequence(12)), bytes, tables_);
  EXPECT_THAT(decoded.problems, IsEmpty());
  EXPECT_EQ(decoded.json["Version"], 2);
  const Json& changes = decoded.json["Changes"];
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0]["Kind"], "DELETE");
  EXPECT_EQ(changes[0]["ByteDelta"], 40);
  EXPECT_EQ(changes[1]["Kind"], "PUT");
  EXPECT_EQ(changes[1]["Item"]["n"]["N"], "-1.5");
}

TEST_F(InspectTest, TablesHaveFamiliesTotalsAndCursors) {
  store::MetaRecord totals;
  totals.kind = store::MetaKind::kStats;
  totals.name = "g5.7";
  totals.totals = {3, 120};
  tables_.Add(totals);
  store::MetaRecord cursor;
  cursor.kind = store::MetaKind::kCursor;
  cursor.table = TableId(5);
  cursor.index = IndexId(7);
  cursor.number = 42;
  tables_.Add(cursor);
  const Json json = TableToJson(*tables_.Find("Orders"), tables_);
  EXPECT_EQ(json["Family"], "t5");
  EXPECT_EQ(json["CollectionsFamily"], "c5");
  EXPECT_EQ(json["LocalIndexes"][0]["Family"], "l5.6");
  EXPECT_EQ(json["GlobalIndexes"][0]["Family"], "g5.7");
  EXPECT_EQ(json["GlobalIndexes"][0]["Totals"]["Rows"], 3);
  EXPECT_EQ(json["GlobalIndexes"][0]["Cursor"], 42);
  EXPECT_EQ(json["GlobalIndexes"][0]["Key"]["Partition"][1]["AttributeType"], "N");
  EXPECT_EQ(json["State"], "ACTIVE");
  EXPECT_EQ(KeySchemaText(table_.global_indexes[0].key), "g S, n N | b B");
}

TEST_F(InspectTest, OfTablesWithOneNameTheOneInUseIsFound) {
  store::MetaRecord leaving;
  leaving.kind = store::MetaKind::kTable;
  leaving.table = TableId(9);
  leaving.descriptor = table_;
  leaving.descriptor.id = TableId(9);
  leaving.descriptor.state = model::TableState::kDeleting;
  tables_.Add(leaving);
  EXPECT_EQ(tables_.Find("Orders")->id, TableId(5));
  EXPECT_EQ(tables_.OwnerOf("g9.7").table->id, TableId(9));
}

TEST_F(InspectTest, FamiliesHaveKinds) {
  EXPECT_EQ(KindOfFamily("meta"), FamilyKind::kMeta);
  EXPECT_EQ(KindOfFamily("log"), FamilyKind::kLog);
  EXPECT_EQ(KindOfFamily("t12"), FamilyKind::kTable);
  EXPECT_EQ(KindOfFamily("l1.2"), FamilyKind::kLocalIndex);
  EXPECT_EQ(KindOfFamily("g1.2"), FamilyKind::kGlobalIndex);
  EXPECT_EQ(KindOfFamily("c1"), FamilyKind::kCollections);
  for (const char* name : {"", "t", "default", "table", "x1"})
    EXPECT_EQ(KindOfFamily(name), FamilyKind::kOther) << name;
  EXPECT_EQ(FamilyKindName(FamilyKind::kCollections), "COLLECTIONS");
}

TEST(InspectMeta, RecordsAreShownWithWhatTheirKindHas) {
  const auto show = [](const std::string& key, const std::string& value) {
    return CompactJson(MetaRecordToJson(key, store::ParseMetaRecord(key, value)).json);
  };
  EXPECT_EQ(show("next_id", store::EncodeU32(7)), R"({"Kind":"NextId","NextId":7})");
  EXPECT_EQ(show("sequence", store::EncodeU64(9)), R"({"Kind":"Sequence","Sequence":9})");
  EXPECT_EQ(show(store::CursorKey(TableId(1), IndexId(2)), store::EncodeU64(3)),
            R"({"Kind":"Cursor","TableId":1,"IndexId":2,"Sequence":3})");
  EXPECT_EQ(show(store::StatsKey("t1"), store::EncodeStats({1, 300})),
            R"({"Kind":"Totals","Family":"t1","Rows":1,"Bytes":300})");
  EXPECT_EQ(show(store::TokenTimeKey(1500, "\xff"), ""),
            R"({"Kind":"TokenTime","TokenHex":"ff","ExpiresDateTime":1.5})");
  EXPECT_EQ(show("odd", "x"), R"({"Kind":"Unknown","KeyHex":"6f6464"})");
}

struct Outcome {
  int code;
  std::string out;
  std::string err;
};

Outcome RunTool(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = RunCli(arguments, out, err);
  return {code, out.str(), err.str()};
}

TEST(InspectCommand, KeyTakesAKeyApart) {
  const Outcome sound = RunTool({"inspect", "key", "B3B91bbd3061000122828c"});
  EXPECT_EQ(sound.code, 0);
  EXPECT_EQ((*ParseJson(sound.out))["Components"][1]["Value"]["N"], "7");
  EXPECT_THAT(RunTool({"--output", "table", "inspect", "key", "b3b91bbd3061000122828c"}).out, HasSubstr("S:a, N:7"));
  const Outcome damaged = RunTool({"inspect", "key", "b3b91bbd306100"});
  EXPECT_EQ(damaged.code, 5);
  EXPECT_FALSE((*ParseJson(damaged.out))["Problems"].empty());
  for (const char* hex : {"b3b", "0x12", "key"}) EXPECT_EQ(RunTool({"inspect", "key", hex}).code, 2) << hex;
}

TEST(InspectCommand, IsRefusedWithoutADatabase) {
  EXPECT_EQ(RunTool({"inspect"}).code, 2);
  EXPECT_EQ(RunTool({"inspect", "catalog"}).code, 2);
  const std::string empty = testing::TempDir() + "/inspect_empty";
  std::filesystem::create_directory(empty);
  const Outcome refused = RunTool({"inspect", "--data-dir", empty, "directory"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("holds no database of Armature"));
  EXPECT_TRUE(std::filesystem::is_empty(empty));
  EXPECT_EQ(RunTool({"inspect", "rows", "--data-dir", empty, "--family", "t1", "--start", "xyz"}).code, 2);
}

}  // namespace armature::cli::inspect_test
