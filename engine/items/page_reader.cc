#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/capacity.h"
#include "engine/expr/condition_eval.h"
#include "engine/expr/projection.h"
#include "engine/items/expressions.h"
#include "engine/items/read_plan.h"
#include "index/index_entry.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/key_codec.h"
#include "storage/codec/stored_item.h"
#include "storage/model/key_schema.h"
#include "storage/model/limits.h"
#include "storage/model/plain_item.h"

namespace armature::engine {
namespace {

// gRPC clients accept messages of 4 MB by default. Items with many tiny attributes grow up to fivefold on the wire, so
// the page ends at this size. The item that crosses it is still included.
constexpr size_t kPageMaxEncodedBytes = 2 << 20;
constexpr int64_t kRowsBetweenChecks = 64;
// A page ends behind about this number of deleted rows, even if it is empty, so that a read of a table that was mostly
// deleted occupies its thread for some tens of milliseconds, not for seconds.
constexpr uint64_t kPageSkippedMax = 50'000;
// Bound on the work of a page's filter, as expr::EvaluationCost counts: about half a second with the operands that are
// searched most slowly, at 3.5 ns for each byte. Without it, a filter with many conditions would read large items, or
// large constants, again and again for one page.
constexpr size_t kPageFilterBytesMax = 144 << 20;

// Counts and filters rows, projects those that pass into the page, and decides where the page ends.
//
// VisitRow is for plans without fetch, which use ReadRange. Choose and Visit are for plans with fetch, which use
// ReadJoined.
//
// Lifetime: all arguments outlive it.
class PageCollector final : public store::JoinVisitor {
 public:
  PageCollector(const RequestContext& context, const ReadPlan& plan, store::ReadMode mode, PageWriter* page)
      : context_(context),
        plan_(plan),
        page_(page),
        filter_cost_(plan.filter() == nullptr ? expr::EvaluationCost() : expr::CostOf(*plan.filter())),
        is_inline_(mode == store::ReadMode::kMemoryOnly),
        count_only_(plan.request.select == "COUNT"),
        keeps_fetched_(plan.projection() != nullptr || plan.request.select == "ALL_ATTRIBUTES"),
        rows_max_(plan.request.limit.value_or(INT64_MAX)) {}

  // Stops at the first row that cannot be read; `status` holds the error.
  store::RowVerdict VisitRow(std::string_view value) {
    const absl::StatusOr<codec::StoredItemView> stored = Parse(value, visited_.rows);
    if (!stored.ok()) {
      status_ = stored.status();
      return store::RowVerdict::kStop;
    }
    ++visited_.rows;
    visited_.entry_bytes += stored->api_size;
    if (Passes(stored->item, &visited_)) Keep(*stored);
    return EndRow(stored->item);
  }

  // Applies the filter, if it needs only the entry, and chooses the items to fetch. Stops no later than Visit will, so
  // that no entries are read beyond the page.
  absl::StatusOr<Choice> Choose(std::string_view entry) override {
    ARM_ASSIGN_OR_RETURN(const codec::StoredItemView stored, Parse(entry, chosen_.rows));
    ++chosen_.rows;
    chosen_.entry_bytes += stored.api_size;
    Choice choice;
    if (plan_.fetch == Fetch::kAll || Passes(stored.item, &chosen_)) {
      choice.row_key = codec::EncodeTableKey(plan_.table().descriptor.key, stored.item);
      if (!choice.row_key.has_value()) return DataLossError("an entry lacks key attributes of the table");
      ++chosen_.fetched_blocks;
    }
    if (IsFull(chosen_)) choice.verdict = store::RowVerdict::kStop;
    return choice;
  }

  absl::StatusOr<store::RowVerdict> Visit(std::string_view entry, std::optional<std::string_view> row) override {
    ARM_ASSIGN_OR_RETURN(const codec::StoredItemView stored, codec::ParseStoredItem(entry));
    ++visited_.rows;
    visited_.entry_bytes += stored.api_size;
    // With kPassing, the filter was applied to the entry, and only those that passed it are fetched.
    if (plan_.fetch == Fetch::kPassing) visited_.filter_bytes += filter_cost_.BytesFor(stored.item.bytes().size());
    if (row.has_value()) {
      ARM_ASSIGN_OR_RETURN(const codec::StoredItemView fetched, codec::ParseStoredItem(*row));
      const size_t blocks = ReadBlocks(fetched.api_size);
      visited_.fetched_blocks += blocks;
      chosen_.fetched_blocks += blocks - 1;
      if (plan_.fetch == Fetch::kPassing || Passes(fetched.item, &visited_)) Keep(keeps_fetched_ ? fetched : stored);
    }
    return EndRow(stored.item);
  }

  // Ends the page behind the row with this key, which exists no more or was visited.
  void EndBehind(std::string_view key) {
    const store::Index* const index = plan_.index;
    const model::KeySchema& table_key = plan_.table().descriptor.key;
    absl::StatusOr<std::string> decoded =
        index == nullptr ? codec::DecodeTableKey(table_key, key)
                         : index::DecodeIndexKey(index->descriptor.kind, index->descriptor.key, table_key, key);
    status_ = decoded.status();
    if (decoded.ok()) last_key_ = *std::move(decoded);
  }

  const absl::Status& status() const { return status_; }
  // True if the page is too much work for the caller's thread.
  bool needs_pool() const {
    return is_inline_ && std::max(visited_.filter_bytes, chosen_.filter_bytes) > kInlineBytesMax;
  }
  // Amounts read: API sizes of rows (of entries, for plans with fetch), and 4 KB blocks of fetched items.
  size_t entry_bytes() const { return visited_.entry_bytes; }
  size_t fetched_blocks() const { return visited_.fetched_blocks; }
  // Called once, at the end.
  ReadResult TakeResult() {
    ReadResult result;
    result.count = kept_;
    result.scanned_count = visited_.rows;
    result.last_evaluated_key = std::move(last_key_);
    result.work = {ReadBytes(visited_), visited_.filter_bytes};
    result.is_full = IsFull(visited_);
    return result;
  }

 private:
  // Counters that the page limits apply to.
  struct Progress {
    int64_t rows = 0;
    size_t entry_bytes = 0;
    size_t fetched_blocks = 0;
    size_t filter_bytes = 0;  // on the caller's thread, also those of answers with compact numbers
  };

  absl::StatusOr<codec::StoredItemView> Parse(std::string_view value, int64_t rows_before) const {
    // Large items with a filter are few to a page, and long to evaluate.
    const bool is_long = plan_.filter() != nullptr && filter_cost_.BytesFor(value.size()) > kInlineBytesMax;
    if (is_long || rows_before % kRowsBetweenChecks == kRowsBetweenChecks - 1) {
      ARM_RETURN_IF_ERROR(CheckStillWanted(context_));
    }
    return codec::ParseStoredItem(value);
  }

  bool Passes(const model::ItemView& item, Progress* progress) const {
    if (plan_.filter() == nullptr) return true;
    progress->filter_bytes += filter_cost_.BytesFor(item.bytes().size());
    // Too much for the caller's thread: the page is read again on the pool.
    if (is_inline_ && progress->filter_bytes > kInlineBytesMax) return false;
    return expr::Evaluate(*plan_.filter(), item);
  }

  // True if a page with this progress, behind that of earlier reads, accepts no more rows.
  bool IsFull(const Progress& progress) const {
    if (progress.rows >= rows_max_ || (is_inline_ && progress.filter_bytes > kInlineBytesMax)) return true;
    const PageWork& earlier = plan_.request.earlier;
    return earlier.filter_bytes + progress.filter_bytes > kPageFilterBytesMax ||
           earlier.read_bytes + ReadBytes(progress) >= model::kPageMaxBytes;
  }

  // Source: the developer guide, "Read capacity units" of local secondary indexes: with fetches, the size of a page is
  // the sum of the entries' sizes rounded up to 4 KB, plus the size of each fetched item rounded up to 4 KB.
  size_t ReadBytes(const Progress& progress) const {
    return plan_.fetch == Fetch::kNone ? progress.entry_bytes
                                       : (ReadBlocks(progress.entry_bytes) + progress.fetched_blocks) * kReadBlockBytes;
  }

  void Keep(const codec::StoredItemView& stored) {
    ++kept_;
    if (count_only_) return;
    if (stored.compact_numbers && is_inline_) {
      visited_.filter_bytes += stored.item.bytes().size() * model::kPlainGrowthMax;
      if (visited_.filter_bytes > kInlineBytesMax) return;
    }
    if (plan_.projection() != nullptr) {
      Add(AnsweredBytes(expr::Project(*plan_.projection(), stored.item), stored.compact_numbers));
    } else if (stored.compact_numbers) {
      Add(model::PlainItem(stored.item.bytes()));
    } else {
      Add(stored.item.bytes());
    }
  }

  void Add(std::string_view item) {
    encoded_bytes_ += item.size();
    page_->Add(item);
  }

  // Ends a row after it was counted and filtered. `key_source` provides the page's last key.
  store::RowVerdict EndRow(const model::ItemView& key_source) {
    if (!IsFull(visited_) && encoded_bytes_ < kPageMaxEncodedBytes) return store::RowVerdict::kContinue;
    last_key_ = model::PlainItem(model::PickAttributes(key_source, plan_.key_names()));
    return store::RowVerdict::kStop;
  }

  const RequestContext& context_;
  const ReadPlan& plan_;
  PageWriter* const page_;
  const expr::EvaluationCost filter_cost_;
  const bool is_inline_;
  const bool count_only_;
  // plans with fetch: items come from the table, not from the index
  const bool keeps_fetched_;
  const int64_t rows_max_;
  int64_t kept_ = 0;
  size_t encoded_bytes_ = 0;
  Progress visited_;
  Progress chosen_;  // lower bound of the progress after the last chosen entry
  std::optional<std::string> last_key_;
  absl::Status status_;
};

// Name of the table or index for errors about damage.
std::string NameOf(const ReadPlan& plan) {
  const std::string& table = plan.table().descriptor.name;
  return plan.index == nullptr ? table : Cat(table, ", index ", plan.index->descriptor.name);
}

}  // namespace

absl::StatusOr<std::optional<ReadResult>> ReadPage(const Parts& parts, const RequestContext& context,
                                                   const ReadPlan& plan, store::ReadMode mode, PageWriter* page) {
  ARM_RETURN_IF_ERROR(CheckStillWanted(context));
  PageCollector collector(context, plan, mode, page);
  const auto goes_on = [&context] { return CheckStillWanted(context).ok(); };
  store::SkipLimit limit{.skipped_max = kPageSkippedMax, .goes_on = goes_on, .passed = {}};
  absl::StatusOr<store::RangeEnd> end = store::RangeEnd::kReached;
  if (plan.fetch == Fetch::kNone) {
    end = parts.database->rows().ReadRange(
        plan.keyspace(), plan.range, plan.direction,
        [&collector](std::string_view, std::string_view value) { return collector.VisitRow(value); }, mode, &limit);
  } else {
    end = parts.database->rows().ReadJoined(plan.keyspace(), plan.range, plan.direction, plan.table().data, &collector,
                                            mode, &limit);
  }
  if (end.ok() && *end == store::RangeEnd::kPaused) {
    ARM_RETURN_IF_ERROR(CheckStillWanted(context));
    collector.EndBehind(limit.passed);
  }
  if (end.ok() && !collector.status().ok()) end = collector.status();
  if (!end.ok()) return WithContext(end.status(), NameOf(plan));
  if (*end == store::RangeEnd::kWouldBlock || collector.needs_pool()) {
    page->Clear();
    return std::nullopt;
  }
  ReadResult result = collector.TakeResult();
  ARM_ASSIGN_OR_RETURN(const CapacityReport report, ParseCapacityReport(plan.request.return_consumed_capacity));
  const bool consistent = plan.request.consistent_read && !plan.is_global();
  const double units = ReadUnits(ReadBlocks(collector.entry_bytes()), consistent);
  const double fetched_units = ReadUnits(collector.fetched_blocks(), consistent);
  ChargeRead(parts, plan.table(), plan.index, plan.partition, units + fetched_units);
  result.capacity = ReportRead(report, *plan.request.table_name, plan.index, units, fetched_units);
  return result;
}

}  // namespace armature::engine
