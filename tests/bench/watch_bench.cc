// Time from the acknowledgement of a put to its arrival at a watcher, on a running daemon: puts at a fixed rate, one
// watcher in this process. The latency of the puts themselves, in the same run, is the floor.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "armature/client/client.h"
#include "armature/client/item_builder.h"
#include "armature/client/pipeline.h"
#include "armature/client/wait.h"
#include "armature/client/watcher.h"

ABSL_FLAG(std::string, endpoint, "127.0.0.1:7700", "address of the daemon");
ABSL_FLAG(double, rate, 5000, "puts a second");
ABSL_FLAG(double, seconds, 10, "length of a round");
ABSL_FLAG(int, rounds, 3, "rounds");
ABSL_FLAG(int, watchers, 1, "watchers; only the first one is measured");

namespace armature::bench {
namespace {

constexpr char kTable[] = "watch_bench";
constexpr size_t kPadding = 220;  // makes an item of about 300 bytes

int64_t NowNs() { return absl::GetCurrentTimeNanos(); }

// Times of one put, in nanoseconds; 0: not yet.
struct Times {
  int64_t sent = 0;
  std::atomic<int64_t> acknowledged = 0;
  std::atomic<int64_t> watched = 0;
};

[[noreturn]] void Fail(const absl::Status& status) {
  std::cerr << "watch_bench: " << status << std::endl;
  std::exit(1);
}

void CreateTable(const client::Client& client) {
  api::v1::CreateTableRequest request;
  request.set_table_name(kTable);
  request.set_billing_mode(api::v1::BILLING_MODE_PAY_PER_REQUEST);
  auto* const definition = request.add_attribute_definitions();
  definition->set_attribute_name("id");
  definition->set_attribute_type(api::v1::SCALAR_ATTRIBUTE_TYPE_S);
  auto* const key = request.add_key_schema();
  key->set_attribute_name("id");
  key->set_key_type(api::v1::KEY_TYPE_HASH);
  request.mutable_stream_specification()->set_stream_enabled(true);
  request.mutable_stream_specification()->set_stream_view_type(api::v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES);
  if (const auto created = client.CreateTable(request); !created.ok()) Fail(created.status());
  if (const absl::Status active = client::WaitForTable(client, kTable, absl::Now() + absl::Seconds(10)); !active.ok()) {
    Fail(active);
  }
}

std::unique_ptr<client::Watcher> Watch(const client::Client& client) {
  api::v1::WatchRequest request;
  request.set_table_name(kTable);
  std::unique_ptr<client::Watcher> watcher = client.Watch(request);
  api::v1::WatchResponse first;
  if (const absl::Status status = watcher->Next(&first); !status.ok()) Fail(status);
  return watcher;
}

void Follow(client::Watcher* watcher, std::vector<Times>* all, size_t count) {
  api::v1::WatchResponse response;
  size_t seen = 0;
  while (seen < count) {
    if (const absl::Status status = watcher->Next(&response); !status.ok()) Fail(status);
    const int64_t now = NowNs();
    for (const api::v1::ChangeRecord& record : response.records()) {
      const size_t number = std::stoul(record.dynamodb().new_image().attributes().at("n").n());
      (*all)[number].watched.store(now);
      ++seen;
    }
  }
}

void Put(const client::Client& client, std::vector<Times>* all, double rate) {
  auto pipeline = client.OpenPipeline();
  if (!pipeline.ok()) Fail(pipeline.status());
  const int64_t begin = NowNs();
  for (size_t i = 0; i < all->size(); ++i) {
    const int64_t due = begin + static_cast<int64_t>(static_cast<double>(i) * 1e9 / rate);
    if (const int64_t wait = due - NowNs(); wait > 0) absl::SleepFor(absl::Nanoseconds(wait));
    api::v1::PutItemRequest request;
    request.set_table_name(kTable);
    auto& attributes = *request.mutable_item()->mutable_attributes();
    attributes["id"] = client::S("key" + std::to_string(i % 10'000));
    attributes["n"] = client::N(std::to_string(i));
    attributes["padding"] = client::S(std::string(kPadding, 'x'));
    Times* const times = &(*all)[i];
    times->sent = NowNs();
    (*pipeline)->Ask(request, [times](const absl::StatusOr<api::v1::PutItemResponse>& answer) {
      if (!answer.ok()) Fail(answer.status());
      times->acknowledged.store(NowNs());
    });
  }
  if (const absl::Status closed = (*pipeline)->Close(); !closed.ok()) Fail(closed);
}

std::string Quantiles(std::vector<int64_t> ns) {
  std::sort(ns.begin(), ns.end());
  const auto at = [&ns](double part) {
    const auto index = static_cast<size_t>(part * static_cast<double>(ns.size() - 1));
    return static_cast<double>(ns[index]) / 1e6;
  };
  return absl::StrFormat("p50 %.2f  p99 %.2f  p99.9 %.2f  max %.2f ms", at(0.5), at(0.99), at(0.999), at(1));
}

void RunRound(const client::Client& client) {
  const double rate = absl::GetFlag(FLAGS_rate);
  const auto count = static_cast<size_t>(rate * absl::GetFlag(FLAGS_seconds));
  std::vector<Times> all(count);
  std::vector<std::vector<Times>> others(static_cast<size_t>(absl::GetFlag(FLAGS_watchers) - 1));
  std::vector<std::unique_ptr<client::Watcher>> watchers = {};
  std::vector<std::thread> threads;
  watchers.push_back(Watch(client));
  threads.emplace_back(Follow, watchers[0].get(), &all, count);
  for (std::vector<Times>& other : others) {
    other = std::vector<Times>(count);
    watchers.push_back(Watch(client));
    threads.emplace_back(Follow, watchers.back().get(), &other, count);
  }
  const int64_t begin = NowNs();
  Put(client, &all, rate);
  const double took = static_cast<double>(NowNs() - begin) / 1e9;
  for (std::thread& thread : threads) thread.join();
  std::vector<int64_t> puts;
  std::vector<int64_t> watched;
  for (const Times& times : all) {
    puts.push_back(times.acknowledged.load() - times.sent);
    // The watcher may be faster than the answer of the put.
    watched.push_back(std::max<int64_t>(0, times.watched.load() - times.acknowledged.load()));
  }
  std::cout << absl::StrFormat("%.0f puts/s\n  put                      %s\n  acknowledged to watcher  %s\n",
                               static_cast<double>(count) / took, Quantiles(puts), Quantiles(watched))
            << std::flush;
}

int Run() {
  auto client = client::Connect(absl::GetFlag(FLAGS_endpoint));
  if (!client.ok()) Fail(client.status());
  CreateTable(*client);
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) RunRound(*client);
  api::v1::DeleteTableRequest request;
  request.set_table_name(kTable);
  if (const auto deleted = client->DeleteTable(request); !deleted.ok()) Fail(deleted.status());
  return 0;
}

}  // namespace
}  // namespace armature::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Measures how soon a watcher learns of puts, on a running daemon.");
  absl::ParseCommandLine(argc, argv);
  return armature::bench::Run();
}
