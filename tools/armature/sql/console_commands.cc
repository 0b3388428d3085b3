#include "tools/armature/sql/console_commands.h"

#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/files/output_file.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/export/item_writer.h"
#include "tools/armature/load/item_source.h"
#include "tools/armature/load/put_stream.h"
#include "tools/armature/message_json.h"
#include "tools/armature/sql/run_statement.h"
#include "tools/armature/sql/sql_token.h"

namespace armature::cli {
namespace {

constexpr size_t kLearnedItems = 1000;  // CSV: their attributes are the columns

std::string SchemaText(const Json& schema) {
  std::string text;
  for (const Json& element : schema) {
    if (!text.empty()) text += ", ";
    text += Cat(element.value("AttributeName", ""), element.value("KeyType", "") == "RANGE" ? " (sort)" : "");
  }
  return text;
}

// Writes items to a file, in the format that its name says. Not thread-safe.
class CopyWriter {
 public:
  static absl::StatusOr<std::unique_ptr<CopyWriter>> Open(const std::string& path,
                                                          const api::v1::TableDescription& table) {
    auto file = files::OutputFile::Create(path, files::Compression::kNone);
    if (!file.ok()) return AsInputError(file.status());
    std::unique_ptr<CopyWriter> writer(new CopyWriter(*std::move(file)));
    if (FormatOf(path) != LoadFormat::kCsv) return writer;
    std::vector<std::string> keys;
    for (const auto& element : table.key_schema()) keys.push_back(element.attribute_name());
    writer->csv_ = std::make_unique<CsvWriter>(keys, std::vector<std::string>());
    return writer;
  }

  absl::Status Add(api::v1::Item item) {
    ++count_;
    if (csv_ == nullptr) {
      AppendJsonLine(item, &text_);
      return Pass();
    }
    if (has_head_) return Append(item);
    csv_->Learn(item);
    learned_.push_back(std::move(item));
    return learned_.size() < kLearnedItems ? absl::OkStatus() : WriteLearned();
  }

  // Makes the file appear. Returns the number of items.
  absl::StatusOr<int64_t> Finish() {
    if (csv_ != nullptr && !has_head_) ARM_RETURN_IF_ERROR(WriteLearned());
    if (const auto finished = file_->Finish(); !finished.ok()) return AsInputError(finished.status());
    return count_;
  }

 private:
  explicit CopyWriter(std::unique_ptr<files::OutputFile> file) : file_(std::move(file)) {}

  absl::Status WriteLearned() {
    has_head_ = true;
    text_ = csv_->Head();
    for (const api::v1::Item& item : learned_) ARM_RETURN_IF_ERROR(Append(item));
    learned_.clear();
    return Pass();
  }

  absl::Status Append(const api::v1::Item& item) {
    ARM_RETURN_IF_ERROR(csv_->Append(item, &text_));
    return Pass();
  }

  absl::Status Pass() {
    const absl::Status written = file_->Write(text_);
    text_.clear();
    return AsInputError(written);
  }

  const std::unique_ptr<files::OutputFile> file_;
  std::unique_ptr<CsvWriter> csv_;  // null: JSON lines
  std::vector<api::v1::Item> learned_;
  bool has_head_ = false;
  std::string text_;
  int64_t count_ = 0;
};

absl::StatusOr<int64_t> CopyTo(const SqlContext& context, const CopyArguments& copy,
                               const api::v1::TableDescription& table) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<CopyWriter> writer, CopyWriter::Open(copy.path, table));
  ProgressBar bar(&context.session.progress(), context.session.is_progress_live());
  api::v1::ScanRequest request;
  request.set_table_name(copy.table);
  request.set_consistent_read(context.settings.consistent_read);
  int64_t count = 0;
  while (true) {
    if (context.is_interrupted()) return InterruptedError("the copy");
    ARM_ASSIGN_OR_RETURN(auto page, context.client.Scan(request));
    for (api::v1::Item& item : *page.mutable_items()) ARM_RETURN_IF_ERROR(writer->Add(std::move(item)));
    count += page.count();
    bar.Show({.what = copy.table, .done = count, .total = table.item_count() >= count ? table.item_count() : 0});
    if (!page.has_last_evaluated_key()) break;
    *request.mutable_exclusive_start_key() = page.last_evaluated_key();
  }
  return writer->Finish();
}

absl::StatusOr<int64_t> CopyFrom(const SqlContext& context, const CopyArguments& copy,
                                 const api::v1::TableDescription& table) {
  CsvTypes types;
  for (const auto& definition : table.attribute_definitions()) {
    types[definition.attribute_name()] = MessageToJson(definition).value("AttributeType", "S");
  }
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<ItemSource> source,
                       ItemSource::Open(copy.path, FormatOf(copy.path), types));
  ProgressBar bar(&context.session.progress(), context.session.is_progress_live());
  int64_t count = 0;
  const auto interrupted = [&] {
    return context.is_interrupted() ? InterruptedError(Cat("the copy, after ", count, " items,")) : absl::OkStatus();
  };
  PutStream puts(context.client, copy.table, context.session.patience(),
                 {.settled =
                      [&](const PendingPut& put, const absl::Status& status) {
                        if (!status.ok()) return WithSource(status, Cat(copy.path, ":", put.line), "");
                        ++count;
                        return absl::OkStatus();
                      },
                  .tick =
                      [&] {
                        bar.Show({.what = copy.path, .done = count});
                        return interrupted();
                      }});
  SourceRecord record{absl::UnknownError(""), 0, {}};
  while (true) {
    ARM_RETURN_IF_ERROR(interrupted());
    ARM_ASSIGN_OR_RETURN(const bool is_there, source->Next(&record));
    if (!is_there) break;
    if (!record.item.ok()) {
      return WithSource(InputError(Sv(record.item.status().message())), Cat(copy.path, ":", record.line), "");
    }
    const size_t bytes = record.item->ByteSizeLong();
    ARM_RETURN_IF_ERROR(puts.Put({.item = *std::move(record.item), .line = record.line, .bytes = bytes}));
  }
  ARM_RETURN_IF_ERROR(puts.Finish());
  return count;
}

absl::Status EditorError(std::string_view what, int error) { return InputError(Cat(what, ": ", std::strerror(error))); }

// Waits for `sh -c '$EDITOR "$1"'`. Ctrl-C is the editor's meanwhile.
absl::Status RunEditor(const std::string& path) {
  const char* editor = std::getenv("VISUAL");
  if (editor == nullptr || *editor == 0) editor = std::getenv("EDITOR");
  std::string command = Cat(editor == nullptr || *editor == 0 ? "vi" : editor, " \"$1\"");
  std::array<std::string, 4> words = {"sh", "-c", command, "sh"};
  std::string file = path;
  std::array<char*, 6> arguments = {words[0].data(), words[1].data(), words[2].data(),
                                    words[3].data(), file.data(),     nullptr};
  struct sigaction ignored = {};
  struct sigaction former = {};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignored, &former);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t process = 0;
  const int error = posix_spawn(&process, "/bin/sh", nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  int status = 0;
  if (error == 0) {
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
  }
  sigaction(SIGINT, &former, nullptr);
  if (error != 0) return EditorError("cannot start the editor", error);
  return status == 0 ? absl::OkStatus() : InputError(Cat("the editor has failed: ", command));
}

absl::StatusOr<std::string> EditFile(const std::string& path) {
  // A directory can be opened, and reading it throws.
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return InputError(Cat("cannot edit ", path, ": it is a directory"));
  ARM_RETURN_IF_ERROR(RunEditor(path));
  std::ifstream in(path, std::ios::binary);
  if (!in.is_open()) return EditorError(Cat("cannot read ", path), errno);
  return std::string((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
}

}  // namespace

absl::StatusOr<std::string> DescribedTables(const client::Client& client, const std::function<bool()>& is_interrupted) {
  ARM_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListTableNames(client));
  Json tables = Json::array();
  for (const std::string& name : names) {
    if (is_interrupted()) break;
    const auto table = DescribeTable(client, name);
    // Deleted meanwhile.
    if (!table.ok()) continue;
    const Json json = MessageToJson(*table);
    tables.push_back({{"Table", name},
                      {"Key", SchemaText(json.value("KeySchema", Json::array()))},
                      {"Items", WithCommas(table->item_count())},
                      {"Indexes", table->local_secondary_indexes_size() + table->global_secondary_indexes_size()}});
  }
  return RecordsTable(tables, {"Table", "Key", "Items", "Indexes"});
}

absl::StatusOr<std::string> DescribedTable(const client::Client& client, const std::string& name) {
  ARM_ASSIGN_OR_RETURN(const api::v1::TableDescription table, DescribeTable(client, name));
  const Json json = MessageToJson(table);
  Json rows = Json::array();
  rows.push_back({{"Name", name}, {"Kind", "table"}, {"Key", SchemaText(json.value("KeySchema", Json::array()))}});
  for (const auto& [member, kind] :
       {std::pair{"LocalSecondaryIndexes", "local index"}, std::pair{"GlobalSecondaryIndexes", "global index"}}) {
    for (const Json& index : json.value(member, Json::array())) {
      rows.push_back({{"Name", index.value("IndexName", "")},
                      {"Kind", kind},
                      {"Key", SchemaText(index.value("KeySchema", Json::array()))},
                      {"Projection", index.value("Projection", Json::object()).value("ProjectionType", "")}});
    }
  }
  return RecordsTable(rows, {"Name", "Kind", "Key", "Projection"});
}

absl::StatusOr<CopyArguments> ParseCopy(std::string_view arguments) {
  constexpr std::string_view kUsage = "\\copy needs: TABLE to 'FILE', or TABLE from 'FILE'";
  const absl::StatusOr<std::vector<SqlToken>> tokens = TokenizeSql(arguments);
  if (!tokens.ok() || tokens->size() < 3) return UsageError(kUsage);
  const SqlToken& table = tokens->front();
  const SqlToken& direction = (*tokens)[1];
  CopyArguments copy;
  copy.table = table.text;
  copy.is_to = absl::EqualsIgnoreCase(direction.text, "to");
  const bool is_from = absl::EqualsIgnoreCase(direction.text, "from");
  if ((table.kind != SqlTokenKind::kWord && table.kind != SqlTokenKind::kName) || (!copy.is_to && !is_from)) {
    return UsageError(kUsage);
  }
  const SqlToken& file = (*tokens)[2];
  const bool is_quoted = file.kind == SqlTokenKind::kText || file.kind == SqlTokenKind::kName;
  std::string_view rest = arguments.substr(is_quoted ? file.place.end : file.place.begin);
  while (!rest.empty() && (rest.back() == ';' || rest.back() == ' ')) rest.remove_suffix(1);
  if (is_quoted && !rest.empty()) return UsageError(kUsage);
  copy.path = is_quoted ? file.text : std::string(rest);
  if (copy.path.empty()) return UsageError(kUsage);
  if (copy.is_to && (copy.path.ends_with(".gz") || copy.path.ends_with(".zst"))) {
    return UsageError(Cat("\\copy to does not compress: the name ", copy.path, " must not end with .gz or .zst"));
  }
  return copy;
}

absl::StatusOr<std::string> RunCopy(const SqlContext& context, const CopyArguments& copy) {
  ARM_ASSIGN_OR_RETURN(const api::v1::TableDescription table, DescribeTable(context.client, copy.table));
  ARM_ASSIGN_OR_RETURN(const int64_t count, copy.is_to ? CopyTo(context, copy, table) : CopyFrom(context, copy, table));
  return Cat(WithCommas(count), count == 1 ? " item" : " items", " copied ", copy.is_to ? "to " : "from ", copy.path);
}

absl::StatusOr<std::string> EditText(const std::string& path, std::string_view text) {
  if (!path.empty()) return EditFile(path);
  const char* const directory = std::getenv("TMPDIR");
  std::string name = Cat(directory == nullptr || *directory == 0 ? "/tmp" : directory, "/armature-XXXXXX.sql");
  const int file = mkstemps(name.data(), /*suffixlen=*/4);
  if (file < 0) return EditorError(Cat("cannot make ", name), errno);
  const std::string content = Cat(text, "\n");
  const bool is_written = write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size());
  close(file);
  absl::StatusOr<std::string> edited = is_written ? EditFile(name) : EditorError(Cat("cannot write ", name), errno);
  unlink(name.c_str());
  return edited;
}

}  // namespace armature::cli
