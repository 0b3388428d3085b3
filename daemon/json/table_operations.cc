#include <string_view>
#include <utility>

#include "daemon/json/operations.h"
#include "daemon/json/table_answers.h"
#include "daemon/json/table_requests.h"
#include "daemon/json/table_update_request.h"
#include "engine/engine.h"

namespace armature::daemon {
namespace {

// An answer that is a description under one name.
engine::Callback<engine::TableDescription> AnswerDescription(const JsonCall& call, JsonApi::Done done,
                                                             std::string_view member) {
  return AnswerWith<engine::TableDescription>(
      call, std::move(done), [member](const engine::TableDescription& description, JsonWriter* writer) {
        WriteTableDescription(description, &writer->BeginObject().Key(member));
        writer->EndObject();
      });
}

void CreateTable(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  absl::StatusOr<model::TableDefinition> definition = ParseCreateTable(call.body);
  if (const absl::Status status = Admit(call, definition); !status.ok()) return Fail(call, status, std::move(done));
  engine->CreateTable(*std::move(definition), AnswerDescription(call, std::move(done), "TableDescription"));
}

void DeleteTable(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  const absl::StatusOr<TableNameRequest> request = ParseTableName(call.body);
  if (const absl::Status status = Admit(call, request); !status.ok()) return Fail(call, status, std::move(done));
  engine->DeleteTable(request->table_name, AnswerDescription(call, std::move(done), "TableDescription"));
}

void DescribeTable(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  const absl::StatusOr<TableNameRequest> request = ParseTableName(call.body);
  if (const absl::Status status = Admit(call, request); !status.ok()) return Fail(call, status, std::move(done));
  engine->DescribeTable(request->table_name, AnswerDescription(call, std::move(done), "Table"));
}

void WriteTableNames(const engine::ListTablesResult& result, JsonWriter* writer) {
  writer->BeginObject().Key("TableNames").BeginArray();
  for (const std::string& name : result.names) writer->String(name);
  writer->EndArray();
  if (result.last_evaluated.has_value()) writer->Member("LastEvaluatedTableName", *result.last_evaluated);
  writer->EndObject();
}

void ListTables(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  const absl::StatusOr<ListTablesRequest> request = ParseListTables(call.body);
  if (const absl::Status status = Admit(call, request); !status.ok()) return Fail(call, status, std::move(done));
  engine->ListTables(request->start_after, request->limit,
                     AnswerWith<engine::ListTablesResult>(call, std::move(done), WriteTableNames));
}

void UpdateTable(engine::Engine* engine, const JsonCall& call, JsonApi::Done done) {
  absl::StatusOr<model::TableUpdate> update = ParseUpdateTable(call.body);
  if (const absl::Status status = Admit(call, update); !status.ok()) return Fail(call, status, std::move(done));
  engine->UpdateTable(*std::move(update), AnswerDescription(call, std::move(done), "TableDescription"));
}

constexpr JsonOperation kOperations[] = {
    {"CreateTable", CreateTable}, {"DeleteTable", DeleteTable}, {"DescribeTable", DescribeTable},
    {"ListTables", ListTables},   {"UpdateTable", UpdateTable},
};

}  // namespace

std::span<const JsonOperation> TableOperations() { return kOperations; }

}  // namespace armature::daemon
