#include "storage/files/input_file.h"

#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/storage/files/files_test_util.h"

namespace armature::files {
namespace {

using testing::HasSubstr;

constexpr Compression kAll[] = {Compression::kNone, Compression::kGzip, Compression::kZstd};
constexpr Compression kPacked[] = {Compression::kGzip, Compression::kZstd};

// The content of a file, read in pieces of `piece` bytes.
absl::StatusOr<std::string> ReadAll(const std::string& path, const InputOptions& options, size_t piece = 1000) {
  const auto file = InputFile::Open(path, options);
  if (!file.ok()) return file.status();
  std::string text;
  std::string buffer(piece, '\0');
  while (true) {
    const absl::StatusOr<size_t> read = (*file)->Read(buffer.data(), buffer.size());
    if (!read.ok()) return read.status();
    if (*read == 0) break;
    text.append(buffer, 0, *read);
  }
  EXPECT_EQ((*file)->file_bytes_read(), (*file)->file_bytes());
  return text;
}

class InputFileTest : public FilesTest {
 protected:
  // The outcome of reading these bytes of a file.
  absl::StatusOr<std::string> Reading(std::string_view content, const InputOptions& options) const {
    return ReadAll(Write("in", content), options);
  }
};

TEST_F(InputFileTest, ReadsWhatWasWritten) {
  std::string large;
  for (int i = 0; i < 200'000; ++i) large += Cat(i * 7919 % 100'003, ",");
  for (const std::string& text : {std::string("x"), std::string("one\ntwo\n"), std::string(3'000'000, '\0'), large}) {
    for (const Compression compression : kAll) {
      const std::string path = Write("in", Packed(text, compression));
      for (const size_t piece : {1, 1000, 1 << 20}) {
        if (piece == 1 && text.size() > 100) continue;
        EXPECT_TRUE(ReadAll(path, {.compression = compression}, piece).value_or("") == text);
        EXPECT_TRUE(ReadAll(path, {}, piece).value_or("") == text);
      }
    }
  }
}

TEST_F(InputFileTest, ASmallFileThatBecomesLongCanBeLeft) {
  for (const Compression compression : kPacked) {
    int asked = 0;
    const InputOptions options = {.compression = compression, .is_stopped = [&asked] { return ++asked > 5; }};
    EXPECT_EQ(Reading(Packed(std::string(3'000'000, '\n'), compression), options).status().code(),
              absl::StatusCode::kCancelled);
    EXPECT_EQ(asked, 6);
  }
}

TEST_F(InputFileTest, AnEmptyTextIsNotAnEmptyFile) {
  for (const Compression compression : kPacked) {
    const InputOptions options = {.compression = compression};
    EXPECT_EQ(Reading(Packed("", compression), options).value_or("?"), "");
    EXPECT_EQ(Reading("", options).status().code(), absl::StatusCode::kDataLoss);
  }
  EXPECT_EQ(Reading("", {}).value_or("?"), "");
  EXPECT_EQ(Reading("", {.compression = Compression::kNone}).value_or("?"), "");
}

TEST_F(InputFileTest, TruncatedDataAreAnErrorAtEachByte) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += Cat("line ", i * i, "\n");
  for (const Compression compression : kPacked) {
    const std::string whole = Packed(text, compression);
    for (size_t size = 0; size < whole.size(); ++size) {
      const auto read = Reading(whole.substr(0, size), {.compression = compression});
      EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss) << size;
      EXPECT_THAT(std::string(read.status().message()), HasSubstr("unexpected end of file")) << size;
    }
    // A second member that is not whole.
    for (size_t size = whole.size() + 1; size < 2 * whole.size(); ++size) {
      EXPECT_FALSE(Reading((whole + whole).substr(0, size), {.compression = compression}).ok()) << size;
      EXPECT_FALSE(Reading((whole + whole).substr(0, size), {}).ok()) << size;
    }
  }
}

TEST_F(InputFileTest, AChangedByteNeverChangesTheText) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += Cat("line ", i * i, "\n");
  for (const Compression compression : kPacked) {
    const std::string whole = Packed(text, compression);
    for (size_t i = 0; i < whole.size(); ++i) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ 0x41);
      const auto read = Reading(changed, {.compression = compression});
      // Some bytes of the header mean nothing, such as the time.
      EXPECT_TRUE(read.status().code() == absl::StatusCode::kDataLoss || read.value_or("") == text) << i;
    }
  }
}

TEST_F(InputFileTest, ReadsSeveralMembers) {
  for (const Compression compression : kPacked) {
    const std::string one = Packed("one\n", compression);
    const std::string content = one + Packed("", compression) + Packed("two\n", compression);
    EXPECT_EQ(Reading(content, {}).value_or("?"), "one\ntwo\n");
    EXPECT_FALSE(Reading(one + "other bytes", {}).ok());
  }
  // Zeros follow gzip data on some media.
  const std::string gzip = Packed("one\n", Compression::kGzip);
  EXPECT_EQ(Reading(gzip + std::string(300'000, '\0'), {}).value_or("?"), "one\n");
  EXPECT_FALSE(Reading(gzip + std::string(300'000, '\0') + "x", {}).ok());
}

// Small files of the libraries themselves, with and without the size of the text in their head.
TEST_F(InputFileTest, ReadsFilesOfOthers) {
  const std::string text(100'000, 'y');
  std::string zstd(ZSTD_compressBound(text.size()), '\0');
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), text.data(), text.size(), 19));
  EXPECT_TRUE(Reading(zstd, {}).value_or("") == text);
  // A skippable frame of 3 bytes.
  const std::string skipped = std::string("\x50\x2A\x4D\x18\x03\0\0\0", 8) + "abc" + zstd;
  EXPECT_TRUE(Reading(skipped, {.compression = Compression::kZstd}).value_or("") == text);
  const gzFile gzip = gzopen(Path("gz").c_str(), "wb");
  ASSERT_EQ(gzwrite(gzip, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  gzclose(gzip);
  EXPECT_TRUE(ReadAll(Path("gz"), {}).value_or("") == text);
}

TEST_F(InputFileTest, RefusesALargeWindow) {
  // Magic number, a frame without content size and with a window of 2^27 bytes, an empty last block.
  const std::string head("\x28\xB5\x2F\xFD\x00\x88\x01\x00\x00", 9);
  const auto read = Reading(head, {});
  EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(read.status().message()), HasSubstr("a window of more than 8 MB"));
  // A frame with a window of 2^23 bytes.
  const std::string allowed("\x28\xB5\x2F\xFD\x00\x68\x01\x00\x00", 9);
  EXPECT_EQ(Reading(allowed, {}).value_or("?"), "");
}

TEST_F(InputFileTest, APlainFileIsNotUnpackedAgainstTheOptions) {
  const std::string packed = Packed("text", Compression::kGzip);
  EXPECT_EQ(Reading(packed, {.compression = Compression::kNone}).value_or("?"), packed);
  for (const Compression compression : kPacked) {
    const auto read = Reading("plain text", {.compression = compression});
    EXPECT_EQ(read.status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST_F(InputFileTest, ErrorsNameTheFile) {
  const absl::Status missing = InputFile::Open(Path("none"), {}).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("/none: No such file"));
  const absl::Status directory = InputFile::Open(directory_, {}).status();
  EXPECT_EQ(directory.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(directory.message()), HasSubstr(Cat(directory_, ": Is a directory")));
}

// Opening a pipe without a writer would wait for one.
TEST_F(InputFileTest, RefusesPipes) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  const absl::Status pipe = InputFile::Open(Path("pipe"), {.regular_only = true}).status();
  EXPECT_THAT(std::string(pipe.message()), HasSubstr("/pipe: it is not a regular file"));
  EXPECT_FALSE(InputFile::Open("/dev/zero", {.regular_only = true}).ok());
}

}  // namespace
}  // namespace armature::files
