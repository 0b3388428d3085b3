#ifndef ARMATURE_TESTS_CONFORMANCE_BACKEND_H_
#define ARMATURE_TESTS_CONFORMANCE_BACKEND_H_

// What the cases run against.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tools/armature/json_text.h"

namespace armature::conformance {

using cli::Json;

struct Call {
  std::string_view operation;
  const Json& request;
  // The same as text, for a protocol that takes it as it stands.
  std::string_view request_text;
  // Reads of global indexes must wait until the index holds all changes up to this one.
  uint64_t at_least_sequence = 0;
};

struct Answer {
  // Why this protocol cannot say the request. Nothing else is set then.
  std::string inexpressible;
  // The short name of the exception; empty: the call succeeded.
  std::string error_type;
  std::string error_text;
  // The answer, or what an error carries beside type and text.
  Json body = Json::object();
  // Of a write; 0 if the protocol does not tell.
  uint64_t change_sequence = 0;
};

// What the JSON protocol calls the reasons of an exception: not all exceptions write it in the same way.
inline const char* ReasonsMember(std::string_view error_type) {
  return error_type == "ThrottlingException" ? "throttlingReasons" : "ThrottlingReasons";
}

// One way to reach the daemon's operations. Starts without tables.
//
// Thread-safety: thread-compatible.
class Backend {
 public:
  virtual ~Backend() = default;
  // As in "only:" marks.
  virtual std::string_view name() const = 0;
  virtual Answer Run(const Call& call) = 0;
};

// The parser of requests and the engine, in this process.
std::unique_ptr<Backend> MakeEngineBackend();

// The real daemon in a process of its own, through gRPC stubs.
std::unique_ptr<Backend> MakeGrpcBackend();

// The real daemon in a process of its own, through the original JSON protocol.
std::unique_ptr<Backend> MakeHttpBackend();

}  // namespace armature::conformance

#endif  // ARMATURE_TESTS_CONFORMANCE_BACKEND_H_
