#include "armature/client/scatter_query.h"

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/escaping.h"
#include "client/src/scatter_continuation.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/number.h"
#include "storage/model/table_name.h"

namespace armature::client {
namespace {

constexpr int kParallelMax = 64;
// Number of entries requested from a shard beyond twice its even share of a page, so that small pages seldom need a
// second call.
constexpr int kSpareEntries = 10;

bool IsForward(const api::v1::QueryRequest& request) {
  return !request.has_scan_index_forward() || request.scan_index_forward();
}

absl::Status CheckRequest(const api::v1::QueryRequest& request) {
  if (request.has_exclusive_start_key()) {
    return absl::InvalidArgumentError("a scattered query has a continuation instead of an exclusive_start_key");
  }
  if (request.select() == api::v1::SELECT_COUNT) {
    return absl::InvalidArgumentError("a scattered query merges items; it cannot count without them");
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const ScatterOptions& options) {
  if (options.value_name.size() < 2 || options.value_name.front() != ':') {
    return absl::InvalidArgumentError("value_name must be that of an expression value, such as \":day\"");
  }
  if (!options.shard_value) return absl::InvalidArgumentError("shard_value is missing");
  if (options.shard_count < 1 || options.shard_count > kShardsMax) {
    return absl::InvalidArgumentError(Cat("shard_count must be 1 to ", kShardsMax));
  }
  if (options.page_items_max < 1) return absl::InvalidArgumentError("page_items_max must be positive");
  if (options.parallel_max < 1 || options.parallel_max > kParallelMax) {
    return absl::InvalidArgumentError(Cat("parallel_max must be 1 to ", kParallelMax));
  }
  return absl::OkStatus();
}

// The parts of a query that must be equal for one query to continue another.
std::string IdentityOf(const api::v1::QueryRequest& request, const ScatterOptions& options) {
  return Cat(model::TableNamePart(request.table_name()), "\n", request.index_name(), "\n", IsForward(request) ? 1 : 0,
             "\n", options.first_shard, "\n", options.shard_count, "\n",
             options.shard_value(options.first_shard).SerializeAsString());
}

int32_t EntriesOfACall(const ScatterOptions& options) {
  const int64_t share = (options.page_items_max - 1) / options.shard_count + 1;
  return static_cast<int32_t>(std::min<int64_t>(options.page_items_max, 2 * share + kSpareEntries));
}

Item KeyOf(const Item& item, const ScatterKeys& keys) {
  Item key;
  auto& attributes = *key.mutable_attributes();
  for (const std::vector<std::string>* const names : {&keys.sort, &keys.others}) {
    for (const std::string& name : *names) attributes[name] = item.attributes().at(name);
  }
  return key;
}

// Calls fn(i) for each i below `count`, on this thread and at most `threads_max` - 1 others.
template <class Fn>
void RunInParallel(size_t count, size_t threads_max, const Fn& fn) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) fn(i);
  };
  std::vector<std::thread> threads;
  const size_t wanted = std::min(count, threads_max);
  for (size_t i = 1; i < wanted; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

// The order of two values of one key attribute: numbers by value, strings and binaries by their bytes. Values of
// different types, which no index holds, are ordered by type.
std::weak_ordering CompareKeyValues(const AttributeValue& a, const AttributeValue& b) {
  if (a.value_case() != b.value_case()) return a.value_case() <=> b.value_case();
  switch (a.value_case()) {
    case AttributeValue::kN:
      return model::CompareCanonicalNumbers(a.n(), b.n());
    case AttributeValue::kS:
      return a.s().compare(b.s()) <=> 0;  // as unsigned bytes
    case AttributeValue::kB:
      return a.b().compare(b.b()) <=> 0;
    default:
      return std::weak_ordering::equivalent;
  }
}

// The order of two items by these attributes, in the given order. Both items must have all of them.
std::weak_ordering CompareKeys(const Item& a, const Item& b, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::weak_ordering order = CompareKeyValues(a.attributes().at(name), b.attributes().at(name));
    if (std::is_neq(order)) return order;
  }
  return std::weak_ordering::equivalent;
}

absl::Status CheckKeys(const Item& item, const ScatterKeys& keys) {
  for (const std::vector<std::string>* const names : {&keys.sort, &keys.others}) {
    for (const std::string& name : *names) {
      if (item.attributes().contains(name)) continue;
      return absl::InvalidArgumentError(
          Cat("an item lacks the key attribute ", name, "; the projection must keep all key attributes"));
    }
  }
  return absl::OkStatus();
}

// The text is the base64 form of an AttributeValue: a list of the version, the query, and one value for each shard. The
// value is true for a finished shard, null for a shard that has not begun, and otherwise a map with the key of the last
// item.
constexpr std::string_view kVersion = "1";
constexpr int kHeadSize = 2;

AttributeValue ToValue(const ShardPosition& position) {
  if (position.is_done) return Bool(true);
  if (!position.start_after.has_value()) return Null();
  AttributeValue key;
  *key.mutable_m()->mutable_entries() = position.start_after->attributes();
  return key;
}

// Absent if the value does not encode a position.
std::optional<ShardPosition> ToPosition(AttributeValue* value) {
  ShardPosition position;
  if (value->has_m() && !value->m().entries().empty()) {
    position.start_after.emplace().mutable_attributes()->swap(*value->mutable_m()->mutable_entries());
    return position;
  }
  if (value->has_bool_() && value->bool_()) {
    position.is_done = true;
    return position;
  }
  if (value->has_null() && value->null()) return position;
  return std::nullopt;
}

}  // namespace

std::string EncodeContinuation(std::string_view query, const std::vector<ShardPosition>& shards) {
  AttributeValue all;
  all.mutable_l()->add_values()->set_n(std::string(kVersion));
  all.mutable_l()->add_values()->set_b(std::string(query));
  for (const ShardPosition& position : shards) *all.mutable_l()->add_values() = ToValue(position);
  return absl::WebSafeBase64Escape(all.SerializeAsString());
}

absl::StatusOr<std::vector<ShardPosition>> DecodeContinuation(std::string_view text, std::string_view query,
                                                              size_t shard_count) {
  const absl::Status none = absl::InvalidArgumentError("the continuation is not one of a scattered query");
  std::string bytes;
  AttributeValue all;
  if (!absl::WebSafeBase64Unescape(Av(text), &bytes) || !all.ParseFromString(bytes)) return none;
  auto& values = *all.mutable_l()->mutable_values();
  if (values.size() < kHeadSize || values[0].n() != kVersion) return none;
  if (values[1].b() != query || values.size() != kHeadSize + static_cast<int>(shard_count)) {
    return absl::InvalidArgumentError("the continuation is that of another query");
  }
  std::vector<ShardPosition> positions;
  positions.reserve(shard_count);
  for (int i = kHeadSize; i < values.size(); ++i) {
    std::optional<ShardPosition> position = ToPosition(&values[i]);
    if (!position.has_value()) return none;
    positions.push_back(*std::move(position));
  }
  return positions;
}

absl::StatusOr<ScatterKeys> KeysOf(const api::v1::TableDescription& table, std::string_view index_name) {
  const auto* schema = index_name.empty() ? &table.key_schema() : nullptr;
  for (const auto& index : table.global_secondary_indexes()) {
    if (index.index_name() == index_name) schema = &index.key_schema();
  }
  for (const auto& index : table.local_secondary_indexes()) {
    if (index.index_name() == index_name) schema = &index.key_schema();
  }
  if (schema == nullptr)
    return absl::NotFoundError(Cat("the table ", table.table_name(), " has no index ", index_name));
  ScatterKeys keys;
  for (const api::v1::KeySchemaElement& element : *schema) {
    (element.key_type() == api::v1::KEY_TYPE_RANGE ? keys.sort : keys.others).push_back(element.attribute_name());
  }
  for (const api::v1::KeySchemaElement& element : table.key_schema()) {
    const auto lacks = [&element](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), element.attribute_name()) == names.end();
    };
    if (lacks(keys.sort) && lacks(keys.others)) keys.others.push_back(element.attribute_name());
  }
  return keys;
}

ShardValue SuffixedShards(std::string_view prefix, std::string_view separator) {
  return [head = Cat(prefix, separator)](int shard) { return S(Cat(head, shard)); };
}

ShardValue NumberedShards() {
  return [](int shard) { return N(shard); };
}

// Reads the items of one shard ahead. Keeps the position of the returned items and the position of the fetched items.
class ShardCursor {
 public:
  // `request`: the request of the shard. Begins at `position`.
  ShardCursor(api::v1::QueryRequest request, ShardPosition position)
      : request_(std::move(request)), delivered_(std::move(position.start_after)), exhausted_(position.is_done) {
    if (delivered_.has_value()) *request_.mutable_exclusive_start_key() = *delivered_;
  }

  bool has_item() const { return next_ < items_.size(); }
  // True if the shard has no more items to fetch.
  bool is_exhausted() const { return exhausted_; }
  // True if the shard has more items to fetch, and half of the items of the last call are returned.
  bool RunsLow() const { return !exhausted_ && items_.size() - next_ <= fetched_ / 2; }

  // Makes one call, which may return no items. Errors: those of Query; INVALID_ARGUMENT if an item lacks one of `keys`.
  // An error changes nothing.
  absl::Status Fetch(const Client& client, const ScatterKeys& keys, const CallOptions& options) {
    ARM_ASSIGN_OR_RETURN(api::v1::QueryResponse page, client.Query(request_, options));
    for (const Item& item : page.items()) ARM_RETURN_IF_ERROR(CheckKeys(item, keys));
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
    fetched_ = static_cast<size_t>(page.items_size());
    items_.reserve(items_.size() + fetched_);
    for (Item& item : *page.mutable_items()) items_.push_back(std::move(item));
    exhausted_ = !page.has_last_evaluated_key();
    if (!exhausted_) *request_.mutable_exclusive_start_key() = std::move(*page.mutable_last_evaluated_key());
    return absl::OkStatus();
  }

  // Takes the next item. Precondition: there is one.
  const Item& front() const { return items_[next_]; }
  Item Pop() { return std::move(items_[next_++]); }
  // Marks the taken items as returned. `key`: the key of the last one.
  void Deliver(Item key) { delivered_ = std::move(key); }

  // The position after the returned items.
  ShardPosition position() const {
    // Without items in memory the start key of the next call counts. It is after the items that a filter has dropped,
    // too.
    if (has_item()) return {.is_done = false, .start_after = delivered_};
    if (exhausted_) return {.is_done = true, .start_after = std::nullopt};
    if (!request_.has_exclusive_start_key()) return {};
    return {.is_done = false, .start_after = request_.exclusive_start_key()};
  }

 private:
  api::v1::QueryRequest request_;  // request of the next call
  std::optional<Item> delivered_;
  bool exhausted_;
  std::vector<Item> items_;  // valid from next_ on
  size_t next_ = 0;
  size_t fetched_ = 0;  // number of items of the last call
};

// Keeps the shards that have items in memory in a heap. The shard with the next item is at the top.
class ScatterQuery::Walk {
 public:
  Walk(Client client, ScatterOptions options, bool is_forward, std::string identity, std::vector<ShardCursor> shards)
      : client_(std::move(client)),
        options_(std::move(options)),
        is_forward_(is_forward),
        identity_(std::move(identity)),
        shards_(std::move(shards)) {}

  absl::StatusOr<std::optional<ScatterPage>> NextPage() {
    if (!failure_.ok()) return failure_;
    if (done_) return std::optional<ScatterPage>();
    ScatterPage page;
    page.items.reserve(static_cast<size_t>(std::min(options_.page_items_max, 1000)));
    Merge(&page);
    if (!failure_.ok() && page.items.empty()) return failure_;
    done_ = failure_.ok() && std::all_of(shards_.begin(), shards_.end(), [](const ShardCursor& shard) {
              return shard.is_exhausted() && !shard.has_item();
            });
    if (!done_) page.continuation = Continuation();
    return std::optional<ScatterPage>(std::move(page));
  }

 private:
  void Merge(ScatterPage* page) {
    const auto later = [this](size_t a, size_t b) { return ComesLater(a, b); };
    const size_t items_max = static_cast<size_t>(options_.page_items_max);
    std::vector<std::optional<size_t>> last(shards_.size());  // place in the page of each shard's last item
    bool is_low = true;
    while (page->items.size() < items_max) {
      if (is_low) {
        failure_ = FetchWhereLow();
        if (!failure_.ok()) break;
        RebuildHeap();
        is_low = false;
      }
      if (heap_.empty()) break;
      std::pop_heap(heap_.begin(), heap_.end(), later);
      const size_t shard = heap_.back();
      last[shard] = page->items.size();
      page->items.push_back(shards_[shard].Pop());
      if (shards_[shard].has_item()) {
        std::push_heap(heap_.begin(), heap_.end(), later);
      } else {
        heap_.pop_back();
        is_low = !shards_[shard].is_exhausted();
      }
    }
    for (size_t i = 0; i < shards_.size(); ++i) {
      if (last[i].has_value()) shards_[i].Deliver(KeyOf(page->items[*last[i]], options_.keys));
    }
  }

  // Fetches until each shard has items in memory or is finished.
  absl::Status FetchWhereLow() {
    const auto is_missing = [](const ShardCursor& shard) { return !shard.has_item() && !shard.is_exhausted(); };
    while (std::any_of(shards_.begin(), shards_.end(), is_missing)) {
      std::vector<size_t> low;
      for (size_t i = 0; i < shards_.size(); ++i) {
        if (shards_[i].RunsLow()) low.push_back(i);
      }
      std::vector<absl::Status> results(low.size());
      std::atomic<bool> failed = false;
      RunInParallel(low.size(), static_cast<size_t>(options_.parallel_max), [&](size_t i) {
        if (failed) return;
        results[i] = shards_[low[i]].Fetch(client_, options_.keys, options_.call);
        if (!results[i].ok()) failed = true;
      });
      for (size_t i = 0; i < low.size(); ++i) {
        if (!results[i].ok())
          return WithContext(results[i], Cat("shard ", options_.first_shard + static_cast<int>(low[i])));
      }
    }
    return absl::OkStatus();
  }

  void RebuildHeap() {
    heap_.clear();
    for (size_t i = 0; i < shards_.size(); ++i) {
      if (shards_[i].has_item()) heap_.push_back(i);
    }
    std::make_heap(heap_.begin(), heap_.end(), [this](size_t a, size_t b) { return ComesLater(a, b); });
  }

  bool ComesLater(size_t a, size_t b) const {
    const std::weak_ordering order = CompareKeys(shards_[a].front(), shards_[b].front(), options_.keys.sort);
    const bool later = std::is_eq(order) ? a > b : std::is_gt(order);
    return later == is_forward_;
  }

  std::string Continuation() const {
    std::vector<ShardPosition> positions;
    positions.reserve(shards_.size());
    for (const ShardCursor& shard : shards_) positions.push_back(shard.position());
    return EncodeContinuation(identity_, positions);
  }

  const Client client_;
  const ScatterOptions options_;
  const bool is_forward_;
  const std::string identity_;
  std::vector<ShardCursor> shards_;
  std::vector<size_t> heap_;
  bool done_ = false;
  absl::Status failure_;
};

ScatterQuery::ScatterQuery(std::unique_ptr<Walk> walk) : walk_(std::move(walk)) {}
ScatterQuery::ScatterQuery(ScatterQuery&& other) noexcept = default;
ScatterQuery& ScatterQuery::operator=(ScatterQuery&& other) noexcept = default;
ScatterQuery::~ScatterQuery() = default;

absl::StatusOr<ScatterQuery> ScatterQuery::Begin(Client client, api::v1::QueryRequest request, ScatterOptions options,
                                                 std::string_view continuation) {
  ARM_RETURN_IF_ERROR(CheckRequest(request));
  ARM_RETURN_IF_ERROR(CheckOptions(options));
  std::string identity = IdentityOf(request, options);
  std::vector<ShardPosition> positions(static_cast<size_t>(options.shard_count));
  if (!continuation.empty()) {
    ARM_ASSIGN_OR_RETURN(positions, DecodeContinuation(continuation, identity, positions.size()));
  }
  if (!request.has_limit()) request.set_limit(EntriesOfACall(options));
  std::vector<ShardCursor> shards;
  shards.reserve(positions.size());
  for (size_t i = 0; i < positions.size(); ++i) {
    (*request.mutable_expression_attribute_values())[options.value_name] =
        options.shard_value(options.first_shard + static_cast<int>(i));
    shards.emplace_back(request, std::move(positions[i]));
  }
  const bool is_forward = IsForward(request);
  return ScatterQuery(std::make_unique<Walk>(std::move(client), std::move(options), is_forward, std::move(identity),
                                             std::move(shards)));
}

absl::StatusOr<std::optional<ScatterPage>> ScatterQuery::NextPage() { return walk_->NextPage(); }

std::optional<absl::StatusOr<Item>> ScatterQuery::Advance() {
  while (!failed_ && next_ >= page_.items.size()) {
    absl::StatusOr<std::optional<ScatterPage>> page = NextPage();
    if (!page.ok()) {
      failed_ = true;
      return absl::StatusOr<Item>(page.status());
    }
    if (!page->has_value()) return std::nullopt;
    page_ = **std::move(page);
    next_ = 0;
  }
  if (failed_) return std::nullopt;
  return absl::StatusOr<Item>(std::move(page_.items[next_++]));
}

}  // namespace armature::client
