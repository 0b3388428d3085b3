#ifndef ARMATURE_TOOLS_ARMATURE_COPY_TABLE_DEFINITION_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_TABLE_DEFINITION_H_

// Definitions of tables: read from one side, created at or compared with the other.

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/tables.pb.h"
#include "tools/armature/copy/remote.h"
#include "tools/armature/copy/stop_signal.h"
#include "tools/armature/copy/wire_json.h"

namespace armature::cli::copy {

struct TableInfo {
  api::v1::CreateTableRequest definition;
  std::string expiry_attribute;  // empty: items do not expire
  Wire tags = Wire::array();
  std::vector<std::string> key;  // names of the key attributes, the partition key first
  int64_t items_estimate = 0;
  int64_t read_units = 0;  // provisioned; 0 for a table that is billed on demand
  std::string status;
  bool is_stream_enabled = false;
  std::string stream_view;  // empty: none
  std::string stream_arn;   // the newest; empty: none
};

// Nullopt if there is no table of this name. Encryption, policies and warm throughput are not read. Errors: those of
// Remote::Call; DATA_LOSS for a description that is none.
absl::StatusOr<std::optional<TableInfo>> ReadTable(Remote* remote, const std::string& name);

// All tables of the side whose names begin with `prefix`. Errors: those of Remote::Call; DATA_LOSS for pages that do
// not end.
absl::StatusOr<std::vector<std::string>> ListTables(Remote* remote, const std::string& prefix);

// Creates the table `name` as `info` defines it, and waits until it is active. Streams and expiry begin later
// (ApplySettings): the copied items are neither changes nor due to be deleted before they are complete.
absl::Status CreateTable(Remote* target, const std::string& name, const TableInfo& info, const StopSignal& stop);

// Enables stream and expiry of the table as `info` has them.
absl::Status ApplySettings(Remote* target, const std::string& name, const TableInfo& info, const StopSignal& stop);

// Enables a stream with new images, and waits until it is enabled.
absl::Status EnableStream(Remote* remote, const std::string& name, const std::string& view, const StopSignal& stop);

// Waits until the table and its indexes are active, at most for the patience of the side beyond which nothing changes.
absl::StatusOr<TableInfo> WaitUntilActive(Remote* remote, const std::string& name, const StopSignal& stop);

// All differences, one sentence each: keys, indexes, billing, streams, table class, deletion protection, tags, expiry.
std::vector<std::string> DifferencesOf(const TableInfo& source, const TableInfo& target);

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_TABLE_DEFINITION_H_
