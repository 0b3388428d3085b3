#include "tools/armature/table_calls.h"

#include <utility>

#include "storage/base/status_macros.h"

namespace armature::cli {

absl::StatusOr<std::vector<std::string>> ListTableNames(const client::Client& client) {
  std::vector<std::string> names;
  api::v1::ListTablesRequest request;
  while (true) {
    ARM_ASSIGN_OR_RETURN(const auto page, client.ListTables(request));
    names.insert(names.end(), page.table_names().begin(), page.table_names().end());
    if (!page.has_last_evaluated_table_name()) return names;
    request.set_exclusive_start_table_name(page.last_evaluated_table_name());
  }
}

absl::StatusOr<api::v1::TableDescription> DescribeTable(const client::Client& client, const std::string& name) {
  api::v1::DescribeTableRequest request;
  request.set_table_name(name);
  ARM_ASSIGN_OR_RETURN(auto response, client.DescribeTable(request));
  return std::move(*response.mutable_table());
}

}  // namespace armature::cli
