#include "storage/files/line_reader.h"

#include <sys/resource.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/storage/files/files_test_util.h"

namespace armature::files {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using LineReaderTest = FilesTest;

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

// Resident memory of the process at its peak.
int64_t PeakBytes() {
  struct rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} << 10;
}

TEST_F(LineReaderTest, ReadsTheSameLinesInAllCompressions) {
  std::string text =
      "\xEF\xBB\xBF"
      "first\r\n\n";
  for (int i = 0; i < 30'000; ++i) text += Cat("line ", i * i, "\n");
  const std::string plain = Write("plain", text + "last");
  const std::vector<std::string> lines = LinesOf(**LineReader::Open(plain));
  ASSERT_EQ(lines.size(), 30'003u);
  EXPECT_EQ(lines.front(), "first\r");
  EXPECT_EQ(lines.back(), "last");
  for (const Compression compression : {Compression::kGzip, Compression::kZstd}) {
    const std::string path = Write("in", Packed(text + "last", compression));
    EXPECT_TRUE(LinesOf(**LineReader::Open(path)) == lines);
  }
}

TEST_F(LineReaderTest, ContinuesAfterEachLine) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += Cat("line ", i, i % 3 == 0 ? "\r\n" : "\n");
  for (const Compression compression : {Compression::kNone, Compression::kGzip, Compression::kZstd}) {
    const std::string path = Write("in", Packed(text, compression));
    const auto first = LineReader::Open(path);
    std::string line;
    while (*(*first)->Next(&line)) {
      const auto second = LineReader::Open(path);
      ASSERT_TRUE((*second)->SkipTo((*first)->position()).ok());
      std::string next;
      const bool has_next = *(*second)->Next(&next);
      ASSERT_EQ(has_next, (*first)->position().line < 200);
      if (!has_next) continue;
      EXPECT_THAT(next, HasSubstr(Cat("line ", (*first)->position().line)));
    }
  }
}

TEST_F(LineReaderTest, ReturnsToTheKeptPlace) {
  std::string text = "zero\n";
  for (int i = 0; i < 100'000; ++i) text += Cat("line ", i, "\n");
  const auto reader = LineReader::Open(Write("in", text));
  std::string line;
  ASSERT_TRUE(*(*reader)->Next(&line));
  const TextPosition before = (*reader)->position();
  (*reader)->Keep();
  for (int i = 0; i < 90'000; ++i) ASSERT_TRUE(*(*reader)->Next(&line));
  EXPECT_EQ(line, "line 89999");
  EXPECT_EQ((*reader)->kept(), text.substr(5, static_cast<size_t>((*reader)->position().offset) - 5));
  (*reader)->Rewind();
  EXPECT_EQ((*reader)->position(), before);
  ASSERT_TRUE(*(*reader)->Next(&line));
  EXPECT_EQ(line, "line 0");
  EXPECT_EQ(LinesOf(**reader).size(), 99'999u);
}

TEST_F(LineReaderTest, ErrorsNameFileAndLine) {
  const std::string whole = Packed(Cat("one\n", std::string(2'000'000, 'x'), "\n"), Compression::kGzip);
  const auto cut = LineReader::Open(Write("cut", whole.substr(0, whole.size() - 500)));
  std::string line;
  ASSERT_TRUE(*(*cut)->Next(&line));
  EXPECT_EQ(line, "one");
  const absl::Status error = (*cut)->Next(&line).status();
  EXPECT_EQ(error.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(error.message()), HasSubstr("/cut:2: unexpected end of file"));
  const auto bounded = LineReader::Open(Write("in", whole), {.line_bytes_max = 1'000'000});
  ASSERT_TRUE(*(*bounded)->Next(&line));
  EXPECT_THAT(std::string((*bounded)->Next(&line).status().message()),
              HasSubstr("/in:2: the line is longer than 1000000 bytes"));
}

// 500 MB of text in a file of a few hundred kilobytes at most.
TEST_F(LineReaderTest, ADecompressionBombTakesTheMemoryOfOneLine) {
  const std::string block(1 << 20, 'x');
  const auto out = OutputFile::Create(Path("bomb"), Compression::kZstd);
  for (int i = 0; i < 500; ++i) ASSERT_TRUE((*out)->Write(block).ok());
  ASSERT_LT((*out)->Finish()->bytes, 1 << 19);
  const int64_t before = PeakBytes();
  const auto reader = LineReader::Open(Path("bomb"));
  std::string line;
  EXPECT_EQ((*reader)->Next(&line).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_LT(PeakBytes() - before, 128 << 20);
}

}  // namespace
}  // namespace armature::files
