#include "tools/armature/sql/select_statement.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::cli {
namespace {

struct AggregateName {
  std::string_view word;
  Aggregate aggregate;
};
constexpr std::array<AggregateName, 5> kAggregates = {{{"COUNT", Aggregate::kCount},
                                                       {"SUM", Aggregate::kSum},
                                                       {"MIN", Aggregate::kMin},
                                                       {"MAX", Aggregate::kMax},
                                                       {"AVG", Aggregate::kAverage}}};

const AggregateName* AggregateAt(const SqlTokenReader& tokens) {
  if (!tokens.IsSymbol("(", 1)) return nullptr;
  const auto* const found = std::find_if(kAggregates.begin(), kAggregates.end(),
                                         [&](const AggregateName& each) { return tokens.IsWord(each.word); });
  return found == kAggregates.end() ? nullptr : found;
}

class SelectParser {
 public:
  explicit SelectParser(const std::vector<SqlToken>& tokens) : tokens_(tokens) {}

  absl::StatusOr<SelectStatement> Run() {
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("SELECT"));
    made_.is_distinct = tokens_.TryWord("DISTINCT");
    if (!made_.is_distinct) tokens_.TryWord("ALL");
    ARM_RETURN_IF_ERROR(ReadColumns());
    ARM_RETURN_IF_ERROR(ReadFrom());
    ARM_RETURN_IF_ERROR(ReadWhere());
    ARM_RETURN_IF_ERROR(ReadGroups());
    if (tokens_.IsWord("HAVING")) return SqlError("HAVING is not supported", tokens_.Peek().place);
    ARM_RETURN_IF_ERROR(ReadOrder());
    if (tokens_.TryWord("LIMIT")) {
      ARM_ASSIGN_OR_RETURN(made_.limit, tokens_.TakeCount("the limit", 0, INT64_MAX));
    }
    if (tokens_.IsWord("OFFSET")) return SqlError("OFFSET is not supported", tokens_.Peek().place);
    ARM_RETURN_IF_ERROR(tokens_.TakeEnd());
    ARM_RETURN_IF_ERROR(CheckColumns());
    return std::move(made_);
  }

 private:
  absl::Status ReadColumns() {
    if (tokens_.TrySymbol("*")) {
      if (!tokens_.IsSymbol(",")) return absl::OkStatus();
      return SqlError("* stands alone: it is all attributes", tokens_.Peek().place);
    }
    std::set<std::string> names;
    do {
      SelectColumn column;
      ARM_ASSIGN_OR_RETURN(column.term, ReadTerm());
      const bool is_path = column.term.aggregate == Aggregate::kNone;
      column.name = is_path ? column.term.path.last_name() : column.term.ToString();
      if (tokens_.TryWord("AS")) {
        ARM_ASSIGN_OR_RETURN(column.name, tokens_.TakeName("a column"));
        made_.has_aliases = true;
      }
      if (!names.insert(column.name).second) {
        return SqlError(Cat("two columns have the name ", column.name, "; give one another name by AS"),
                        column.term.place);
      }
      if (made_.columns.size() == kSelectTermsMax) return SqlError("there are too many columns", column.term.place);
      made_.columns.push_back(std::move(column));
    } while (tokens_.TrySymbol(","));
    return absl::OkStatus();
  }

  absl::StatusOr<SelectTerm> ReadTerm() {
    SelectTerm term;
    term.place.begin = tokens_.Peek().place.begin;
    if (const AggregateName* const aggregate = AggregateAt(tokens_); aggregate != nullptr) {
      tokens_.Take();
      tokens_.Take();
      term.aggregate = aggregate->aggregate;
      if (term.aggregate == Aggregate::kCount && tokens_.TrySymbol("*")) {
        term.aggregate = Aggregate::kCountAll;
      } else {
        term.is_distinct = tokens_.TryWord("DISTINCT");
        ARM_ASSIGN_OR_RETURN(term.path, ReadValuePath(&tokens_));
      }
      ARM_RETURN_IF_ERROR(tokens_.TakeSymbol(")"));
    } else {
      if (tokens_.IsSymbol("(", 1)) {
        return SqlError(Cat(tokens_.Peek().text, " is no function of a column: COUNT, SUM, MIN, MAX and AVG are"),
                        tokens_.Peek().place);
      }
      ARM_ASSIGN_OR_RETURN(term.path, ReadValuePath(&tokens_));
    }
    term.place.end = tokens_.end_of_last();
    return term;
  }

  absl::Status ReadFrom() {
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("FROM"));
    made_.from.begin = tokens_.Peek().place.begin;
    ARM_ASSIGN_OR_RETURN(made_.table, tokens_.TakeName("a table"));
    if (tokens_.TrySymbol(".")) {
      ARM_ASSIGN_OR_RETURN(made_.index, tokens_.TakeName("an index"));
    }
    made_.from.end = tokens_.end_of_last();
    return absl::OkStatus();
  }

  // The condition ends before the first word of a clause that is in no parentheses.
  absl::Status ReadWhere() {
    made_.where_word = tokens_.Peek().place.begin;
    if (!tokens_.TryWord("WHERE")) return absl::OkStatus();
    TextPlace where{tokens_.Peek().place.begin, tokens_.Peek().place.begin};
    int64_t depth = 0;
    while (!tokens_.AtEnd()) {
      for (const std::string_view opening : {"(", "[", "{", "<<"}) depth += tokens_.IsSymbol(opening) ? 1 : 0;
      for (const std::string_view closing : {")", "]", "}", ">>"}) depth -= tokens_.IsSymbol(closing) ? 1 : 0;
      const bool is_clause = tokens_.IsWord("GROUP") || tokens_.IsWord("ORDER") || tokens_.IsWord("LIMIT") ||
                             tokens_.IsWord("HAVING") || tokens_.IsSymbol(";");
      if (depth <= 0 && is_clause) break;
      tokens_.Take();
      where.end = tokens_.end_of_last();
    }
    if (where.end == where.begin) return tokens_.Expected("a condition");
    made_.where = where;
    return absl::OkStatus();
  }

  absl::Status ReadGroups() {
    if (!tokens_.TryWord("GROUP")) return absl::OkStatus();
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("BY"));
    do {
      ARM_ASSIGN_OR_RETURN(ValuePath path, ReadValuePath(&tokens_));
      if (made_.group_by.size() == kSelectTermsMax) return SqlError("there are too many groups", tokens_.Peek().place);
      made_.group_by.push_back(std::move(path));
    } while (tokens_.TrySymbol(","));
    return absl::OkStatus();
  }

  absl::Status ReadOrder() {
    const size_t begin = tokens_.Peek().place.begin;
    if (!tokens_.TryWord("ORDER")) return absl::OkStatus();
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("BY"));
    do {
      SelectOrder order;
      ARM_RETURN_IF_ERROR(ReadOrdered(&order));
      order.is_descending = tokens_.TryWord("DESC");
      if (!order.is_descending) tokens_.TryWord("ASC");
      order.are_nulls_first = order.is_descending;
      if (tokens_.TryWord("NULLS")) {
        order.are_nulls_first = tokens_.TryWord("FIRST");
        if (!order.are_nulls_first) ARM_RETURN_IF_ERROR(tokens_.TakeWord("LAST"));
      }
      if (made_.order_by.size() == kSelectTermsMax) return SqlError("the order is too long", tokens_.Peek().place);
      made_.order_by.push_back(std::move(order));
    } while (tokens_.TrySymbol(","));
    made_.order = TextPlace{begin, tokens_.end_of_last()};
    return absl::OkStatus();
  }

  absl::Status ReadOrdered(SelectOrder* order) {
    if (tokens_.Peek().kind == SqlTokenKind::kNumber) {
      order->place = tokens_.Peek().place;
      const auto count = static_cast<int64_t>(made_.columns.size());
      if (count == 0) return SqlError("with *, an order names attributes", order->place);
      ARM_ASSIGN_OR_RETURN(const int64_t number, tokens_.TakeCount("the number of a column", 1, count));
      order->column = static_cast<size_t>(number - 1);
      return absl::OkStatus();
    }
    ARM_ASSIGN_OR_RETURN(const SelectTerm term, ReadTerm());
    order->place = term.place;
    order->path = term.path;
    for (size_t i = 0; i < made_.columns.size(); ++i) {
      const SelectColumn& column = made_.columns[i];
      const bool is_name =
          term.aggregate == Aggregate::kNone && term.path.steps.empty() && term.path.attribute == column.name;
      if (is_name || term == column.term) order->column = i;
      if (is_name) break;
    }
    if (term.aggregate != Aggregate::kNone && !order->column.has_value()) {
      return SqlError(Cat(term.ToString(), " is no column of the statement"), term.place);
    }
    return absl::OkStatus();
  }

  // Rows of groups have the values that all items of a group share, and no others.
  absl::Status CheckColumns() const {
    const auto is_shared = [this](const ValuePath& path) {
      return std::find(made_.group_by.begin(), made_.group_by.end(), path) != made_.group_by.end();
    };
    for (const SelectOrder& order : made_.order_by) {
      if (!made_.is_distinct || made_.columns.empty() || order.column.has_value()) continue;
      return SqlError("the order of DISTINCT rows names their columns", order.place);
    }
    if (!made_.is_grouped()) return absl::OkStatus();
    if (made_.columns.empty()) return SqlError("* has no meaning in groups: name the columns", made_.from);
    for (const SelectColumn& column : made_.columns) {
      if (column.term.aggregate != Aggregate::kNone || is_shared(column.term.path)) continue;
      return SqlError(Cat(column.term.ToString(),
                          " differs between the items of a group: add it to GROUP BY, or "
                          "compute MIN, MAX or COUNT of it"),
                      column.term.place);
    }
    for (const SelectOrder& order : made_.order_by) {
      if (order.column.has_value() || is_shared(order.path)) continue;
      return SqlError(Cat(order.path.ToString(), " is neither a column nor in GROUP BY"), order.place);
    }
    return absl::OkStatus();
  }

  SqlTokenReader tokens_;
  SelectStatement made_;
};

}  // namespace

std::string SelectTerm::ToString() const {
  if (aggregate == Aggregate::kNone) return path.ToString();
  if (aggregate == Aggregate::kCountAll) return "COUNT(*)";
  for (const AggregateName& each : kAggregates) {
    if (each.aggregate == aggregate) return Cat(each.word, is_distinct ? "(DISTINCT " : "(", path.ToString(), ")");
  }
  return "";
}

bool SelectStatement::is_grouped() const {
  return !group_by.empty() || std::any_of(columns.begin(), columns.end(), [](const SelectColumn& column) {
    return column.term.aggregate != Aggregate::kNone;
  });
}

bool HasClausesOfOurs(const std::vector<SqlToken>& tokens) {
  const SqlTokenReader first(tokens);
  if (!first.IsWord("SELECT")) return false;
  if (first.IsWord("DISTINCT", 1)) return true;
  bool is_list = true;  // of columns
  for (size_t i = 1; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind != SqlTokenKind::kWord) continue;
    const auto is = [&](std::string_view word) { return absl::EqualsIgnoreCase(tokens[i].text, Av(word)); };
    if (is("FROM")) is_list = false;
    if (is("GROUP") || is("ORDER") || is("LIMIT") || is("HAVING") || (is_list && is("AS"))) return true;
    const bool is_call = tokens[i + 1].kind == SqlTokenKind::kSymbol && tokens[i + 1].text == "(";
    if (is_list && is_call &&
        std::any_of(kAggregates.begin(), kAggregates.end(), [&](const AggregateName& each) { return is(each.word); })) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<SelectStatement> ParseSelect(const std::vector<SqlToken>& tokens) { return SelectParser(tokens).Run(); }

}  // namespace armature::cli
