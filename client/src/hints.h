#ifndef ARMATURE_CLIENT_SRC_HINTS_H_
#define ARMATURE_CLIENT_SRC_HINTS_H_

// Facts about a refused request that the daemon's text leaves out. docs/develop/clients/README.md lists them.

#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "armature/api/v1/tables.pb.h"
#include "google/protobuf/message.h"
#include "storage/base/strings.h"

namespace armature::client {

// Makes hints, and keeps the key attributes of tables and indexes, as the client has seen them described last: of at
// most 1,000 tables and indexes. Thread-safe.
class Hints {
 public:
  // Notes the description of a table in a response, if it has one. Cost: a look at the type of other responses.
  void Learn(const google::protobuf::Message& response);

  // `status` with what helps the program's author, for HintOf. Unchanged if nothing is known, or if the error is not
  // the daemon's. Must not be OK.
  absl::Status Add(absl::Status status, const google::protobuf::Message& request) const;

 private:
  void LearnTable(const api::v1::TableDescription& table);
  // The hint about the key of "table" or "table/index"; empty if it is not known.
  std::string KeyOf(std::string_view name) const;
  std::string Make(std::string_view message, const google::protobuf::Message& request) const;

  mutable absl::Mutex mutex_;
  StringMap<std::string> keys_ ABSL_GUARDED_BY(mutex_);  // such as "user (S), number (N)"
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_SRC_HINTS_H_
