#include "client/src/connecting.h"

#include <array>
#include <cstdlib>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "armature/client/errors.h"
#include "grpc/support/log.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/support/byte_buffer.h"
#include "storage/base/strings.h"

namespace armature::client {
namespace {

// A part of a text of gRPC, and its meaning; $0 is the target. `lasts`: a repetition would fail in the same way.
struct Known {
  std::string_view part;
  std::string_view reason;
  bool lasts;
};

// Parts of texts in lower case, with blanks for underscores: BoringSSL has names of reasons where OpenSSL has words. A
// handshake that ends for another reason, such as a daemon that is ending, may succeed the next time.
constexpr std::array<Known, 11> kHandshakes = {{
    {"certificate verify failed", "the certificate of $0 is not trusted", true},
    {"certificate required", "$0 wants a certificate of the client that it trusts", true},
    {"peer name", "the certificate of $0 is not trusted: it is for other names", true},
    {"wrong version number", "$0 does not speak TLS", true},
    {"packet length too long", "$0 does not speak TLS", true},
    {"alert handshake failure", "$0 does not speak TLS", true},
    {"alert protocol version", "$0 does not speak TLS", true},
    {"unsupported protocol", "$0 does not speak TLS", true},
    {"no application protocol", "$0 does not speak TLS", true},
    {"alpn", "$0 does not speak TLS", true},
    {"handshake", "the TLS handshake with $0 failed", false},
}};

constexpr std::array<Known, 8> kConnections = {{
    {"refused", "$0 refuses the connection: no daemon listens there", false},
    {"No such file", "no daemon listens at $0: there is no such socket", false},
    {"resol", "the name in $0 cannot be resolved", false},
    {"lookup", "the name in $0 cannot be resolved", false},
    {"imed out", "$0 does not answer a connection in time", false},
    {"imeout", "$0 does not answer a connection in time", false},
    {"HTTP/2", "$0 speaks HTTP/1, and not gRPC", true},
    {"http1", "$0 speaks HTTP/1, and not gRPC", true},
}};

absl::Status Error(const Known& known, std::string_view target) {
  const absl::Status status =
      NeverSent(absl::UnavailableError(absl::StrReplaceAll(Av(known.reason), {{"$0", Av(target)}})));
  return known.lasts ? Lasting(status) : status;
}

}  // namespace

void QuietLibrary() {
  static const bool kQuiet = [] {
    if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
    return true;
  }();
  static_cast<void>(kQuiet);
}

absl::Status ConnectionError(std::string_view text, std::string_view target, bool is_secure) {
  // A name such as "handshake.local" is not a reason.
  const std::string reason = absl::StrReplaceAll(Av(text), {{Av(target), ""}});
  if (is_secure) {
    const std::string words = absl::StrReplaceAll(absl::AsciiStrToLower(reason), {{"_", " "}});
    for (const Known& known : kHandshakes) {
      if (absl::StrContains(words, Av(known.part))) return Error(known, target);
    }
  }
  for (const Known& known : kConnections) {
    if (absl::StrContains(reason, Av(known.part))) return Error(known, target);
  }
  return Error({"", "$0 cannot be reached", false}, target);
}

absl::Status WhyNotConnected(const std::shared_ptr<grpc::Channel>& channel, std::string_view target, bool is_secure,
                             std::chrono::system_clock::time_point deadline) {
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(deadline);
  const auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", grpc::ByteBuffer(), &queue);
  call->StartCall();
  grpc::ByteBuffer answer;
  grpc::Status status;
  void* tag = nullptr;
  bool ok = false;
  call->Finish(&answer, &status, &status);
  queue.Next(&tag, &ok);
  return ConnectionError(status.error_message(), target, is_secure);
}

}  // namespace armature::client
