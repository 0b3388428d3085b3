#include "daemon/grpc/first_bytes.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/net/coarse_clock.h"
#include "glog/logging.h"

namespace armature::daemon {
namespace {

constexpr int64_t kFirstBytesNs = 20'000'000'000;  // as long as gRPC gives for a handshake
constexpr int64_t kLingerNs = 2'000'000'000;
constexpr size_t kPeekedBytes = 4 << 10;  // enough for the headers of an SDK
constexpr size_t kDiscardedBytesMax = 32 << 20;
constexpr int kReadsPerLook = 16;

}  // namespace

FirstBytes::FirstBytes(int socket, const Options* options)
    : socket_(socket), options_(options), deadline_ns_(CoarseNowNs() + kFirstBytesNs) {}

FirstBytes::FirstBytes(FirstBytes&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      options_(other.options_),
      deadline_ns_(other.deadline_ns_),
      refusal_(std::move(other.refusal_)),
      lingers_(other.lingers_),
      discarded_(other.discarded_) {}

FirstBytes::~FirstBytes() {
  if (socket_ >= 0) close(socket_);
}

int FirstBytes::TakeSocket() { return std::exchange(socket_, -1); }

FirstBytes::Verdict FirstBytes::Look() {
  if (lingers_) return Discard();
  if (refusal_ != nullptr) return ReadRefused();
  std::array<char, kPeekedBytes> buffer;
  const ssize_t peeked = recv(socket_, buffer.data(), buffer.size(), MSG_PEEK | MSG_DONTWAIT);
  if (peeked == 0) return Verdict::kEnd;
  if (peeked < 0) return errno == EAGAIN || errno == EINTR ? Verdict::kWait : Verdict::kEnd;
  const std::string_view bytes(buffer.data(), static_cast<size_t>(peeked));
  const std::optional<Speech> speech = SpeechOf(bytes);
  if (!speech.has_value()) return Verdict::kWait;
  const Speech own = options_->has_tls ? Speech::kTls : Speech::kHttp2;
  // gRPC refuses what is nothing of these.
  if (*speech == own || *speech == Speech::kOther) return Verdict::kServe;
  const std::string hint = options_->wrong_door(*speech);
  LOG_IF_EVERY_N(WARNING, *speech == Speech::kTls, kLogWrongDoorEvery)
      << "grpc: client with TLS at a port without it: " << hint;
  // The peeked bytes come again.
  refusal_ = std::make_unique<Refusal>(*speech, hint);
  return ReadRefused();
}

FirstBytes::Verdict FirstBytes::ReadRefused() {
  std::array<char, kPeekedBytes> buffer;
  for (int i = 0; i < kReadsPerLook; ++i) {
    const ssize_t got = recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return Verdict::kWait;
    if (got <= 0) return Verdict::kEnd;
    std::string answer;
    const bool goes_on = refusal_->Read({buffer.data(), static_cast<size_t>(got)}, &answer);
    if (!Send(answer)) return Verdict::kEnd;
    if (!goes_on) return Linger();
  }
  // Nobody needs that many bytes before the first call.
  return Verdict::kEnd;
}

FirstBytes::Verdict FirstBytes::Linger() {
  shutdown(socket_, SHUT_WR);
  lingers_ = true;
  deadline_ns_ = CoarseNowNs() + kLingerNs;
  return Discard();
}

FirstBytes::Verdict FirstBytes::Discard() {
  for (;;) {
    const ssize_t got = recv(socket_, nullptr, kDiscardedBytesMax, MSG_TRUNC | MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return Verdict::kWait;
    if (got <= 0) return Verdict::kEnd;
    discarded_ += static_cast<size_t>(got);
    if (discarded_ > kDiscardedBytesMax) return Verdict::kEnd;
  }
}

bool FirstBytes::Send(std::string_view bytes) const {
  return bytes.empty() ||
         send(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

}  // namespace armature::daemon
