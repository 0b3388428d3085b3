#include "daemon/net/wrong_door.h"

#include <algorithm>
#include <cstring>
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

// HTTP/2 (RFC 9113).
constexpr uint8_t kHeaders = 1;
constexpr uint8_t kSettings = 4;
constexpr uint8_t kGoAway = 7;
constexpr uint8_t kEndStream = 0x1;
constexpr uint8_t kEndHeaders = 0x4;
constexpr size_t kFrameBytesMax = 16 << 10;  // what a client may send before it has our settings

bool IsMethodLetter(char c) { return c >= 'A' && c <= 'Z'; }

void AppendFrame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload, std::string* out) {
  const auto size = static_cast<uint32_t>(payload.size());
  const uint8_t head[] = {static_cast<uint8_t>(size >> 16),
                          static_cast<uint8_t>(size >> 8),
                          static_cast<uint8_t>(size),
                          type,
                          flags,
                          static_cast<uint8_t>(stream >> 24),
                          static_cast<uint8_t>(stream >> 16),
                          static_cast<uint8_t>(stream >> 8),
                          static_cast<uint8_t>(stream)};
  out->append(reinterpret_cast<const char*>(head), sizeof(head)).append(payload);
}

// A length of HPACK (RFC 7541, section 5.1) with a prefix of seven bits, and no Huffman code.
void AppendLength(size_t length, std::string* out) {
  constexpr size_t kPrefixMax = 127;
  if (length < kPrefixMax) {
    out->push_back(static_cast<char>(length));
    return;
  }
  out->push_back(static_cast<char>(kPrefixMax));
  for (length -= kPrefixMax; length >= 128; length >>= 7) out->push_back(static_cast<char>(length % 128 + 128));
  out->push_back(static_cast<char>(length));
}

// A header field that is not indexed.
void AppendField(std::string_view name, std::string_view value, std::string* out) {
  out->push_back('\0');
  AppendLength(name.size(), out);
  out->append(name);
  AppendLength(value.size(), out);
  out->append(value);
}

// The form of grpc-message: other characters than printable ASCII, and '%', by their numbers.
std::string PercentEncoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '%') {
      out.push_back(c);
    } else {
      out.append({'%', kDigits[byte / 16], kDigits[byte % 16]});
    }
  }
  return out;
}

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

void Doors::Open(Door door, std::string address, bool has_tls) {
  const absl::MutexLock lock(&mutex_);
  doors_[static_cast<size_t>(door)] = {.address = std::move(address), .has_tls = has_tls};
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
  const std::string own =
      Cat("This port speaks ", kSpoken[static_cast<size_t>(door)], At(door).has_tls ? " over TLS" : "");
  if (speech == Speech::kTls) return Cat(own, ", without TLS.");
  if (speech == Speech::kHttp2) return door == Door::kGrpc ? Cat(own, ".") : Cat(own, ". ", WayLocked(Door::kGrpc));
  return door == Door::kHttp ? Cat(own, ": the URL begins with https.") : Cat(own, ". ", WayLocked(Door::kHttp));
}

std::string Http1Refusal(std::string_view head, std::string_view hint) {
  const bool is_sdk = absl::StrContains(absl::AsciiStrToLower(Av(head)), "\r\nx-amz-target:");
  const std::string body =
      is_sdk ? Cat(R"({"__type":"com.amazon.coral.service#UnknownOperationException","message":")", hint, "\"}")
             : Cat(hint, "\n");
  return Cat("HTTP/1.1 400 Bad Request\r\nContent-Type: ", is_sdk ? "application/x-amz-json-1.0" : "text/plain",
             "\r\nContent-Length: ", body.size(), "\r\nConnection: close\r\n\r\n", body);
}

bool Http2Refusal::OnHead(std::string* out) {
  const size_t payload = size_t{head_[0]} << 16 | size_t{head_[1]} << 8 | head_[2];
  const uint32_t stream = uint32_t{head_[5]} << 24 | uint32_t{head_[6]} << 16 | uint32_t{head_[7]} << 8 | head_[8];
  if (payload > kFrameBytesMax) return false;
  skipped_ = payload;
  if (head_[3] != kHeaders || stream % 2 == 0) return true;
  std::string fields("\x88");  // :status 200, since gRPC has its own
  AppendField("content-type", "application/grpc", &fields);
  AppendField("grpc-status", "12", &fields);
  AppendField("grpc-message", PercentEncoded(hint_), &fields);
  AppendFrame(kHeaders, kEndStream | kEndHeaders, stream, fields, out);
  std::string farewell;
  for (const int shift : {24, 16, 8, 0}) farewell.push_back(static_cast<char>(stream >> shift));
  farewell.append(4, '\0').append(hint_);  // no error
  AppendFrame(kGoAway, 0, 0, farewell, out);
  return false;
}

bool Http2Refusal::Read(std::string_view bytes, std::string* out) {
  if (!std::exchange(has_begun_, true)) AppendFrame(kSettings, 0, 0, {}, out);
  while (!bytes.empty()) {
    const size_t ignored = std::min(skipped_, bytes.size());
    bytes.remove_prefix(ignored);
    skipped_ -= ignored;
    if (skipped_ > 0) return true;
    const size_t taken = std::min(kHeadBytes - head_bytes_, bytes.size());
    std::memcpy(head_.data() + head_bytes_, bytes.data(), taken);
    bytes.remove_prefix(taken);
    head_bytes_ += taken;
    if (head_bytes_ < kHeadBytes) return true;
    head_bytes_ = 0;
    if (!OnHead(out)) return false;
  }
  return true;
}

bool Refusal::Read(std::string_view bytes, std::string* out) {
  if (speech_ == Speech::kHttp2) return http2_.Read(bytes, out);
  out->append(speech_ == Speech::kTls ? std::string(kTlsRefusal) : Http1Refusal(bytes, hint_));
  return false;
}

}  // namespace armature::daemon
