#ifndef ARMATURE_TESTS_SUPPORT_OPERATION_CLIENT_H_
#define ARMATURE_TESTS_SUPPORT_OPERATION_CLIENT_H_

// Operations called by name with documents of the JSON protocol, over either protocol of a secured daemon, so that one
// table of cases tests both.

#include <iosfwd>
#include <string>
#include <string_view>

#include "tests/support/daemon_process.h"
#include "tests/support/security_files.h"

namespace armature::test {

enum class Protocol { kGrpc, kHttp };

// The name in the names of tests: Grpc or Http.
std::string ToString(Protocol protocol);

// How an operation ended.
struct Outcome {
  bool is_ok = false;
  // The status code of the protocol: of gRPC, or of HTTP.
  int code = 0;
  std::string exception;  // without the prefix of its type; empty after success
  std::string message;
  // The document of an answer.
  std::string body;
};

// For failed assertions.
std::ostream& operator<<(std::ostream& out, const Outcome& outcome);

// Thread-safety: thread-safe.
// Lifetime: the daemon and the files outlive the client. The daemon may be restarted.
// Errors: std::runtime_error after 30 seconds, or if gRPC has no message for a document.
class OperationClient {
 public:
  OperationClient(Protocol protocol, const DaemonProcess& daemon, const SecurityFiles& files)
      : protocol_(protocol), daemon_(daemon), files_(files) {}

  // Calls an operation, with the key `key_id` and SecurityFiles::kRootSecret, or without a key if `key_id` is empty.
  Outcome Call(std::string_view key_id, std::string_view operation, std::string_view document) const;

 private:
  Outcome CallGrpc(std::string_view key_id, std::string_view operation, std::string_view document) const;
  Outcome CallHttp(std::string_view key_id, std::string_view operation, std::string_view document) const;

  const Protocol protocol_;
  const DaemonProcess& daemon_;
  const SecurityFiles& files_;
};

}  // namespace armature::test

#endif  // ARMATURE_TESTS_SUPPORT_OPERATION_CLIENT_H_
