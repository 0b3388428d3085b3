// Effects of global indexes on the clients of a running daemon. Each is compared with a measurement without the effect
// in the same run.
//
//   index_bench --target=HOST:PORT --mode=read_your_writes   write, then query the index for it: compares
//                                                            with a query that does not wait; checks each answer
//   index_bench --target=HOST:PORT --mode=lag                time from the answer of a write until the index has it,
//                                                            at a fixed rate of other writes; throttled ones are
//                                                            counted and not repeated
//   index_bench --target=HOST:PORT --mode=reads              reads of the index beside other writes at a fixed rate, to
//                                                            compare daemons with different --index_reads
//   index_bench --target=HOST:PORT --mode=build              writes while indexes are built on their tables, compared
//                                                            with the same writes before
//
// The tables are not deleted: use a fresh daemon with a data directory of its own for each run.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "armature/client/client.h"
#include "armature/client/item_builder.h"
#include "armature/client/pipeline.h"
#include "armature/client/retry_policy.h"
#include "armature/client/wait.h"
#include "tools/bench/histogram.h"

ABSL_FLAG(std::string, target, "127.0.0.1:7700", "Address of the daemon.");
ABSL_FLAG(std::string, mode, "read_your_writes", "read_your_writes, lag, reads or build.");
ABSL_FLAG(int, clients, 8, "Clients with a connection each, and one call under way. lag, reads: streams.");
ABSL_FLAG(int, readers, 2, "reads: clients that read, one call after the other.");
ABSL_FLAG(double, reads_per_second, 0, "reads: reads a second of all readers together; 0: as fast as answers come.");
ABSL_FLAG(int, pairs, 100'000, "read_your_writes: writes that are queried for.");
ABSL_FLAG(double, rate, 0,
          "Writes a second of all clients together; 0: as fast as answers come. lag, reads: 5000 if 0.");
ABSL_FLAG(double, seconds, 30,
          "lag, reads: length. build: length of the part before, and the least of the part while.");
ABSL_FLAG(int, tables, 3, "build: tables, each with so many clients.");
ABSL_FLAG(int, indexes, 3, "build: indexes that each table gets, one after another.");
ABSL_FLAG(int, items, 200'000, "build: items of each table before the first index.");
ABSL_FLAG(int, item_bytes, 300, "About the size of an item.");

namespace armature::bench {
namespace {

using client::Client;
using client::Item;

constexpr int64_t kKeys = 10'000;
constexpr int kGroups = 1'000;
constexpr absl::Duration kPatience = absl::Minutes(30);

[[noreturn]] void Fail(std::string_view what, const absl::Status& status = absl::OkStatus()) {
  std::fprintf(stderr, "index_bench: %.*s: %s\n", static_cast<int>(what.size()), what.data(),
               std::string(status.message()).c_str());
  std::exit(1);
}

template <class T>
T OrFail(std::string_view what, absl::StatusOr<T> result) {
  if (!result.ok()) Fail(what, result.status());
  return *std::move(result);
}

Client NewClient() { return OrFail("connect", client::Connect(absl::GetFlag(FLAGS_target))); }

// Latencies of one kind of call, from all threads.
class Latencies {
 public:
  void Merge(const Histogram& other) {
    const std::lock_guard lock(mutex_);
    histogram_.Merge(other);
  }
  void Record(absl::Duration duration) {
    const std::lock_guard lock(mutex_);
    histogram_.Record(static_cast<uint64_t>(std::max<int64_t>(absl::ToInt64Nanoseconds(duration), 0)));
  }
  uint64_t count() const { return histogram_.count(); }
  void Print(const std::string& name) const {
    std::printf("%-28s %9lu calls, ms: p50 %.2f, p99 %.2f, p99.9 %.2f, max %.2f\n", name.c_str(), histogram_.count(),
                Ms(0.5), Ms(0.99), Ms(0.999), static_cast<double>(histogram_.max_ns()) / 1e6);
    std::fflush(stdout);
  }
  double Ms(double quantile) const { return static_cast<double>(histogram_.QuantileNs(quantile)) / 1e6; }

 private:
  std::mutex mutex_;
  Histogram histogram_;
};

// Records the duration of `call`.
template <class Call>
auto Timed(Histogram* histogram, Call call) {
  const absl::Time begin = absl::Now();
  auto result = call();
  histogram->Record(static_cast<uint64_t>(std::max<int64_t>(absl::ToInt64Nanoseconds(absl::Now() - begin), 0)));
  return result;
}

// Limits the calls of a thread to a rate. Delays are not caught up.
class Pace {
 public:
  explicit Pace(double per_second) : gap_(per_second > 0 ? absl::Seconds(1 / per_second) : absl::ZeroDuration()) {}
  void Wait() {
    if (gap_ == absl::ZeroDuration()) return;
    next_ = std::max(next_ + gap_, absl::Now());
    absl::Notification().WaitForNotificationWithTimeout(next_ - absl::Now());
  }

 private:
  const absl::Duration gap_;
  absl::Time next_ = absl::Now();
};

void InThreads(int count, const std::function<void(int)>& run) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(run, i);
  for (std::thread& thread : threads) thread.join();
}

std::string Group(uint64_t n) { return "group-" + std::to_string(n % kGroups); }

// A table with the key `id` and `indexes` global indexes by_g0, by_g1, ... with the sort key `id`.
void Create(const Client& client, const std::string& table, int indexes) {
  api::v1::CreateTableRequest request;
  request.set_table_name(table);
  request.set_billing_mode(api::v1::BILLING_MODE_PAY_PER_REQUEST);
  const auto define = [&request](const std::string& name) {
    request.add_attribute_definitions()->set_attribute_name(name);
    request.mutable_attribute_definitions()->rbegin()->set_attribute_type(api::v1::SCALAR_ATTRIBUTE_TYPE_S);
  };
  const auto add_key = [](auto* owner, const std::string& name, api::v1::KeyType type) {
    auto* element = owner->add_key_schema();
    element->set_attribute_name(name);
    element->set_key_type(type);
  };
  define("id");
  add_key(&request, "id", api::v1::KEY_TYPE_HASH);
  for (int i = 0; i < indexes; ++i) {
    const std::string attribute = "g" + std::to_string(i);
    define(attribute);
    auto* index = request.add_global_secondary_indexes();
    index->set_index_name("by_" + attribute);
    add_key(index, attribute, api::v1::KEY_TYPE_HASH);
    add_key(index, "id", api::v1::KEY_TYPE_RANGE);
    index->mutable_projection()->set_projection_type(api::v1::PROJECTION_TYPE_ALL);
  }
  OrFail("CreateTable", client.CreateTable(request));
  if (const absl::Status active = client::WaitForTable(client, table, absl::Now() + kPatience); !active.ok()) {
    Fail("WaitForTable", active);
  }
}

api::v1::PutItemRequest PutOf(const std::string& table, int64_t id, uint64_t random, int64_t version) {
  api::v1::PutItemRequest request;
  request.set_table_name(table);
  client::ItemBuilder item;
  item.Set("id", client::S("item-" + std::to_string(id))).Set("version", client::N(version));
  for (int i = 0; i < absl::GetFlag(FLAGS_indexes); ++i) {
    item.Set("g" + std::to_string(i), client::S(Group(random >> (10 * i))));
  }
  item.Set("payload", client::S(std::string(static_cast<size_t>(absl::GetFlag(FLAGS_item_bytes)), 'x')));
  *request.mutable_item() = std::move(item).Build();
  return request;
}

api::v1::QueryRequest QueryFor(const api::v1::PutItemRequest& put, uint64_t at_least_sequence) {
  api::v1::QueryRequest request;
  request.set_table_name(put.table_name());
  request.set_index_name("by_g0");
  request.set_key_condition_expression("g0 = :g AND id = :id");
  auto& values = *request.mutable_expression_attribute_values();
  values[":g"] = put.item().attributes().at("g0");
  values[":id"] = put.item().attributes().at("id");
  if (at_least_sequence > 0) request.set_at_least_sequence(at_least_sequence);
  return request;
}

void ReadYourWrites() {
  const std::string table = "read_your_writes";
  Create(NewClient(), table, 1);
  absl::SetFlag(&FLAGS_indexes, 1);
  const int clients = absl::GetFlag(FLAGS_clients);
  std::atomic<int> left = absl::GetFlag(FLAGS_pairs);
  std::atomic<int> wrong = 0;
  Latencies writes;
  Latencies waiting;
  Latencies plain;
  const absl::Time begin = absl::Now();
  InThreads(clients, [&](int n) {
    const Client client = NewClient();
    std::mt19937_64 random(static_cast<uint64_t>(n));
    Pace pace(absl::GetFlag(FLAGS_rate) / clients);
    Histogram write;
    Histogram wait;
    Histogram no_wait;
    for (int64_t version = 1; left.fetch_sub(1) > 0; ++version) {
      pace.Wait();
      // Clients use different keys, so that no other client changes the queried item.
      const int64_t id = static_cast<int64_t>(random() % kKeys) * clients + n;
      const api::v1::PutItemRequest put = PutOf(table, id, random(), version);
      const auto written = OrFail("PutItem", Timed(&write, [&] { return client.PutItem(put); }));
      const auto page =
          OrFail("Query", Timed(&wait, [&] { return client.Query(QueryFor(put, written.change_sequence())); }));
      if (page.items_size() != 1 || page.items(0).attributes().at("version").n() != std::to_string(version)) ++wrong;
      OrFail("Query", Timed(&no_wait, [&] { return client.Query(QueryFor(put, 0)); }));
    }
    writes.Merge(write);
    waiting.Merge(wait);
    plain.Merge(no_wait);
  });
  const double seconds = absl::ToDoubleSeconds(absl::Now() - begin);
  writes.Print("write");
  waiting.Print("query that waits for it");
  plain.Print("query that does not");
  std::printf("%d pairs in %.1f s (%.0f a second), %d wrong answers; waiting costs %.2f ms at p99\n",
              absl::GetFlag(FLAGS_pairs), seconds, absl::GetFlag(FLAGS_pairs) / seconds, wrong.load(),
              waiting.Ms(0.99) - plain.Ms(0.99));
  if (wrong > 0) std::exit(1);
}

// Results of asynchronous puts.
class PutResults {
 public:
  // Called on any thread.
  void Note(const absl::Status& status, absl::Duration elapsed) {
    if (status.ok()) return writes_.Record(elapsed);
    const std::lock_guard lock(mutex_);
    if (client::IsTransient(status) && !absl::IsUnavailable(status)) {
      ++throttled_;
    } else {
      first_error_.Update(status);
    }
  }
  // The first error that is not transient.
  absl::Status first_error() const {
    const std::lock_guard lock(mutex_);
    return first_error_;
  }
  int64_t throttled() const {
    const std::lock_guard lock(mutex_);
    return throttled_;
  }
  const Latencies& writes() const { return writes_; }

 private:
  Latencies writes_;
  mutable std::mutex mutex_;
  int64_t throttled_ = 0;
  absl::Status first_error_;
};

// Puts at a rate over one stream, because consecutive calls do not reach the rate. Stops at `end` or at the first
// error.
void PutAtRate(const std::string& table, double per_second, absl::Time end, uint64_t seed, PutResults* results) {
  const auto pipeline = OrFail("Pipeline", NewClient().OpenPipeline());
  std::mt19937_64 random(seed);
  Pace pace(per_second);
  while (absl::Now() < end && results->first_error().ok()) {
    pace.Wait();
    const api::v1::PutItemRequest put = PutOf(table, static_cast<int64_t>(random() % kKeys), random(), 1);
    pipeline->Ask(put, [results, begin = absl::Now()](const absl::StatusOr<api::v1::PutItemResponse>& answer) {
      results->Note(answer.status(), absl::Now() - begin);
    });
  }
  if (const absl::Status closed = pipeline->Close(); !closed.ok()) Fail("Pipeline", closed);
}

// Writes items of its own and polls the index for them. The measured time exceeds the lag by the time of a query.
void Probe(const std::string& table, absl::Time end, Latencies* lags) {
  const Client client = NewClient();
  std::mt19937_64 random;
  Pace pace(100);
  Histogram lag;
  for (int64_t version = 1; absl::Now() < end; ++version) {
    pace.Wait();
    const api::v1::PutItemRequest put = PutOf(table, kKeys + static_cast<int64_t>(random() % kKeys), random(), version);
    const auto written = OrFail("PutItem", client.PutItem(put));
    OrFail("Query", Timed(&lag, [&] { return client.Query(QueryFor(put, written.change_sequence())); }));
  }
  lags->Merge(lag);
}

// Reads the index for random items, without a wait of its own.
void Read(const std::string& table, absl::Time end, uint64_t seed, Latencies* reads) {
  const Client client = NewClient();
  std::mt19937_64 random(seed);
  Pace pace(absl::GetFlag(FLAGS_reads_per_second) / absl::GetFlag(FLAGS_readers));
  Histogram read;
  while (absl::Now() < end) {
    pace.Wait();
    const api::v1::PutItemRequest put = PutOf(table, static_cast<int64_t>(random() % kKeys), random(), 1);
    OrFail("Query", Timed(&read, [&] { return client.Query(QueryFor(put, 0)); }));
  }
  reads->Merge(read);
}

// Runs `observe(number, end, latencies)` in `observers` threads while other threads put at the rate.
void BesideWrites(const std::string& table, int observers, const std::string& name,
                  const std::function<void(int, absl::Time, Latencies*)>& observe) {
  Create(NewClient(), table, 1);
  absl::SetFlag(&FLAGS_indexes, 1);
  const int clients = absl::GetFlag(FLAGS_clients);
  const double rate = absl::GetFlag(FLAGS_rate) > 0 ? absl::GetFlag(FLAGS_rate) : 5'000;
  const absl::Time begin = absl::Now();
  const absl::Time end = begin + absl::Seconds(absl::GetFlag(FLAGS_seconds));
  PutResults puts;
  Latencies observed;
  InThreads(clients + observers, [&](int n) {
    if (n >= clients) return observe(n, end, &observed);
    PutAtRate(table, rate / clients, end, static_cast<uint64_t>(n), &puts);
  });
  if (const absl::Status failed = puts.first_error(); !failed.ok()) Fail("PutItem", failed);
  const double seconds = absl::ToDoubleSeconds(absl::Now() - begin);
  puts.writes().Print("write");
  observed.Print(name);
  std::printf("%.0f writes a second beside %.0f reads a second, and %ld throttled writes in all\n",
              static_cast<double>(puts.writes().count()) / seconds, static_cast<double>(observed.count()) / seconds,
              static_cast<long>(puts.throttled()));
}

void Lag() {
  BesideWrites("lag", 1, "lag, with a query's time",
               [](int /*number*/, absl::Time end, Latencies* lags) { Probe("lag", end, lags); });
}

void Reads() {
  // A table of its own for each run, so that runs on one daemon can be compared.
  const std::string table = "reads-" + std::to_string(absl::ToUnixMillis(absl::Now()));
  BesideWrites(table, absl::GetFlag(FLAGS_readers), "read of the index",
               [&table](int number, absl::Time end, Latencies* reads) {
                 Read(table, end, static_cast<uint64_t>(number), reads);
               });
}

void CreateIndex(const Client& client, const std::string& table, int number) {
  const std::string attribute = "g" + std::to_string(number);
  api::v1::UpdateTableRequest request;
  request.set_table_name(table);
  for (const std::string& name : {attribute, std::string("id")}) {
    auto* definition = request.add_attribute_definitions();
    definition->set_attribute_name(name);
    definition->set_attribute_type(api::v1::SCALAR_ATTRIBUTE_TYPE_S);
  }
  auto* create = request.add_global_secondary_index_updates()->mutable_create();
  create->set_index_name("by_" + attribute);
  create->mutable_projection()->set_projection_type(api::v1::PROJECTION_TYPE_ALL);
  for (const auto& [name, type] : {std::pair(attribute, api::v1::KEY_TYPE_HASH), {"id", api::v1::KEY_TYPE_RANGE}}) {
    auto* element = create->add_key_schema();
    element->set_attribute_name(name);
    element->set_key_type(type);
  }
  OrFail("UpdateTable", client.UpdateTable(request));
}

// Writes to all tables until `done` returns true. Adds the latencies to `latencies`.
void WriteUntil(const std::vector<std::string>& tables, const std::function<bool()>& done, Latencies* latencies) {
  const int clients = absl::GetFlag(FLAGS_clients);
  const int threads = clients * static_cast<int>(tables.size());
  InThreads(threads, [&](int n) {
    const Client client = NewClient();
    std::mt19937_64 random(static_cast<uint64_t>(n));
    Pace pace(absl::GetFlag(FLAGS_rate) / threads);
    Histogram write;
    for (int64_t version = 1; !done(); ++version) {
      pace.Wait();
      const std::string& table = tables[static_cast<size_t>(n) % tables.size()];
      const auto id = static_cast<int64_t>(random() % static_cast<uint64_t>(absl::GetFlag(FLAGS_items)));
      OrFail("PutItem", Timed(&write, [&] { return client.PutItem(PutOf(table, id, random(), version)); }));
    }
    latencies->Merge(write);
  });
}

void Load(const std::string& table) {
  std::atomic<int64_t> next = 0;
  InThreads(64, [&](int n) {
    const Client client = NewClient();
    std::mt19937_64 random(static_cast<uint64_t>(n));
    for (int64_t id = next++; id < absl::GetFlag(FLAGS_items); id = next++) {
      OrFail("PutItem", client.PutItem(PutOf(table, id, random(), 0)));
    }
  });
}

void Build() {
  std::vector<std::string> tables;
  for (int i = 0; i < absl::GetFlag(FLAGS_tables); ++i) tables.push_back("build-" + std::to_string(i));
  for (const std::string& table : tables) {
    Create(NewClient(), table, 0);
    Load(table);
  }
  std::printf("%zu tables of %d items\n", tables.size(), absl::GetFlag(FLAGS_items));
  std::fflush(stdout);
  Latencies before;
  const absl::Time end = absl::Now() + absl::Seconds(absl::GetFlag(FLAGS_seconds));
  WriteUntil(
      tables, [end] { return absl::Now() >= end; }, &before);
  before.Print("writes before");

  std::atomic<int> building = static_cast<int>(tables.size());
  Latencies meanwhile;
  const absl::Time begin = absl::Now();
  std::thread writers([&] {
    WriteUntil(
        tables, [&] { return building == 0; }, &meanwhile);
  });
  InThreads(static_cast<int>(tables.size()), [&](int n) {
    const Client client = NewClient();
    for (int i = 0; i < absl::GetFlag(FLAGS_indexes); ++i) {
      const std::string& table = tables[static_cast<size_t>(n)];
      CreateIndex(client, table, i);
      const absl::Status active = client::WaitForTable(client, table, absl::Now() + kPatience);
      if (!active.ok()) Fail("WaitForTable", active);
      std::printf("%s: by_g%d is ACTIVE after %.1f s\n", table.c_str(), i, absl::ToDoubleSeconds(absl::Now() - begin));
      std::fflush(stdout);
    }
    --building;
  });
  writers.join();
  meanwhile.Print("writes while building");
  std::printf("p99 while building is %.2f times that before\n", meanwhile.Ms(0.99) / before.Ms(0.99));
}

}  // namespace
}  // namespace armature::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Read-your-writes, lag and building of global indexes, as clients see them.");
  absl::ParseCommandLine(argc, argv);
  const std::string mode = absl::GetFlag(FLAGS_mode);
  if (mode == "read_your_writes") {
    armature::bench::ReadYourWrites();
  } else if (mode == "reads") {
    armature::bench::Reads();
  } else if (mode == "lag") {
    armature::bench::Lag();
  } else if (mode == "build") {
    armature::bench::Build();
  } else {
    std::fprintf(stderr, "index_bench: no mode %s\n", mode.c_str());
    return 2;
  }
  return 0;
}
