#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "armature/client/errors.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/advise/advice.h"
#include "tools/advise/explain.h"
#include "tools/advise/workload.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"

namespace armature::cli {
namespace {

using advise::Advice;
using advise::BytesText;
using advise::IndexAdvice;
using advise::NumberText;
using advise::PatternAdvice;
using advise::Reason;

constexpr size_t kLineWidth = 100;

// Breaks the text between words; every line is indented.
std::string Paragraph(std::string_view text, std::string_view indent) {
  std::istringstream words{std::string(text)};
  std::string lines;
  std::string line;
  for (std::string word; words >> word;) {
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > kLineWidth) {
      lines += Cat(indent, line, "\n");
      line.clear();
    }
    line += line.empty() ? word : " " + word;
  }
  return line.empty() ? lines : Cat(lines, indent, line, "\n");
}

std::string ReasonsText(const std::vector<Reason>& reasons) {
  std::string text;
  for (const Reason& reason : reasons) text += Paragraph(Cat(reason.topic, ": ", reason.text), "  ");
  return text;
}

std::string ProjectionText(const IndexAdvice& index) {
  const std::string kind(advise::ProjectionName(index.projection));
  return index.non_key.empty() ? kind : Cat(kind, " ", absl::StrJoin(index.non_key, ", "));
}

std::string OrUnknown(const std::optional<double>& number, std::string (*show)(double)) {
  return number ? show(*number) : "?";
}

std::string TableText(const advise::TableAdvice& table) {
  std::string text = Cat("Table ", table.name, table.created ? " (created)" : "", "\n");
  text += Cat("  key: ", table.key.ToString(), "\n");
  text +=
      Cat("  items: ", OrUnknown(table.items, NumberText), ", ", NumberText(table.item_bytes), " bytes each, storage ",
          OrUnknown(table.storage_bytes, BytesText), ", ", NumberText(table.write_units), " write units/s\n");
  return text + ReasonsText(table.reasons);
}

std::string IndexesText(const std::vector<IndexAdvice>& indexes) {
  if (indexes.empty()) return "\nNo new index is needed.\n";
  TextTable rows({"Index", "Kind", "Key", "Projection", "Entries", "Storage", "Write units/s", "Read units/s"});
  for (const IndexAdvice& index : indexes) {
    rows.AddRow({index.name, index.local ? "LOCAL" : "GLOBAL", index.key.ToString(), ProjectionText(index),
                 OrUnknown(index.entries, NumberText), OrUnknown(index.storage_bytes, BytesText),
                 NumberText(index.write_units), NumberText(index.read_units)});
  }
  std::string text = "\n" + rows.ToString();
  for (const IndexAdvice& index : indexes) text += Cat("\nIndex ", index.name, "\n", ReasonsText(index.reasons));
  return text;
}

std::string PatternsText(const std::vector<PatternAdvice>& patterns) {
  TextTable rows({"Pattern", "Answered by", "Key condition", "Units/read", "Read units/s"});
  for (const PatternAdvice& pattern : patterns) {
    const std::string by = pattern.index.empty() ? std::string(advise::ServiceName(pattern.service)) : pattern.index;
    rows.AddRow(
        {pattern.name, by, pattern.condition, NumberText(pattern.units_per_read), NumberText(pattern.read_units)});
  }
  std::string text = "\n" + rows.ToString();
  for (const PatternAdvice& pattern : patterns) {
    text += Cat("\nPattern ", pattern.name, "\n", Paragraph(pattern.reason, "  "));
  }
  return text;
}

// The advice for people: tables first, then a paragraph for each choice. Every line ends with a line break.
std::string AdviceText(const Advice& advice) {
  std::string text = TableText(advice.table) + IndexesText(advice.indexes) + PatternsText(advice.patterns);
  if (!advice.warnings.empty()) text += "\nWarnings\n";
  for (const std::string& warning : advice.warnings) text += Paragraph(warning, "  ");
  return text;
}

constexpr char kAdviseExamples[] = R"(Examples:
  armature advise docs/examples/advise/orders.json
  armature advise workload.json --output json
  armature advise workload.json --table Orders
The file's format and the rules are in docs/develop/advise.md. Only --table talks to a daemon.
)";

struct AdviseOptions {
  std::string file;
  std::string table;
};

absl::StatusOr<advise::Workload> ReadWorkload(const Session& session, const AdviseOptions& options,
                                              std::vector<std::string>* notes) {
  ARM_ASSIGN_OR_RETURN(const Json json, ReadJsonFile(options.file));
  absl::StatusOr<advise::Workload> workload = advise::WorkloadFromJson(json);
  if (!workload.ok()) return WithContext(workload.status(), options.file);
  if (options.table.empty()) return workload;
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  ARM_ASSIGN_OR_RETURN(const api::v1::TableDescription live, DescribeTable(client, options.table));
  ARM_RETURN_IF_ERROR(WithContext(advise::AddLiveTable(live, &*workload, notes), options.file));
  return workload;
}

// Turns errors of the file or of the command line into usage errors. Errors of the daemon stay as they are.
absl::Status AsUsageError(const absl::Status& status) {
  const bool local = absl::IsInvalidArgument(status) || absl::IsNotFound(status);
  return local && ExitCodeOf(status) == ExitCode::kApiError && client::ErrorName(status).empty()
             ? UsageError(Sv(status.message()))
             : status;
}

absl::Status Advise(const Session& session, const AdviseOptions& options, bool as_json) {
  std::vector<std::string> notes;
  absl::StatusOr<advise::Workload> workload = ReadWorkload(session, options, &notes);
  if (!workload.ok()) return AsUsageError(workload.status());
  absl::StatusOr<advise::Advice> advice = advise::Advise(*std::move(workload));
  if (!advice.ok()) return AsUsageError(WithContext(advice.status(), options.file));
  advice->warnings.insert(advice->warnings.begin(), notes.begin(), notes.end());
  if (as_json) {
    session.Print(advise::AdviceToJson(*advice));
  } else {
    session.PrintText(AdviceText(*advice));
  }
  return absl::OkStatus();
}

}  // namespace

void AddAdviseCommand(CLI::App& app, Action* action) {
  CLI::App& command = *app.add_subcommand("advise", "Propose keys and indexes for the questions in a file");
  auto options = std::make_shared<AdviseOptions>();
  command.add_option("file", options->file, "The table and its access patterns, as JSON")
      ->required()
      ->type_name("FILE");
  command.add_option("--table", options->table, "Take key, indexes, number and size of items from this live table")
      ->type_name("NAME");
  command.footer(kAdviseExamples);
  SetAction(command, action, [options, &app](const Session& session) {
    // The default is text, also where other commands print JSON.
    const bool as_json = app.get_option("--output")->count() > 0 && session.format() == OutputFormat::kJson;
    return Advise(session, *options, as_json);
  });
}

}  // namespace armature::cli
