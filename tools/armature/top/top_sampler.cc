#include "tools/armature/top/top_sampler.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "absl/time/clock.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/display.h"
#include "tools/armature/message_json.h"
#include "tools/armature/top/metrics_page.h"

namespace armature::cli {
namespace {

// A daemon with thousands of tables must not be asked for each of them, several times a second.
constexpr size_t kSampledTablesMax = 100;
constexpr absl::Duration kLookAgain = absl::Seconds(10);
constexpr double kMsOfSecond = 1000;
constexpr double kSameStartMs = 2000;
constexpr size_t kKeyBytesMax = 40;

std::string KeyText(const api::v1::Item& key) {
  const Json json = MessageToJson(key);
  std::string text;
  for (const auto& [name, value] : json.items()) text += Cat(text.empty() ? "" : ", ", name, "=", ShowValue(value));
  if (text.size() > kKeyBytesMax) {
    size_t end = kKeyBytesMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // no half character
    text = Cat(text.substr(0, end), "...");
  }
  return text;
}

// They run as long as their clients wish; or it is our own request.
bool IsShown(const std::string& operation) {
  return operation != "Watch" && operation != "Pipeline" && operation != "admin:ExportTable" &&
         operation != "admin:ListRequests";
}

}  // namespace

absl::StatusOr<TopSample> TopSampler::Take() {
  TopSample sample;
  ARM_ASSIGN_OR_RETURN(sample.server, client_.GetServerInfo(admin::v1::GetServerInfoRequest(), Quick()));
  ARM_ASSIGN_OR_RETURN(const auto indexes, client_.ListIndexStatus(admin::v1::ListIndexStatusRequest(), Quick()));
  sample.indexes.assign(indexes.indexes().begin(), indexes.indexes().end());
  TakeMetrics(&sample);
  TakeRunning(&sample);
  sample.time = absl::Now();
  ARM_RETURN_IF_ERROR(TakeTables(&sample));
  LookForCountedTables();
  for (TableSample& table : sample.tables) {
    if (counted_tables_.contains(table.name)) TakeHotKeys(&table);
  }
  return sample;
}

void TopSampler::TakeMetrics(TopSample* sample) const {
  constexpr char kAdvice[] = "start the daemon with --metrics_listen=127.0.0.1:7702, or name its address by --metrics";
  const absl::StatusOr<std::string> page = ReadMetricsPage(metrics_.address, patience_);
  if (!page.ok()) {
    sample->metrics_fault =
        metrics_.is_guess ? kAdvice : Cat("no metrics from ", metrics_.address, ": ", Sv(page.status().message()));
    return;
  }
  Metrics metrics = Metrics::Parse(*page);
  const double start_ms = metrics.Sum("process_start_time_seconds") * kMsOfSecond;
  const bool is_same = std::fabs(start_ms - static_cast<double>(sample->server.start_time_ms())) < kSameStartMs;
  if (metrics_.is_guess && !is_same) {
    sample->metrics_fault = Cat("the metrics of ", metrics_.address, " are those of another process; ", kAdvice);
    return;
  }
  if (metrics.empty()) sample->metrics_fault = Cat("the page of ", metrics_.address, " has no metrics");
  sample->metrics = std::move(metrics);
}

void TopSampler::TakeRunning(TopSample* sample) const {
  admin::v1::ListRequestsRequest request;
  const auto answer = client_.ListRequests(request, Quick());
  if (!answer.ok()) return;  // of an older daemon, or without the right
  for (const admin::v1::RequestStatus& each : answer->requests()) {
    if (IsShown(each.operation())) sample->running.push_back(each);
  }
}

absl::Status TopSampler::TakeTables(TopSample* sample) const {
  if (!sample->metrics.empty()) {
    std::map<std::string, int64_t> bytes;
    for (const Series& series : sample->metrics.Of("armature_table_bytes")) {
      bytes[std::string(series.label("table"))] = std::llround(series.value);
    }
    for (const Series& series : sample->metrics.Of("armature_table_items")) {
      const std::string name(series.label("table"));
      sample->tables.push_back({.name = name, .items = std::llround(series.value), .bytes = bytes[name]});
    }
    return absl::OkStatus();
  }
  api::v1::ListTablesRequest request;
  request.set_limit(static_cast<int32_t>(kSampledTablesMax));
  ARM_ASSIGN_OR_RETURN(const auto names, client_.ListTables(request, Quick()));
  for (const std::string& name : names.table_names()) {
    api::v1::DescribeTableRequest describe;
    describe.set_table_name(name);
    const auto described = client_.DescribeTable(describe, Quick());
    if (!described.ok()) continue;  // deleted, or hidden from this client
    sample->tables.push_back(
        {.name = name, .items = described->table().item_count(), .bytes = described->table().table_size_bytes()});
  }
  return absl::OkStatus();
}

void TopSampler::LookForCountedTables() {
  if (absl::Now() < look_again_at_) return;
  look_again_at_ = absl::Now() + kLookAgain;
  counted_tables_.clear();
  api::v1::ListContributorInsightsRequest request;
  while (counted_tables_.size() < kSampledTablesMax) {
    const auto page = client_.ListContributorInsights(request, Quick());
    if (!page.ok()) return;  // this client may not know
    for (const api::v1::ContributorInsightsSummary& summary : page->contributor_insights_summaries()) {
      if (summary.has_index_name()) continue;
      if (summary.contributor_insights_status() != api::v1::CONTRIBUTOR_INSIGHTS_STATUS_ENABLED) continue;
      counted_tables_.insert(summary.table_name());
    }
    if (!page->has_next_token()) return;
    request.set_next_token(page->next_token());
  }
}

void TopSampler::TakeHotKeys(TableSample* table) const {
  for (const admin::v1::KeyUse use : {admin::v1::KEY_USE_READ, admin::v1::KEY_USE_WRITE}) {
    admin::v1::GetHotKeysRequest request;
    request.set_table_name(table->name);
    request.set_use(use);
    request.set_limit(1);
    request.set_minutes(1);
    const auto response = client_.GetHotKeys(request, Quick());
    if (!response.ok()) return;  // only throttled keys are counted
    const double units = response->total() / std::max(response->seconds(), 1);
    table->has_units = true;
    (use == admin::v1::KEY_USE_READ ? table->read_units_per_second : table->write_units_per_second) = units;
    if (response->keys().empty() || response->total() <= 0) continue;
    const double share = response->keys(0).count() / response->total();
    if (share <= table->hottest_share) continue;
    table->hottest_share = share;
    table->hottest_key = KeyText(response->keys(0).key());
  }
}

}  // namespace armature::cli
