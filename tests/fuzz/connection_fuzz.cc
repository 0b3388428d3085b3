// A connection without TLS, from its first byte: which protocol it speaks is found out from bytes that come in pieces
// of any size, and then the protocol is served. Answers do not depend on how the bytes are split, and neither they nor
// memory and work exceed what the bytes explain.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/net/wrong_door.h"
#include "tests/fuzz/fuzz_util.h"
#include "tests/fuzz/served_connection.h"
#include "tests/support/h2_client.h"

namespace armature::fuzz {
namespace {

using daemon::Speech;

// The second byte of an input.
enum Flag : uint8_t { kNoCalls = 1, kClosesHttp2 = 2, kReadsAtEnd = 4, kDrains = 8 };

constexpr size_t kAnswerBytesMin = 600;
constexpr size_t kAnswerBytesPerByte = 20;

// The answer of a server to bytes that come in pieces of 1 to `largest_piece` bytes.
std::string AnswerTo(std::string_view bytes, size_t largest_piece, uint8_t flags) {
  EchoFront calls;
  std::string answer;
  ServedConnection::Run(
      {.closes_http2 = (flags & kClosesHttp2) != 0, .router = (flags & kNoCalls) != 0 ? nullptr : calls.router()},
      [&](ServedConnection* connection) {
        uint32_t random = 1;
        size_t pieces = 0;
        while (!bytes.empty()) {
          random = random * 1664525 + 1013904223;
          const size_t size = largest_piece == SIZE_MAX ? SIZE_MAX : 1 + (random >> 8) % largest_piece;
          const std::string_view piece = bytes.substr(0, size);
          bytes.remove_prefix(piece.size());
          connection->Send(piece);
          if ((flags & kDrains) != 0 && ++pieces == 4) connection->Drain();
          if ((flags & kReadsAtEnd) != 0) continue;
          answer += connection->Receive();
          connection->set_own_bytes(answer.capacity());
        }
        answer += connection->Receive();
        connection->set_own_bytes(answer.capacity());
        connection->EndSending();
        answer += connection->Receive();
        connection->set_own_bytes(answer.capacity());
        Check(answer.size() <= kAnswerBytesMin + kAnswerBytesPerByte * connection->sent(), "answers are bounded");
      });
  return answer;
}

bool IsHttp1(std::string_view answer) { return answer.empty() || answer.starts_with("HTTP/1.1 "); }

// Whole frames, the settings first.
void CheckFrames(std::string_view answer) {
  size_t bytes = 0;
  bool is_first = true;
  for (const daemon::RawFrameView& frame : daemon::SplitFrames(answer)) {
    Check(!is_first || frame.type == NGHTTP2_SETTINGS, "the first frame has settings");
    is_first = false;
    Check(frame.type <= NGHTTP2_CONTINUATION && frame.payload.size() <= (16 << 10), "frames are well formed");
    bytes += 9 + frame.payload.size();
  }
  Check(bytes == answer.size() && !is_first, "all frames are whole");
}

void CheckLanguage(std::string_view bytes, std::string_view answer, uint8_t flags) {
  const std::optional<Speech> speech = daemon::SpeechOf(bytes.substr(0, daemon::kSpeechBytes));
  if (speech != Speech::kHttp2 && speech != Speech::kTls) return Check(IsHttp1(answer), "HTTP/1.1 has its answer");
  if (speech == Speech::kTls) return Check(answer == daemon::kTlsRefusal, "TLS gets an alert");
  if ((flags & kClosesHttp2) != 0) return Check(answer.empty(), "HTTP/2 is closed");
  CheckFrames(answer);
}

// Without what depends on the clock and on pieces.
std::string Comparable(std::string_view answer) {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  constexpr std::string_view kDate = "\r\nDate: ";
  constexpr size_t kDateBytes = 29;
  std::string kept;
  while (!answer.empty()) {
    if (answer.starts_with(kContinue)) {
      answer.remove_prefix(kContinue.size());
    } else if (answer.starts_with(kDate)) {
      answer.remove_prefix(std::min(answer.size(), kDate.size() + kDateBytes));
    } else {
      kept.push_back(answer[0]);
      answer.remove_prefix(1);
    }
  }
  return kept;
}

void CheckAnswers(std::string_view bytes, size_t largest_piece, uint8_t flags) {
  const std::string whole = AnswerTo(bytes, SIZE_MAX, flags & ~kDrains);
  const std::string pieces = AnswerTo(bytes, largest_piece, flags);
  CheckLanguage(bytes, whole, flags);
  if ((flags & kDrains) != 0) return;
  CheckLanguage(bytes, pieces, flags);
  if (!IsHttp1(whole)) return;
  Check(Comparable(whole) == Comparable(pieces), "answers do not depend on pieces");
}

}  // namespace
}  // namespace armature::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Objects that are made once belong to no input.
  static const bool kIsWarm = [] {
    armature::fuzz::CheckAnswers("GET / HTTP/1.1\r\nHost: h\r\n\r\n", 3, 0);
    armature::fuzz::CheckAnswers(armature::daemon::RawPreface() + armature::daemon::RawRequest(1), 3, 0);
    return true;
  }();
  if (!kIsWarm || size < 2) return 0;
  armature::fuzz::CheckAnswers(armature::fuzz::Text(data + 2, size - 2), 1 + size_t{data[0]}, data[1]);
  return 0;
}
