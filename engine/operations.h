#ifndef ARMATURE_ENGINE_OPERATIONS_H_
#define ARMATURE_ENGINE_OPERATIONS_H_

// The operations of the daemon, each named once. The fronts, the request statistics, the audit log and the tests take
// the names and the facts about an operation from here.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace armature::engine {

// The service to which an operation belongs, and with it the way from a front to the engine.
enum class Plane : uint8_t {
  kItem,       // one item, or a page of items
  kGroup,      // batches and transactions
  kTable,      // tables, their settings and their backups
  kStream,     // the changes of tables
  kStatement,  // PartiQL statements, which name their tables themselves
  kAdmin,      // the daemon, its indexes and its backups; gRPC only
};

// The answer of an operation. Each takes its memory as it is made (storage/base/held_memory.h); this says what its
// front may do if there is none.
enum class AnswerKind : uint8_t {
  kUnstated,
  kFacts,         // settings, states and names; of an operation that changes nothing
  kChange,        // settings, states and names; of an operation that changes something
  kItem,          // one item that was read
  kItems,         // many items that were read
  kWrittenItem,   // one item that was written
  kWrittenItems,  // many items that were written; statements, which may also read
  kStream,        // message by message
};

struct Operation {
  std::string_view name;  // as policies, metrics and logs write it
  Plane plane = Plane::kItem;
  AnswerKind answer = AnswerKind::kUnstated;
  // The field of the request message that names the resource (a table, a stream, a backup, a job) on which the caller
  // must have rights, and which the audit log shows; a dot leads into a member message. Empty: the operation is about
  // no single table. Items and groups ask for themselves.
  std::string_view subject = {};
  // Another field that names a resource. The caller must have rights on both.
  std::string_view source = {};
  // A field that may stand in place of `source`.
  std::string_view other_source = {};
  bool is_audited = false;
  // One call that lives as long as its client wishes: its time is its life, and it is never a slow request.
  bool is_whole_stream = false;
};

using enum AnswerKind;

// Sorted by name.
inline constexpr auto kOperations = std::to_array<Operation>({
    {.name = "BatchExecuteStatement", .plane = Plane::kStatement, .answer = kWrittenItems},
    {.name = "BatchGetItem", .plane = Plane::kGroup, .answer = kItems},
    {.name = "BatchWriteItem", .plane = Plane::kGroup, .answer = kWrittenItems},
    {.name = "CancelBulkOperation",
     .plane = Plane::kTable,
     .answer = kChange,
     .subject = "bulk_operation_arn",
     .is_audited = true},
    {.name = "CreateBackup", .plane = Plane::kTable, .answer = kChange, .subject = "table_name", .is_audited = true},
    {.name = "CreateTable", .plane = Plane::kTable, .answer = kChange, .subject = "table_name", .is_audited = true},
    {.name = "DeleteBackup", .plane = Plane::kTable, .answer = kChange, .subject = "backup_arn", .is_audited = true},
    {.name = "DeleteItem", .plane = Plane::kItem, .answer = kWrittenItem},
    {.name = "DeleteResourcePolicy",
     .plane = Plane::kTable,
     .answer = kChange,
     .subject = "resource_arn",
     .is_audited = true},
    {.name = "DeleteTable", .plane = Plane::kTable, .answer = kChange, .subject = "table_name", .is_audited = true},
    {.name = "DescribeBackup", .plane = Plane::kTable, .answer = kFacts, .subject = "backup_arn", .is_audited = true},
    {.name = "DescribeBulkOperation",
     .plane = Plane::kTable,
     .answer = kFacts,
     .subject = "bulk_operation_arn",
     .is_audited = true},
    {.name = "DescribeContinuousBackups",
     .plane = Plane::kTable,
     .answer = kFacts,
     .subject = "table_name",
     .is_audited = true},
    {.name = "DescribeContributorInsights",
     .plane = Plane::kTable,
     .answer = kFacts,
     .subject = "table_name",
     .is_audited = true},
    {.name = "DescribeEndpoints", .plane = Plane::kTable, .answer = kFacts, .is_audited = true},
    {.name = "DescribeExport", .plane = Plane::kTable, .answer = kFacts, .subject = "export_arn", .is_audited = true},
    {.name = "DescribeImport", .plane = Plane::kTable, .answer = kFacts, .subject = "import_arn", .is_audited = true},
    {.name = "DescribeLimits", .plane = Plane::kTable, .answer = kFacts, .is_audited = true},
    {.name = "DescribeStream", .plane = Plane::kStream, .answer = kFacts, .subject = "stream_arn", .is_audited = true},
    {.name = "DescribeTable", .plane = Plane::kTable, .answer = kFacts, .subject = "table_name", .is_audited = true},
    {.name = "DescribeTimeToLive",
     .plane = Plane::kTable,
     .answer = kFacts,
     .subject = "table_name",
     .is_audited = true},
    {.name = "ExecuteStatement", .plane = Plane::kStatement, .answer = kWrittenItems},
    {.name = "ExecuteTransaction", .plane = Plane::kStatement, .answer = kWrittenItems},
    {.name = "ExportTableToPointInTime",
     .plane = Plane::kTable,
     .answer = kChange,
     .subject = "table_arn",
     .is_audited = true},
    {.name = "GetItem", .plane = Plane::kItem, .answer = kItem},
    {.name = "GetRecords",
     .plane = Plane::kStream,
     .answer = kItems,
     .subject = "shard_iterator"},  // begins with the ARN of the stream
    {.name = "GetResourcePolicy",
     .plane = Plane::kTable,
     .answer = kFacts,
     .subject = "resource_arn",
     .is_audited = true},
    {.name = "GetShardIterator", .plane = Plane::kStream, .answer = kFacts, .subject = "stream_arn"},
    {.name = "ImportTable",
     .plane = Plane::kTable,
     .answer = kChange,
     .subject = "table_creation_parameters.table_name",
     .is_audited = true},
    {.name = "ListBackups", .plane = Plane::kTable, .answer = kFacts, .subject = "table_name", .is_audited = true},
    {.name = "ListBulkOperations", .plane = Plane::kTable, .answer = kFacts, .is_audited = true},
    {.name = "ListContributorInsights",
     .plane = Plane::kTable,
     .answer = kFacts,
     .subject = "table_name",
     .is_audited = true},
    {.name = "ListExports", .plane = Plane::kTable, .answer = kFacts, .subject = "table_arn", .is_audited = true},
    {.name = "ListImports", .plane = Plane::kTable, .answer = kFacts, .subject = "table_arn", .is_audited = true},
    {.name = "ListStreams", .plane = Plane::kStream, .answer = kFacts, .subject = "table_name", .is_audited = true},
    {.name = "ListTables", .plane = Plane::kTable, .answer = kFacts, .is_audited = true},
    {.name = "ListTagsOfResource",
     .plane = Plane::kTable,
     .answer = kFacts,
     .subject = "resource_arn",
     .is_audited = true},
    {.name = "Pipeline", .plane = Plane::kItem, .answer = kStream, .is_whole_stream = true},
    {.name = "PutItem", .plane = Plane::kItem, .answer = kWrittenItem},
    {.name = "PutResourcePolicy",
     .plane = Plane::kTable,
     .answer = kChange,
     .subject = "resource_arn",
     .is_audited = true},
    {.name = "Query", .plane = Plane::kItem, .answer = kItems},
    // A restore reads the backup, so rights on the new table alone are not enough.
    {.name = "RestoreTableFromBackup",
     .plane = Plane::kTable,
     .answer = kChange,
     .subject = "target_table_name",
     .source = "backup_arn",
     .is_audited = true},
    {.name = "RestoreTableToPointInTime",
     .plane = Plane::kTable,
     .answer = kChange,
     .subject = "target_table_name",
     .source = "source_table_name",
     .other_source = "source_table_arn",
     .is_audited = true},
    {.name = "Scan", .plane = Plane::kItem, .answer = kItems},
    {.name = "StartBulkPutItems",
     .plane = Plane::kTable,
     .answer = kChange,
     .subject = "table_name",
     .is_audited = true},
    {.name = "TagResource", .plane = Plane::kTable, .answer = kChange, .subject = "resource_arn", .is_audited = true},
    {.name = "TransactGetItems", .plane = Plane::kGroup, .answer = kItems},
    {.name = "TransactWriteItems", .plane = Plane::kGroup, .answer = kWrittenItems},
    {.name = "UntagResource", .plane = Plane::kTable, .answer = kChange, .subject = "resource_arn", .is_audited = true},
    {.name = "UpdateContinuousBackups",
     .plane = Plane::kTable,
     .answer = kChange,
     .subject = "table_name",
     .is_audited = true},
    {.name = "UpdateContributorInsights",
     .plane = Plane::kTable,
     .answer = kChange,
     .subject = "table_name",
     .is_audited = true},
    {.name = "UpdateItem", .plane = Plane::kItem, .answer = kWrittenItem},
    {.name = "UpdateTable", .plane = Plane::kTable, .answer = kChange, .subject = "table_name", .is_audited = true},
    {.name = "UpdateTimeToLive",
     .plane = Plane::kTable,
     .answer = kChange,
     .subject = "table_name",
     .is_audited = true},
    {.name = "Watch",
     .plane = Plane::kStream,
     .answer = kStream,
     .subject = "table_name",
     .is_audited = true,
     .is_whole_stream = true},
    {.name = "admin:CancelBackupJob", .plane = Plane::kAdmin, .answer = kChange, .is_audited = true},
    {.name = "admin:Echo", .plane = Plane::kAdmin, .answer = kFacts},  // load generators call it without end
    {.name = "admin:ExportTable",
     .plane = Plane::kAdmin,
     .answer = kStream,
     .subject = "table_name",
     .is_audited = true,
     .is_whole_stream = true},
    {.name = "admin:GetBackupJob",
     .plane = Plane::kAdmin,
     .answer = kFacts},  // asked again and again while a backup is made
    {.name = "admin:GetHotKeys", .plane = Plane::kAdmin, .answer = kFacts, .subject = "table_name", .is_audited = true},
    {.name = "admin:GetIndexStatus",
     .plane = Plane::kAdmin,
     .answer = kFacts,
     .subject = "table_name",
     .is_audited = true},
    {.name = "admin:GetServerInfo", .plane = Plane::kAdmin, .answer = kFacts, .is_audited = true},
    {.name = "admin:ListBackups", .plane = Plane::kAdmin, .answer = kFacts, .is_audited = true},
    {.name = "admin:ListIndexStatus",
     .plane = Plane::kAdmin,
     .answer = kFacts,
     .subject = "table_name",
     .is_audited = true},
    {.name = "admin:ListIndexViolations",
     .plane = Plane::kAdmin,
     .answer = kFacts,
     .subject = "table_name",
     .is_audited = true},
    {.name = "admin:ListRequests", .plane = Plane::kAdmin, .answer = kFacts},  // screens ask again and again
    {.name = "admin:RestoreTable",
     .plane = Plane::kAdmin,
     .answer = kChange,
     .subject = "target_table_name",
     .source = "table_name",
     .is_audited = true},
    {.name = "admin:StartBackup", .plane = Plane::kAdmin, .answer = kChange, .is_audited = true},
    {.name = "admin:VerifyTable",
     .plane = Plane::kAdmin,
     .answer = kChange,
     .subject = "table_name",
     .is_audited = true},
});

static_assert(std::ranges::is_sorted(kOperations, {}, &Operation::name));
static_assert(std::ranges::find(kOperations, AnswerKind::kUnstated, &Operation::answer) == kOperations.end());

// True if the operation may be refused after it was executed, for lack of memory for its answer. Errors, and statements
// that changed nothing, may be refused in the same way.
constexpr bool OnlyReads(const Operation& operation) {
  return operation.answer == AnswerKind::kFacts || operation.answer == AnswerKind::kItem ||
         operation.answer == AnswerKind::kItems;
}

// True if the operation is refused before it runs unless there is room for a large answer.
constexpr bool HasLargeAnswer(const Operation& operation) {
  return operation.answer == AnswerKind::kItems || operation.answer == AnswerKind::kWrittenItems;
}

// The operation called `name`, or null.
constexpr const Operation* FindOperation(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(kOperations, name, {}, &Operation::name);
  return found != kOperations.end() && found->name == name ? found : nullptr;
}

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_OPERATIONS_H_
