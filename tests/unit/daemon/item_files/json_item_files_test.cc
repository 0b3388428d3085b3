#include "daemon/item_files/json_item_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "daemon/message_json/item_json.h"
#include "daemon/message_json/json_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/codec/item_codec.h"
#include "storage/files/output_file.h"
#include "storage/model/item_view.h"
#include "tests/unit/storage/files/files_test_util.h"

namespace armature::daemon {
namespace {

using engine::FileCompression;
using engine::ItemFileFormat;
using engine::ItemFileOptions;
using engine::ItemFilePosition;
using engine::ItemFileReader;
using engine::ItemFileRecord;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr FileCompression kAll[] = {FileCompression::kNone, FileCompression::kGzip, FileCompression::kZstd};

std::string JsonOf(std::string_view wire) {
  JsonWriter writer;
  WriteItem(wire, &writer);
  return writer.Take();
}

// The JSON of an item, or its error with a "!" in front.
std::string Outcome(const ItemFileRecord& record) {
  return record.item.ok() ? JsonOf(*record.item) : Cat("!", Sv(record.item.status().message()));
}

engine::ItemFileSource SourceOf(const std::string& path) {
  return {FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)), path};
}

// A record with this item.
std::string Record(std::string_view item) { return Cat(R"({"Item":)", item, "}"); }

class ItemFilesTest : public files::FilesTest {
 protected:
  engine::ItemFileTarget Target(std::string name) const { return {opened_.get(), directory_, std::move(name)}; }

  std::unique_ptr<ItemFileReader> Open(const std::string& path, const ItemFileOptions& options = {}) const {
    absl::StatusOr<std::unique_ptr<ItemFileReader>> reader = files_.OpenReader(SourceOf(path), options);
    EXPECT_TRUE(reader.ok()) << reader.status();
    return reader.ok() ? *std::move(reader) : nullptr;
  }

  // Outcomes of all records; at last the error of the file.
  std::vector<std::string> Outcomes(std::string_view content, const ItemFileOptions& options = {}) const {
    const auto reader = files_.OpenReader(SourceOf(Write("in", content)), options);
    if (!reader.ok()) return {Cat("file: ", Sv(reader.status().message()))};
    std::vector<std::string> outcomes;
    ItemFileRecord record;
    while (true) {
      const absl::StatusOr<bool> has_record = (*reader)->Next(&record);
      if (!has_record.ok()) outcomes.push_back(Cat("file: ", Sv(has_record.status().message())));
      if (!has_record.ok() || !*has_record) return outcomes;
      outcomes.push_back(Outcome(record));
    }
  }

  static ItemFileOptions Csv(std::vector<std::string> header = {}) {
    return {.format = ItemFileFormat::kCsv, .csv_header = std::move(header)};
  }

  const JsonItemFiles files_;
  const FileDescriptor opened_{open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

// A stored item with this JSON.
std::string Stored(const JsonItemFiles& files, const std::string& path) {
  const auto reader = files.OpenReader(SourceOf(path), {});
  ItemFileRecord record;
  EXPECT_TRUE(reader.ok() && *(*reader)->Next(&record) && record.item.ok());
  const auto canonical = codec::CanonicalizeItem(*record.item);
  EXPECT_TRUE(canonical.ok()) << canonical.status();
  return canonical->bytes;
}

constexpr char kAllTypes[] =
    R"({"b":{"B":"AP8="},"bs":{"BS":["AA=="]},"id":{"S":" \"no\",\r\n\u0001é"},"list":{"L":[{"S":""},{"L":[]}]},)"
    R"("map":{"M":{"x":{"NULL":true}}},"n":{"N":"-1.5"},"ns":{"NS":["1","2"]},"ss":{"SS":["a,b"]},"yes":{"BOOL":false}})";

TEST_F(ItemFilesTest, ItemsAreReadAsTheyWereWritten) {
  const std::string item = Stored(files_, Write("one", Record(kAllTypes)));
  for (const FileCompression compression : kAll) {
    const ItemFileOptions options = {.compression = compression};
    const auto writer = files_.CreateWriter(Target("items"), options);
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE((*writer)->Append(item).ok());
    EXPECT_FALSE(std::filesystem::exists(Path("items")));
    const auto finished = (*writer)->Finish();
    ASSERT_TRUE(finished.ok()) << finished.status();
    EXPECT_EQ(finished->items, 3);
    const std::string content = Read(Path("items"));
    EXPECT_EQ(finished->bytes, static_cast<int64_t>(content.size()));
    files::Md5Stream md5;
    md5.Add(content);
    EXPECT_EQ(finished->md5_base64, md5.Base64());
    struct stat status = {};
    ASSERT_EQ(stat(Path("items").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777u, 0600u);
    const auto reader = Open(Path("items"), options);
    ItemFileRecord record;
    for (int i = 1; i <= 3; ++i) {
      ASSERT_TRUE(*reader->Next(&record));
      EXPECT_EQ(record.text, Cat(R"({"Item":)", kAllTypes, "}"));
      EXPECT_EQ(Outcome(record), kAllTypes);
      EXPECT_EQ(record.line, i);
    }
    EXPECT_FALSE(*reader->Next(&record));
    EXPECT_EQ(reader->bytes_read(), finished->bytes);
    std::filesystem::remove(Path("items"));
  }
}

TEST_F(ItemFilesTest, CompactNumbersAreWrittenInFull) {
  const std::string item = Stored(files_, Write("one", Record(R"({"id":{"N":"1e100"}})")));
  const auto writer = files_.CreateWriter(Target("items"), {});
  ASSERT_TRUE(writer.ok() && (*writer)->Append(item).ok() && (*writer)->Finish().ok());
  EXPECT_EQ(Read(Path("items")), Cat(R"({"Item":{"id":{"N":"1)", std::string(100, '0'), "\"}}}\n"));
}

// The largest JSON of an item: numbers in full, of one digit and 125 zeros.
TEST_F(ItemFilesTest, TheLongestItemIsALine) {
  std::string list;
  for (int i = 0; i < 136'600; ++i) list += Cat(i == 0 ? "" : ",", R"({"N":"1)", std::string(125, '0'), R"("})");
  const std::string json = Record(Cat(R"({"id":{"L":[)", list, "]}}"));
  ASSERT_GT(json.size(), 18'000'000u);
  EXPECT_GT(model::ApiSize(model::ItemView(Stored(files_, Write("one", json)))), 400u << 10);
}

TEST_F(ItemFilesTest, ARecordHasAnItem) {
  const std::string none = "!the record has no member Item";
  EXPECT_THAT(
      Outcomes("{\"id\": {\"S\": \"a\"}}\r\n\n  \n {\"Item\": {\"id\": {\"S\": \"b\"}}} \n"
               "{\"Item\": {\"S\": \"c\"}}\n{\"Metadata\": 1, \"Item\": {\"id\": {\"S\": \"d\"}}}\n{}\n{\"Item\": {}}"),
      ElementsAre(none, R"({"id":{"S":"b"}})", testing::StartsWith("!"), R"({"id":{"S":"d"}})", none, "{}"));
}

// Source: imports of the original service, captured in 2026.
TEST_F(ItemFilesTest, ALineMayHaveSeveralRecords) {
  const std::string a = R"({"id":{"S":"a}\"{"}})";
  const std::string b = R"({"id":{"L":[{"M":{}}]}})";
  EXPECT_THAT(Outcomes(Cat(Record(a), Record(b), " \t", Record(a), "\r\n", Record(b), "{}", Record(a), "\n", Record(a),
                           "x", Record(a), "\n", Record(b), "{", Record(b))),
              ElementsAre(a, b, a, b, "!the record has no member Item", a, a, testing::StartsWith("!"), b,
                          testing::StartsWith("!")));
  const auto reader = Open(Write("in", Cat("\xEF\xBB\xBF\n", Record(a), " ", Record(b), "\n")));
  ItemFileRecord record;
  ASSERT_TRUE(*reader->Next(&record));
  EXPECT_EQ(record.text, Record(a));
  EXPECT_EQ(record.line, 2);
  ASSERT_TRUE(*reader->Next(&record));
  EXPECT_EQ(record.text, Record(b));
  EXPECT_EQ(record.line, 2);
  EXPECT_FALSE(*reader->Next(&record));
}

TEST_F(ItemFilesTest, AMalformedLineIsAnErrorOfItsRecord) {
  const std::string item = R"({"id":{"S":"a"}})";
  const std::string good = Record(item);
  std::string deep = "1";
  for (int i = 0; i < 2000; ++i) deep = Cat("[", deep, "]");
  for (const std::string& bad :
       {std::string("nonsense"), std::string("[]"), Record("{\"id\":{\"S\":\"a\"}").substr(1), Record("{\"id\":\"a\"}"),
        Record("{\"id\":{\"S\":\"a\"}"), Record("{\"id\":{\"S\":\"\xFF\"}}"), Record("{\"id\":{\"B\":\"*\"}}"),
        Record(Cat("{\"id\":", deep, "}")), std::string("{\"Item\":[]}"), std::string("\0", 1)}) {
    EXPECT_THAT(Outcomes(Cat(good, "\n", bad, "\n", good)), ElementsAre(item, testing::StartsWith("!"), item)) << bad;
  }
}

TEST_F(ItemFilesTest, ARecordKnowsItsTextAndLine) {
  const auto reader = Open(Write("in", "\xEF\xBB\xBF{\"a\": 1}\r\n\nnonsense\n"));
  ItemFileRecord record;
  ASSERT_TRUE(*reader->Next(&record));
  EXPECT_EQ(record.text, "{\"a\": 1}");
  EXPECT_EQ(record.line, 1);
  ASSERT_TRUE(*reader->Next(&record));
  EXPECT_EQ(record.text, "nonsense");
  EXPECT_EQ(record.line, 3);
  const auto csv = Open(Write("in",
                              "\xEF\xBB\xBF"
                              "a,\"b\r\nc\"\r\nlast"),
                        Csv({"x", "y"}));
  ASSERT_TRUE(*csv->Next(&record));
  EXPECT_EQ(record.text, "a,\"b\r\nc\"");
  EXPECT_EQ(Outcome(record), R"({"x":{"S":"a"},"y":{"S":"b\r\nc"}})");
  ASSERT_TRUE(*csv->Next(&record));
  EXPECT_EQ(record.text, "last");
  EXPECT_EQ(record.line, 3);
}

TEST_F(ItemFilesTest, CsvTypesKeyAttributes) {
  ItemFileOptions options = Csv();
  options.csv_types = {{"id", "N"}, {"bin", "B"}, {"none", "N"}};
  EXPECT_THAT(
      Outcomes("\xEF\xBB\xBFid,bin,text\r\n7.50,AP8=,\"a \"\"b\"\"\"\r\n8,*,x\n9,,\nx,AP8,\n1\n1,2,3,4\n", options),
      ElementsAre(R"({"id":{"N":"7.50"},"bin":{"B":"AP8="},"text":{"S":"a \"b\""}})", "!the value of bin is not base64",
                  R"({"id":{"N":"9"}})", "!the value of bin is not base64", "!1 cells, where the header has 3",
                  "!4 cells, where the header has 3"));
}

TEST_F(ItemFilesTest, CsvHasAnyDelimiterAndAHeaderOfTheOptions) {
  for (const char delimiter : {',', ';', ':', '|', '\t', ' '}) {
    ItemFileOptions options = Csv({"a", "b"});
    options.csv_delimiter = delimiter;
    const std::string d(1, delimiter);
    EXPECT_THAT(
        Outcomes(Cat("x", d, "y\n\n\"", d, "\"", d, "\n", d, "\n"), options),
        ElementsAre(R"({"a":{"S":"x"},"b":{"S":"y"}})", Cat(R"({"a":{"S":")", d == "\t" ? "\\t" : d, "\"}}"), "{}"));
  }
}

// It is unknown where an open quote was meant to end, so later lines are records of their own.
TEST_F(ItemFilesTest, AnOpenQuoteSpoilsItsLineOnly) {
  const std::string open = "!a quote is not closed, or one within its cell is not doubled";
  EXPECT_THAT(Outcomes("id,t\n1,\"x\n2,y\n3,\"z\"\n4,w\"v\n\"5\"6,\n7,\"one\ntwo\"\n8,\"end\n9,x", Csv()),
              ElementsAre(open, R"({"id":{"S":"2"},"t":{"S":"y"}})", R"({"id":{"S":"3"},"t":{"S":"z"}})",
                          HasSubstr("!a quote within"), HasSubstr("!a quote within"),
                          R"({"id":{"S":"7"},"t":{"S":"one\ntwo"}})", open, R"({"id":{"S":"9"},"t":{"S":"x"}})"));
}

TEST_F(ItemFilesTest, AnOpenQuoteInALargeFileTakesBoundedMemory) {
  std::string text = "1,\"x\n";
  for (int i = 0; i < 40; ++i) text += Cat(i, ",", std::string(1 << 20, 'y'), "\n");
  const std::vector<std::string> outcomes = Outcomes(text, Csv({"id", "t"}));
  ASSERT_EQ(outcomes.size(), 41u);
  EXPECT_THAT(outcomes[0], HasSubstr("a quote is not closed"));
  EXPECT_THAT(outcomes[1], HasSubstr(R"({"id":{"S":"0"})"));
  EXPECT_THAT(outcomes[40], HasSubstr(R"({"id":{"S":"39"})"));
}

TEST_F(ItemFilesTest, HeadersMustBeNames) {
  for (const std::string_view wrong : {"", "id,,x\n", "id,id\n", "id,\"x\n", "id,x\"y\"\n", "id,\xFF\n"}) {
    EXPECT_THAT(Outcomes(wrong, Csv()), ElementsAre(HasSubstr("file: "))) << wrong;
  }
  EXPECT_EQ(files_.OpenReader(SourceOf(Write("in", "a")), Csv({"a", "a"})).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_THAT(Outcomes("a\n", Csv()), ElementsAre());
  ItemFileOptions quote = Csv();
  quote.csv_delimiter = '"';
  ItemFileOptions type = Csv();
  type.csv_types = {{"a", "SS"}};
  for (const ItemFileOptions& options : {quote, type}) {
    EXPECT_EQ(files_.OpenReader(SourceOf(Path("in")), options).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

// Another reader that skips to the position after a record gets the same rest.
TEST_F(ItemFilesTest, SkippingEqualsContinuing) {
  const std::string json =
      "\xEF\xBB\xBF{\"Item\":{\"id\":{\"S\":\"a\"}}} {\"Item\":{}}\r\n\nbad\n{\"Item\":{\"id\":{\"S\":\"b\"}}} {}x\n\n"
      "{\"Item\":{\"id\":{\"S\":\"c\"}}} {\"Item\":{}}";
  const std::string csv = "id,t\n1,\"one\ntwo\"\n\n2,\"open\n3,x\r\n4,\"\"\"y\"\"\"\n5,\"end";
  for (const auto& [text, format] : {std::pair(json, ItemFileFormat::kJsonLines), {csv, ItemFileFormat::kCsv}}) {
    for (const FileCompression compression : kAll) {
      const ItemFileOptions options = {.format = format, .compression = compression};
      const auto writer = files_.CreateWriter(Target("in"), options);
      ASSERT_TRUE(writer.ok() && (*writer)->AppendText(text).ok() && (*writer)->Finish().ok());
      const auto reader = Open(Path("in"), options);
      ItemFileRecord record;
      std::vector<ItemFilePosition> positions = {{}, reader->position()};
      std::vector<size_t> read = {0, 0};
      std::vector<std::string> outcomes;
      while (*reader->Next(&record)) {
        outcomes.push_back(Cat(record.line, Outcome(record), record.text));
        positions.push_back(reader->position());
        read.push_back(outcomes.size());
      }
      ASSERT_GE(outcomes.size(), 4u);
      for (size_t i = 0; i < positions.size(); ++i) {
        const auto other = Open(Path("in"), options);
        ASSERT_TRUE(other->SkipTo(positions[i]).ok());
        std::vector<std::string> rest;
        while (*other->Next(&record)) rest.push_back(Cat(record.line, Outcome(record), record.text));
        EXPECT_EQ(rest,
                  std::vector<std::string>(outcomes.begin() + static_cast<std::ptrdiff_t>(read[i]), outcomes.end()));
        EXPECT_EQ(other->position(), reader->position());
      }
    }
  }
}

TEST_F(ItemFilesTest, AChangedFileIsNotContinued) {
  const auto reader = Open(Write("in", "{}\n{}\n{}\n"));
  ItemFileRecord record;
  ASSERT_TRUE(*reader->Next(&record) && *reader->Next(&record));
  const ItemFilePosition position = reader->position();
  EXPECT_TRUE(Open(Write("in", "{}\n{}\n{\"more\":{}}\n"))->SkipTo(position).ok());
  for (const std::string_view other : {"{}\n[]\n{}\n", "{}\n", ""}) {
    EXPECT_EQ(Open(Write("in", other))->SkipTo(position).code(), absl::StatusCode::kDataLoss);
  }
}

TEST_F(ItemFilesTest, TruncatedFilesEndInAnErrorAtEachByte) {
  for (const FileCompression compression : {FileCompression::kGzip, FileCompression::kZstd}) {
    for (const ItemFileFormat format : {ItemFileFormat::kJsonLines, ItemFileFormat::kCsv}) {
      const ItemFileOptions options = {.format = format, .compression = compression};
      const auto writer = files_.CreateWriter(Target("whole"), options);
      ASSERT_TRUE(writer.ok() && (*writer)->AppendText("{\"id\":{\"S\":\"a\"}}\n1,\"open\nx").ok() &&
                  (*writer)->Finish().ok());
      const std::string whole = Read(Path("whole"));
      for (size_t size = 0; size < whole.size(); ++size) {
        const std::vector<std::string> outcomes = Outcomes(whole.substr(0, size), options);
        ASSERT_FALSE(outcomes.empty()) << size;
        EXPECT_THAT(outcomes.back(), testing::StartsWith("file: ")) << size;
        EXPECT_THAT(outcomes.back(), HasSubstr("/in:")) << size;
      }
    }
  }
}

TEST_F(ItemFilesTest, ALineLongerThanAnyItemIsAnErrorOfTheFile) {
  EXPECT_THAT(Outcomes(Cat(Record("{}"), "\n", std::string(kItemLineBytesMax + (1 << 20), 'x'))),
              ElementsAre("{}", HasSubstr("/in:2: the line is longer than")));
}

TEST_F(ItemFilesTest, OnlyJsonLinesHoldItems) {
  const auto writer = files_.CreateWriter(Target("a.csv"), Csv());
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ((*writer)->Append("").code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE((*writer)->AppendText("a,b").ok());
  ASSERT_TRUE((*writer)->Finish().ok());
  EXPECT_EQ(Read(Path("a.csv")), "a,b\n");
}

TEST_F(ItemFilesTest, TextFilesAreDurableAndPrivate) {
  const auto finished = files_.WriteTextFile(Target("manifest"), "abc");
  ASSERT_TRUE(finished.ok()) << finished.status();
  EXPECT_EQ(finished->bytes, 3);
  EXPECT_EQ(finished->md5_base64, "kAFQmDzST7DWlj99KOF/cg==");
  EXPECT_EQ(Read(Path("manifest")), "abc");
  EXPECT_EQ(files_.WriteTextFile(Target("no/manifest"), "abc").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace armature::daemon
