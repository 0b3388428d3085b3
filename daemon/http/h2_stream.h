#ifndef ARMATURE_DAEMON_HTTP_H2_STREAM_H_
#define ARMATURE_DAEMON_HTTP_H2_STREAM_H_

// One stream of an HTTP/2 connection (RFC 9113): a request, its bytes, and the answer.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "storage/base/held_memory.h"

struct nghttp2_rcbuf;

namespace armature::daemon {

class H2Session;

// A text that the decoder of headers shares with its table. Copies share it, too.
//
// Thread-safety: texts of one connection belong to the thread of its loop, also their destruction.
class HeaderText {
 public:
  HeaderText() = default;
  explicit HeaderText(nghttp2_rcbuf* buffer);
  HeaderText(const HeaderText& other) : HeaderText(other.buffer_) {}
  HeaderText(HeaderText&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  HeaderText& operator=(HeaderText other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~HeaderText();
  std::string_view view() const;

 private:
  nghttp2_rcbuf* buffer_ = nullptr;
};

// The head of a request.
struct H2Request {
  struct Header {
    HeaderText name;  // lower case
    HeaderText value;
  };

  HeaderText method;
  HeaderText path;
  HeaderText authority;
  absl::InlinedVector<Header, 8> headers;  // the others, in the order sent
  size_t bytes = 0;                        // as RFC 9113 counts them, section 6.5.2
  // More headers than the connection takes: those above are not all, but the content type is there.
  bool is_too_large = false;

  // The first header with `name` (lower case), or nothing.
  std::string_view Find(std::string_view name) const;
};

// A header to be sent. `is_fixed`: both texts exist as long as the process.
struct HeaderField {
  std::string_view name;  // lower case
  std::string_view value;
  bool is_fixed = false;
};

// A part of an answer on its way to a client.
struct OutMessage {
  std::string head;        // sent before `bytes`; short
  std::string bytes;       // sent from where they are, if they are many
  HeldMemory memory = {};  // counts them until the system has taken them
  uint32_t weight = 0;     // for StreamHandler::OnSent
  int64_t since_ns = 0;    // when it was sent to the stream, which sets it

  size_t size() const { return head.size() + bytes.size(); }
  // Memory of a message that counts none itself, beside the bytes also that of this object and its place in a list: of
  // small messages that is most.
  size_t uncounted_bytes() const { return memory.is_counted() ? 0 : size() + kOwnBytes; }

  static constexpr size_t kOwnBytes = 256;
};

// A reader of a request, which answers it. Called on the loop's thread.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  // Further bytes of the request. The client may send as many more as the handler takes with H2Stream::Consume.
  virtual void OnData(std::string_view bytes) = 0;
  // The request has ended.
  virtual void OnEnd() = 0;
  // There is no memory for the rest of the request: the handler answers so, or breaks the stream off.
  virtual void OnShed() = 0;
  // The rest of the request has not come in time: the handler answers so. Otherwise the stream is broken off.
  virtual void OnStalled() {}
  // A message with this weight has left the stream for the connection's output.
  virtual void OnSent(uint32_t /*weight*/) {}
  // The stream has ended: both sides have sent everything, or one has broken it off. Called once, and last. The stream
  // must not be used any more.
  virtual void OnClosed() = 0;
};

// Thread-safety: belongs to the loop's thread. Lifetime: its session owns it until StreamHandler::OnClosed.
class H2Stream {
 public:
  H2Stream(H2Session* session, int32_t id, size_t window) : session_(session), id_(id), window_(window) {}
  H2Stream(const H2Stream&) = delete;
  H2Stream& operator=(const H2Stream&) = delete;

  // Sends the head of the answer, ":status" first. Call it once. `is_last`: nothing follows.
  void SendHead(std::span<const HeaderField> fields, bool is_last);
  // Sends a message, which is not empty, after those before it. After SendHead, before SendEnd.
  void Send(OutMessage message);
  // Ends the answer after what was sent, with trailers if there are any.
  void SendEnd(std::span<const HeaderField> trailers);
  // Lets a client that waits for it send its request. Before SendHead.
  void SendContinue();
  // Breaks the stream off, with a code of RFC 9113, section 7.
  void Reset(uint32_t error);

  // The handler is done with `bytes` of the request: the client may send as many more. It learns of that once they are
  // half a window, so a handler that waits for more must not keep more than the other half.
  void Consume(size_t bytes);
  // A message has arrived: it explains some frames.
  void CountMessage();
  // Lets the client send `bytes` ahead, if it may not send more already.
  void SetWindow(size_t bytes);
  // The client sends messages one after another: how many bytes it may send ahead follows the measured round trip.
  void set_long() { is_long_ = true; }
  // True while the client owes a part of its request: it must then come at the minimum rate.
  void SetOwed(bool is_owed);
  // The client may read as slowly as it likes while there is memory.
  void set_patient() { is_patient_ = true; }

  // Bytes of messages that have not left the stream.
  size_t unsent_bytes() const { return unsent_bytes_; }
  int32_t id() const { return id_; }
  H2Session* session() const { return session_; }

 private:
  friend class H2Session;

  H2Session* const session_;
  const int32_t id_;
  std::shared_ptr<StreamHandler> handler_;
  H2Request request_;  // while it arrives
  bool has_opened_ = false;
  bool has_head_ = false;      // of the answer
  bool has_end_ = false;       // of the answer
  bool is_deferred_ = false;   // the session waits for Send or SendEnd
  bool has_read_all_ = false;  // the client has sent its whole request
  bool is_reset_ = false;      // by Reset
  bool is_owed_ = false;
  bool is_patient_ = false;
  bool is_long_ = false;
  size_t head_bytes_ = 0;    // of the request
  size_t slot_ = 0;          // in the session's list
  size_t window_;            // what the client may send ahead
  size_t widened_ = 0;       // part of it that round trips have added
  size_t received_ = 0;      // bytes of the request
  size_t unconsumed_ = 0;    // those that the handler has not taken
  int64_t deadline_ns_ = 0;  // of the bytes that the client owes or does not read; 0: none
  int64_t unsent_since_ns_ = 0;

  std::deque<std::shared_ptr<OutMessage>> unsent_;
  size_t unsent_bytes_ = 0;
  size_t offset_ = 0;  // in the first of them
  std::vector<std::pair<std::string, std::string>> trailers_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_H2_STREAM_H_
