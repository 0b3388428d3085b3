#include "tools/armature/sql/aggregates.h"

#include <algorithm>
#include <utility>

#include "storage/base/status_macros.h"
#include "storage/model/number.h"

namespace armature::cli {

using api::v1::AttributeValue;

absl::Status AggregateState::Add(const api::v1::Item& item) {
  if (term_->aggregate == Aggregate::kCountAll) {
    ++count_;
    return absl::OkStatus();
  }
  const AttributeValue* const value = ValueAt(item, term_->path);
  if (value == nullptr || value->null()) return absl::OkStatus();
  if (term_->is_distinct && !seen_.insert(EqualityKey(value)).second) return absl::OkStatus();
  ++count_;
  if (term_->aggregate == Aggregate::kCount) return absl::OkStatus();
  if (term_->aggregate == Aggregate::kSum || term_->aggregate == Aggregate::kAverage) {
    const absl::StatusOr<model::Number> number = model::Number::Parse(value->n());
    if (!number.ok()) {
      return SqlError(Cat(term_->ToString(), ": an item has a value of type ", TypeNameOf(*value),
                          "; sums are of numbers. Leave it out by AND ", term_->path.ToString(), " IS NUMERIC"),
                      term_->place);
    }
    sum_.Add(*number);
    return absl::OkStatus();
  }
  OrderedValue ordered = OrderedValue::Of(value);
  const bool is_min = term_->aggregate == Aggregate::kMin;
  if (!best_.has_value() || (is_min ? ordered < *best_ : *best_ < ordered)) {
    best_ = std::move(ordered);
    best_value_ = *value;
  }
  return absl::OkStatus();
}

AttributeValue AggregateState::Result() const {
  AttributeValue result;
  switch (term_->aggregate) {
    case Aggregate::kCountAll:
    case Aggregate::kCount:
      result.set_n(Cat(count_));
      return result;
    case Aggregate::kSum:
      if (count_ > 0) result.set_n(sum_.ToString());
      break;
    case Aggregate::kAverage:
      if (count_ > 0) result.set_n(sum_.Average(count_));
      break;
    default:
      if (count_ > 0) result = best_value_;
  }
  if (count_ == 0) result.set_null(true);
  return result;
}

ItemGroups::ItemGroups(const SelectStatement& statement) : statement_(statement) {
  if (statement_.group_by.empty()) groups_.push_back(NewGroup());
}

ItemGroups::Group ItemGroups::NewGroup() const {
  Group group;
  group.aggregates.reserve(statement_.columns.size());
  for (const SelectColumn& column : statement_.columns) group.aggregates.emplace_back(column.term);
  return group;
}

absl::Status ItemGroups::Add(const api::v1::Item& item) {
  size_t at = 0;
  if (!statement_.group_by.empty()) {
    std::string key;
    for (const ValuePath& path : statement_.group_by) key += EqualityKey(ValueAt(item, path));
    const auto [found, is_new] = group_of_.try_emplace(std::move(key), groups_.size());
    at = found->second;
    if (is_new) {
      Group group = NewGroup();
      for (const ValuePath& path : statement_.group_by) {
        const AttributeValue* const value = ValueAt(item, path);
        group.keys.push_back(value == nullptr ? std::nullopt : std::optional<AttributeValue>(*value));
      }
      groups_.push_back(std::move(group));
    }
  }
  for (size_t i = 0; i < statement_.columns.size(); ++i) {
    if (statement_.columns[i].term.aggregate == Aggregate::kNone) continue;
    ARM_RETURN_IF_ERROR(groups_[at].aggregates[i].Add(item));
  }
  return absl::OkStatus();
}

const AttributeValue* ItemGroups::KeyOf(const Group& group, const ValuePath& path) const {
  const auto found = std::find(statement_.group_by.begin(), statement_.group_by.end(), path);
  if (found == statement_.group_by.end()) return nullptr;
  const auto& key = group.keys[static_cast<size_t>(found - statement_.group_by.begin())];
  return key.has_value() ? &*key : nullptr;
}

std::vector<ItemGroups::Row> ItemGroups::Rows() const {
  std::vector<Row> rows;
  rows.reserve(groups_.size());
  for (const Group& group : groups_) {
    Row row;
    for (size_t i = 0; i < statement_.columns.size(); ++i) {
      const SelectColumn& column = statement_.columns[i];
      if (column.term.aggregate != Aggregate::kNone) {
        (*row.item.mutable_attributes())[column.name] = group.aggregates[i].Result();
      } else if (const AttributeValue* const value = KeyOf(group, column.term.path); value != nullptr) {
        (*row.item.mutable_attributes())[column.name] = *value;
      }
    }
    for (const SelectOrder& order : statement_.order_by) {
      if (!order.column.has_value()) {
        row.order.push_back(OrderedValue::Of(KeyOf(group, order.path)));
        continue;
      }
      const auto found = row.item.attributes().find(statement_.columns[*order.column].name);
      row.order.push_back(OrderedValue::Of(found == row.item.attributes().end() ? nullptr : &found->second));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace armature::cli
