#include "tools/armature/sql/table_run.h"

#include <string>
#include <utility>
#include <vector>

#include "armature/client/errors.h"
#include "armature/client/wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/command.h"
#include "tools/armature/display.h"
#include "tools/armature/message_json.h"

namespace armature::cli {
namespace {

using api::v1::TableDescription;

template <class Schema>
std::string KeyColumn(const Schema& schema) {
  std::string partition;
  std::string sort;
  for (const auto& element : schema) {
    std::string& to = element.key_type() == api::v1::KEY_TYPE_HASH ? partition : sort;
    to += Cat(to.empty() ? "" : ", ", element.attribute_name());
  }
  return sort.empty() ? partition : Cat(partition, " | ", sort);
}

std::string ProjectionColumn(const api::v1::Projection& projection) {
  if (projection.projection_type() == api::v1::PROJECTION_TYPE_ALL) return "ALL";
  if (projection.projection_type() == api::v1::PROJECTION_TYPE_KEYS_ONLY) return "KEYS";
  std::string names;
  for (const std::string& name : projection.non_key_attributes()) names += Cat(names.empty() ? "" : ", ", name);
  return Cat("(", names, ")");
}

// Name of an enumeration's value in JSON, such as ACTIVE.
std::string StatusColumn(const TableDescription& table) { return MessageToJson(table).value("TableStatus", ""); }

void SetNumber(const char* name, int64_t number, api::v1::Item* row) {
  (*row->mutable_attributes())[name].set_n(Cat(number));
}

class TableRun {
 public:
  TableRun(const SqlContext& context, const TableStatement& statement)
      : context_(context), client_(context.client), statement_(statement) {}

  absl::StatusOr<SqlResult> Run() {
    if (context_.settings.explain) return Explain();
    switch (statement_.kind) {
      case TableStatement::Kind::kShowTables:
        return ShowTables();
      case TableStatement::Kind::kShowIndexes:
        return ShowIndexes();
      case TableStatement::Kind::kShowCreate:
        return ShowCreate();
      case TableStatement::Kind::kDescribe:
        return Describe();
      case TableStatement::Kind::kCreate:
        return Create();
      case TableStatement::Kind::kAddIndex:
        return AddIndex();
      case TableStatement::Kind::kDropIndex:
        return DropIndex();
      case TableStatement::Kind::kSet:
        return SetSettings();
      case TableStatement::Kind::kDrop:
        return Drop();
    }
    return absl::InternalError("unknown statement");
  }

 private:
  const std::string& table_name() const { return statement_.table; }

  absl::StatusOr<SqlResult> Explain() const {
    const std::string name = QuotedName(table_name());
    switch (statement_.kind) {
      case TableStatement::Kind::kShowTables:
        return PlanResult("ListTables, and DescribeTable of each");
      case TableStatement::Kind::kShowIndexes:
        return PlanResult(Cat("DescribeTable of ", name));
      case TableStatement::Kind::kShowCreate:
      case TableStatement::Kind::kDescribe:
        return PlanResult(Cat("DescribeTable and DescribeTimeToLive of ", name));
      case TableStatement::Kind::kCreate: {
        ARM_RETURN_IF_ERROR(CreateRequestOf(statement_).status());
        const bool has_ttl = !statement_.settings.ttl.value_or("").empty();
        return PlanResult(Cat("CreateTable of ", name, " with ", statement_.indexes.size(),
                              " indexes, then waits until it can be used", has_ttl ? ", then UpdateTimeToLive" : ""));
      }
      case TableStatement::Kind::kAddIndex:
        return PlanResult(Cat("UpdateTable of ", name, ": creates the index ", statement_.indexes[0].name,
                              " from all items, while the table stays in use"));
      case TableStatement::Kind::kDropIndex:
        return PlanResult(Cat("Asks, then UpdateTable of ", name, ": deletes the index ", statement_.index));
      case TableStatement::Kind::kSet:
        return PlanResult(Cat("UpdateTable of ", name, " for each setting, and UpdateTimeToLive for ttl"));
      case TableStatement::Kind::kDrop:
        return PlanResult(Cat("Asks, then DeleteTable of ", name, ", and waits until it is gone"));
    }
    return absl::InternalError("unknown statement");
  }

  absl::StatusOr<SqlResult> ShowTables() const {
    ARM_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListTableNames(client_));
    SqlResult result{.is_read = true, .columns = {"table", "key", "items", "bytes", "indexes", "status"}};
    for (const std::string& name : names) {
      if (context_.is_interrupted()) break;
      const absl::StatusOr<TableDescription> table = DescribeTable(client_, name);
      // Deleted meanwhile.
      if (!table.ok()) continue;
      api::v1::Item row =
          TextRow({{"table", name}, {"key", KeyColumn(table->key_schema())}, {"status", StatusColumn(*table)}});
      SetNumber("items", table->item_count(), &row);
      SetNumber("bytes", table->table_size_bytes(), &row);
      SetNumber("indexes", table->local_secondary_indexes_size() + table->global_secondary_indexes_size(), &row);
      result.items.push_back(std::move(row));
    }
    return result;
  }

  absl::StatusOr<SqlResult> ShowIndexes() const {
    ARM_ASSIGN_OR_RETURN(const TableDescription table, DescribeTable(client_, table_name()));
    SqlResult result{.is_read = true, .columns = {"index", "kind", "key", "projection", "items", "bytes", "status"}};
    const auto add = [&result](const auto& index, const char* kind, const std::string& status) {
      api::v1::Item row = TextRow({{"index", index.index_name()},
                                   {"kind", kind},
                                   {"key", KeyColumn(index.key_schema())},
                                   {"projection", ProjectionColumn(index.projection())},
                                   {"status", status}});
      SetNumber("items", index.item_count(), &row);
      SetNumber("bytes", index.index_size_bytes(), &row);
      result.items.push_back(std::move(row));
    };
    for (const auto& index : table.local_secondary_indexes()) add(index, "local", StatusColumn(table));
    for (const auto& index : table.global_secondary_indexes()) {
      add(index, "global", MessageToJson(index).value("IndexStatus", ""));
    }
    return result;
  }

  // The attribute of the time to live; empty if there is none.
  absl::StatusOr<std::string> TimeToLive() const {
    api::v1::DescribeTimeToLiveRequest request;
    request.set_table_name(table_name());
    ARM_ASSIGN_OR_RETURN(const auto response, client_.DescribeTimeToLive(request));
    return response.time_to_live_description().attribute_name();
  }

  absl::StatusOr<SqlResult> ShowCreate() const {
    ARM_ASSIGN_OR_RETURN(const TableDescription table, DescribeTable(client_, table_name()));
    ARM_ASSIGN_OR_RETURN(const std::string ttl, TimeToLive());
    const std::string text = CreateTextOf(table, ttl);
    SqlResult result = TextResult(text, {{"Statement", text}});
    result.is_text = true;
    return result;
  }

  absl::StatusOr<SqlResult> Describe() const {
    ARM_ASSIGN_OR_RETURN(const TableDescription table, DescribeTable(client_, table_name()));
    ARM_ASSIGN_OR_RETURN(const std::string ttl, TimeToLive());
    SqlResult result{.is_read = true, .columns = {"property", "value"}};
    const auto add = [&result](const std::string& property, const std::string& value) {
      if (!value.empty()) result.items.push_back(TextRow({{"property", property}, {"value", value}}));
    };
    add("table", table.table_name());
    add("status", StatusColumn(table));
    std::string key;
    for (const auto& element : table.key_schema()) {
      std::string_view type = "S";
      for (const auto& definition : table.attribute_definitions()) {
        if (definition.attribute_name() == element.attribute_name()) type = ScalarWord(definition.attribute_type());
      }
      key += Cat(key.empty() ? "" : " | ", element.attribute_name(), " ", type);
    }
    add("key", key);
    add("items", WithCommas(table.item_count()));
    add("size", ShowBytes(static_cast<uint64_t>(table.table_size_bytes())));
    for (const auto& index : table.local_secondary_indexes()) {
      add("local index " + index.index_name(),
          Cat("(", KeyColumn(index.key_schema()), ") projects ", ProjectionColumn(index.projection())));
    }
    for (const auto& index : table.global_secondary_indexes()) {
      const std::string status = MessageToJson(index).value("IndexStatus", "");
      add("global index " + index.index_name(),
          Cat("(", KeyColumn(index.key_schema()), ") projects ", ProjectionColumn(index.projection()),
              status == "ACTIVE" ? "" : ", ", status == "ACTIVE" ? "" : status));
    }
    if (table.has_stream_specification()) {
      add("stream", std::string(StreamWord(table.stream_specification().stream_view_type())));
    }
    add("ttl", ttl);
    const auto& units = table.provisioned_throughput();
    add("capacity", units.read_capacity_units() > 0
                        ? Cat(units.read_capacity_units(), " reads, ", units.write_capacity_units(), " writes")
                        : "on demand");
    if (table.deletion_protection_enabled()) add("protected", "from deletion");
    return result;
  }

  SqlResult Done(std::string_view what) const { return TextResult(Cat(what, "."), {{"Done", std::string(what)}}); }

  // Waits for the changes that were begun. True if they are done before the deadline.
  absl::StatusOr<bool> AwaitChanges() const {
    const absl::Status status = client::WaitForTable(client_, table_name(), context_.session.Deadline());
    if (absl::IsDeadlineExceeded(status)) return false;
    ARM_RETURN_IF_ERROR(status);
    return true;
  }

  absl::StatusOr<SqlResult> Create() const {
    ARM_ASSIGN_OR_RETURN(const api::v1::CreateTableRequest request, CreateRequestOf(statement_));
    const absl::Status created = client_.CreateTable(request).status();
    if (statement_.is_tolerant && client::ErrorName(created) == "ResourceInUseException" &&
        DescribeTable(client_, table_name()).ok()) {
      return Done(Cat("The table ", table_name(), " exists already; nothing was done"));
    }
    ARM_RETURN_IF_ERROR(created);
    ARM_ASSIGN_OR_RETURN(const bool is_there, AwaitChanges());
    if (!is_there) return Done(Cat("The table ", table_name(), " is being created"));
    const std::string ttl = statement_.settings.ttl.value_or("");
    if (!ttl.empty()) ARM_RETURN_IF_ERROR(SetTimeToLive(ttl));
    return Done(Cat("The table ", table_name(), " was created"));
  }

  absl::StatusOr<SqlResult> AddIndex() const {
    ARM_ASSIGN_OR_RETURN(const TableDescription table, DescribeTable(client_, table_name()));
    ARM_ASSIGN_OR_RETURN(const api::v1::UpdateTableRequest request, AddIndexRequestOf(statement_, table));
    ARM_RETURN_IF_ERROR(client_.UpdateTable(request).status());
    ARM_ASSIGN_OR_RETURN(const bool is_there, AwaitChanges());
    const std::string& index = statement_.indexes[0].name;
    if (is_there) return Done(Cat("The index ", index, " of ", table_name(), " can be used"));
    return Done(Cat("The index ", index, " of ", table_name(), " is being built; SHOW INDEXES OF ",
                    QuotedName(table_name()), " shows its state"));
  }

  absl::StatusOr<SqlResult> DropIndex() const {
    ARM_RETURN_IF_ERROR(
        context_.session.Confirm(Cat("The index ", statement_.index, " of ", table_name(), " will be deleted")));
    api::v1::UpdateTableRequest request;
    request.set_table_name(table_name());
    request.add_global_secondary_index_updates()->mutable_delete_()->set_index_name(statement_.index);
    ARM_RETURN_IF_ERROR(client_.UpdateTable(request).status());
    ARM_ASSIGN_OR_RETURN(const bool is_gone, AwaitChanges());
    return Done(Cat("The index ", statement_.index, " of ", table_name(), is_gone ? " was" : " is being", " deleted"));
  }

  absl::StatusOr<SqlResult> Drop() const {
    const absl::Status found = DescribeTable(client_, table_name()).status();
    if (statement_.is_tolerant && client::ErrorName(found) == "ResourceNotFoundException") {
      return Done(Cat("There is no table ", table_name(), "; nothing was done"));
    }
    ARM_RETURN_IF_ERROR(found);
    ARM_RETURN_IF_ERROR(
        context_.session.Confirm(Cat("Table ", table_name(), " and all its items and indexes will be deleted")));
    api::v1::DeleteTableRequest request;
    request.set_table_name(table_name());
    ARM_RETURN_IF_ERROR(client_.DeleteTable(request).status());
    ARM_RETURN_IF_ERROR(client::WaitForTableGone(client_, table_name(), context_.session.Deadline()));
    return Done(Cat("The table ", table_name(), " was deleted"));
  }

  // An empty attribute switches it off.
  absl::Status SetTimeToLive(const std::string& attribute) const {
    ARM_ASSIGN_OR_RETURN(const std::string present, TimeToLive());
    if (attribute == present) return absl::OkStatus();
    api::v1::UpdateTimeToLiveRequest request;
    request.set_table_name(table_name());
    request.mutable_time_to_live_specification()->set_enabled(!attribute.empty());
    request.mutable_time_to_live_specification()->set_attribute_name(attribute.empty() ? present : attribute);
    return client_.UpdateTimeToLive(request).status();
  }

  absl::Status Update(api::v1::UpdateTableRequest request) const {
    request.set_table_name(table_name());
    ARM_RETURN_IF_ERROR(client_.UpdateTable(request).status());
    return client::WaitForTable(client_, table_name(), context_.session.Deadline());
  }

  // A stream changes its images by being switched off and on again.
  absl::Status SetStream(const TableDescription& table) const {
    const api::v1::StreamViewType present = table.has_stream_specification()
                                                ? table.stream_specification().stream_view_type()
                                                : api::v1::STREAM_VIEW_TYPE_UNSPECIFIED;
    const api::v1::StreamViewType wanted = *statement_.settings.stream;
    if (wanted == present) return absl::OkStatus();
    if (present != api::v1::STREAM_VIEW_TYPE_UNSPECIFIED) {
      api::v1::UpdateTableRequest off;
      off.mutable_stream_specification()->set_stream_enabled(false);
      ARM_RETURN_IF_ERROR(Update(std::move(off)));
    }
    if (wanted == api::v1::STREAM_VIEW_TYPE_UNSPECIFIED) return absl::OkStatus();
    api::v1::UpdateTableRequest on;
    on.mutable_stream_specification()->set_stream_enabled(true);
    on.mutable_stream_specification()->set_stream_view_type(wanted);
    return Update(std::move(on));
  }

  absl::StatusOr<SqlResult> SetSettings() const {
    const TableSettingsGiven& settings = statement_.settings;
    ARM_ASSIGN_OR_RETURN(const TableDescription table, DescribeTable(client_, table_name()));
    if (settings.billing.has_value()) {
      api::v1::UpdateTableRequest request;
      request.set_billing_mode(*settings.billing);
      if (*settings.billing == api::v1::BILLING_MODE_PROVISIONED) {
        const auto fill = [&settings](api::v1::ProvisionedThroughput* to) {
          to->set_read_capacity_units(settings.capacity.reads);
          to->set_write_capacity_units(settings.capacity.writes);
        };
        fill(request.mutable_provisioned_throughput());
        const bool is_change = table.provisioned_throughput().read_capacity_units() == 0;
        for (const auto& index : table.global_secondary_indexes()) {
          if (!is_change) break;
          auto& update = *request.add_global_secondary_index_updates()->mutable_update();
          update.set_index_name(index.index_name());
          fill(update.mutable_provisioned_throughput());
        }
      }
      ARM_RETURN_IF_ERROR(Update(std::move(request)));
    }
    if (settings.stream.has_value()) ARM_RETURN_IF_ERROR(SetStream(table));
    if (settings.is_protected.has_value()) {
      api::v1::UpdateTableRequest request;
      request.set_deletion_protection_enabled(*settings.is_protected);
      ARM_RETURN_IF_ERROR(Update(std::move(request)));
    }
    if (settings.table_class.has_value()) {
      api::v1::UpdateTableRequest request;
      request.set_table_class(*settings.table_class);
      ARM_RETURN_IF_ERROR(Update(std::move(request)));
    }
    if (settings.ttl.has_value()) ARM_RETURN_IF_ERROR(SetTimeToLive(*settings.ttl));
    return Done(Cat("The table ", table_name(), " was changed"));
  }

  const SqlContext& context_;
  const client::Client& client_;
  const TableStatement& statement_;
};

}  // namespace

absl::StatusOr<SqlResult> RunTableStatement(const SqlContext& context, const TableStatement& statement) {
  return TableRun(context, statement).Run();
}

}  // namespace armature::cli
