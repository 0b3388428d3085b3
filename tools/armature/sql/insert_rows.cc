#include "tools/armature/sql/insert_rows.h"

#include <algorithm>
#include <set>
#include <utility>

#include "armature/api/v1/items.pb.h"
#include "armature/api/v1/statements.pb.h"
#include "armature/client/errors.h"
#include "engine/partiql/parser.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/display.h"
#include "tools/armature/sql/run_statement.h"

namespace armature::cli {
namespace {

constexpr size_t kNamesMax = 10'000;

class InsertParser {
 public:
  InsertParser(std::string_view text, const std::vector<SqlToken>& tokens) : text_(text), tokens_(tokens) {}

  absl::StatusOr<InsertRows> Run() {
    made_.is_replace = tokens_.TryWord("REPLACE");
    if (!made_.is_replace) ARM_RETURN_IF_ERROR(tokens_.TakeWord("INSERT"));
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("INTO"));
    ARM_ASSIGN_OR_RETURN(made_.table, tokens_.TakeName("a table"));
    ARM_RETURN_IF_ERROR(tokens_.TryWord("VALUE") ? ReadValue() : ReadRows());
    ARM_RETURN_IF_ERROR(tokens_.TakeEnd());
    return std::move(made_);
  }

 private:
  std::string Head() const { return Cat("INSERT INTO ", QuotedName(made_.table), " VALUE "); }

  // The rest of the statement is an item.
  absl::Status ReadValue() {
    InsertRows::Row row;
    row.place.begin = tokens_.Peek().place.begin;
    while (!tokens_.AtEnd() && !tokens_.IsSymbol(";")) {
      if (tokens_.IsSymbol("?")) ++row.parameters;
      tokens_.Take();
    }
    row.place.end = tokens_.end_of_last();
    if (row.place.end <= row.place.begin) return tokens_.Expected("an item, such as {'id': 1}");
    row.statement = Head() + std::string(text_.substr(row.place.begin, row.place.end - row.place.begin));
    made_.rows.push_back(std::move(row));
    return absl::OkStatus();
  }

  absl::Status ReadRows() {
    ARM_RETURN_IF_ERROR(tokens_.TakeSymbol("("));
    std::set<std::string> known;
    do {
      const TextPlace place = tokens_.Peek().place;
      ARM_ASSIGN_OR_RETURN(std::string name, tokens_.TakeAnyName("an attribute"));
      if (!known.insert(name).second) return SqlError(Cat(name, " is named twice"), place);
      if (names_.size() == kNamesMax) return SqlError("there are too many attributes", place);
      names_.push_back(std::move(name));
    } while (tokens_.TrySymbol(","));
    ARM_RETURN_IF_ERROR(tokens_.TakeSymbol(")"));
    if (tokens_.IsWord("VALUE")) return tokens_.Expected("VALUES");
    ARM_RETURN_IF_ERROR(tokens_.TakeWord("VALUES"));
    do {
      ARM_RETURN_IF_ERROR(ReadRow());
    } while (tokens_.TrySymbol(","));
    return absl::OkStatus();
  }

  absl::Status ReadRow() {
    InsertRows::Row row;
    row.first_parameter = parameters_;
    row.place.begin = tokens_.Peek().place.begin;
    ARM_RETURN_IF_ERROR(tokens_.TakeSymbol("("));
    std::string members;
    size_t count = 0;
    do {
      const TextPlace place = tokens_.Peek().place;
      ARM_ASSIGN_OR_RETURN(const std::string value, ReadLiteralText());
      if (count == names_.size()) return SqlError(Cat("there are only ", names_.size(), " attributes"), place);
      const std::string& name = names_[count++];
      if (!value.empty()) members += Cat(members.empty() ? "" : ", ", QuotedText(name), ": ", value);
    } while (tokens_.TrySymbol(","));
    if (count < names_.size()) return tokens_.Expected(Cat("a value of ", names_[count]));
    ARM_RETURN_IF_ERROR(tokens_.TakeSymbol(")"));
    row.place.end = tokens_.end_of_last();
    row.parameters = parameters_ - row.first_parameter;
    row.statement = Cat(Head(), "{", members, "}");
    made_.rows.push_back(std::move(row));
    return absl::OkStatus();
  }

  // The text up to the next comma or parenthesis that is in no brackets. Empty for MISSING.
  absl::StatusOr<std::string> ReadLiteralText() {
    if (tokens_.Peek().kind == SqlTokenKind::kName) {
      return SqlError(
          Cat("\"", tokens_.Peek().text, "\" is an attribute; a text is written '", tokens_.Peek().text, "'"),
          tokens_.Peek().place);
    }
    const size_t begin = tokens_.Peek().place.begin;
    if (tokens_.TryWord("MISSING")) return std::string();
    int64_t depth = 0;
    size_t end = begin;
    while (!tokens_.AtEnd()) {
      if (depth == 0 && (tokens_.IsSymbol(",") || tokens_.IsSymbol(")"))) break;
      for (const std::string_view opening : {"(", "[", "{", "<<"}) depth += tokens_.IsSymbol(opening) ? 1 : 0;
      for (const std::string_view closing : {")", "]", "}", ">>"}) depth -= tokens_.IsSymbol(closing) ? 1 : 0;
      if (depth < 0) return tokens_.Expected("a value");
      if (tokens_.IsSymbol("?")) ++parameters_;
      tokens_.Take();
      end = tokens_.end_of_last();
    }
    if (end == begin) return tokens_.Expected("a value");
    return std::string(text_.substr(begin, end - begin));
  }

  const std::string_view text_;
  SqlTokenReader tokens_;
  std::vector<std::string> names_;
  size_t parameters_ = 0;
  InsertRows made_;
};

absl::Status Insert(const SqlContext& context, const InsertRows::Row& row,
                    const std::vector<api::v1::AttributeValue>& parameters) {
  api::v1::ExecuteStatementRequest request;
  request.set_statement(row.statement);
  for (const api::v1::AttributeValue& value : parameters) *request.add_parameters() = value;
  return context.client.ExecuteStatement(request).status();
}

// Puts the item of the row, whose literal is that of an INSERT.
absl::Status Put(const SqlContext& context, const std::string& table, const InsertRows::Row& row,
                 const std::vector<api::v1::AttributeValue>& parameters) {
  std::vector<std::string> values;
  values.reserve(parameters.size());
  for (const api::v1::AttributeValue& value : parameters) values.push_back(value.SerializeAsString());
  ARM_ASSIGN_OR_RETURN(const engine::partiql::Statement parsed, engine::partiql::ParseStatement(row.statement, values));
  api::v1::PutItemRequest request;
  request.set_table_name(table);
  if (!request.mutable_item()->ParseFromString(parsed.item)) return absl::InternalError("the item cannot be read");
  return context.client.PutItem(request).status();
}

// The place of a fault inside of the row's literal, or that of the row.
absl::Status WithRowPlace(absl::Status status, const InsertRows::Row& row) {
  if (PlaceIsOurs(status) || client::ErrorName(status).empty()) return status;
  const bool is_literal =
      row.statement.size() > row.place.end - row.place.begin && PlaceOf(status, row.statement).has_value();
  const size_t begin = row.statement.size() - std::min(row.statement.size(), row.place.end - row.place.begin);
  if (is_literal) return WithPlaceOf(std::move(status), row.statement, begin, row.place);
  return WithPlaceAt(std::move(status), row.place);
}

}  // namespace

bool IsInsertOfRows(const SqlTokenReader& tokens) {
  if (tokens.IsWord("REPLACE")) return true;
  return tokens.IsWord("INSERT") && tokens.IsWord("INTO", 1) && tokens.IsSymbol("(", 3);
}

absl::StatusOr<InsertRows> ParseInsertRows(std::string_view text, const std::vector<SqlToken>& tokens) {
  return InsertParser(text, tokens).Run();
}

absl::StatusOr<std::vector<api::v1::AttributeValue>> ParametersOf(const InsertRows::Row& row,
                                                                  const SqlContext& context) {
  if (row.first_parameter + row.parameters > context.parameters.size()) {
    return SqlError("there are fewer --parameters than question marks", row.place);
  }
  const auto begin = context.parameters.begin() + static_cast<ptrdiff_t>(row.first_parameter);
  return std::vector<api::v1::AttributeValue>(begin, begin + static_cast<ptrdiff_t>(row.parameters));
}

absl::StatusOr<SqlResult> RunInsertRows(const SqlContext& context, const InsertRows& statement) {
  const auto count = static_cast<int64_t>(statement.rows.size());
  if (context.settings.explain) {
    return PlanResult(Cat(WithCommas(count), count == 1 ? " PutItem" : " PutItems, one after the other", " into ",
                          QuotedName(statement.table),
                          statement.is_replace ? "; present items are replaced" : ", each if there is no such item"));
  }
  int64_t done = 0;
  for (const InsertRows::Row& row : statement.rows) {
    if (context.is_interrupted()) return InterruptedError(Cat("the statement, after ", WithCommas(done), " items,"));
    ARM_ASSIGN_OR_RETURN(const auto parameters, ParametersOf(row, context));
    const absl::Status status =
        statement.is_replace ? Put(context, statement.table, row, parameters) : Insert(context, row, parameters);
    if (!status.ok()) {
      const absl::Status placed = WithRowPlace(status, row);
      if (count == 1) return placed;
      const std::string_view before = done > 0 ? "; the rows before it are in the table" : "";
      return WithNote(placed, Cat(" (row ", done + 1, " of ", count, before, ")"));
    }
    ++done;
  }
  const std::string_view verb = statement.is_replace ? "put into" : "inserted into";
  return TextResult(Cat(WithCommas(count), count == 1 ? " item " : " items ", verb, " ", statement.table, "."),
                    {{"Written", count}});
}

}  // namespace armature::cli
