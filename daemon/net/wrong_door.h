#ifndef ARMATURE_DAEMON_NET_WRONG_DOOR_H_
#define ARMATURE_DAEMON_NET_WRONG_DOOR_H_

// Clients that came to a port which does not speak their protocol: how they are recognized, and what they are told, in
// their own language.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace armature::daemon {

// The protocol that a client speaks.
enum class Speech : uint8_t { kOther, kHttp1, kHttp2, kTls };

// Bytes that always suffice to recognize a speech.
inline constexpr size_t kSpeechBytes = 24;

// The speech of a connection whose first bytes are `first`; nullopt if more are needed.
std::optional<Speech> SpeechOf(std::string_view first);

// The ports of the daemon, and the sentences that lead from one to another.
//
// Thread-safety: thread-safe.
class Doors {
 public:
  enum class Door : uint8_t { kGrpc, kHttp, kOperators };

  // A door for gRPC or HTTP may take both.
  enum class Takes : uint8_t { kOwn, kBoth };
  // `address`: "127.0.0.1:7700", "[::1]:7700" or "unix:/run/armature.sock".
  void Open(Door door, std::string address, bool has_tls, Takes takes = Takes::kOwn);
  // The hint for a client that speaks `speech` at `door`: one or two sentences. Plain text without line ends, quotes
  // and backslashes.
  std::string Hint(Door door, Speech speech) const;
  // One sentence that says where `door` is, kGrpc or kHttp.
  std::string WayTo(Door door) const;

 private:
  struct State {
    std::string address;  // empty: not open
    bool has_tls = false;
    bool takes_both = false;
  };
  const State& At(Door door) const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return doors_[static_cast<size_t>(door)]; }
  std::string WayLocked(Door door) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  std::array<State, 3> doors_ ABSL_GUARDED_BY(mutex_);
};

// The answer to a request that is not served here. An SDK gets JSON, others plain text.
struct HintAnswer {
  std::string_view content_type;
  std::string body;
};
HintAnswer AnswerWithHint(bool is_sdk, std::string_view hint);

// A whole HTTP/1.1 answer with status 400 to a client whose first bytes are `head`. An SDK gets JSON, others plain
// text.
std::string Http1Refusal(std::string_view head, std::string_view hint);

// Warnings of clients with TLS at a port without it are logged once per this many. Such clients see no sentence, so
// that each port has one in the log.
inline constexpr int kLogWrongDoorEvery = 1000;

// The answer to a TLS handshake on a port without TLS: a fatal alert. TLS has no place for a sentence.
inline constexpr std::string_view kTlsRefusal("\x15\x03\x01\x00\x02\x02\x28", 7);

// The answer to a client, in its own language, before the connection ends: to a client that speaks TLS at a port
// without it, or HTTP/1.1 at a port with it. `head`: its first bytes, of HTTP/1.1 the whole head if possible.
std::string RefusalOf(Speech speech, std::string_view head, std::string_view hint);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_NET_WRONG_DOOR_H_
