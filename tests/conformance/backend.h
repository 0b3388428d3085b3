#ifndef ARMATURE_TESTS_CONFORMANCE_BACKEND_H_
#define ARMATURE_TESTS_CONFORMANCE_BACKEND_H_

// The interface of the conformance cases to the tested service.

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
  // The request as text, for protocols that take JSON as it is.
  std::string_view request_text;
  // Reads of global indexes must wait until the index holds all changes up to this one.
  uint64_t at_least_sequence = 0;
};

struct Answer {
  // The reason why this protocol cannot express the request. Then nothing else is set.
  std::string inexpressible;
  // The short name of the exception; empty after success.
  std::string error_type;
  std::string error_text;
  // The answer, or the error's members besides type and text.
  Json body = Json::object();
  // The sequence of a write; 0 if the protocol does not report it.
  uint64_t change_sequence = 0;
};

// Name of the reasons' member in the JSON protocol, which differs between exceptions.
inline const char* ReasonsMember(std::string_view error_type) {
  return error_type == "ThrottlingException" ? "throttlingReasons" : "ThrottlingReasons";
}

// One interface to the daemon's operations. Starts without tables.
//
// Thread-safety: thread-compatible.
class Backend {
 public:
  virtual ~Backend() = default;
  // The name used in "only:" marks.
  virtual std::string_view name() const = 0;
  virtual Answer Run(const Call& call) = 0;
};

// The request parsers and the engine, in this process.
std::unique_ptr<Backend> MakeEngineBackend();

// The real daemon in a child process, through gRPC.
std::unique_ptr<Backend> MakeGrpcBackend();

// The real daemon in a child process, through the original JSON protocol.
std::unique_ptr<Backend> MakeHttpBackend();

}  // namespace armature::conformance

#endif  // ARMATURE_TESTS_CONFORMANCE_BACKEND_H_
