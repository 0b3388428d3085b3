#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_CLIENT_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_CLIENT_H_

// The client of an Armature daemon.

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "armature/admin/v1/admin.pb.h"
#include "armature/api/v1/items.pb.h"
#include "armature/api/v1/statements.pb.h"
#include "armature/api/v1/streams.pb.h"
#include "armature/api/v1/tables.pb.h"
#include "armature/api/v1/transfers.pb.h"
#include "armature/client/connection.h"
#include "armature/client/operations.h"
#include "armature/client/options.h"
#include "armature/client/paginator.h"

namespace armature::client {

class Pipeline;
class TableExport;
class Watcher;
struct WatchOptions;
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
// Retries: a call that failed for a passing reason is repeated if that does no harm. See retry_policy.h.
//
// Thread-safety: thread-safe. Copies are cheap and share their connections.
// Lifetime: answers are values. The connections are closed with the last copy.
// Errors: the gRPC code of the failed call. ErrorName and ErrorDetailOf (errors.h) give the exception of the documented
// API: react to it, not to the text. After DEADLINE_EXCEEDED a write may have been applied or not.
// Cost: one round trip, which blocks the calling thread.
class Client {
 public:
  // A client that calls through `connection`, with the retries of `options`; the channel settings have no effect. For
  // tests, and for programs with their own transport. All others use Connect.
  explicit Client(std::shared_ptr<Connection> connection, ClientOptions options = {});

  // A client with a session of its own, which it shares with its copies: they read their own writes on indexes. The
  // session keeps the highest change_sequence of the writes to each table: PutItem, UpdateItem, DeleteItem,
  // BatchWriteItem, TransactWriteItems. It sets at_least_sequence of each Query and Scan of an index to it, unless the
  // request has a higher one. Such a read waits until the index holds these writes, until its deadline and at most for
  // a minute.
  //
  //   const Client mine = client.WithReadYourWrites();
  //   mine.PutItem(put);
  //   mine.Query(query_of_an_index);  // sees the item
  //
  // Not promised:
  // - Writes of other clients and other sessions of this program. Each call of this function begins a session. Two
  //   programs can share the effect of a session by passing the change_sequence from one to the other.
  // - Failed writes, although a write that ended with DEADLINE_EXCEEDED may have been applied.
  // - Reads without an index, and GetItem: use consistent_read for these.
  //
  // Sequences belong to the database, not to a table, and only grow: the sequences of deleted and recreated tables
  // delay no read. A database that lost writes is different: an older copy of the data directory, another daemon at the
  // same address, a crash with a --durability that may lose writes. Until such a database has reached the sequence,
  // each read fails at once with a ValidationException. Begin a new session then.
  //
  // Cost: one number for each written table.
  Client WithReadYourWrites() const;

  // One function for each operation of the list in operations.h, for example:
  //   absl::StatusOr<api::v1::GetItemResponse> GetItem(const api::v1::GetItemRequest& request,
  //                                                    const CallOptions& options = {}) const;
#define ARMATURE_DECLARE_OPERATION(package, Service, Name)                                    \
  absl::StatusOr<package::v1::Name##Response> Name(const package::v1::Name##Request& request, \
                                                   const CallOptions& options = {}) const;
  ARMATURE_CLIENT_OPERATIONS(ARMATURE_DECLARE_OPERATION)
#undef ARMATURE_DECLARE_OPERATION

  // A request without a client token gets one for this call, so that it can be repeated. transaction.h builds requests.
  absl::StatusOr<api::v1::TransactWriteItemsResponse> TransactWriteItems(
      const api::v1::TransactWriteItemsRequest& request, const CallOptions& options = {}) const;

  // ListBackups of AdminService: the backups of the database. ListBackups lists the backups of tables.
  absl::StatusOr<admin::v1::ListBackupsResponse> ListDatabaseBackups(const admin::v1::ListBackupsRequest& request,
                                                                     const CallOptions& options = {}) const;

  // All items of a table as of one moment: see table_export.h. Blocks until the first message arrives.
  absl::StatusOr<std::unique_ptr<TableExport>> ExportTable(const admin::v1::ExportTableRequest& request,
                                                           const CallOptions& options = {}) const;

  // The pages, or the items, of a Query or Scan from its exclusive_start_key to its end. `options` apply to each page.
  // The result may outlive this client.
  QueryPaginator QueryPages(api::v1::QueryRequest request, CallOptions options = {}) const;
  ScanPaginator ScanPages(api::v1::ScanRequest request, CallOptions options = {}) const;
  QueryItemRange QueryItems(api::v1::QueryRequest request, CallOptions options = {}) const;
  ScanItemRange ScanItems(api::v1::ScanRequest request, CallOptions options = {}) const;

  // A stream of many concurrent operations: see pipeline.h. Blocks until the daemon is connected, at most for the
  // timeout of `options.call` or of the client. Errors: UNAVAILABLE or DEADLINE_EXCEEDED without a connection;
  // INVALID_ARGUMENT for an option outside its range.
  absl::StatusOr<std::unique_ptr<Pipeline>> OpenPipeline(const PipelineOptions& options) const;
  absl::StatusOr<std::unique_ptr<Pipeline>> OpenPipeline() const;

  // The changes of a table as they are made: see watcher.h. The first call of Next connects.
  std::unique_ptr<Watcher> Watch(api::v1::WatchRequest request, WatchOptions options) const;
  std::unique_ptr<Watcher> Watch(api::v1::WatchRequest request) const;

  const ClientOptions& options() const { return *options_; }

 private:
  // kMember: the method of the generated stub, which defines the types.
  template <auto kMember, class Request>
  auto Call(std::string_view name, const Request& request, const CallOptions& options) const;

  std::shared_ptr<Connection> connection_;
  std::shared_ptr<const ClientOptions> options_;
  std::shared_ptr<WriteSession> session_;  // may be null
};

// A client of the daemon at `target`: "host:port", "unix:/path", or any other gRPC name. Several addresses of one
// database, of which one daemon serves at a time, are separated by commas: calls go to the one that was reached last,
// and if it cannot be reached to the next one. The first call connects, so an unreachable daemon is an error of that
// call and not of this function. Errors: INVALID_ARGUMENT for an empty target, a host without a port, an address of
// HTTP, or an option outside its range.
absl::StatusOr<Client> Connect(std::string_view target, ClientOptions options = {});

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_CLIENT_H_
