#ifndef ARMATURE_DAEMON_HTTP_H2_SESSION_H_
#define ARMATURE_DAEMON_HTTP_H2_SESSION_H_

// HTTP/2 (RFC 9113) between the bytes of a connection and its streams, on libnghttp2; without sockets, threads and
// clocks.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "daemon/http/h2_output.h"
#include "daemon/http/h2_stream.h"
#include "daemon/http/pace.h"
#include "daemon/http/window_meter.h"
#include "storage/base/token_bucket.h"

struct nghttp2_session;

namespace armature::daemon {

struct H2Limits {
  // Streams that a client may have open. RFC 9113 recommends no fewer. Further ones are refused, since a client may
  // begin them before it knows; kStreamsPerBreak times as many at once end the connection.
  uint32_t streams_max = 100;
  // The head of a request, as RFC 9113 counts it. The connection of a client that sends kHeadsPerBreak as much in one
  // head is broken off.
  uint32_t head_bytes_max = 16 << 10;
  // A client may send so much on a stream before the handler has taken any of it, and at most so much after measured
  // round trips.
  uint32_t window_bytes = 64 << 10;
  uint32_t window_bytes_max = 16 << 20;
  // Further frames are made only when the system has taken some of these bytes. A connection with more is not read.
  size_t output_bytes_max = 256 << 10;
  // Frames that are no request and no data: a client may send as many, and more with time and with its requests.
  TokenBucket::Rate frames = {.burst = 1000, .per_second = 100};
  // Streams that a client breaks off, or has the session break off by errors.
  TokenBucket::Rate resets = {.burst = 1000, .per_second = 500};
  Pace pace = {};
};

// Why a connection or a stream was broken off.
enum class H2Break : uint8_t { kFrames, kHeads, kStalled, kMemory, kProtocol };
inline constexpr size_t kH2Breaks = 5;

// Thread-safety: belongs to the loop's thread.
class H2Session {
 public:
  static constexpr uint32_t kHeadsPerBreak = 4;
  static constexpr uint32_t kStreamsPerBreak = 10;

  class Host {
   public:
    // The handler of a request, whose head is complete. It may have answered, and it is not null.
    virtual std::shared_ptr<StreamHandler> OnRequest(H2Stream* stream, H2Request request) = 0;
    // There is something to send: Pull, after the call that this was called in.
    virtual void OnWork() = 0;
    // For counters.
    virtual void OnBroken(H2Break why) = 0;
    // True if the connection may hold so many bytes more for a wider window.
    virtual bool MayWiden(size_t bytes) = 0;
    virtual int64_t NowNs() const = 0;

   protected:
    ~Host() = default;
  };

  // `host` and `output` outlive it.
  H2Session(Host* host, H2Output* output, const H2Limits* limits);
  // Closes all streams.
  ~H2Session();
  H2Session(const H2Session&) = delete;
  H2Session& operator=(const H2Session&) = delete;

  // Takes bytes that have arrived. False if the connection is over, also from then on; there may be output that
  // explains why.
  [[nodiscard]] bool Receive(std::string_view bytes);
  // Moves frames to the output, as many as it takes. False if the connection is over.
  [[nodiscard]] bool Pull();
  // True if more frames wait for room in the output.
  bool is_blocked() const { return is_blocked_; }
  // True once all is said: the connection is to be closed when the output is sent.
  bool is_over() const;

  // Tells the client to begin no more streams, and serves those that it has begun. EndDrain at the latest some round
  // trips later.
  void BeginDrain();
  void EndDrain();
  bool has_drained() const { return has_said_goodbye_; }
  // Asks the client for a sign of life.
  void Ping();
  // True if it has not given one since Ping.
  bool awaits_ping() const { return awaits_ping_; }

  // Ends streams whose clients have stalled: a request that does not come is answered so by its handler, and an answer
  // that is not taken is broken off. Returns the oldest time since which an answer waits for its client; 0:
  // none.
  int64_t Sweep(int64_t now_ns);
  // Ends the streams whose requests are not complete, since there is no memory for them.
  void Shed();
  // Nothing is received or sent from then on.
  void CloseAll();

  size_t streams() const { return streams_.size(); }
  // Heads of the requests of open streams.
  size_t head_bytes() const { return head_bytes_; }
  // Bytes of requests that handlers have not taken, unsent messages that count no memory, and what
  // wider windows may add.
  size_t held_bytes() const { return unconsumed_bytes_ + uncounted_bytes_ + widened_bytes_; }

 private:
  friend class H2Stream;
  struct Callbacks;

  // Frames that a message in either direction may bring with it.
  static constexpr double kTokensOfMessage = 2;

  void SendSettings();
  void OpenStream(H2Stream* stream);
  void AddHeader(H2Stream* stream, const HeaderText& name, const HeaderText& value);
  void TakeData(H2Stream* stream, std::string_view bytes);
  void CloseStream(H2Stream* stream);
  void Charge();
  void Earn(double tokens);
  void CountReset();
  void OnResetSent(const H2Stream* stream, uint32_t error);
  void CheckFrame(uint8_t type, int32_t id);
  // The client has promised to send nothing more on this stream.
  void NoteEnded(int32_t id);
  void Break(H2Break why);
  void Break(H2Break why, uint32_t error);
  void MoveData(H2Stream* stream, std::string_view frame_head, size_t bytes);
  void SubmitHead(H2Stream* stream, std::span<const HeaderField> fields, bool is_last);
  void SubmitContinue(H2Stream* stream);
  void SubmitTrailers(H2Stream* stream);
  void Ask(const uint8_t (&text)[8]);
  void SetDeadline(H2Stream* stream, size_t transferred);
  void Probe(H2Stream* stream, size_t bytes);

  Host* const host_;
  H2Output* const output_;
  const H2Limits* const limits_;
  nghttp2_session* session_ = nullptr;
  std::vector<std::unique_ptr<H2Stream>> streams_;
  H2Stream* heading_ = nullptr;  // its head arrives; null: another head
  size_t trailer_bytes_ = 0;     // of the other head
  bool is_blocked_ = false;
  bool is_broken_ = false;
  bool is_draining_ = false;
  bool has_said_goodbye_ = false;
  bool awaits_ping_ = false;
  bool is_closed_ = false;
  TokenBucket frames_;
  double updates_ = 0;  // window updates that use up no tokens
  TokenBucket resets_;
  int64_t unseen_bytes_ = 0;  // received, and of no frame that the library has shown
  // The last streams that the client has ended, in a ring.
  std::array<int32_t, 8> ended_ = {};
  uint32_t ended_next_ = 0;
  int32_t ended_max_ = 0;
  size_t head_bytes_ = 0;
  size_t unconsumed_bytes_ = 0;
  size_t uncounted_bytes_ = 0;
  size_t widened_bytes_ = 0;
  WindowMeter meter_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_H2_SESSION_H_
