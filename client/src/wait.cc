#include "armature/client/wait.h"

#include <algorithm>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "armature/client/errors.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::client {
namespace {

constexpr absl::Duration kPauseInitial = absl::Milliseconds(5);
constexpr absl::Duration kPauseMax = absl::Milliseconds(500);

// Returns the unmet condition as text, or an empty text when the wait is over.
using Probe = std::function<absl::StatusOr<std::string>(const CallOptions&)>;

absl::Status WaitFor(const Client& client, absl::Time deadline, const Probe& probe) {
  Clock& clock = *client.options().clock;
  for (absl::Duration pause = kPauseInitial;; pause = std::min(pause * 2, kPauseMax)) {
    CallOptions options;
    options.timeout = std::max(absl::Milliseconds(1), std::min(client.options().timeout, deadline - clock.Now()));
    ARM_ASSIGN_OR_RETURN(const std::string missing, probe(options));
    if (missing.empty()) return absl::OkStatus();
    if (clock.Now() + pause >= deadline) return absl::DeadlineExceededError(missing);
    clock.SleepFor(pause);
  }
}

absl::StatusOr<api::v1::DescribeTableResponse> Describe(const Client& client, std::string_view table_name,
                                                        const CallOptions& options) {
  api::v1::DescribeTableRequest request;
  request.set_table_name(std::string(table_name));
  return client.DescribeTable(request, options);
}

bool IsNoSuchTable(const absl::Status& status) { return ErrorName(status) == "ResourceNotFoundException"; }

std::string MissingForActive(const api::v1::TableDescription& table) {
  if (table.table_status() != api::v1::TABLE_STATUS_ACTIVE) {
    return Cat("table ", table.table_name(), " is ", api::v1::TableStatus_Name(table.table_status()));
  }
  for (const auto& index : table.global_secondary_indexes()) {
    if (index.index_status() != api::v1::INDEX_STATUS_ACTIVE) {
      return Cat("index ", table.table_name(), "/", index.index_name(), " is ",
                 api::v1::IndexStatus_Name(index.index_status()));
    }
  }
  return "";
}

std::string MissingForSequence(const admin::v1::ListIndexStatusResponse& list, uint64_t sequence) {
  for (const admin::v1::IndexStatus& index : list.indexes()) {
    if (index.kind() != admin::v1::INDEX_KIND_GLOBAL) continue;
    if (index.state() != admin::v1::INDEX_STATE_ACTIVE) {
      return Cat("index ", index.table_name(), "/", index.index_name(), " is ",
                 admin::v1::IndexState_Name(index.state()));
    }
    if (index.applied_sequence() < sequence) {
      return Cat("index ", index.table_name(), "/", index.index_name(), " is at sequence ", index.applied_sequence(),
                 " of ", sequence);
    }
  }
  return "";
}

}  // namespace

absl::Status WaitForTable(const Client& client, std::string_view table_name, absl::Time deadline) {
  return WaitFor(client, deadline, [&](const CallOptions& options) -> absl::StatusOr<std::string> {
    const auto answer = Describe(client, table_name, options);
    if (answer.ok()) return MissingForActive(answer->table());
    if (IsNoSuchTable(answer.status())) return Cat("table ", table_name, " does not exist");
    return answer.status();
  });
}

absl::Status WaitForTableGone(const Client& client, std::string_view table_name, absl::Time deadline) {
  return WaitFor(client, deadline, [&](const CallOptions& options) -> absl::StatusOr<std::string> {
    const auto answer = Describe(client, table_name, options);
    if (answer.ok()) {
      return Cat("table ", table_name, " is still ", api::v1::TableStatus_Name(answer->table().table_status()));
    }
    if (IsNoSuchTable(answer.status())) return std::string();
    return answer.status();
  });
}

absl::Status WaitForBackup(const Client& client, std::string_view backup_arn, absl::Time deadline) {
  return WaitFor(client, deadline, [&](const CallOptions& options) -> absl::StatusOr<std::string> {
    api::v1::DescribeBackupRequest request;
    request.set_backup_arn(std::string(backup_arn));
    ARM_ASSIGN_OR_RETURN(const auto answer, client.DescribeBackup(request, options));
    const api::v1::BackupStatus status = answer.backup_description().backup_details().backup_status();
    if (status == api::v1::BACKUP_STATUS_AVAILABLE) return std::string();
    return Cat("backup ", backup_arn, " is ", api::v1::BackupStatus_Name(status));
  });
}

absl::Status WaitForIndexes(const Client& client, std::string_view table_name, uint64_t change_sequence,
                            absl::Time deadline) {
  return WaitFor(client, deadline, [&](const CallOptions& options) -> absl::StatusOr<std::string> {
    admin::v1::ListIndexStatusRequest request;
    request.set_table_name(std::string(table_name));
    ARM_ASSIGN_OR_RETURN(const auto answer, client.ListIndexStatus(request, options));
    return MissingForSequence(answer, change_sequence);
  });
}

}  // namespace armature::client
