// The parts of `armature load` that need no daemon.

#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storage/base/strings.h"
#include "storage/files/csv_splitter.h"
#include "storage/files/line_reader.h"
#include "tools/armature/load/item_source.h"
#include "tools/armature/load/load_state.h"
#include "tools/armature/message_json.h"

namespace armature::cli::load_test {

using files::CsvRecord;
using files::CsvSplitter;
using files::LineReader;
using files::TextPosition;
using testing::ElementsAre;
using testing::HasSubstr;

// A temporary file for one test.
class TemporaryFile {
 public:
  TemporaryFile(std::string_view name, std::string_view content)
      : path_(Cat(testing::TempDir(), "/", testing::UnitTest::GetInstance()->current_test_info()->name(), "_", name)) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

std::vector<std::string> LinesOf(LineReader& reader) {
  std::vector<std::string> lines;
  std::string line;
  while (true) {
    const absl::StatusOr<bool> has_line = reader.Next(&line);
    EXPECT_TRUE(has_line.ok()) << has_line.status();
    if (!has_line.ok() || !*has_line) return lines;
    lines.push_back(line);
  }
}

TEST(LineReader, GivesLinesAndWhereTheyEnd) {
  const TemporaryFile file("a.txt", "one\n\ntwo\r\nlast without a break");
  const auto reader = LineReader::Open(file.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  std::string line;
  ASSERT_TRUE(*(*reader)->Next(&line));
  EXPECT_EQ(line, "one");
  EXPECT_EQ((*reader)->position().offset, 4);
  EXPECT_EQ((*reader)->position().line, 1);
  EXPECT_THAT(LinesOf(**reader), ElementsAre("", "two\r", "last without a break"));
  EXPECT_EQ((*reader)->position().offset, (*reader)->file_bytes());
  EXPECT_EQ((*reader)->position().line, 4);
}

TEST(LineReader, LinesMayBeLongerThanABuffer) {
  const std::string large(600'000, 'x');
  const TemporaryFile file("a.txt", Cat("short\n", large, "\n", large, "\nshort again\n"));
  const auto reader = LineReader::Open(file.path());
  EXPECT_THAT(LinesOf(**reader), ElementsAre("short", large, large, "short again"));
}

TEST(LineReader, ALineThatIsTooLongIsAnError) {
  const TemporaryFile file("a.txt", std::string(LineReader::kLineBytesMax + (1 << 20), 'x'));
  const auto reader = LineReader::Open(file.path());
  std::string line;
  EXPECT_THAT(std::string((*reader)->Next(&line).status().message()), HasSubstr(":1: the line is longer"));
}

TEST(LineReader, GoesOnFromAPlaceInPlainAndPackedText) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += Cat("line ", i, "\n");
  const TemporaryFile plain("plain", text);
  const TemporaryFile packed("packed", "");
  const gzFile out = gzopen(packed.path().c_str(), "wb");
  ASSERT_EQ(gzwrite(out, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  gzclose(out);
  for (const TemporaryFile* file : {&plain, &packed}) {
    const auto first = LineReader::Open(file->path());
    std::string line;
    for (int i = 0; i < 40'000; ++i) ASSERT_TRUE(*(*first)->Next(&line));
    const auto second = LineReader::Open(file->path());
    ASSERT_TRUE(*(*second)->Next(&line));
    ASSERT_TRUE((*second)->SkipTo((*first)->position()).ok());
    ASSERT_TRUE(*(*second)->Next(&line));
    EXPECT_EQ(line, "line 40000");
    EXPECT_EQ((*second)->position().line, 40'001);
  }
}

TEST(LineReader, KnowsWhetherWhatItSkipsIsTheSameText) {
  const TemporaryFile first("first", "one\ntwo\nthree\n");
  const auto reader = LineReader::Open(first.path());
  std::string line;
  ASSERT_TRUE(*(*reader)->Next(&line) && *(*reader)->Next(&line));
  const TextPosition place = (*reader)->position();
  const TemporaryFile mended("mended", "one\ntwo\nTHREE and four\n");
  const auto goes_on = LineReader::Open(mended.path());
  ASSERT_TRUE((*goes_on)->SkipTo(place).ok());
  ASSERT_TRUE(*(*goes_on)->Next(&line));
  EXPECT_EQ(line, "THREE and four");
  for (const std::string_view other : {"one\ntwO\nthree\n", "one\nmore\n", "one\n", "", "one two\nthree\n"}) {
    const TemporaryFile changed("changed", other);
    EXPECT_FALSE((*LineReader::Open(changed.path()))->SkipTo(place).ok()) << other;
  }
}

TEST(LineReader, ALastLineWithoutABreakMayGetOne) {
  const TemporaryFile first("first", "one\ntwo");
  const auto reader = LineReader::Open(first.path());
  EXPECT_THAT(LinesOf(**reader), ElementsAre("one", "two"));
  const TextPosition place = (*reader)->position();
  for (const std::string_view grown : {"one\ntwo\nthree\n", "one\ntwo\r\nthree\n"}) {
    const TemporaryFile file("grown", grown);
    const auto goes_on = LineReader::Open(file.path());
    const absl::Status skipped = (*goes_on)->SkipTo(place);
    ASSERT_TRUE(skipped.ok()) << skipped;
    // The file has the same state as one written at once.
    const auto anew = LineReader::Open(file.path());
    std::string line;
    ASSERT_TRUE(*(*anew)->Next(&line) && *(*anew)->Next(&line));
    EXPECT_EQ((*goes_on)->position(), (*anew)->position());
    EXPECT_THAT(LinesOf(**goes_on), ElementsAre("three"));
    EXPECT_EQ((*goes_on)->position().line, 3);
  }
  // The changed files have another line there.
  for (const std::string_view other : {"one\ntwofold\n", "one\ntwo\rthree\n", "one\ntwo\r", "one\ntWo\n"}) {
    const TemporaryFile changed("changed", other);
    EXPECT_FALSE((*LineReader::Open(changed.path()))->SkipTo(place).ok()) << other;
  }
}

TEST(Csv, SplitsAsTheStandardSays) {
  CsvSplitter splitter;
  EXPECT_EQ(splitter.Add("a,b,"), CsvRecord::kWhole);
  EXPECT_THAT(splitter.cells(), ElementsAre("a", "b", ""));
  EXPECT_EQ(splitter.Add(""), CsvRecord::kWhole);
  EXPECT_THAT(splitter.cells(), ElementsAre(""));
  EXPECT_EQ(splitter.Add(R"("a,""b""","",c d)"), CsvRecord::kWhole);
  EXPECT_THAT(splitter.cells(), ElementsAre("a,\"b\"", "", "c d"));
  EXPECT_EQ(splitter.Add(R"(a,"b"c)"), CsvRecord::kWrong);
  EXPECT_EQ(splitter.Add(R"(a"b)"), CsvRecord::kWrong);
  EXPECT_EQ(splitter.Add("after,that"), CsvRecord::kWhole);
  EXPECT_THAT(splitter.cells(), ElementsAre("after", "that"));
}

TEST(Csv, ARecordMayTakeSeveralLines) {
  CsvSplitter splitter;
  EXPECT_EQ(splitter.Add(R"(a,"one ")"), CsvRecord::kWhole);
  EXPECT_EQ(splitter.Add("a,\"one\"\""), CsvRecord::kGoesOn);
  EXPECT_EQ(splitter.Add("\r"), CsvRecord::kGoesOn);
  EXPECT_EQ(splitter.Add("two, three\",b\r"), CsvRecord::kWhole);
  EXPECT_THAT(splitter.cells(), ElementsAre("a", "one\"\n\r\ntwo, three", "b"));
  EXPECT_EQ(splitter.Add("\"a\"\r"), CsvRecord::kWhole);
  EXPECT_THAT(splitter.cells(), ElementsAre("a"));
}

TEST(Csv, CellsHaveTypes) {
  const auto types = ParseCsvTypes("n=N,b=B,yes=BOOL,list=L,a=b=S");
  ASSERT_TRUE(types.ok()) << types.status();
  const auto item = ItemFromCsv({"s", "n", "b", "yes", "list", "none", "a=b"},
                                {"7", "7.50", "AQI=", "true", R"([{"S":"x"}])", "", "z"}, *types);
  ASSERT_TRUE(item.ok()) << item.status();
  EXPECT_EQ(CompactJson(MessageToJson(*item)),
            R"({"a=b":{"S":"z"},"b":{"B":"AQI="},"list":{"L":[{"S":"x"}]},"n":{"N":"7.50"},"s":{"S":"7"},)"
            R"("yes":{"BOOL":true}})");
  EXPECT_FALSE(ItemFromCsv({"yes"}, {"maybe"}, *types).ok());
  EXPECT_FALSE(ItemFromCsv({"b"}, {"***"}, *types).ok());
  EXPECT_FALSE(ItemFromCsv({"a", "b"}, {"1"}, *types).ok());
  for (const std::string_view wrong : {"n", "n=", "=S", "n=X", "n=N,"})
    EXPECT_FALSE(ParseCsvTypes(wrong).ok()) << wrong;
}

TEST(ItemSource, LinesMayBePlainJson) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"({"id": "a", "n": 12345678901234567890123.5})", R"({"id":{"S":"a"},"n":{"N":"12345678901234567890123.5"}})"},
      {R"({"id": "a", "t": {"SS": ["x"]}})", R"({"id":{"S":"a"},"t":{"SS":["x"]}})"},
      {R"({"Item": {"id": "a"}})", R"({"id":{"S":"a"}})"},
      {R"({"Item": {"id": {"S": "a"}, "n": 1}})", R"({"id":{"S":"a"},"n":{"N":"1"}})"},
      {R"({"Item": {"S": "a"}})", R"({"Item":{"S":"a"}})"},
      {R"({"Item": "a"})", R"({"Item":{"S":"a"}})"},
      {R"({"Item": {"id": "a"}, "id": 1})", R"({"Item":{"M":{"id":{"S":"a"}}},"id":{"N":"1"}})"},
  };
  std::string lines;
  for (const auto& [line, typed] : cases) lines += Cat(line, "\n");
  const TemporaryFile file("a.jsonl", lines);
  const auto source = ItemSource::Open(file.path(), FormatOf(file.path()), {});
  ASSERT_TRUE(source.ok()) << source.status();
  for (const auto& [line, typed] : cases) {
    SourceRecord record;
    ASSERT_TRUE(*(*source)->Next(&record));
    ASSERT_TRUE(record.item.ok()) << line << ": " << record.item.status();
    EXPECT_EQ(CompactJson(MessageToJson(*record.item)), typed) << line;
  }
}

TEST(ItemSource, ABadRecordIsPassedOver) {
  const TemporaryFile file("a.jsonl", "{\"id\": {\"S\": \"a\"}}\n\nnonsense\n{\"Item\": {\"id\": {\"S\": \"b\"}}}\n");
  const auto source = ItemSource::Open(file.path(), FormatOf(file.path()), {});
  ASSERT_TRUE(source.ok()) << source.status();
  SourceRecord record;
  ASSERT_TRUE(*(*source)->Next(&record));
  EXPECT_EQ(CompactJson(MessageToJson(*record.item)), R"({"id":{"S":"a"}})");
  ASSERT_TRUE(*(*source)->Next(&record));
  EXPECT_FALSE(record.item.ok());
  EXPECT_EQ(record.line, 3);
  ASSERT_TRUE(*(*source)->Next(&record));
  EXPECT_EQ(CompactJson(MessageToJson(*record.item)), R"({"id":{"S":"b"}})");
  EXPECT_EQ(record.line, 4);
  EXPECT_FALSE(*(*source)->Next(&record));
}

TEST(ItemSource, RecordsOfCsvMayTakeSeveralLines) {
  const TemporaryFile file("a.csv", "id,text\na,\"one\ntwo\"\nb,\"never closed\n");
  const auto source = ItemSource::Open(file.path(), FormatOf(file.path()), {});
  ASSERT_TRUE(source.ok()) << source.status();
  SourceRecord record;
  ASSERT_TRUE(*(*source)->Next(&record));
  EXPECT_EQ(CompactJson(MessageToJson(*record.item)), R"({"id":{"S":"a"},"text":{"S":"one\ntwo"}})");
  EXPECT_EQ(record.line, 2);
  EXPECT_EQ(record.end.line, 3);
  // Records after an open quote are not guessed.
  EXPECT_THAT(std::string((*source)->Next(&record).status().message()), HasSubstr(":4: a quote is not closed"));
}

// It is unknown where the cell was meant to end, so following lines may belong to it.
TEST(ItemSource, AnOpenQuoteIsNotClosedByTheQuotesOfLaterLines) {
  const TemporaryFile file("a.csv", "id,text\n1,\"never closed\n2,\"fine\"\n3,\"fine too\"\n");
  const auto source = ItemSource::Open(file.path(), FormatOf(file.path()), {});
  ASSERT_TRUE(source.ok()) << source.status();
  SourceRecord record;
  EXPECT_THAT(std::string((*source)->Next(&record).status().message()), HasSubstr(":2: a quote is not closed, or"));
}

TEST(ItemSource, AnOpenQuoteIsFoundInALargeFileToo) {
  std::string text = "id,text\na,\"never closed\n";
  while (text.size() < LineReader::kLineBytesMax + (1 << 20)) text += "b,c\n";
  const TemporaryFile file("a.csv", text);
  const auto source = ItemSource::Open(file.path(), FormatOf(file.path()), {});
  ASSERT_TRUE(source.ok()) << source.status();
  SourceRecord record;
  EXPECT_THAT(std::string((*source)->Next(&record).status().message()), HasSubstr(":2: a cell in quotes is longer"));
}

TEST(ItemSource, NamesOfCsvMustBeNames) {
  for (const std::string_view wrong : {"", "id,,x\n", "id,id\n", "id,\"x\n", "id,x\"y\"\n"}) {
    const TemporaryFile file("a.csv", wrong);
    EXPECT_FALSE(ItemSource::Open(file.path(), LoadFormat::kCsv, {}).ok()) << wrong;
  }
}

TEST(AckTracker, StaysBeforeTheFirstThatIsNotDone) {
  AckTracker tracker({10, 1, 0});
  const uint64_t a = tracker.Begin({20, 2, 0});
  const uint64_t b = tracker.Begin({30, 3, 0});
  const uint64_t c = tracker.Begin({40, 4, 0});
  tracker.Done(b);
  EXPECT_EQ(tracker.position().offset, 10);
  tracker.Done(a);
  EXPECT_EQ(tracker.position().offset, 30);
  const uint64_t d = tracker.Begin({50, 5, 0});
  tracker.Done(d);
  tracker.Done(c);
  EXPECT_EQ(tracker.position().offset, 50);
  EXPECT_EQ(tracker.position().line, 5);
}

TEST(LoadState, IsReadAsItWasWritten) {
  const TemporaryFile input("x.jsonl", "");
  const std::string path = StatePathOf(input.path());
  RemoveLoadState(path);
  ASSERT_TRUE(ReadLoadState(path).ok());
  EXPECT_FALSE(ReadLoadState(path)->has_value());
  ASSERT_TRUE(WriteLoadState(path, {"orders", {500, 7, 4'000'000'000}, 6}).ok());
  ASSERT_TRUE(WriteLoadState(path, {"orders", {600, 8, 4'000'000'001}, 7}).ok());
  const auto state = ReadLoadState(path);
  ASSERT_TRUE(state.ok() && state->has_value()) << state.status();
  EXPECT_EQ((*state)->table_name, "orders");
  EXPECT_EQ((*state)->position, (TextPosition{600, 8, 4'000'000'001}));
  EXPECT_EQ((*state)->items, 7);
  RemoveLoadState(path);
  for (const std::string_view wrong :
       {"", "{}", "[1]", R"({"TableName": "t", "Offset": -1, "Line": 0, "Checksum": 0, "Items": 0})",
        R"({"TableName": "t", "Offset": 1, "Line": 0, "Checksum": 4294967296, "Items": 0})"}) {
    const TemporaryFile damaged("damaged", wrong);
    EXPECT_FALSE(ReadLoadState(damaged.path()).ok()) << wrong;
  }
}

}  // namespace armature::cli::load_test
