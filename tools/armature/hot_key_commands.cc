// Command for the keys that are used most, and for the setting that counts them.

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "armature/client/errors.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"

namespace armature::cli {
namespace {

struct HotKeysOptions {
  std::string table_name;
  std::string index_name;
  std::string by = "read";
  bool items = false;
  int limit = 10;
  int minutes = 10;
  bool enable = false;
  bool throttled_only = false;
  bool disable = false;
};

admin::v1::KeyUse UseOf(const std::string& by) {
  if (by == "write") return admin::v1::KEY_USE_WRITE;
  return by == "throttled" ? admin::v1::KEY_USE_THROTTLED : admin::v1::KEY_USE_READ;
}

Json HotKeysJson(const admin::v1::GetHotKeysResponse& response) {
  Json keys = Json::array();
  for (const admin::v1::HotKey& key : response.keys()) {
    keys.push_back(
        {{"Key", MessageToJson(key.key())}, {"Count", key.count()}, {"Error", key.error()}, {"Cut", key.cut()}});
  }
  return {{"HotKeys", keys},
          {"Total", response.total()},
          {"Missed", response.missed()},
          {"ErrorMax", response.error_max()},
          {"Seconds", response.seconds()},
          {"KeysAreWhole", response.keys_are_whole()}};
}

std::string ShowKey(const Json& key) {
  std::string text;
  for (const auto& [name, value] : key.items()) text += Cat(text.empty() ? "" : ", ", name, "=", ShowValue(value));
  return text;
}

std::string HotKeysText(const HotKeysOptions& options, const Json& answer) {
  const double total = answer["Total"].get<double>();
  const std::string unit = options.by == "throttled" ? "Requests" : "Units";
  TextTable table({"Key", unit, "Error", "Share"});
  for (const Json& key : answer["HotKeys"]) {
    const double count = key["Count"].get<double>();
    table.AddRow({Cat(ShowKey(key["Key"]), key["Cut"].get<bool>() ? "..." : ""), absl::StrFormat("%.1f", count),
                  absl::StrFormat("%.1f", key["Error"].get<double>()),
                  absl::StrFormat("%.1f %%", total > 0 ? 100 * count / total : 0.0)});
  }
  return table.ToString() + absl::StrFormat("%s in the last %s: %.1f; missed: %.1f\n", unit,
                                            ShowSeconds(answer["Seconds"].get<int64_t>()), total,
                                            answer["Missed"].get<double>());
}

absl::Status ChangeInsights(const Session& session, const client::Client& client, const HotKeysOptions& options) {
  api::v1::UpdateContributorInsightsRequest request;
  request.set_table_name(options.table_name);
  if (!options.index_name.empty()) request.set_index_name(options.index_name);
  request.set_contributor_insights_action(options.enable ? api::v1::CONTRIBUTOR_INSIGHTS_ACTION_ENABLE
                                                         : api::v1::CONTRIBUTOR_INSIGHTS_ACTION_DISABLE);
  if (options.enable) {
    request.set_contributor_insights_mode(options.throttled_only
                                              ? api::v1::CONTRIBUTOR_INSIGHTS_MODE_THROTTLED_KEYS
                                              : api::v1::CONTRIBUTOR_INSIGHTS_MODE_ACCESSED_AND_THROTTLED_KEYS);
  }
  ARM_ASSIGN_OR_RETURN(const auto response, client.UpdateContributorInsights(request));
  session.Print(MessageToJson(response));
  return absl::OkStatus();
}

// The command that makes the daemon count the keys, if this is why it has refused to show them; else empty.
std::string NextStep(const client::Client& client, const HotKeysOptions& options) {
  api::v1::DescribeContributorInsightsRequest request;
  request.set_table_name(options.table_name);
  if (!options.index_name.empty()) request.set_index_name(options.index_name);
  const auto described = client.DescribeContributorInsights(request);
  if (!described.ok()) return {};
  const bool is_on = described->contributor_insights_status() == api::v1::CONTRIBUTOR_INSIGHTS_STATUS_ENABLED;
  const bool counts_all =
      described->contributor_insights_mode() == api::v1::CONTRIBUTOR_INSIGHTS_MODE_ACCESSED_AND_THROTTLED_KEYS;
  if (is_on && (counts_all || options.by == "throttled")) return {};
  return Cat("armature hot-keys --table-name ", options.table_name,
             options.index_name.empty() ? "" : Cat(" --index-name ", options.index_name), " --enable");
}

absl::Status HotKeys(const Session& session, const HotKeysOptions& options) {
  if (options.enable && options.disable) return UsageError("name either --enable or --disable");
  if (options.throttled_only && !options.enable) return UsageError("--throttled-only belongs to --enable");
  ARM_ASSIGN_OR_RETURN(const client::Client client, session.Connect());
  if (options.enable || options.disable) return ChangeInsights(session, client, options);
  admin::v1::GetHotKeysRequest request;
  request.set_table_name(options.table_name);
  request.set_index_name(options.index_name);
  request.set_use(UseOf(options.by));
  request.set_whole_keys(options.items);
  request.set_limit(options.limit);
  request.set_minutes(options.minutes);
  const auto response = client.GetHotKeys(request);
  if (!response.ok()) {
    if (client::ErrorName(response.status()) == "ValidationException") {
      const std::string next = NextStep(client, options);
      if (!next.empty())
        session.progress() << "The keys are not counted. To count them from now on:\n  " << next << "\n";
    }
    return response.status();
  }
  const Json answer = HotKeysJson(*response);
  session.Print(answer, [&] { return HotKeysText(options, answer); });
  return absl::OkStatus();
}

}  // namespace

void AddHotKeysCommand(CLI::App& app, Action* action) {
  CLI::App& command = *app.add_subcommand("hot-keys", "Show the keys of a table that are used most, or count them");
  HotKeysOptions& options = SetAction(command, action, HotKeys);
  command.add_option("--table-name", options.table_name, "Name or ARN of the table")->required();
  command.add_option("--index-name", options.index_name, "A global index of the table");
  command.add_option("--by", options.by, "Keys that are read, written or throttled most")
      ->check(CLI::IsMember({"read", "write", "throttled"}));
  command.add_flag("--items", options.items, "Whole keys instead of partition keys");
  command.add_option("--limit", options.limit, "At most this many keys")->check(CLI::Range(1, 100));
  command.add_option("--minutes", options.minutes, "Counts of this time up to now")->check(CLI::Range(1, 60));
  command.add_flag("--enable", options.enable, "Count the keys from now on: contributor insights");
  command.add_flag("--throttled-only", options.throttled_only, "With --enable: count throttled keys only");
  command.add_flag("--disable", options.disable, "Count no more, and forget the counts");
  command.footer(
      "A key has used between Count minus Error and Count capacity units; by throttled: requests. Queries count for\n"
      "partition keys only, scans not at all. The counts begin anew when the daemon starts.\n\n"
      "Examples:\n"
      "  armature hot-keys --table-name Thread --enable\n"
      "  armature hot-keys --table-name Thread --by write --items --minutes 60\n"
      "  armature hot-keys --table-name Thread --index-name ByAuthor --by throttled\n");
}

}  // namespace armature::cli
