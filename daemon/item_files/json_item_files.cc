#include "daemon/item_files/json_item_files.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "daemon/item_files/item_text.h"
#include "daemon/message_json/item_json.h"
#include "daemon/message_json/json_writer.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/canonical_text.h"
#include "storage/files/csv_splitter.h"
#include "storage/files/line_reader.h"
#include "storage/files/output_file.h"
#include "storage/model/plain_item.h"

namespace armature::daemon {
namespace {

using engine::FileCompression;
using engine::ItemFileFormat;
using engine::ItemFileOptions;
using engine::ItemFilePosition;
using engine::ItemFileRecord;
using Finished = engine::ItemFileWriter::Finished;

// Only the owner reads items.
constexpr files::OutputOptions kPrivateFile = {.mode = 0600, .with_md5 = true};

constexpr std::string_view kWrongQuote = "a quote within a cell must be doubled, and the cell in quotes";
constexpr std::string_view kOpenQuote = "a quote is not closed, or one within its cell is not doubled";

files::Compression CompressionOf(FileCompression compression) {
  switch (compression) {
    case FileCompression::kNone:
      return files::Compression::kNone;
    case FileCompression::kGzip:
      return files::Compression::kGzip;
    case FileCompression::kZstd:
      return files::Compression::kZstd;
  }
  return files::Compression::kNone;
}

absl::Status CheckOptions(const ItemFileOptions& options) {
  constexpr std::string_view kForbidden("\"\r\n\0", 4);
  if (kForbidden.find(options.csv_delimiter) != std::string_view::npos) {
    return absl::InvalidArgumentError("the delimiter is a quote or a line break");
  }
  for (const auto& [name, type] : options.csv_types) {
    if (type != "S" && type != "N" && type != "B") {
      return absl::InvalidArgumentError(Cat("a column cannot have the type ", type));
    }
  }
  return absl::OkStatus();
}

// The byte order mark of a file.
constexpr std::string_view kMark = "\xEF\xBB\xBF";

// Takes the first of the JSON objects that follow each other on a line, with the blanks around it. A text that is no
// whole object is taken with all that follows, because it is unknown where it was meant to end.
std::string_view TakeJsonRecord(std::string_view* rest) {
  const std::string_view line = *rest;
  constexpr std::string_view kBlanks = " \t\r";
  size_t depth = 0;
  bool is_quoted = false;
  size_t i = std::min(line.find_first_not_of(kBlanks), line.size());
  const bool is_object = i < line.size() && line[i] == '{';
  for (; is_object && i < line.size(); ++i) {
    const char c = line[i];
    if (is_quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && (c == '{' || c == '[')) {
      ++depth;
    } else if (!is_quoted && (c == '}' || c == ']') && --depth == 0) {
      const size_t end = std::min(line.find_first_not_of(kBlanks, i + 1), line.size());
      rest->remove_prefix(end);
      return line.substr(0, end);
    }
  }
  *rest = {};
  return line;
}

// The text of a record without byte order mark and last line break.
std::string_view BareText(std::string_view text, bool is_first) {
  if (is_first && text.starts_with(kMark)) text.remove_prefix(kMark.size());
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

class Reader final : public engine::ItemFileReader {
 public:
  Reader(std::string path, const ItemFileOptions& options, std::unique_ptr<files::LineReader> text)
      : path_(std::move(path)), options_(options), text_(std::move(text)), splitter_(options.csv_delimiter) {}

  // Reads the names of the attributes.
  absl::Status Begin() {
    if (options_.format != ItemFileFormat::kCsv) return absl::OkStatus();
    if (!options_.csv_header.empty()) return UseHeader(options_.csv_header);
    text_->Keep();
    ARM_ASSIGN_OR_RETURN(const bool has_line, text_->Next(&line_));
    if (!has_line) return Wrong("a CSV file has the names of the attributes on its first line");
    ARM_ASSIGN_OR_RETURN(const absl::Status cells, ReadCells());
    if (!cells.ok()) return Wrong(Sv(cells.message()));
    return UseHeader(splitter_.cells());
  }

  absl::Status SkipTo(ItemFilePosition position) override {
    // The first line precedes any record.
    if (position.offset <= text_->position().offset) return absl::OkStatus();
    text_->Release();
    return text_->SkipTo({.offset = position.offset, .line = position.line, .checksum = position.checksum});
  }

  absl::StatusOr<bool> Next(ItemFileRecord* record) override {
    bool is_first = false;
    while (rest_.empty()) {
      const files::TextPosition before = text_->position();
      is_first = before.offset == 0;
      if (options_.format == ItemFileFormat::kCsv) text_->Keep();
      ARM_ASSIGN_OR_RETURN(const bool has_line, text_->Next(&line_));
      if (!has_line) return false;
      if (IsBlank(line_)) continue;
      if (options_.format == ItemFileFormat::kCsv) return ReadCsv(is_first, record);
      // The mark at the begin of a file is no text of its line.
      within_ = is_first && text_->has_mark() ? files::LineReader::Behind(before, kMark) : before;
      rest_ = line_;
    }
    const std::string_view text = TakeJsonRecord(&rest_);
    within_ = files::LineReader::Behind(within_, text);
    record->line = text_->position().line;
    record->text = std::string(Sv(absl::StripAsciiWhitespace(Av(text))));
    std::string json = record->text;
    std::string wire;
    absl::Status status = ItemFromJson(&json, &wire);
    record->item = status.ok() ? absl::StatusOr<std::string>(std::move(wire)) : std::move(status);
    return true;
  }

  ItemFilePosition position() const override {
    const files::TextPosition position = rest_.empty() ? text_->position() : within_;
    return {.offset = position.offset, .line = position.line, .checksum = position.checksum};
  }

  int64_t bytes_read() const override { return text_->file_bytes_read(); }

 private:
  absl::StatusOr<bool> ReadCsv(bool is_first, ItemFileRecord* record) {
    record->line = text_->position().line;
    ARM_ASSIGN_OR_RETURN(absl::Status status, ReadCells());
    record->text = BareText(text_->kept(), is_first);
    std::string wire;
    if (status.ok()) status = ItemFromCells(columns_, splitter_.cells(), &wire);
    record->item = status.ok() ? absl::StatusOr<std::string>(std::move(wire)) : std::move(status);
    return true;
  }

  absl::Status Wrong(std::string_view what) const { return absl::DataLossError(Cat(path_, ": ", what)); }

  // A line of delimiters is a record, even if they are blanks.
  bool IsBlank(std::string_view line) const {
    if (!absl::StripAsciiWhitespace(Av(line)).empty()) return false;
    return options_.format != ItemFileFormat::kCsv || line.find(options_.csv_delimiter) == std::string_view::npos;
  }

  absl::Status UseHeader(const std::vector<std::string>& names) {
    std::set<std::string_view> seen;
    for (const std::string& name : names) {
      if (name.empty()) return Wrong("an attribute has no name");
      if (!codec::IsValidUtf8(name)) return Wrong("the name of an attribute is not UTF-8");
      if (!seen.insert(name).second) return Wrong(Cat("the attribute ", name, " stands in the header twice"));
      const auto found = options_.csv_types.find(name);
      const std::string_view type = found == options_.csv_types.end() ? "S" : std::string_view(found->second);
      columns_.push_back({name, type == "N"   ? model::ValueType::kNumber
                                : type == "B" ? model::ValueType::kBinary
                                              : model::ValueType::kString});
    }
    return absl::OkStatus();
  }

  // Reads the cells of the record that begins with `line_`, before which Keep was called. The result within is the
  // error of the record. It is unknown where a cell with an open quote was meant to end, so such a record has one line
  // and the next line is read as a record of its own.
  absl::StatusOr<absl::Status> ReadCells() {
    files::CsvRecord read = splitter_.Add(line_);
    while (read == files::CsvRecord::kGoesOn) {
      bool has_next = false;
      if (text_->kept().size() <= kItemLineBytesMax) {
        ARM_ASSIGN_OR_RETURN(has_next, text_->Next(&line_));
      }
      if (has_next) read = splitter_.Add(line_);
      if (has_next && read != files::CsvRecord::kWrong) continue;
      splitter_.Drop();
      text_->Rewind();
      text_->Keep();
      ARM_RETURN_IF_ERROR(text_->Next(&line_).status());
      return absl::InvalidArgumentError(Av(kOpenQuote));
    }
    return read == files::CsvRecord::kWhole ? absl::OkStatus() : absl::InvalidArgumentError(Av(kWrongQuote));
  }

  const std::string path_;
  const ItemFileOptions options_;
  const std::unique_ptr<files::LineReader> text_;
  files::CsvSplitter splitter_;
  std::vector<CsvColumn> columns_;
  std::string line_;
  std::string_view rest_;       // of `line_`, with the records that were not read yet
  files::TextPosition within_;  // before `rest_`
};

files::OutputDirectory DirectoryOf(const engine::ItemFileTarget& target) {
  return {target.directory, target.directory_path};
}

// Finishes the file and makes its name durable.
absl::StatusOr<Finished> FinishDurably(files::OutputFile* file, const files::OutputDirectory& directory) {
  ARM_ASSIGN_OR_RETURN(files::OutputFile::Finished done, file->Finish());
  ARM_RETURN_IF_ERROR(files::SyncDirectory(directory));
  return Finished{.bytes = done.bytes, .md5_base64 = std::move(done.md5_base64)};
}

class Writer final : public engine::ItemFileWriter {
 public:
  Writer(files::OutputDirectory directory, ItemFileFormat format, std::unique_ptr<files::OutputFile> file)
      : directory_(std::move(directory)), format_(format), file_(std::move(file)) {}

  absl::Status Append(std::string_view item) override {
    if (format_ != ItemFileFormat::kJsonLines) return absl::FailedPreconditionError("CSV cannot hold all items");
    json_.Clear();
    WriteItem(model::PlainItem(item), &json_.Open(R"({"Item":)"));
    json_.EndObject();
    ++items_;
    return WriteLine(json_.text());
  }

  absl::Status AppendText(std::string_view line) override { return WriteLine(line); }

  int64_t bytes() const override { return file_->bytes(); }

  absl::StatusOr<Finished> Finish() override {
    ARM_ASSIGN_OR_RETURN(Finished finished, FinishDurably(file_.get(), directory_));
    finished.items = items_;
    return finished;
  }

 private:
  absl::Status WriteLine(std::string_view line) {
    ARM_RETURN_IF_ERROR(file_->Write(line));
    return file_->Write("\n");
  }

  const files::OutputDirectory directory_;
  const ItemFileFormat format_;
  const std::unique_ptr<files::OutputFile> file_;
  JsonWriter json_;
  int64_t items_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<engine::ItemFileReader>> JsonItemFiles::OpenReader(
    engine::ItemFileSource source, const ItemFileOptions& options) const {
  ARM_RETURN_IF_ERROR(CheckOptions(options));
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<files::LineReader> text,
                       files::LineReader::Use(std::move(source.file), source.path,
                                              {.input = {.compression = CompressionOf(options.compression),
                                                         .regular_only = true,
                                                         .is_stopped = options.is_stopped},
                                               .line_bytes_max = kItemLineBytesMax}));
  auto reader = std::make_unique<Reader>(source.path, options, std::move(text));
  ARM_RETURN_IF_ERROR(reader->Begin());
  return reader;
}

absl::StatusOr<std::unique_ptr<engine::ItemFileWriter>> JsonItemFiles::CreateWriter(
    const engine::ItemFileTarget& target, const ItemFileOptions& options) const {
  ARM_ASSIGN_OR_RETURN(
      std::unique_ptr<files::OutputFile> file,
      files::OutputFile::Create(DirectoryOf(target), target.name, CompressionOf(options.compression), kPrivateFile));
  return std::make_unique<Writer>(DirectoryOf(target), options.format, std::move(file));
}

absl::StatusOr<Finished> JsonItemFiles::WriteTextFile(const engine::ItemFileTarget& target,
                                                      std::string_view text) const {
  ARM_ASSIGN_OR_RETURN(
      const std::unique_ptr<files::OutputFile> file,
      files::OutputFile::Create(DirectoryOf(target), target.name, files::Compression::kNone, kPrivateFile));
  ARM_RETURN_IF_ERROR(file->Write(text));
  return FinishDurably(file.get(), DirectoryOf(target));
}

}  // namespace armature::daemon
