// The command watch: the changes of a table as they are made.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "armature/client/watcher.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/message_json.h"
#include "tools/armature/watch/position_file.h"
#include "tools/armature/watch/record_command.h"

namespace armature::cli {
namespace {

// A position that is written seldom costs some repeated records after a kill; one that is written with each record, an
// fsync for each.
constexpr absl::Duration kWritePositionEvery = absl::Milliseconds(100);
constexpr absl::Duration kRestartPauseMin = absl::Milliseconds(500);
constexpr absl::Duration kRestartPauseMax = absl::Seconds(30);
// The shell's exit statuses for a command that it cannot run or does not find.
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;

struct WatchCommandOptions {
  std::string table;
  std::string from = "now";
  std::string partition_key;
  std::string filter;
  std::string names;
  std::string values;
  std::string view;
  std::string exec;
  std::string position_file;
  int64_t limit = 0;  // 0: none
};

absl::Status AddJson(const std::string& text, const char* option, const char* member, Json* request) {
  if (text.empty()) return absl::OkStatus();
  absl::StatusOr<Json> json = ParseJsonArgument(text);
  if (!json.ok()) return UsageError(Cat(option, ": ", Sv(json.status().message())));
  (*request)[member] = *std::move(json);
  return absl::OkStatus();
}

absl::StatusOr<api::v1::WatchRequest> RequestOf(const WatchCommandOptions& options,
                                                const std::optional<std::string>& position) {
  Json json = {{"TableName", options.table}};
  ARM_RETURN_IF_ERROR(AddJson(options.partition_key, "--partition-key", "PartitionKey", &json));
  ARM_RETURN_IF_ERROR(AddJson(options.names, "--expression-attribute-names", "ExpressionAttributeNames", &json));
  ARM_RETURN_IF_ERROR(AddJson(options.values, "--expression-attribute-values", "ExpressionAttributeValues", &json));
  if (!options.filter.empty()) json["FilterExpression"] = options.filter;
  if (!options.view.empty()) json["StreamViewType"] = options.view;
  if (position.has_value()) {
    json["AfterSequenceNumber"] = *position;
  } else if (options.from == "oldest" || options.from == "now") {
    json["Start"] = options.from == "oldest" ? "OLDEST" : "NOW";
  } else {
    json["AfterSequenceNumber"] = options.from;
  }
  api::v1::WatchRequest request;
  const absl::Status status = MessageFromJson(json, "", &request);
  if (!status.ok()) return UsageError(Sv(status.message()));
  return request;
}

// Handles the records of a watch: prints them, or passes them to a command, and keeps the position.
class RecordHandler {
 public:
  RecordHandler(const Session& session, const WatchCommandOptions& options, PositionFile* file)
      : session_(session), options_(options), file_(file) {}

  bool is_full() const { return options_.limit > 0 && handled_ >= options_.limit; }

  absl::Status Handle(const api::v1::WatchResponse& response) {
    std::vector<std::string> lines;
    std::vector<std::string> positions;
    for (const api::v1::ChangeRecord& record : response.records()) {
      if (options_.limit > 0 && handled_ + static_cast<int64_t>(lines.size()) >= options_.limit) break;
      lines.push_back(CompactJson(MessageToJson(record)) + "\n");
      positions.push_back(record.dynamodb().sequence_number());
    }
    ARM_RETURN_IF_ERROR(options_.exec.empty() ? Print(lines) : Execute(lines, positions));
    handled_ += static_cast<int64_t>(lines.size());
    const bool is_whole = static_cast<int>(lines.size()) == response.records_size();
    return file_->Write(is_whole ? response.position() : positions.back());
  }

 private:
  absl::Status Print(const std::vector<std::string>& lines) const {
    for (const std::string& line : lines) session_.PrintText(line);
    if (!lines.empty()) session_.Flush();
    return absl::OkStatus();
  }

  // Starts the command anew, for the records that it has not acknowledged, when it ends.
  absl::Status Execute(const std::vector<std::string>& lines, const std::vector<std::string>& positions) {
    ARM_RETURN_IF_ERROR(CheckIdleCommand());
    size_t done = 0;
    absl::Duration pause = kRestartPauseMin;
    while (done < lines.size()) {
      if (command_ == nullptr) {
        ARM_ASSIGN_OR_RETURN(command_, RecordCommand::Start(options_.exec));
      }
      const size_t before = done;
      const absl::Status status = command_->Handle(lines, &done, [&] { return Note(positions[done - 1]); });
      if (status.ok()) break;
      if (!absl::IsAborted(status)) return status;
      // Without an acknowledgement, the file has the position behind the page before.
      if (done > 0) ARM_RETURN_IF_ERROR(file_->Write(positions[done - 1]));
      ARM_RETURN_IF_ERROR(Ended(done > before ? kRestartPauseMin : pause));
      pause = done > before ? kRestartPauseMin : std::min(2 * pause, kRestartPauseMax);
    }
    return absl::OkStatus();
  }

  // Lines that it prints before it has a record would acknowledge that record.
  absl::Status CheckIdleCommand() {
    if (command_ == nullptr) return absl::OkStatus();
    const absl::Status status = command_->CheckIdle();
    return absl::IsAborted(status) ? Ended(kRestartPauseMin) : status;
  }

  absl::Status Note(const std::string& position) {
    const absl::Time now = absl::Now();
    if (now - written_at_ < kWritePositionEvery) return absl::OkStatus();
    written_at_ = now;
    return file_->Write(position);
  }

  absl::Status Ended(absl::Duration pause) {
    const int status = command_->Wait();
    command_ = nullptr;
    if (status == kCannotRun || status == kNotFound) {
      return UsageError(Cat("--exec: the shell cannot run the command: it ended with status ", status));
    }
    session_.progress() << "armature: the command has ended with status " << status << "; starting it again in "
                        << absl::FormatDuration(pause) << "\n";
    absl::SleepFor(pause);
    return absl::OkStatus();
  }

  const Session& session_;
  const WatchCommandOptions& options_;
  PositionFile* const file_;
  std::unique_ptr<RecordCommand> command_;
  absl::Time written_at_ = absl::InfinitePast();
  int64_t handled_ = 0;
};

absl::Status Watch(const Session& session, const WatchCommandOptions& options) {
  PositionFile file(options.position_file, options.table);
  ARM_ASSIGN_OR_RETURN(const std::optional<std::string> position, file.Read());
  ARM_ASSIGN_OR_RETURN(api::v1::WatchRequest request, RequestOf(options, position));
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  // A daemon that is not there at the start is an error; one that goes away later is waited for.
  api::v1::WatchResponse response;
  std::unique_ptr<client::Watcher> watcher = client.Watch(request, {.reconnect_for = session.patience()});
  ARM_RETURN_IF_ERROR(watcher->Next(&response));
  RecordHandler handler(session, options, &file);
  ARM_RETURN_IF_ERROR(handler.Handle(response));
  request.clear_start();
  request.set_after_sequence_number(response.position());
  watcher = client.Watch(std::move(request));
  while (!handler.is_full()) {
    ARM_RETURN_IF_ERROR(watcher->Next(&response));
    ARM_RETURN_IF_ERROR(handler.Handle(response));
  }
  return absl::OkStatus();
}

constexpr char kWatchFooter[] =
    R"(The table needs a stream (armature table update --stream-specification ...). Changes of all items come in
one order. A lost connection and a restart of the daemon are bridged: no change is lost or repeated.

With --exec, the command runs as long as the watch. It gets each record as a line of JSON on its standard input, and acknowledges it
by a line on its standard output, whatever the line says. If it ends, it is started again with the records that it has not
acknowledged. With --position-file, the next watch continues behind the last acknowledged record: each record is handled at
least once.

Examples:
  armature watch Orders
  armature watch Orders --from oldest --filter-expression '#s = :paid' \
      --expression-attribute-names '{"#s": "state"}' --expression-attribute-values '{":paid": {"S": "paid"}}'
  armature watch Orders --position-file orders.position --exec 'while read -r r; do ./ship "$r" >&2; echo ok; done'
)";

void AddWatch(CLI::App& app, Action* action, const char* name, const char* description) {
  CLI::App& watch = *app.add_subcommand(name, description);
  WatchCommandOptions& options = SetAction(watch, action, Watch);
  watch.add_option("--table-name,table", options.table, "Name or ARN of the table")->required()->type_name("TABLE");
  watch
      .add_option("--from", options.from,
                  "now; oldest: from the oldest change that is kept; or behind this sequence number")
      ->type_name("POSITION")
      ->capture_default_str();
  watch
      .add_option("--partition-key", options.partition_key,
                  "Changes of this partition key only, as a key: JSON or @file")
      ->type_name("JSON");
  watch.add_option("--filter-expression,--filter", options.filter, "Changes only whose item satisfies this condition")
      ->type_name("TEXT");
  watch.add_option("--expression-attribute-names", options.names, "The attribute names that #names stand for")
      ->type_name("JSON");
  watch.add_option("--expression-attribute-values", options.values, "The values that :names stand for")
      ->type_name("JSON");
  watch.add_option("--stream-view-type", options.view, "Images, as far as the stream has them")
      ->check(CLI::IsMember({"KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"}));
  watch.add_option("--limit", options.limit, "End after this many records")
      ->check(CLI::Range(int64_t{1}, INT64_MAX))
      ->type_name("NUMBER");
  watch.add_option("--exec", options.exec, "Pass the records to this command of the shell instead of printing them")
      ->type_name("COMMAND");
  watch
      .add_option("--position-file", options.position_file,
                  "Keep the position in this file, and begin behind it if it exists, instead of at --from")
      ->type_name("FILE");
  watch.footer(kWatchFooter);
}

}  // namespace

void AddWatchCommand(CLI::App& app, Action* action) {
  AddWatch(app, action, "watch", "Follow the changes of a table, one JSON document on each line");
  AddWatch(app, action, "tail", "The same as watch");
}

}  // namespace armature::cli
