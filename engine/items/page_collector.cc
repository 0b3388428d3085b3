#include "engine/items/page_collector.h"

#include <string>
#include <utility>
#include <vector>

#include "engine/capacity.h"
#include "engine/expr/condition_eval.h"
#include "engine/expr/projection.h"
#include "engine/parts.h"
#include "storage/base/status_macros.h"
#include "storage/codec/key_codec.h"
#include "storage/model/key_schema.h"
#include "storage/model/limits.h"

namespace armature::engine {
namespace {

// gRPC clients accept messages of 4 MB by default. Items with many tiny attributes grow up to fivefold on the wire, so
// the page ends at this size. The item that crosses it (below 2 MB encoded, except for huge numbers) is still included.
constexpr size_t kPageMaxEncodedBytes = 2 << 20;
constexpr int64_t kRowsBetweenChecks = 64;

}  // namespace

PageCollector::PageCollector(const RequestContext& context, const ReadPlan& plan, PageWriter* page)
    : context_(context),
      plan_(plan),
      page_(page),
      count_only_(plan.request.select == "COUNT"),
      keeps_fetched_(plan.projection() != nullptr || plan.request.select == "ALL_ATTRIBUTES"),
      rows_max_(plan.request.limit.value_or(INT64_MAX)) {}

store::RowVerdict PageCollector::VisitRow(std::string_view value) {
  const absl::StatusOr<codec::StoredItemView> stored = Parse(value, visited_.rows);
  if (!stored.ok()) {
    status_ = stored.status();
    return store::RowVerdict::kStop;
  }
  ++visited_.rows;
  visited_.entry_bytes += stored->api_size;
  if (Passes(stored->item)) Keep(stored->item);
  return EndRow(stored->item);
}

absl::StatusOr<store::JoinVisitor::Choice> PageCollector::Choose(std::string_view entry) {
  ARM_ASSIGN_OR_RETURN(const codec::StoredItemView stored, Parse(entry, chosen_.rows));
  ++chosen_.rows;
  chosen_.entry_bytes += stored.api_size;
  Choice choice;
  if (plan_.fetch == Fetch::kAll || Passes(stored.item)) {
    choice.row_key = codec::EncodeTableKey(plan_.table().descriptor.key, stored.item);
    if (!choice.row_key.has_value()) return DataLossError("an entry lacks key attributes of the table");
    ++chosen_.fetched_blocks;
  }
  if (IsFull(chosen_)) choice.verdict = store::RowVerdict::kStop;
  return choice;
}

absl::StatusOr<store::RowVerdict> PageCollector::Visit(std::string_view entry, std::optional<std::string_view> row) {
  ARM_ASSIGN_OR_RETURN(const codec::StoredItemView stored, codec::ParseStoredItem(entry));
  ++visited_.rows;
  visited_.entry_bytes += stored.api_size;
  if (row.has_value()) {
    ARM_ASSIGN_OR_RETURN(const codec::StoredItemView fetched, codec::ParseStoredItem(*row));
    const size_t blocks = ReadBlocks(fetched.api_size);
    visited_.fetched_blocks += blocks;
    chosen_.fetched_blocks += blocks - 1;
    // With kPassing, only entries that passed the filter are fetched.
    if (plan_.fetch == Fetch::kPassing || Passes(fetched.item)) Keep(keeps_fetched_ ? fetched.item : stored.item);
  }
  return EndRow(stored.item);
}

ReadResult PageCollector::TakeResult() {
  ReadResult result;
  result.count = kept_;
  result.scanned_count = visited_.rows;
  result.last_evaluated_key = std::move(last_key_);
  return result;
}

absl::StatusOr<codec::StoredItemView> PageCollector::Parse(std::string_view value, int64_t rows_before) const {
  if (rows_before % kRowsBetweenChecks == kRowsBetweenChecks - 1) ARM_RETURN_IF_ERROR(CheckStillWanted(context_));
  return codec::ParseStoredItem(value);
}

bool PageCollector::Passes(const model::ItemView& item) const {
  return plan_.filter() == nullptr || expr::Evaluate(*plan_.filter(), item);
}

bool PageCollector::IsFull(const Progress& progress) const {
  if (progress.rows >= rows_max_) return true;
  // Source: the developer guide, "Read capacity units" of local secondary indexes: with fetches, the size of a page is
  // the sum of the entries' sizes rounded up to 4 KB, plus the size of each fetched item rounded up to 4 KB.
  const size_t bytes = plan_.fetch == Fetch::kNone
                           ? progress.entry_bytes
                           : (ReadBlocks(progress.entry_bytes) + progress.fetched_blocks) * kReadBlockBytes;
  return bytes >= model::kPageMaxBytes;
}

void PageCollector::Keep(const model::ItemView& item) {
  ++kept_;
  if (count_only_) return;
  if (plan_.projection() == nullptr) {
    encoded_bytes_ += item.bytes().size();
    page_->Add(item.bytes());
    return;
  }
  const std::string projected = expr::Project(*plan_.projection(), item);
  encoded_bytes_ += projected.size();
  page_->Add(projected);
}

store::RowVerdict PageCollector::EndRow(const model::ItemView& key_source) {
  if (!IsFull(visited_) && encoded_bytes_ < kPageMaxEncodedBytes) return store::RowVerdict::kContinue;
  const std::vector<std::string>& names = plan_.index == nullptr ? plan_.table().key_names : plan_.index->key_names;
  last_key_ = model::PickAttributes(key_source, names);
  return store::RowVerdict::kStop;
}

}  // namespace armature::engine
