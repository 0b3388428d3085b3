#ifndef ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_TABLE_EXPORT_H_
#define ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_TABLE_EXPORT_H_

// A stream of all items of a table as of one moment.

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "armature/admin/v1/admin.pb.h"
#include "armature/client/connection.h"
#include "armature/client/options.h"

namespace armature::client {

struct TableExportStream;

// The stream of Client::ExportTable. Reads one page ahead.
//
// Thread-safety: owned by one thread.
// Lifetime: independent of the client. The destructor cancels the export if it is not read to the end.
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

  // Reads the next page into `page`, replacing its items. False at the end of a complete export. Blocks.
  // Errors: the error that ended the stream; DEADLINE_EXCEEDED if the daemon sends nothing for the timeout of a call.
  // After an error the export must begin anew.
  absl::StatusOr<bool> Next(admin::v1::ExportTableResponse* page);

 private:
  TableExport(std::unique_ptr<TableExportStream> stream, absl::Duration patience);

  const std::unique_ptr<TableExportStream> stream_;
  const absl::Duration patience_;
  admin::v1::ExportHead head_;
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_INCLUDE_ARMATURE_CLIENT_TABLE_EXPORT_H_
