#include "tools/armature/top/top_model.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/base/strings.h"

namespace armature::cli::top_model_test {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kStartMs = 1'700'000'000'000;

TopSample SampleAt(int seconds) {
  TopSample sample;
  sample.time = absl::FromUnixMillis(kStartMs) + absl::Seconds(seconds);
  sample.server.set_version("0.1.0");
  sample.server.set_pid(7);
  sample.server.set_start_time_ms(kStartMs);
  sample.server.set_uptime_ms(int64_t{seconds} * 1000);
  return sample;
}

std::string MetricsOf(int puts, int refused, int fast, int slow) {
  return Cat("armature_requests_total{front=\"grpc\",operation=\"PutItem\",result=\"ok\"} ", puts,
             "\narmature_requests_total{front=\"http\",operation=\"PutItem\",result=\"ValidationException\"} ", refused,
             "\narmature_requests_total{front=\"grpc\",operation=\"Query\",result=\"ok\"} 5",
             "\narmature_request_duration_seconds_bucket{front=\"grpc\",operation=\"PutItem\",le=\"0.001\"} ", fast,
             "\narmature_request_duration_seconds_bucket{front=\"grpc\",operation=\"PutItem\",le=\"0.01\"} ",
             fast + slow,
             "\narmature_request_duration_seconds_bucket{front=\"grpc\",operation=\"PutItem\",le=\"+Inf\"} ",
             fast + slow, "\narmature_request_duration_seconds_sum{front=\"grpc\",operation=\"PutItem\"} ", fast + slow,
             "e-3", "\narmature_request_duration_seconds_count{front=\"grpc\",operation=\"PutItem\"} ", fast + slow,
             "\narmature_store_cache_hits_total ", 3 * puts, "\narmature_store_cache_misses_total ", puts, "\n");
}

std::string TextOf(const std::vector<TopLine>& lines) {
  std::string text;
  for (const TopLine& line : lines) text += Cat(line.text, "\n");
  return text;
}

TEST(TopModel, RatesAreDifferencesOverTime) {
  TopSample before = SampleAt(100);
  before.metrics = Metrics::Parse(MetricsOf(100, 10, 90, 10));
  before.server.set_cpu_user_us(1'000'000);
  before.tables = {{.name = "T", .items = 50}};
  TopSample now = SampleAt(102);
  now.metrics = Metrics::Parse(MetricsOf(300, 20, 290, 10));
  now.server.set_cpu_user_us(2'000'000);
  now.server.set_cpu_system_us(1'000'000);
  now.tables = {{.name = "T", .items = 30}, {.name = "U", .items = 9}};
  const TopView view = CompareSamples(&before, now);
  EXPECT_TRUE(view.has_rates);
  EXPECT_DOUBLE_EQ(view.cpu_cores, 1);
  ASSERT_EQ(view.operations.size(), 1U) << "Query was not called in the meantime";
  EXPECT_EQ(view.operations[0].name, "PutItem");
  EXPECT_DOUBLE_EQ(view.operations[0].per_second, 105);
  EXPECT_DOUBLE_EQ(view.operations[0].errors_per_second, 5);
  EXPECT_DOUBLE_EQ(view.operations[0].mean_ms, 1);
  EXPECT_NEAR(view.operations[0].p99_ms, 0.99, 1e-9) << "all 200 were in the first bucket";
  EXPECT_DOUBLE_EQ(view.requests_per_second, 105);
  EXPECT_DOUBLE_EQ(*view.cache_hit_share, 0.75);
  EXPECT_DOUBLE_EQ(view.tables[0].items_per_second, -10);
  EXPECT_DOUBLE_EQ(view.tables[1].items_per_second, 0) << "it was not there before";
}

TEST(TopModel, RunningRequestsAreShownInTheirOrder) {
  TopSample now = SampleAt(100);
  for (const auto& [operation, us] : {std::pair<const char*, int64_t>{"Scan", 1'234'500}, {"Query", 900}}) {
    admin::v1::RequestStatus request;
    request.set_operation(operation);
    request.set_duration_us(us);
    request.set_table_name("Orders");
    request.set_peer("127.0.0.1:9");
    now.running.push_back(request);
  }
  const std::string text = TextOf(Draw(CompareSamples(nullptr, now), {}));
  EXPECT_THAT(text,
              testing::ContainsRegex("RUNNING +MS +TABLE +CLIENT\nScan +1234 +Orders +127.0.0.1:9\nQuery +0.90 "));
  now.running.clear();
  EXPECT_THAT(TextOf(Draw(CompareSamples(nullptr, now), {})), Not(HasSubstr("RUNNING")));
}

TEST(TopModel, TheFirstSampleAndANewProcessHaveNoRates) {
  TopSample before = SampleAt(100);
  before.metrics = Metrics::Parse(MetricsOf(100, 0, 1, 1));
  TopSample now = SampleAt(101);
  now.metrics = Metrics::Parse(MetricsOf(1, 0, 1, 0));
  EXPECT_FALSE(CompareSamples(nullptr, now).has_rates);
  now.server.set_start_time_ms(kStartMs + 5);
  const TopView view = CompareSamples(&before, now);
  EXPECT_FALSE(view.has_rates);
  EXPECT_TRUE(view.operations.empty());
  EXPECT_FALSE(CompareSamples(&before, before).has_rates) << "no time has passed";
}

TEST(TopModel, QuantilesAreInterpolated) {
  EXPECT_DOUBLE_EQ(Quantile(0.99, {1, 2, INFINITY}, {0, 0, 0}), 0);
  EXPECT_DOUBLE_EQ(Quantile(0.5, {1, 2, INFINITY}, {0, 10, 0}), 1.5);
  EXPECT_DOUBLE_EQ(Quantile(0.99, {1, 2, INFINITY}, {98, 0, 2}), 2) << "beyond the last bound";
  EXPECT_DOUBLE_EQ(Quantile(0.5, {1, 2}, {1}), 0);
}

TEST(TopModel, RowsAreSorted) {
  TopView view;
  view.operations = {{.name = "A", .per_second = 1, .p99_ms = 9}, {.name = "B", .per_second = 2, .p99_ms = 1}};
  view.tables.resize(2);
  view.tables[0].now = {.name = "small", .bytes = 1};
  view.tables[0].items_per_second = -5;
  view.tables[1].now = {.name = "large", .bytes = 100};
  Sort(TopSort::kRate, &view);
  EXPECT_EQ(view.operations[0].name, "B");
  EXPECT_EQ(view.tables[0].now.name, "small") << "shrinking is a change, too";
  Sort(TopSort::kLatency, &view);
  EXPECT_EQ(view.operations[0].name, "A");
  EXPECT_EQ(view.tables[0].now.name, "large");
  Sort(TopSort::kName, &view);
  EXPECT_EQ(view.operations[0].name, "A");
  EXPECT_EQ(view.tables[0].now.name, "large");
}

// A view with 20 operations, 3 global indexes and 40 tables.
TopView LargeView() {
  TopSample before = SampleAt(0);
  TopSample now = SampleAt(1);
  before.metrics = now.metrics = Metrics::Parse("x 1\n");
  for (int i = 0; i < 3; ++i) {
    admin::v1::IndexStatus& index = now.indexes.emplace_back();
    index.set_kind(admin::v1::INDEX_KIND_GLOBAL);
    index.set_index_name(Cat("Index", i));
    index.set_state(admin::v1::INDEX_STATE_ACTIVE);
    index.set_stalled(i == 1);
  }
  now.indexes.emplace_back().set_index_name("LocalOne");
  for (int i = 0; i < 40; ++i) now.tables.push_back({.name = Cat("Table", i)});
  TopView view = CompareSamples(&before, now);
  for (int i = 0; i < 20; ++i) view.operations.push_back({.name = Cat("Operation", i)});
  return view;
}

TEST(TopPicture, AllRowsAreShownIfThereIsRoom) {
  const std::string text = TextOf(Draw(LargeView(), {}));
  EXPECT_THAT(text, HasSubstr("Operation19"));
  EXPECT_THAT(text, HasSubstr("Table39"));
  EXPECT_THAT(text, HasSubstr("Index2"));
  EXPECT_THAT(text, Not(HasSubstr("LocalOne"))) << "a local index never lags";
}

TEST(TopPicture, SectionsShareASmallScreen) {
  const TopView view = LargeView();
  for (const size_t height : {1, 2, 3, 5, 8, 10, 24, 50}) {
    for (const size_t width : {1, 10, 80}) {
      const std::vector<TopLine> lines = Draw(view, {.width = width, .height = height, .note = "paused"});
      EXPECT_LE(lines.size(), height);
      for (const TopLine& line : lines) EXPECT_LE(line.text.size(), width);
    }
  }
  const std::string text = TextOf(Draw(view, {.width = 80, .height = 24, .note = ""}));
  EXPECT_THAT(text, HasSubstr("OPERATION"));
  EXPECT_THAT(text, HasSubstr("Index2"));
  EXPECT_THAT(text, HasSubstr("TABLE "));
  EXPECT_THAT(text, Not(HasSubstr("Table39")));
}

TEST(TopPicture, BuildsHaveAtMostAllItems) {
  TopView view;
  admin::v1::IndexStatus& index = view.indexes.emplace_back();
  index.set_kind(admin::v1::INDEX_KIND_GLOBAL);
  index.set_index_name("Index");
  index.set_table_name("Table");
  index.set_state(admin::v1::INDEX_STATE_CREATING);
  index.mutable_build()->set_items_total(1000);
  const std::vector<std::pair<int64_t, std::string>> cases = {
      {0, "0 %"}, {450, "45 %"}, {5000, "100 %"}, {std::numeric_limits<int64_t>::max(), "100 %"}};
  for (const auto& [read, shown] : cases) {
    index.mutable_build()->set_items_read(read);
    EXPECT_THAT(TextOf(Draw(view, {})), HasSubstr(Cat("Index  Table     CREATING ", shown)));
  }
}

TEST(TopPicture, CutsBetweenCharacters) {
  TopView view;
  view.now.server.set_version("\u00e9\u00e9\u00e9");
  const std::vector<TopLine> lines = Draw(view, {.width = 12, .height = 1, .note = ""});
  EXPECT_EQ(lines.at(0).text, "armatured \u00e9\u00e9");
}

TEST(TopPicture, TroubleIsAnAlarm) {
  TopView view = LargeView();
  view.now.server.set_writes_stopped(true);
  view.now.server.add_damaged("table Orders");
  std::string alarms;
  for (const TopLine& line : Draw(view, {})) {
    if (line.style == TopLine::Style::kAlarm) alarms += line.text + "\n";
  }
  EXPECT_THAT(alarms, HasSubstr("STOPPED"));
  EXPECT_THAT(alarms, HasSubstr("DAMAGED table Orders"));
  EXPECT_THAT(alarms, HasSubstr("STALLED"));
}

TEST(TopPicture, MissingMetricsAreExplained) {
  TopView view;
  view.now.metrics_fault = "start the daemon with --metrics_listen";
  EXPECT_THAT(TextOf(Draw(view, {})), HasSubstr("No operations, commits and caches: start the daemon"));
}

}  // namespace armature::cli::top_model_test
