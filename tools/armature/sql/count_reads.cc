#include "tools/armature/sql/count_reads.h"

#include <utility>

#include "engine/items/request.h"
#include "engine/partiql/expression_text.h"
#include "engine/partiql/key_terms.h"
#include "engine/partiql/parser.h"
#include "engine/partiql/read_union.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/key_schema.h"
#include "tools/armature/display.h"
#include "tools/armature/sql/run_statement.h"

namespace armature::cli {
namespace {

using engine::partiql::Condition;
using engine::partiql::ExpressionText;
using engine::partiql::KeyedRead;

model::ScalarType AttributeTypeOf(const api::v1::TableDescription& table, const std::string& attribute) {
  for (const auto& definition : table.attribute_definitions()) {
    if (definition.attribute_name() != attribute) continue;
    if (definition.attribute_type() == api::v1::SCALAR_ATTRIBUTE_TYPE_N) return model::ScalarType::kNumber;
    if (definition.attribute_type() == api::v1::SCALAR_ATTRIBUTE_TYPE_B) return model::ScalarType::kBinary;
  }
  return model::ScalarType::kString;
}

// The key of the table or of its index; empty if there is no such index.
model::KeySchema SchemaOf(const api::v1::TableDescription& table, const std::string& index) {
  model::KeySchema schema;
  const auto fill = [&](const auto& elements) {
    for (const auto& element : elements) {
      auto& part = element.key_type() == api::v1::KEY_TYPE_HASH ? schema.partition : schema.sort;
      part.push_back({element.attribute_name(), AttributeTypeOf(table, element.attribute_name())});
    }
  };
  if (index.empty()) fill(table.key_schema());
  for (const auto& each : table.local_secondary_indexes()) {
    if (each.index_name() == index) fill(each.key_schema());
  }
  for (const auto& each : table.global_secondary_indexes()) {
    if (each.index_name() == index) fill(each.key_schema());
  }
  return schema;
}

// Sets the placeholders of `text`. Request: QueryRequest or ScanRequest. False for values that cannot be read.
template <class Request>
bool FillPlaceholders(const ExpressionText& text, Request* request) {
  engine::ExpressionParameters parameters;
  text.FillPlaceholders(&parameters);
  if (parameters.names.has_value()) {
    for (const auto& [placeholder, name] : *parameters.names) {
      (*request->mutable_expression_attribute_names())[placeholder] = name;
    }
  }
  if (!parameters.values_wire.has_value()) return true;
  api::v1::Item values;
  if (!values.ParseFromString(*parameters.values_wire)) return false;
  *request->mutable_expression_attribute_values() = values.attributes();
  return true;
}

template <class Request>
Request CountRequest(const SqlContext& context, const api::v1::TableDescription& table, const std::string& index) {
  Request request;
  request.set_table_name(table.table_name());
  if (!index.empty()) request.set_index_name(index);
  if (context.settings.consistent_read) request.set_consistent_read(true);
  request.set_select(api::v1::SELECT_COUNT);
  return request;
}

// The filter of a Query has no key attributes.
bool IsFilter(const model::KeySchema& schema, const Condition& condition) {
  bool is_filter = true;
  engine::partiql::ForEachPath(condition,
                               [&](const auto& path) { is_filter = is_filter && !schema.Contains(path.attribute()); });
  return is_filter;
}

std::string KeyConditionOf(const model::KeySchema& schema, const KeyedRead& read, ExpressionText* text) {
  std::string key;
  for (size_t i = 0; i < read.key.partition.size(); ++i) {
    const std::string name = text->Name(schema.partition[i].name);
    key += Cat(key.empty() ? "" : " AND ", name, " = ", text->Value(*read.key.partition[i]));
  }
  for (size_t i = 0; i < read.key.sort.size(); ++i) {
    const engine::partiql::SortTerm& term = read.key.sort[i];
    if (term.value == nullptr) {
      key += Cat(" AND ", text->Text(engine::partiql::AttributeFirst(*term.condition)));
      continue;
    }
    const std::string name = text->Name(schema.sort[i].name);
    key += Cat(" AND ", name, " = ", text->Value(*term.value));
  }
  return key;
}

// Fills the expressions of one Query. False if a Query does not have this condition.
bool FillQuery(const model::KeySchema& schema, const KeyedRead& read, api::v1::QueryRequest* request) {
  ExpressionText text;
  request->set_key_condition_expression(KeyConditionOf(schema, read, &text));
  std::string filter;
  for (const Condition* const each : read.others) {
    if (!IsFilter(schema, *each)) return false;
    filter += Cat(filter.empty() ? "" : " AND ", text.Text(*each, read.others.size() > 1));
  }
  if (!read.branches.empty()) return false;
  if (!filter.empty()) {
    if (request->has_index_name()) return false;
    request->set_filter_expression(filter);
  }
  return FillPlaceholders(text, request);
}

// Adds the counts of all pages to `count`. `call` sends the request.
template <class Request, class Call>
absl::Status CountPages(const SqlContext& context, Request request, Call call, int64_t* count) {
  while (true) {
    if (context.is_interrupted()) return InterruptedError(Cat("the count, after ", WithCommas(*count), " items,"));
    ARM_ASSIGN_OR_RETURN(const auto page, call(request));
    *count += page.count();
    if (!page.has_last_evaluated_key()) return absl::OkStatus();
    *request.mutable_exclusive_start_key() = page.last_evaluated_key();
  }
}

}  // namespace

std::string CountReads::ToString() const {
  if (!scan.has_value()) {
    const bool is_one = queries.size() == 1;
    return Cat(is_one ? "Query" : Cat(queries.size(), " Queries"), " of ", queries.front().table_name(), " that ",
               is_one ? "returns" : "return", " counts, key: ", queries.front().key_condition_expression());
  }
  return Cat("Scan of ", scan->table_name(), " that returns counts",
             scan->has_filter_expression() ? Cat(", filter: ", scan->filter_expression()) : std::string());
}

std::optional<CountReads> MakeCountReads(const SqlContext& context, const api::v1::TableDescription& table,
                                         const std::string& index, const std::string& condition) {
  CountReads made;
  made.scan = CountRequest<api::v1::ScanRequest>(context, table, index);
  if (condition.empty()) return made;
  std::vector<std::string> parameters;
  for (const api::v1::AttributeValue& value : context.parameters) parameters.push_back(value.SerializeAsString());
  const auto statement = engine::partiql::ParseStatement(Cat("SELECT * FROM t WHERE ", condition), parameters);
  const model::KeySchema schema = SchemaOf(table, index);
  if (!statement.ok() || !statement->where.has_value() || schema.partition.empty()) return std::nullopt;
  engine::partiql::ReadBudget budget;
  const auto reads = engine::partiql::DecomposeReads(schema, *statement->where, &budget);
  if (!reads.ok()) return std::nullopt;
  if (reads->empty()) {
    ExpressionText text;
    made.scan->set_filter_expression(text.Text(*statement->where));
    if (!FillPlaceholders(text, &*made.scan)) return std::nullopt;
    return made;
  }
  made.scan.reset();
  for (const KeyedRead& read : *reads) {
    if (!engine::partiql::CheckKeyTerms(schema, read.key).ok()) return std::nullopt;
    api::v1::QueryRequest& query =
        made.queries.emplace_back(CountRequest<api::v1::QueryRequest>(context, table, index));
    if (!FillQuery(schema, read, &query)) return std::nullopt;
  }
  return made;
}

absl::StatusOr<int64_t> CountItems(const SqlContext& context, CountReads reads) {
  int64_t count = 0;
  if (reads.scan.has_value()) {
    const auto scan = [&context](const api::v1::ScanRequest& request) { return context.client.Scan(request); };
    ARM_RETURN_IF_ERROR(CountPages(context, *std::move(reads.scan), scan, &count));
  }
  for (api::v1::QueryRequest& each : reads.queries) {
    const auto query = [&context](const api::v1::QueryRequest& request) { return context.client.Query(request); };
    ARM_RETURN_IF_ERROR(CountPages(context, std::move(each), query, &count));
  }
  return count;
}

}  // namespace armature::cli
