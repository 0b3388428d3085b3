#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_TABLE_EXPORT_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_TABLE_EXPORT_H_

// All items of a table as of one moment, as a stream of pages.

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "armature/admin/v1/admin.pb.h"
#include "armature/client/connection.h"
#include "armature/client/options.h"

namespace armature::client {

class TableExportStream;

// Made by Client::ExportTable. Reads a page ahead.
//
// Thread-safety: owned by one thread.
// Lifetime: as it likes; the client may go before. What is left unread is cancelled.
class TableExport {
 public:
  static absl::StatusOr<std::unique_ptr<TableExport>> Open(std::shared_ptr<Connection> connection,
                                                           const ClientOptions& client_options,
                                                           const admin::v1::ExportTableRequest& request,
                                                           const CallOptions& options);
  ~TableExport();
  TableExport(const TableExport&) = delete;
  TableExport& operator=(const TableExport&) = delete;

  const admin::v1::ExportHead& head() const { return head_; }

  // The next page, whose items replace those in `page`. False: that was all, and nothing is missing. Blocks.
  // Errors: what ended the stream; DEADLINE_EXCEEDED if the daemon has sent nothing for the timeout of a call. Then
  // there is no next page, and the export must begin anew.
  absl::StatusOr<bool> Next(admin::v1::ExportTableResponse* page);

 private:
  TableExport(std::unique_ptr<TableExportStream> stream, absl::Duration patience);

  const std::unique_ptr<TableExportStream> stream_;
  const absl::Duration patience_;
  admin::v1::ExportHead head_;
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_TABLE_EXPORT_H_
