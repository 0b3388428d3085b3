#include "daemon/net/wrong_door.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
static_assert(kPreface.size() == kSpeechBytes);
constexpr char kTlsHandshake = 0x16;
constexpr char kTlsMajor = 0x03;
// Methods are shorter than this.
constexpr size_t kMethodBytesMax = 16;

bool IsMethodLetter(char c) { return c >= 'A' && c <= 'Z'; }

// "port 7700 of this host" for an address that stands for all of the host's.
std::string Reachable(std::string_view address) {
  for (const std::string_view any : {"0.0.0.0:", "[::]:"}) {
    if (address.starts_with(any)) return Cat("port ", address.substr(any.size()), " of this host");
  }
  return std::string(address);
}

}  // namespace

std::optional<Speech> SpeechOf(std::string_view first) {
  if (first.empty()) return std::nullopt;
  if (first[0] == kTlsHandshake) {
    if (first.size() < 2) return std::nullopt;
    return first[1] == kTlsMajor ? Speech::kTls : Speech::kOther;
  }
  if (first.starts_with(kPreface)) return Speech::kHttp2;
  if (kPreface.starts_with(first)) return std::nullopt;
  const std::string_view line = first.substr(0, kMethodBytesMax);
  const auto end = std::find_if_not(line.begin(), line.end(), IsMethodLetter);
  if (end == line.end()) return line.size() < kMethodBytesMax ? std::nullopt : std::optional(Speech::kOther);
  return end != line.begin() && *end == ' ' ? Speech::kHttp1 : Speech::kOther;
}

void Doors::Open(Door door, std::string address, bool has_tls, Takes takes) {
  const absl::MutexLock lock(&mutex_);
  doors_[static_cast<size_t>(door)] = {
      .address = std::move(address), .has_tls = has_tls, .takes_both = takes == Takes::kBoth};
}

std::string Doors::WayTo(Door door) const {
  const absl::ReaderMutexLock lock(&mutex_);
  return WayLocked(door);
}

std::string Doors::WayLocked(Door door) const {
  const State& to = At(door);
  const std::string_view tls = to.has_tls ? " with TLS" : "";
  if (door == Door::kGrpc) {
    return to.address.empty() ? "gRPC is off; --grpc_listen turns it on."
                              : Cat("gRPC is at ", Reachable(to.address), tls, ".");
  }
  if (to.address.empty()) return "The HTTP API is off; --http_listen turns it on.";
  const std::string reachable = Reachable(to.address);
  if (reachable != to.address) return Cat("The HTTP API is at ", reachable, tls, ".");
  return Cat("The HTTP API is at ", to.has_tls ? "https://" : "http://", reachable, ".");
}

std::string Doors::Hint(Door door, Speech speech) const {
  constexpr std::string_view kSpoken[] = {"gRPC", "HTTP/1.1", "HTTP/1.1, for metrics and health checks"};
  const absl::ReaderMutexLock lock(&mutex_);
  const State& at = At(door);
  const std::string_view spoken = at.takes_both ? "gRPC and HTTP" : kSpoken[static_cast<size_t>(door)];
  const std::string own = Cat("This port speaks ", spoken, at.has_tls ? " over TLS" : "");
  if (speech == Speech::kTls) return Cat(own, ", without TLS.");
  const Door wanted = speech == Speech::kHttp2 ? Door::kGrpc : Door::kHttp;
  if (door != wanted && !at.takes_both) return Cat(own, ". ", WayLocked(wanted));
  return wanted == Door::kGrpc ? Cat(own, ".") : Cat(own, ": the URL begins with https.");
}

HintAnswer AnswerWithHint(bool is_sdk, std::string_view hint) {
  if (!is_sdk) return {"text/plain", Cat(hint, "\n")};
  return {"application/x-amz-json-1.0",
          Cat(R"({"__type":"com.amazon.coral.service#UnknownOperationException","message":")", hint, "\"}")};
}

std::string Http1Refusal(std::string_view head, std::string_view hint) {
  const HintAnswer answer =
      AnswerWithHint(absl::StrContains(absl::AsciiStrToLower(Av(head)), "\r\nx-amz-target:"), hint);
  return Cat("HTTP/1.1 400 Bad Request\r\nContent-Type: ", answer.content_type,
             "\r\nContent-Length: ", answer.body.size(), "\r\nConnection: close\r\n\r\n", answer.body);
}

std::string RefusalOf(Speech speech, std::string_view head, std::string_view hint) {
  return speech == Speech::kTls ? std::string(kTlsRefusal) : Http1Refusal(head, hint);
}

}  // namespace armature::daemon
