// The core workloads of YCSB. README.md describes how its records and operations map to items and calls.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <random>
#include <utility>

#include "armature/api/v1/items.pb.h"
#include "tools/bench/answer_check.h"
#include "tools/bench/workload.h"

namespace armature::bench {
namespace {

constexpr double kZipfTheta = 0.99;
constexpr uint64_t kScanMax = 100;

// Ranks below `count`, of which small ones are likely (Gray et al., "Quickly generating billion-record synthetic
// databases"). Immutable.
class Zipf {
 public:
  explicit Zipf(uint64_t count) : count_(static_cast<double>(count)) {
    for (uint64_t i = 1; i <= count; ++i) zeta_ += 1 / std::pow(static_cast<double>(i), kZipfTheta);
    const double zeta_2 = 1 + 1 / std::pow(2, kZipfTheta);
    eta_ = (1 - std::pow(2 / count_, 1 - kZipfTheta)) / (1 - zeta_2 / zeta_);
  }

  uint64_t Draw(std::mt19937_64& random) const {
    const double u = std::uniform_real_distribution<double>(0, 1)(random);
    const double scaled = u * zeta_;
    if (scaled < 1) return 0;
    if (scaled < 1 + std::pow(0.5, kZipfTheta)) return std::min<uint64_t>(1, static_cast<uint64_t>(count_) - 1);
    const double rank = count_ * std::pow(eta_ * u - eta_ + 1, 1 / (1 - kZipfTheta));
    return static_cast<uint64_t>(std::clamp(rank, 0.0, count_ - 1));
  }

 private:
  const double count_;
  double zeta_ = 0;
  double eta_ = 0;
};

// Shares of the calls, in percent.
struct Mix100 {
  uint64_t read = 0;
  uint64_t update = 0;
  uint64_t insert = 0;
  uint64_t scan = 0;
  uint64_t modify = 0;
  bool reads_latest = false;
};

constexpr Mix100 MixOf(char letter) {
  switch (letter) {
    case 'a':
      return {.read = 50, .update = 50};
    case 'b':
      return {.read = 95, .update = 5};
    case 'c':
      return {.read = 100};
    case 'd':
      return {.read = 95, .insert = 5, .reads_latest = true};
    case 'e':
      return {.insert = 5, .scan = 95};
    default:
      return {.read = 50, .modify = 50};
  }
}

// Indexes of types in a mix.
enum YcsbCall : uint8_t { kRead, kUpdate, kInsert, kScan, kModify };

std::vector<CallType> YcsbTypes(const Options& options) {
  const auto found = [](const api::v1::GetItemResponse& response) { return response.has_item() ? "" : "no item"; };
  return {{.operation = "GetItem", .check = CheckOf<api::v1::GetItemResponse>(options.wire(), found)},
          {.operation = "UpdateItem",
           .check = CheckOf<api::v1::UpdateItemResponse>(options.wire(), HasNoAttributes<api::v1::UpdateItemResponse>)},
          {.operation = "PutItem",
           .check = CheckOf<api::v1::PutItemResponse>(options.wire(), HasNoAttributes<api::v1::PutItemResponse>)},
          {.operation = "Query"},
          {.operation = "UpdateItem"}};
}

api::v1::Item YcsbKey() {
  api::v1::Item key = MakeKey(std::string("y") + kKeyPlaceholder, 0);
  (*key.mutable_attributes())["sk"].set_n(kSortPlaceholder);
  return key;
}

RequestTemplate YcsbUpdate(const Options& options, const std::string& table, bool returns_old) {
  api::v1::Item item = BenchItem(options, "y" + std::string(kKeyLength, '0'), 0);
  VaryPayload(options, &item);
  api::v1::UpdateItemRequest request;
  request.set_table_name(table);
  *request.mutable_key() = YcsbKey();
  request.set_update_expression("SET payload = :v");
  (*request.mutable_expression_attribute_values())[":v"] = item.attributes().at("payload");
  if (returns_old) request.set_return_values(api::v1::RETURN_VALUES_ALL_OLD);
  return {request, options.wire()};
}

// One template for each kind of call; queries have one for each number of records. Copied to each client thread.
struct YcsbTemplates {
  YcsbTemplates(const Options& options, const std::string& table)
      : update(YcsbUpdate(options, table, false)),
        modify(YcsbUpdate(options, table, true)),
        read(ReadOf(options, table)),
        insert(InsertOf(options, table)) {
    for (uint64_t limit = 1; limit <= kScanMax; ++limit) {
      api::v1::QueryRequest request;
      request.set_table_name(table);
      request.set_limit(static_cast<int32_t>(limit));
      request.set_key_condition_expression("pk = :p AND sk >= :s");
      (*request.mutable_expression_attribute_values())[":p"].set_s(std::string("y") + kKeyPlaceholder);
      (*request.mutable_expression_attribute_values())[":s"].set_n(kSortPlaceholder);
      scans.emplace_back(request, options.wire());
    }
  }
  static RequestTemplate ReadOf(const Options& options, const std::string& table) {
    api::v1::GetItemRequest request;
    request.set_table_name(table);
    *request.mutable_key() = YcsbKey();
    return {request, options.wire()};
  }
  static RequestTemplate InsertOf(const Options& options, const std::string& table) {
    api::v1::PutItemRequest request;
    request.set_table_name(table);
    *request.mutable_item() = BenchItem(options, std::string("y") + kKeyPlaceholder, 0);
    (*request.mutable_item()->mutable_attributes())["sk"].set_n(kSortPlaceholder);
    return {request, options.wire()};
  }

  RequestTemplate update;
  RequestTemplate modify;
  RequestTemplate read;
  RequestTemplate insert;
  std::vector<RequestTemplate> scans;
};

// Records of all client threads.
struct Records {
  explicit Records(uint64_t loaded) : count(loaded), zipf(loaded) {}
  std::atomic<uint64_t> count;
  const Zipf zipf;
};

// The calls of one client thread.
class YcsbSource {
 public:
  YcsbSource(Mix100 mix, YcsbTemplates templates, std::shared_ptr<Records> records, uint64_t loaded, uint64_t seed)
      : mix_(mix), templates_(std::move(templates)), records_(std::move(records)), loaded_(loaded), random_(seed) {}

  bool operator()(Request* request) {
    uint64_t drawn = random_() % 100;
    const std::array<uint64_t, 5> shares = {mix_.read, mix_.update, mix_.insert, mix_.scan, mix_.modify};
    size_t call = 0;
    while (drawn >= shares[call]) drawn -= shares[call++];
    request->type = call;
    const uint64_t record = call == kInsert ? records_->count.fetch_add(1, std::memory_order_relaxed) : Draw();
    const uint64_t partition = record / kYcsbPartition;
    const uint64_t sort = record % kYcsbPartition;
    switch (call) {
      case kRead:
        request->bytes = templates_.read.WithRow(partition, sort);
        break;
      case kUpdate:
        request->bytes = templates_.update.WithRow(partition, sort, random_());
        break;
      case kInsert:
        request->bytes = templates_.insert.WithRow(partition, sort);
        break;
      case kScan:
        request->bytes = templates_.scans[random_() % kScanMax].WithRow(partition, sort);
        break;
      default:
        request->bytes = templates_.modify.WithRow(partition, sort, random_());
        break;
    }
    return true;
  }

 private:
  uint64_t Draw() {
    const uint64_t rank = records_->zipf.Draw(random_);
    // Records whose puts are perhaps under way are not read.
    if (mix_.reads_latest)
      return std::max(records_->count.load(std::memory_order_relaxed), kUnderWay + 1 + rank) - kUnderWay - 1 - rank;
    // Likely records are spread over all partitions.
    return armature::bench::Mix(rank) % loaded_;
  }
  static constexpr uint64_t kUnderWay = 1024;

  const Mix100 mix_;
  YcsbTemplates templates_;
  const std::shared_ptr<Records> records_;
  const uint64_t loaded_;
  std::mt19937_64 random_;
};

}  // namespace

template <char kLetter>
CallKind YcsbKind(const Options& options, const std::string& table) {
  CallKind kind;
  kind.name = std::string("ycsb-") + kLetter;
  kind.types = YcsbTypes(options);
  const auto records = std::make_shared<Records>(options.items);
  kind.new_source = [templates = YcsbTemplates(options, table), records,
                     loaded = options.items](uint64_t seed) -> RequestSource {
    return YcsbSource(MixOf(kLetter), templates, records, loaded, seed);
  };
  return kind;
}

template CallKind YcsbKind<'a'>(const Options&, const std::string&);
template CallKind YcsbKind<'b'>(const Options&, const std::string&);
template CallKind YcsbKind<'c'>(const Options&, const std::string&);
template CallKind YcsbKind<'d'>(const Options&, const std::string&);
template CallKind YcsbKind<'e'>(const Options&, const std::string&);
template CallKind YcsbKind<'f'>(const Options&, const std::string&);

}  // namespace armature::bench
