// The parts of `armature export` and `armature import` that need no daemon.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "storage/files/line_reader.h"
#include "storage/files/output_file.h"
#include "tools/armature/export/item_writer.h"
#include "tools/armature/export/manifest.h"
#include "tools/armature/message_json.h"
#include "tools/armature/session.h"

namespace armature::cli::export_test {

namespace fs = std::filesystem;
using files::Compression;
using files::LineReader;
using files::OutputFile;
using google::protobuf::util::MessageDifferencer;
using testing::ElementsAre;
using testing::HasSubstr;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

api::v1::Item ItemOf(std::string_view json) {
  const absl::StatusOr<Json> parsed = ParseJson(json);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  const absl::StatusOr<api::v1::Item> item = ItemFromJson(*parsed, "");
  EXPECT_TRUE(item.ok()) << item.status();
  return *item;
}

class ExportTest : public testing::Test {
 protected:
  ExportTest()
      : directory_(
            Cat(testing::TempDir(), "/export_test_", testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(directory_);
    fs::create_directory(directory_);
  }
  ~ExportTest() override { fs::remove_all(directory_); }

  std::string Path(std::string_view name) const { return PathIn(directory_, name); }

  void Write(std::string_view name, std::string_view content) const {
    std::ofstream(Path(name), std::ios::binary) << content;
  }

  // Writes a data file and returns its manifest entry.
  ExportedFile Finish(const std::string& name, const std::vector<std::string>& texts, Compression compression) const {
    const auto file = OutputFile::Create(Path(name), compression);
    EXPECT_TRUE(file.ok()) << file.status();
    for (const std::string& text : texts) EXPECT_TRUE((*file)->Write(text).ok());
    const auto finished = (*file)->Finish();
    EXPECT_TRUE(finished.ok()) << finished.status();
    return {name, 1, finished->bytes, finished->sha256};
  }

  absl::Status Check(const ExportedFile& file) const {
    return CheckFile(directory_, file, [](int64_t) {});
  }

  Manifest Sample() const {
    Manifest manifest;
    manifest.format = LoadFormat::kCsv;
    const absl::StatusOr<Json> table = ParseJson(R"({"TableName": "orders", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]})");
    EXPECT_TRUE(MessageFromJson(*table, "", &manifest.table).ok());
    manifest.change_sequence = 42;
    manifest.time = absl::FromUnixMillis(1'700'000'000'123);
    manifest.columns = {{"id", "S"}, {"a,b", "N"}};
    manifest.files = {{"data-00001.csv", 3, 100, "abc"}, {"data-00002.csv", 4, 50, "def"}};
    return manifest;
  }

  absl::Status Reading() const { return ReadManifest(directory_).status(); }

  const std::string directory_;
};

TEST_F(ExportTest, AManifestIsReadAsItWasWritten) {
  const Manifest written = Sample();
  ASSERT_TRUE(WriteManifest(directory_, written).ok());
  const absl::StatusOr<Manifest> read = ReadManifest(directory_);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->format, LoadFormat::kCsv);
  EXPECT_TRUE(MessageDifferencer::Equals(read->table, written.table));
  EXPECT_EQ(read->change_sequence, 42u);
  EXPECT_EQ(read->time, written.time);
  ASSERT_EQ(read->columns.size(), 2u);
  EXPECT_EQ(read->columns[1].name, "a,b");
  EXPECT_EQ(read->columns[1].type, "N");
  ASSERT_EQ(read->files.size(), 2u);
  EXPECT_EQ(read->files[1].name, "data-00002.csv");
  EXPECT_EQ(read->files[1].sha256, "def");
  EXPECT_EQ(read->items(), 7);
  EXPECT_EQ(read->bytes(), 150);
  EXPECT_FALSE(fs::exists(Path("manifest.json.part")));
}

TEST_F(ExportTest, AnyChangedByteOfAManifestIsSeen) {
  ASSERT_TRUE(WriteManifest(directory_, Sample()).ok());
  const std::string good = ReadFile(Path(kManifestName));
  for (size_t i = 0; i < good.size(); ++i) {
    if (good[i] == ' ' || good[i] == '\n') continue;  // insignificant
    std::string bad = good;
    bad[i] ^= 1;
    Write(kManifestName, bad);
    EXPECT_THAT(Message(Reading()), HasSubstr("manifest.json")) << bad.substr(i, 20);
  }
  Write(kManifestName, good);
  EXPECT_TRUE(Reading().ok());
}

TEST_F(ExportTest, WhatIsNoManifestIsRefused) {
  EXPECT_THAT(Message(Reading()), HasSubstr("not an export, or an unfinished one"));
  EXPECT_EQ(ExitCodeOf(Reading()), ExitCode::kInputError);
  Write(kManifestName, "[]");
  EXPECT_THAT(Message(Reading()), HasSubstr("damaged"));
  Write(kManifestName, R"({"FormatVersion": 2})");
  EXPECT_THAT(Message(Reading()), HasSubstr("newer version: its format is 2, and ours 1"));
  // Names that leave the directory, and one file twice.
  for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{
           {"../data", "b"}, {"/etc/passwd", "b"}, {"", "b"}, {"..", "b"}, {"manifest.json", "b"}, {"b", "b"}}) {
    Manifest manifest = Sample();
    manifest.files[0].name = first;
    manifest.files[1].name = second;
    ASSERT_TRUE(WriteManifest(directory_, manifest).ok());
    EXPECT_THAT(Message(Reading()), HasSubstr("not a manifest of armature export")) << first;
  }
}

TEST_F(ExportTest, AFileThatDiffersIsNamed) {
  for (const Compression compression : {Compression::kNone, Compression::kGzip}) {
    const ExportedFile file = Finish("data", {std::string(1'000'000, 'x'), "and more\n"}, compression);
    EXPECT_TRUE(Check(file).ok()) << Check(file);
    const std::string good = ReadFile(Path("data"));
    EXPECT_EQ(static_cast<int64_t>(good.size()), file.bytes);
    std::string bad = good;
    bad[good.size() / 2] ^= 4;
    Write("data", bad);
    EXPECT_THAT(Message(Check(file)), HasSubstr("/data is damaged: its checksum differs"));
    Write("data", good.substr(1));
    EXPECT_THAT(Message(Check(file)), HasSubstr(Cat("/data is damaged: it has ", good.size() - 1, " bytes, and had ")));
    Write("data", good + "x");
    EXPECT_THAT(Message(Check(file)), HasSubstr("/data is damaged: it has more than "));
    fs::remove(Path("data"));
    EXPECT_THAT(Message(Check(file)), HasSubstr("/data: No such file"));
  }
}

TEST_F(ExportTest, AFileHasItsNameWhenItIsWhole) {
  {
    const auto file = OutputFile::Create(Path("a"), Compression::kNone);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->Write("half").ok());
    EXPECT_TRUE(fs::exists(Path("a.part")));
    EXPECT_FALSE(fs::exists(Path("a")));
  }
  EXPECT_TRUE(fs::is_empty(directory_));
  EXPECT_THAT(Message(OutputFile::Create(Path("no/where"), Compression::kNone).status()), HasSubstr("no/where"));
}

TEST_F(ExportTest, GzipIsReadBack) {
  std::string large;
  for (int i = 0; i < 50'000; ++i) large += Cat(i, ",");
  Finish("data.gz", {"one\n", "", large, "\nlast\n"}, Compression::kGzip);
  const auto reader = LineReader::Open(Path("data.gz"));
  ASSERT_TRUE(reader.ok());
  std::vector<std::string> lines;
  std::string line;
  while (*(*reader)->Next(&line)) lines.push_back(line);
  EXPECT_THAT(lines, ElementsAre("one", large, "last"));
}

constexpr char kPlain[] = R"({"id": {"S": "a"}, "n": {"N": "12345678901234567890123456789012345678"}})";
constexpr char kAllTypes[] =
    R"({"id": {"S": " said \"no\",\r\nand left\t"}, "n": {"N": "-1.5E-100"}, "b": {"B": "AP8="},
    "yes": {"BOOL": false}, "nil": {"NULL": true}, "ss": {"SS": ["a,b", "\"c\""]}, "ns": {"NS": ["1", "2"]},
    "bs": {"BS": ["AA=="]}, "list": {"L": [{"S": ""}, {"L": []}]}, "map": {"M": {"\u0000": {"S": "\u0000é"}}},
    "odd,name": {"S": "\u0000"}})";

// Written items are read back unchanged.
TEST_F(ExportTest, CsvKeepsAllTypes) {
  CsvWriter writer({"id"}, {});
  const std::vector<api::v1::Item> items = {ItemOf(kPlain), ItemOf(kAllTypes), ItemOf(R"({"id": {"S": " "}})")};
  std::string records;
  for (const api::v1::Item& item : items) writer.Learn(item);
  for (const api::v1::Item& item : items) ASSERT_TRUE(writer.Append(item, &records).ok());
  EXPECT_THAT(writer.Head(), testing::StartsWith("id,b,bs,list,"));
  Write("data.csv", writer.Head() + records);
  CsvTypes types;
  const std::vector<ExportedColumn> columns = writer.columns();
  for (const ExportedColumn& column : columns) types[column.name] = column.type;
  EXPECT_EQ(types["ss"], "SS");
  const auto source = ItemSource::Open(Path("data.csv"), LoadFormat::kCsv, types);
  ASSERT_TRUE(source.ok()) << source.status();
  for (const api::v1::Item& item : items) {
    SourceRecord record;
    ASSERT_TRUE(*(*source)->Next(&record));
    ASSERT_TRUE(record.item.ok()) << record.item.status();
    EXPECT_TRUE(MessageDifferencer::Equals(*record.item, item)) << record.item->DebugString();
  }
}

TEST_F(ExportTest, CsvRefusesWhatItCannotTell) {
  CsvWriter writer({"id"}, {});
  writer.Learn(ItemOf(kPlain));
  std::string text;
  ASSERT_TRUE(writer.Append(ItemOf(kPlain), &text).ok());
  EXPECT_THAT(Message(writer.Append(ItemOf(R"({"id": {"S": "b"}, "x": {"N": "1"}})"), &text)),
              HasSubstr(R"(the attribute x of the item {"id":{"S":"b"}} is not among the columns)"));
  EXPECT_THAT(
      Message(writer.Append(ItemOf(R"({"id": {"S": "b"}, "n": {"S": "1"}})"), &text)),
      HasSubstr("the attribute n of the item {\"id\":{\"S\":\"b\"}} is of type S, and of type N in an item before"));
  CsvWriter other({"id"}, {});
  other.Learn(ItemOf(R"({"id": {"S": "b"}, "n": {"S": ""}})"));
  EXPECT_THAT(Message(other.Append(ItemOf(R"({"id": {"S": "b"}, "n": {"S": ""}})"), &text)), HasSubstr("is empty"));
}

TEST_F(ExportTest, ChosenColumnsLeaveOutTheOthers) {
  CsvWriter writer({"id"}, {"n", "none"});
  writer.Learn(ItemOf(kAllTypes));
  std::string text;
  ASSERT_TRUE(writer.Append(ItemOf(R"({"id": {"S": "b"}, "n": {"N": "1"}, "x": {"S": ""}})"), &text).ok());
  EXPECT_EQ(writer.Head() + text, "id,n,none\nb,1,\n");
  EXPECT_EQ(writer.columns()[2].type, "S");
}

TEST_F(ExportTest, ADefinitionMakesTheSameTable) {
  api::v1::TableDescription table;
  const absl::StatusOr<Json> json = ParseJson(R"({"TableName": "orders",
      "AttributeDefinitions": [{"AttributeName": "going", "AttributeType": "S"}, {"AttributeName": "id", "AttributeType": "S"},
                               {"AttributeName": "rank", "AttributeType": "N"}],
      "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}], "DeletionProtectionEnabled": true,
      "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
      "GlobalSecondaryIndexes": [
        {"IndexName": "by_rank", "KeySchema": [{"AttributeName": "rank", "KeyType": "HASH"}], "IndexStatus": "ACTIVE",
         "Projection": {"ProjectionType": "ALL"}, "ProvisionedThroughput": {"ReadCapacityUnits": 7, "WriteCapacityUnits": 8}},
        {"IndexName": "gone", "KeySchema": [{"AttributeName": "going", "KeyType": "HASH"}], "IndexStatus": "DELETING",
         "Projection": {"ProjectionType": "ALL"}}]})");
  ASSERT_TRUE(MessageFromJson(*json, "", &table).ok()) << MessageFromJson(*json, "", &table);
  EXPECT_EQ(
      CompactJson(MessageToJson(DefinitionOf(table))),
      R"({"TableName":"orders","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},)"
      R"({"AttributeName":"rank","AttributeType":"N"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],)"
      R"("BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":6},)"
      R"("GlobalSecondaryIndexes":[{"IndexName":"by_rank","KeySchema":[{"AttributeName":"rank","KeyType":"HASH"}],)"
      R"("Projection":{"ProjectionType":"ALL"},"ProvisionedThroughput":{"ReadCapacityUnits":7,)"
      R"("WriteCapacityUnits":8}}],"DeletionProtectionEnabled":true})");
}

}  // namespace armature::cli::export_test
