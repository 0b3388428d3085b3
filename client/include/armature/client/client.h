#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_CLIENT_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_CLIENT_H_

// The client of an Armature daemon.

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "armature/admin/v1/admin.pb.h"
#include "armature/api/v1/items.pb.h"
#include "armature/api/v1/streams.pb.h"
#include "armature/api/v1/tables.pb.h"
#include "armature/client/connection.h"
#include "armature/client/options.h"
#include "armature/client/paginator.h"

namespace armature::client {

class Pipeline;
class TableExport;
class WriteSession;
struct PipelineOptions;

// All operations of a daemon, as blocking calls that take and give the messages of the API.
//
//   absl::StatusOr<Client> client = Connect("localhost:7700");
//   if (!client.ok()) return client.status();
//   api::v1::GetItemRequest request;
//   request.set_table_name("users");
//   *request.mutable_key() = ItemBuilder().Set("user", S("ann")).Build();
//   absl::StatusOr<api::v1::GetItemResponse> answer = client->GetItem(request);
//
// Retries: a call that failed for a passing reason is repeated, if that can do no harm: see
// retry_policy.h.
//
// Thread-safety: thread-safe. Copies are cheap and share their connections.
// Lifetime: answers are values. The connections are closed with the last copy.
// Errors: the gRPC code of the failed call. ErrorName and ErrorDetailOf (errors.h) give the
// exception of the documented
//   API: react to that, not to the text. DEADLINE_EXCEEDED leaves open whether a write was applied.
// Cost: a call is one round trip, and holds the calling thread.
class Client {
 public:
  // Calls go through `connection`, with the retries of `options`; the settings of channels have no
  // effect. For tests and for programs that bring their own transport; all others use Connect.
  explicit Client(std::shared_ptr<Connection> connection, ClientOptions options = {});

  // The same client with a session of its own, which it shares with its copies, so that they read their own writes on
  // indexes. The session remembers for each table the highest change_sequence of the writes that were answered through
  // it: PutItem, UpdateItem, DeleteItem, BatchWriteItem, TransactWriteItems. It puts that into at_least_sequence of
  // each Query and Scan that names an index and does not bring a higher one. Such a read waits until the index holds
  // these writes; as long as its deadline allows, and at most a minute.
  //
  //   const Client mine = client.WithReadYourWrites();
  //   mine.PutItem(put);
  //   mine.Query(query_of_an_index);  // sees the item
  //
  // Not promised:
  // - What others have written, other sessions of this program among them. Each call of this function begins a
  //   session; one that goes over two programs hands change_sequence from one to the other.
  // - Writes that failed, though some of them may have been applied: those that ended with DEADLINE_EXCEEDED.
  // - Reads without an index, and GetItem: there it is consistent_read that sees every write.
  //
  // Sequences are the database's, not a table's, and only grow: those of a table that was deleted, or deleted and
  // created again, hold up no read. A database that went back is another matter: an older copy of the data directory,
  // another daemon at the same address, a crash with a --durability that may lose writes. It does not know the
  // sequence, and says so at once, with a ValidationException for each read, until it has got there. Begin a session
  // anew then.
  //
  // Cost: a number for each table that was written to.
  Client WithReadYourWrites() const;

  // Items. What the operations mean is told in items.proto.
  absl::StatusOr<api::v1::GetItemResponse> GetItem(const api::v1::GetItemRequest& request,
                                                   const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::PutItemResponse> PutItem(const api::v1::PutItemRequest& request,
                                                   const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::UpdateItemResponse> UpdateItem(const api::v1::UpdateItemRequest& request,
                                                         const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::DeleteItemResponse> DeleteItem(const api::v1::DeleteItemRequest& request,
                                                         const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::QueryResponse> Query(const api::v1::QueryRequest& request,
                                               const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::ScanResponse> Scan(const api::v1::ScanRequest& request,
                                             const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::BatchGetItemResponse> BatchGetItem(const api::v1::BatchGetItemRequest& request,
                                                             const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::BatchWriteItemResponse> BatchWriteItem(const api::v1::BatchWriteItemRequest& request,
                                                                 const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::TransactGetItemsResponse> TransactGetItems(const api::v1::TransactGetItemsRequest& request,
                                                                     const CallOptions& options = {}) const;
  // A request without a token gets one for this call, so that it may be repeated. See transaction.h for short ways.
  absl::StatusOr<api::v1::TransactWriteItemsResponse> TransactWriteItems(
      const api::v1::TransactWriteItemsRequest& request, const CallOptions& options = {}) const;

  // Tables: tables.proto.
  absl::StatusOr<api::v1::CreateTableResponse> CreateTable(const api::v1::CreateTableRequest& request,
                                                           const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::DescribeTableResponse> DescribeTable(const api::v1::DescribeTableRequest& request,
                                                               const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::ListTablesResponse> ListTables(const api::v1::ListTablesRequest& request,
                                                         const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::DeleteTableResponse> DeleteTable(const api::v1::DeleteTableRequest& request,
                                                           const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::UpdateTableResponse> UpdateTable(const api::v1::UpdateTableRequest& request,
                                                           const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::UpdateTimeToLiveResponse> UpdateTimeToLive(const api::v1::UpdateTimeToLiveRequest& request,
                                                                     const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::DescribeTimeToLiveResponse> DescribeTimeToLive(
      const api::v1::DescribeTimeToLiveRequest& request, const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::TagResourceResponse> TagResource(const api::v1::TagResourceRequest& request,
                                                           const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::UntagResourceResponse> UntagResource(const api::v1::UntagResourceRequest& request,
                                                               const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::ListTagsOfResourceResponse> ListTagsOfResource(
      const api::v1::ListTagsOfResourceRequest& request, const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::DescribeLimitsResponse> DescribeLimits(const api::v1::DescribeLimitsRequest& request,
                                                                 const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::DescribeEndpointsResponse> DescribeEndpoints(const api::v1::DescribeEndpointsRequest& request,
                                                                       const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::DescribeContinuousBackupsResponse> DescribeContinuousBackups(
      const api::v1::DescribeContinuousBackupsRequest& request, const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::UpdateContinuousBackupsResponse> UpdateContinuousBackups(
      const api::v1::UpdateContinuousBackupsRequest& request, const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::CreateBackupResponse> CreateBackup(const api::v1::CreateBackupRequest& request,
                                                             const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::DescribeBackupResponse> DescribeBackup(const api::v1::DescribeBackupRequest& request,
                                                                 const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::ListBackupsResponse> ListBackups(const api::v1::ListBackupsRequest& request,
                                                           const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::DeleteBackupResponse> DeleteBackup(const api::v1::DeleteBackupRequest& request,
                                                             const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::RestoreTableFromBackupResponse> RestoreTableFromBackup(
      const api::v1::RestoreTableFromBackupRequest& request, const CallOptions& options = {}) const;

  // Streams: streams.proto.
  absl::StatusOr<api::v1::ListStreamsResponse> ListStreams(const api::v1::ListStreamsRequest& request,
                                                           const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::DescribeStreamResponse> DescribeStream(const api::v1::DescribeStreamRequest& request,
                                                                 const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::GetShardIteratorResponse> GetShardIterator(const api::v1::GetShardIteratorRequest& request,
                                                                     const CallOptions& options = {}) const;
  absl::StatusOr<api::v1::GetRecordsResponse> GetRecords(const api::v1::GetRecordsRequest& request,
                                                         const CallOptions& options = {}) const;

  // For those who run the daemon: admin.proto.
  absl::StatusOr<admin::v1::GetServerInfoResponse> GetServerInfo(const admin::v1::GetServerInfoRequest& request,
                                                                 const CallOptions& options = {}) const;
  absl::StatusOr<admin::v1::ListIndexStatusResponse> ListIndexStatus(const admin::v1::ListIndexStatusRequest& request,
                                                                     const CallOptions& options = {}) const;
  absl::StatusOr<admin::v1::GetIndexStatusResponse> GetIndexStatus(const admin::v1::GetIndexStatusRequest& request,
                                                                   const CallOptions& options = {}) const;
  absl::StatusOr<admin::v1::ListIndexViolationsResponse> ListIndexViolations(
      const admin::v1::ListIndexViolationsRequest& request, const CallOptions& options = {}) const;
  absl::StatusOr<admin::v1::VerifyTableResponse> VerifyTable(const admin::v1::VerifyTableRequest& request,
                                                             const CallOptions& options = {}) const;
  absl::StatusOr<admin::v1::StartBackupResponse> StartBackup(const admin::v1::StartBackupRequest& request,
                                                             const CallOptions& options = {}) const;
  absl::StatusOr<admin::v1::GetBackupJobResponse> GetBackupJob(const admin::v1::GetBackupJobRequest& request,
                                                               const CallOptions& options = {}) const;
  absl::StatusOr<admin::v1::CancelBackupJobResponse> CancelBackupJob(const admin::v1::CancelBackupJobRequest& request,
                                                                     const CallOptions& options = {}) const;
  absl::StatusOr<admin::v1::ListBackupsResponse> ListDatabaseBackups(const admin::v1::ListBackupsRequest& request,
                                                                     const CallOptions& options = {}) const;
  absl::StatusOr<admin::v1::RestoreTableResponse> RestoreTable(const admin::v1::RestoreTableRequest& request,
                                                               const CallOptions& options = {}) const;
  // All items of a table as of one moment: see table_export.h. Blocks until the first message is there.
  absl::StatusOr<std::unique_ptr<TableExport>> ExportTable(const admin::v1::ExportTableRequest& request,
                                                           const CallOptions& options = {}) const;
  absl::StatusOr<admin::v1::EchoResponse> Echo(const admin::v1::EchoRequest& request,
                                               const CallOptions& options = {}) const;

  // The pages, or the items, of a Query or Scan from its exclusive_start_key to its end. `options`
  // hold for each page. The walk may outlive this client.
  QueryPaginator QueryPages(api::v1::QueryRequest request, CallOptions options = {}) const;
  ScanPaginator ScanPages(api::v1::ScanRequest request, CallOptions options = {}) const;
  QueryItemRange QueryItems(api::v1::QueryRequest request, CallOptions options = {}) const;
  ScanItemRange ScanItems(api::v1::ScanRequest request, CallOptions options = {}) const;

  // A stream that carries many operations at once: see pipeline.h. Blocks until the daemon is connected, for as long as
  // `options.call` says, or else the client's options.
  // Errors: UNAVAILABLE or DEADLINE_EXCEEDED if it is not; INVALID_ARGUMENT for an option outside its range.
  absl::StatusOr<std::unique_ptr<Pipeline>> OpenPipeline(const PipelineOptions& options) const;
  absl::StatusOr<std::unique_ptr<Pipeline>> OpenPipeline() const;

  const ClientOptions& options() const { return *options_; }

 private:
  // kMember: the method of the generated stub, which tells the types.
  template <auto kMember, class Request>
  auto Call(std::string_view name, const Request& request, const CallOptions& options) const;

  std::shared_ptr<Connection> connection_;
  std::shared_ptr<const ClientOptions> options_;
  std::shared_ptr<WriteSession> session_;  // Null: none.
};

// A client of the daemon at `target`: "host:port", "unix:/path", or any other gRPC name. Connects
// with the first call, so a daemon that is not there (yet) is no error here, but one of that call.
// Errors: INVALID_ARGUMENT for an empty target or an option outside its range.
absl::StatusOr<Client> Connect(std::string_view target, ClientOptions options = {});

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_CLIENT_H_
