#include "tools/armature/sql/select_run.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "armature/api/v1/statements.pb.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/sql/aggregates.h"
#include "tools/armature/sql/count_reads.h"
#include "tools/armature/sql/run_statement.h"

namespace armature::cli {
namespace {

using Row = ItemGroups::Row;

constexpr int64_t kPageMax = 10'000;

class SelectRun {
 public:
  SelectRun(const SqlContext& context, std::string_view text, const SelectStatement& statement)
      : context_(context), text_(text), statement_(statement) {}

  absl::StatusOr<SqlResult> Run() {
    if (IsPlainCount()) ARM_RETURN_IF_ERROR(PlanCount());
    is_ordered_by_daemon_ = DaemonOrders();
    MakeRest();
    if (context_.settings.explain) return Explain();
    absl::Status read = count_.has_value() ? Count() : statement_.is_grouped() ? ReadGroups() : ReadRows();
    ARM_RETURN_IF_ERROR(WithPlace(std::move(read)));
    return Finish();
  }

 private:
  bool IsPlainCount() const {
    return statement_.columns.size() == 1 && statement_.columns[0].term.aggregate == Aggregate::kCountAll &&
           statement_.group_by.empty();
  }
  bool is_sorted_by_client() const { return !statement_.order_by.empty() && !is_ordered_by_daemon_; }
  // True if rows can be returned while items are read.
  bool IsStreamed() const { return !statement_.is_grouped() && !statement_.is_distinct && !is_sorted_by_client(); }
  bool IsBounded() const { return !IsStreamed() && !IsPlainCount(); }

  // The rows to return at most: LIMIT and that of the settings. Nullopt: all.
  std::optional<int64_t> RowsMax() const {
    const int64_t shown = context_.settings.limit;
    if (shown == 0) return statement_.limit;
    return std::min(statement_.limit.value_or(shown), shown);
  }

  // Asks the daemon if it reads in the order that the statement wants.
  bool DaemonOrders() {
    if (statement_.order_by.empty() || statement_.is_grouped() || statement_.is_distinct) return false;
    std::string order;
    for (const SelectOrder& each : statement_.order_by) {
      const ValuePath& path = each.column.has_value() ? statement_.columns[*each.column].term.path : each.path;
      if (!path.steps.empty()) return false;
      order += Cat(order.empty() ? "" : ", ", QuotedName(path.attribute), each.is_descending ? " DESC" : "");
    }
    daemon_order_ = Cat(" ORDER BY ", order);
    is_ordered_by_daemon_ = true;
    MakeRest();
    return ExplainRest().ok();
  }

  // COUNT(*) alone is counted by reads without items, or else over one attribute, which all items have.
  absl::Status PlanCount() {
    ARM_ASSIGN_OR_RETURN(const api::v1::TableDescription table, DescribeTable(context_.client, statement_.table));
    if (table.key_schema_size() > 0) key_ = table.key_schema(0).attribute_name();
    const TextPlace where = statement_.where.value_or(TextPlace{});
    count_ = MakeCountReads(context_, table, statement_.index,
                            std::string(text_.substr(where.begin, where.end - where.begin)));
    return absl::OkStatus();
  }

  // The PartiQL statement without the clauses of ours.
  void MakeRest() {
    std::string columns;
    std::set<std::string> names;
    const auto add = [&](const ValuePath& path) {
      if (!names.insert(path.attribute).second) return;
      columns += Cat(columns.empty() ? "" : ", ", QuotedName(path.attribute));
    };
    for (const SelectColumn& column : statement_.columns) {
      if (column.term.aggregate != Aggregate::kCountAll) add(column.term.path);
    }
    if (!statement_.columns.empty()) {
      for (const ValuePath& path : statement_.group_by) add(path);
      for (const SelectOrder& order : statement_.order_by) {
        if (!order.column.has_value()) add(order.path);
      }
    }
    if (columns.empty()) columns = key_.empty() ? "*" : QuotedName(key_);
    const std::string_view from = text_.substr(statement_.from.begin, statement_.from.end - statement_.from.begin);
    rest_ = Cat("SELECT ", columns, " FROM ", from);
    if (statement_.where.has_value()) {
      rest_ += " WHERE ";
      rest_where_ = rest_.size();
      rest_ += text_.substr(statement_.where->begin, statement_.where->end - statement_.where->begin);
    }
    if (is_ordered_by_daemon_) rest_ += daemon_order_;
  }

  absl::Status WithPlace(absl::Status status) const {
    if (status.ok() || PlaceIsOurs(status)) return status;
    return WithPlaceOf(std::move(status), rest_, rest_where_, statement_.where.value_or(TextPlace{}));
  }

  absl::StatusOr<std::string> ExplainRest() const {
    api::v1::ExecuteStatementRequest request;
    request.set_statement(rest_);
    for (const api::v1::AttributeValue& value : context_.parameters) *request.add_parameters() = value;
    if (context_.settings.consistent_read) request.set_consistent_read(true);
    request.set_explain_only(true);
    ARM_ASSIGN_OR_RETURN(const auto response, context_.client.ExecuteStatement(request));
    return response.plan();
  }

  absl::StatusOr<SqlResult> Explain() const {
    if (count_.has_value()) return PlanResult(count_->ToString());
    absl::StatusOr<std::string> plan = ExplainRest();
    if (!plan.ok()) return WithPlace(plan.status());
    while (plan->ends_with('\n')) plan->pop_back();
    std::vector<std::string> steps;
    const auto list = [](const auto& values, const auto& text) {
      std::string joined;
      for (const auto& value : values) joined += Cat(joined.empty() ? "" : ", ", text(value));
      return joined;
    };
    if (IsPlainCount()) {
      steps.push_back("counts all items");
    } else if (IsBounded()) {
      steps.push_back(Cat("reads at most ", WithCommas(context_.settings.computed_max), " items"));
    }
    if (!statement_.group_by.empty()) {
      steps.push_back(
          Cat("groups them by ", list(statement_.group_by, [](const ValuePath& p) { return p.ToString(); })));
    }
    if (statement_.is_grouped() && !IsPlainCount()) {
      std::vector<SelectTerm> computed;
      for (const SelectColumn& column : statement_.columns) {
        if (column.term.aggregate != Aggregate::kNone) computed.push_back(column.term);
      }
      if (!computed.empty()) {
        steps.push_back(Cat("computes ", list(computed, [](const SelectTerm& term) { return term.ToString(); })));
      }
    }
    if (statement_.is_distinct) steps.push_back("leaves out repeated rows");
    if (is_sorted_by_client()) {
      steps.push_back(Cat("sorts by ", list(statement_.order_by, [this](const SelectOrder& order) {
                            return Cat(order.column.has_value() ? statement_.columns[*order.column].name
                                                                : order.path.ToString(),
                                       order.is_descending ? " DESC" : "");
                          })));
    }
    if (statement_.has_aliases) steps.push_back("renames columns");
    if (statement_.limit.has_value()) steps.push_back(Cat("returns at most ", WithCommas(*statement_.limit), " rows"));
    std::string text = Cat(*plan, steps.empty() ? "" : "\nThe client ");
    for (size_t i = 0; i < steps.size(); ++i)
      text += Cat(i == 0 ? "" : i + 1 == steps.size() ? " and " : ", ", steps[i]);
    return PlanResult(std::move(text));
  }

  absl::Status Count() {
    ARM_ASSIGN_OR_RETURN(const int64_t count, CountItems(context_, *count_));
    Row row;
    (*row.item.mutable_attributes())[statement_.columns[0].name].set_n(Cat(count));
    rows_.push_back(std::move(row));
    return absl::OkStatus();
  }

  absl::Status CountRead() {
    ++read_;
    if (!IsBounded() || read_ <= context_.settings.computed_max) return absl::OkStatus();
    return UsageError(Cat("the statement needs more than ", WithCommas(context_.settings.computed_max),
                          " items for its groups, sums or order. A condition on the key reads fewer; \\maxitems N, or "
                          "--max-items N, allows more"));
  }

  absl::Status ReadGroups() {
    ItemGroups groups(statement_);
    const ItemSink add = [&](api::v1::Item item) -> absl::StatusOr<bool> {
      ARM_RETURN_IF_ERROR(CountRead());
      ARM_RETURN_IF_ERROR(groups.Add(item));
      return true;
    };
    ARM_RETURN_IF_ERROR(ForEachItem(context_, rest_, 0, add));
    rows_ = groups.Rows();
    return absl::OkStatus();
  }

  absl::Status ReadRows() {
    const std::optional<int64_t> max = IsStreamed() ? RowsMax() : std::nullopt;
    if (max.has_value() && *max == 0) return absl::OkStatus();
    const int64_t page = max.has_value() && !statement_.where.has_value() ? std::min(*max, kPageMax) : 0;
    std::set<std::string> seen;
    return ForEachItem(context_, rest_, static_cast<int>(page), [&](api::v1::Item item) -> absl::StatusOr<bool> {
      ARM_RETURN_IF_ERROR(CountRead());
      Row row = RowOf(std::move(item));
      if (statement_.is_distinct && !seen.insert(RowKey(row.item)).second) return true;
      rows_.push_back(std::move(row));
      return !max.has_value() || static_cast<int64_t>(rows_.size()) < *max;
    });
  }

  Row RowOf(api::v1::Item item) const {
    Row row;
    if (is_sorted_by_client()) {
      for (const SelectOrder& order : statement_.order_by) {
        const ValuePath& path = order.column.has_value() ? statement_.columns[*order.column].term.path : order.path;
        row.order.push_back(OrderedValue::Of(ValueAt(item, path)));
      }
    }
    if (statement_.columns.empty()) {
      row.item = std::move(item);
      return row;
    }
    for (const SelectColumn& column : statement_.columns) {
      const api::v1::AttributeValue* const value = ValueAt(item, column.term.path);
      if (value != nullptr) (*row.item.mutable_attributes())[column.name] = *value;
    }
    return row;
  }

  static std::string RowKey(const api::v1::Item& item) {
    api::v1::AttributeValue value;
    *value.mutable_m()->mutable_entries() = item.attributes();
    return EqualityKey(&value);
  }

  absl::StatusOr<SqlResult> Finish() {
    if (is_sorted_by_client()) {
      std::stable_sort(rows_.begin(), rows_.end(), [this](const Row& a, const Row& b) { return IsBefore(a, b); });
    }
    SqlResult result;
    result.is_read = true;
    for (const SelectColumn& column : statement_.columns) result.columns.push_back(column.name);
    const std::optional<int64_t> max = RowsMax();
    for (Row& row : rows_) {
      if (max.has_value() && static_cast<int64_t>(result.items.size()) >= *max) break;
      result.items.push_back(std::move(row.item));
    }
    const int64_t shown = context_.settings.limit;
    const auto count = static_cast<int64_t>(result.items.size());
    result.has_more = shown > 0 && count == shown && statement_.limit.value_or(INT64_MAX) > shown &&
                      (IsStreamed() || static_cast<int64_t>(rows_.size()) > shown);
    return result;
  }

  bool IsBefore(const Row& a, const Row& b) const {
    for (size_t i = 0; i < statement_.order_by.size(); ++i) {
      const SelectOrder& order = statement_.order_by[i];
      const OrderedValue& left = a.order[i];
      const OrderedValue& right = b.order[i];
      if (left.is_null() != right.is_null()) return left.is_null() == order.are_nulls_first;
      if (left == right) continue;
      return order.is_descending ? right < left : left < right;
    }
    return false;
  }

  const SqlContext& context_;
  const std::string_view text_;
  const SelectStatement& statement_;
  std::string key_;  // partition attribute of the table; only for COUNT(*)
  std::optional<CountReads> count_;
  bool is_ordered_by_daemon_ = false;
  std::string daemon_order_;
  std::string rest_;
  size_t rest_where_ = 0;  // where the condition begins in it
  int64_t read_ = 0;
  std::vector<Row> rows_;
};

}  // namespace

absl::StatusOr<SqlResult> RunSelect(const SqlContext& context, std::string_view text,
                                    const SelectStatement& statement) {
  return SelectRun(context, text, statement).Run();
}

}  // namespace armature::cli
