#ifndef ARMATURE_CLIENT_SRC_WRITE_SESSION_H_
#define ARMATURE_CLIENT_SRC_WRITE_SESSION_H_

// How far the indexes of a table must be for the clients of one session to read their own writes.

#include <cstdint>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "armature/client/connection.h"
#include "google/protobuf/message.h"
#include "storage/base/strings.h"

namespace armature::client {

// Remembers for each table, by its name, the highest change sequence that a write was answered with, and demands it of
// each Query and Scan that names an index. What it means to programs is told at Client::WithReadYourWrites.
//
// Thread-safety: thread-safe.
// Cost: a write takes a mutex for one look-up. So does a read of an index, whose request is copied if it has to be
// changed. One number is held for each table that was written to, until it is deleted through this session.
class WriteSession {
 public:
  WriteSession() = default;
  WriteSession(const WriteSession&) = delete;
  WriteSession& operator=(const WriteSession&) = delete;

  // Makes the call over `next`. Errors: those of the call; a write that failed is not remembered.
  absl::Status Call(Connection& next, const Method& method, const CallContext& context,
                    const google::protobuf::Message& request, google::protobuf::Message* response);

 private:
  template <class Request>
  absl::Status Read(Connection& next, const Method& method, const CallContext& context, const Request& request,
                    google::protobuf::Message* response) const;
  absl::Status DeleteTable(Connection& next, const Method& method, const CallContext& context, std::string_view table,
                           const google::protobuf::Message& request, google::protobuf::Message* response);
  void Learn(const google::protobuf::Message& request, const google::protobuf::Message& response);

  // Tables are named by name or ARN. 0: nothing was written.
  uint64_t SequenceOf(std::string_view table) const;
  void Raise(std::string_view table, uint64_t sequence);

  mutable absl::Mutex mutex_;
  StringMap<uint64_t> sequences_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::client

#endif  // ARMATURE_CLIENT_SRC_WRITE_SESSION_H_
