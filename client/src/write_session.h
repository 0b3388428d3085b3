#ifndef ARMATURE_CLIENT_SRC_WRITE_SESSION_H_
#define ARMATURE_CLIENT_SRC_WRITE_SESSION_H_

// The change sequences that the indexes must have applied so that the clients of a session read their own writes.

#include <cstdint>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "armature/client/connection.h"
#include "google/protobuf/message.h"
#include "storage/base/strings.h"

namespace armature::client {

// Keeps the highest change sequence of the writes to each table, by table name, and sets it in each Query and Scan of
// an index. Client::WithReadYourWrites describes the effect for programs.
//
// Thread-safety: thread-safe.
// Cost: a write locks a mutex for one look-up. A read of an index does too, and copies its request if it must change
// it. One number is kept for each written table until the table is deleted through this session.
class WriteSession {
 public:
  WriteSession() = default;
  WriteSession(const WriteSession&) = delete;
  WriteSession& operator=(const WriteSession&) = delete;

  // Makes the call through `next`. Errors: those of the call. Failed writes are not remembered.
  absl::Status Call(Connection& next, const Method& method, const CallContext& context,
                    const google::protobuf::Message& request, google::protobuf::Message* response);

 private:
  template <class Request>
  absl::Status Read(Connection& next, const Method& method, const CallContext& context, const Request& request,
                    google::protobuf::Message* response) const;
  absl::Status DeleteTable(Connection& next, const Method& method, const CallContext& context, std::string_view table,
                           const google::protobuf::Message& request, google::protobuf::Message* response);
  void Learn(const google::protobuf::Message& request, const google::protobuf::Message& response);

  // The sequence of a table, by name or ARN. 0: no writes.
  uint64_t SequenceOf(std::string_view table) const;
  void Raise(std::string_view table, uint64_t sequence);

  mutable absl::Mutex mutex_;
  StringMap<uint64_t> sequences_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_SRC_WRITE_SESSION_H_
