// Commands for the requests of the daemon: those that run, and those that were slow.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/message_json.h"

namespace armature::cli {
namespace {

struct RequestsOptions {
  std::string at_least = "0";
  int limit = 20;
};

std::string MsText(int64_t us) { return absl::StrFormat("%.1f", static_cast<double>(us) / 1000.0); }

// Where the time went: "commit 12.0, read 3.1", the longest waits of at least a tenth of a millisecond.
std::string WaitsText(const admin::v1::RequestStatus& request) {
  if (!request.has_waits()) return "-";
  const admin::v1::RequestWaits& waits = request.waits();
  std::string text;
  constexpr int64_t kShownUs = 100;
  for (const auto& [name, us] : {std::pair<const char*, int64_t>{"queue", waits.queue_us()},
                                 {"lock", waits.lock_us()},
                                 {"read", waits.read_us()},
                                 {"commit", waits.commit_us()},
                                 {"index", waits.index_us()}}) {
    if (us >= kShownUs) text += Cat(text.empty() ? "" : ", ", name, " ", MsText(us));
  }
  return text.empty() ? "none" : text;
}

std::string RunningText(const admin::v1::ListRequestsResponse& answer) {
  if (answer.requests().empty()) return "No requests run that long.\n";
  TextTable table({"MS", "OPERATION", "TABLE", "CLIENT", "BY", "WAITED MS"});
  for (const admin::v1::RequestStatus& each : answer.requests()) {
    table.AddRow(
        {MsText(each.duration_us()), each.operation(), each.table_name(), each.peer(), each.front(), WaitsText(each)});
  }
  return table.ToString();
}

std::string SlowText(const admin::v1::ListRequestsResponse& answer) {
  if (answer.requests().empty()) {
    return Cat("No requests that took ", MsText(answer.slow_us()),
               " ms or longer (--slow_request_ms of the daemon).\n");
  }
  TextTable table({"BEGAN", "MS", "OPERATION", "TABLE", "RESULT", "CLIENT", "REQUEST ID", "WAITED MS"});
  for (const admin::v1::RequestStatus& each : answer.requests()) {
    table.AddRow({ShowTime(each.began_time_ms()), MsText(each.duration_us()), each.operation(), each.table_name(),
                  each.result(), each.peer(), each.request_id(), WaitsText(each)});
  }
  return table.ToString();
}

absl::Status List(const Session& session, const RequestsOptions& options, admin::v1::RequestChoice choice) {
  absl::Duration at_least;
  if (!absl::ParseDuration(options.at_least, &at_least) || at_least < absl::ZeroDuration() ||
      at_least == absl::InfiniteDuration()) {
    return UsageError("--at-least must be a duration, such as 500ms or 2s");
  }
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  admin::v1::ListRequestsRequest request;
  request.set_choice(choice);
  request.set_at_least_us(absl::ToInt64Microseconds(at_least));
  request.set_limit(options.limit);
  ARM_ASSIGN_OR_RETURN(const auto answer, client.ListRequests(request));
  session.Print(MessageToJson(answer),
                [&] { return choice == admin::v1::REQUEST_CHOICE_SLOW ? SlowText(answer) : RunningText(answer); });
  return absl::OkStatus();
}

absl::Status Running(const Session& session, const RequestsOptions& options) {
  return List(session, options, admin::v1::REQUEST_CHOICE_RUNNING);
}

absl::Status Slow(const Session& session, const RequestsOptions& options) {
  return List(session, options, admin::v1::REQUEST_CHOICE_SLOW);
}

void AddOptions(CLI::App& command, RequestsOptions* options) {
  command.add_option("--at-least", options->at_least, "Only requests that have taken this long, such as 500ms or 2s")
      ->type_name("DURATION");
  command.add_option("-n,--limit", options->limit, "At most this many requests")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

}  // namespace

void AddRequestCommands(CLI::App& app, Action* action) {
  CLI::App& running = *app.add_subcommand("running", "Show the requests that run now, the longest first");
  AddOptions(running, &SetAction(running, action, Running));
  running.footer(
      "Watches and pipelines are requests for as long as they live. Waits are measured if the daemon was started with\n"
      "--slow_request_ms.\n\n"
      "Examples:\n"
      "  armature running\n"
      "  armature running --at-least 500ms\n");
  CLI::App& slow = *app.add_subcommand("slow", "Show the slow requests of the recent past, the latest first");
  AddOptions(slow, &SetAction(slow, action, Slow));
  slow.footer(
      "The daemon keeps the last 256 requests that took a second, or the time of its --slow_request_ms; with that "
      "flag\n"
      "also where their time went, and they are logged.\n\n"
      "Examples:\n"
      "  armature slow\n"
      "  armature --output json slow --at-least 5s\n");
}

}  // namespace armature::cli
