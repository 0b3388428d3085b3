#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_OPERATIONS_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_OPERATIONS_H_

// The operations of Client: package, service and name of each. The proto files with their messages describe them:
// items.proto, tables.proto, transfers.proto, statements.proto, streams.proto, and admin.proto for the administration
// of a daemon.
//
// Not in the list: TransactWriteItems, ExportTable and Watch, because Client does more for them than to send a request,
// and ListBackups of AdminService, which Client calls ListDatabaseBackups.
#define ARMATURE_CLIENT_OPERATIONS(OPERATION)               \
  OPERATION(api, ItemService, GetItem)                      \
  OPERATION(api, ItemService, PutItem)                      \
  OPERATION(api, ItemService, UpdateItem)                   \
  OPERATION(api, ItemService, DeleteItem)                   \
  OPERATION(api, ItemService, Query)                        \
  OPERATION(api, ItemService, Scan)                         \
  OPERATION(api, ItemService, BatchGetItem)                 \
  OPERATION(api, ItemService, BatchWriteItem)               \
  OPERATION(api, ItemService, TransactGetItems)             \
  OPERATION(api, TableService, CreateTable)                 \
  OPERATION(api, TableService, DescribeTable)               \
  OPERATION(api, TableService, ListTables)                  \
  OPERATION(api, TableService, DeleteTable)                 \
  OPERATION(api, TableService, UpdateTable)                 \
  OPERATION(api, TableService, UpdateTimeToLive)            \
  OPERATION(api, TableService, DescribeTimeToLive)          \
  OPERATION(api, TableService, UpdateContributorInsights)   \
  OPERATION(api, TableService, DescribeContributorInsights) \
  OPERATION(api, TableService, ListContributorInsights)     \
  OPERATION(api, TableService, TagResource)                 \
  OPERATION(api, TableService, UntagResource)               \
  OPERATION(api, TableService, ListTagsOfResource)          \
  OPERATION(api, TableService, PutResourcePolicy)           \
  OPERATION(api, TableService, GetResourcePolicy)           \
  OPERATION(api, TableService, DeleteResourcePolicy)        \
  OPERATION(api, TableService, DescribeLimits)              \
  OPERATION(api, TableService, DescribeEndpoints)           \
  OPERATION(api, TableService, DescribeContinuousBackups)   \
  OPERATION(api, TableService, UpdateContinuousBackups)     \
  OPERATION(api, TableService, CreateBackup)                \
  OPERATION(api, TableService, DescribeBackup)              \
  OPERATION(api, TableService, ListBackups)                 \
  OPERATION(api, TableService, DeleteBackup)                \
  OPERATION(api, TableService, RestoreTableFromBackup)      \
  OPERATION(api, TableService, RestoreTableToPointInTime)   \
  OPERATION(api, TableService, ExportTableToPointInTime)    \
  OPERATION(api, TableService, DescribeExport)              \
  OPERATION(api, TableService, ListExports)                 \
  OPERATION(api, TableService, ImportTable)                 \
  OPERATION(api, TableService, DescribeImport)              \
  OPERATION(api, TableService, ListImports)                 \
  OPERATION(api, TableService, StartBulkPutItems)           \
  OPERATION(api, TableService, DescribeBulkOperation)       \
  OPERATION(api, TableService, ListBulkOperations)          \
  OPERATION(api, TableService, CancelBulkOperation)         \
  OPERATION(api, StatementService, ExecuteStatement)        \
  OPERATION(api, StatementService, BatchExecuteStatement)   \
  OPERATION(api, StatementService, ExecuteTransaction)      \
  OPERATION(api, StreamService, ListStreams)                \
  OPERATION(api, StreamService, DescribeStream)             \
  OPERATION(api, StreamService, GetShardIterator)           \
  OPERATION(api, StreamService, GetRecords)                 \
  OPERATION(admin, AdminService, GetServerInfo)             \
  OPERATION(admin, AdminService, GetHotKeys)                \
  OPERATION(admin, AdminService, ListIndexViolations)       \
  OPERATION(admin, AdminService, ListRequests)              \
  OPERATION(admin, AdminService, VerifyTable)               \
  OPERATION(admin, AdminService, StartBackup)               \
  OPERATION(admin, AdminService, GetBackupJob)              \
  OPERATION(admin, AdminService, CancelBackupJob)           \
  OPERATION(admin, AdminService, RestoreTable)              \
  OPERATION(admin, AdminService, ListIndexStatus)           \
  OPERATION(admin, AdminService, GetIndexStatus)            \
  OPERATION(admin, AdminService, Echo)

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_OPERATIONS_H_
