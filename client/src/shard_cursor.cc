#include "client/src/shard_cursor.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "storage/base/strings.h"
#include "storage/model/number.h"

namespace armature::client {
namespace {

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

}  // namespace

ShardCursor::ShardCursor(api::v1::QueryRequest request, ShardPosition position)
    : request_(std::move(request)), delivered_(std::move(position.start_after)), exhausted_(position.is_done) {
  if (delivered_.has_value()) *request_.mutable_exclusive_start_key() = *delivered_;
}

absl::Status ShardCursor::Fetch(const Client& client, const ScatterKeys& keys, const CallOptions& options) {
  absl::StatusOr<api::v1::QueryResponse> page = client.Query(request_, options);
  if (!page.ok()) return page.status();
  for (const Item& item : page->items()) {
    if (absl::Status status = CheckKeys(item, keys); !status.ok()) return status;
  }
  items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(next_));
  next_ = 0;
  fetched_ = static_cast<size_t>(page->items_size());
  items_.reserve(items_.size() + fetched_);
  for (Item& item : *page->mutable_items()) items_.push_back(std::move(item));
  exhausted_ = !page->has_last_evaluated_key();
  if (!exhausted_) *request_.mutable_exclusive_start_key() = std::move(*page->mutable_last_evaluated_key());
  return absl::OkStatus();
}

Item ShardCursor::Pop() { return std::move(items_[next_++]); }

ShardPosition ShardCursor::position() const {
  // Without items in memory the start key of the next call counts. It is after the items that a filter has dropped,
  // too.
  if (has_item()) return {.is_done = false, .start_after = delivered_};
  if (exhausted_) return {.is_done = true, .start_after = std::nullopt};
  if (!request_.has_exclusive_start_key()) return {};
  return {.is_done = false, .start_after = request_.exclusive_start_key()};
}

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

std::weak_ordering CompareKeys(const Item& a, const Item& b, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::weak_ordering order = CompareKeyValues(a.attributes().at(name), b.attributes().at(name));
    if (std::is_neq(order)) return order;
  }
  return std::weak_ordering::equivalent;
}

}  // namespace armature::client
