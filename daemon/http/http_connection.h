#ifndef ARMATURE_DAEMON_HTTP_HTTP_CONNECTION_H_
#define ARMATURE_DAEMON_HTTP_HTTP_CONNECTION_H_

// One connection: reads requests, has them handled one after another, writes the answers in order.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/http/http_message.h"
#include "daemon/http/request_reader.h"
#include "daemon/http/socket_connection.h"

namespace armature::daemon {

// Nothing is read while a request is being handled or output is unsent: pipelined requests wait in the kernel.
//
// Thread-safety: owned by its loop's thread.
// Lifetime: the loop holds it until it is closed. A request under way holds it, and with it the loop, until its answer.
class HttpConnection final : public SocketConnection {
 public:
  // Takes ownership of the socket.
  HttpConnection(std::shared_ptr<IoLoop> loop, AcceptedSocket accepted, std::unique_ptr<Transport> transport);
  ~HttpConnection() override;

  // The refusal of one request, after which the connection stays open.
  static HttpResponse RefusalForMemory(ServerState* state);

  // Counts the body of an answer. An answer for which there is no memory becomes a refusal, if it may. Thread-safe.
  void CountAnswer(HttpResponse* response) const;

  void Start();
  // Closes the connection unless a request has begun to arrive.
  void Drain() override;
  void Sweep(int64_t now_ns) override;
  // Reads the request that waited in the socket.
  void TakeTurn(bool is_late) override;
  void OnFlush() override;
  // The answer to the request being handled is there.
  void OnPosted() override;

 private:
  // The event that the deadline applies to.
  enum class Wait : uint8_t { kIdle, kHead, kBody, kHandler, kWriting };
  // The reason why no further request is taken from the input.
  enum class Stop : uint8_t { kNeedsMore, kHandling, kOutputFull, kTurnIsOver, kClosing };

  bool has_unsent() const { return !unsent_.empty() || !unsent_body_.empty(); }
  bool is_reading() const {
    return is_open() && !is_handshaking_ && !handling_ && !is_paused_ && !closing_ && !has_unsent();
  }

  void OnReady(bool is_writable) override;
  void Release() override;
  void SetDeadline(Wait wait, absl::Duration timeout);
  void Credit(size_t bytes);

  void Handshake();
  void ReadSome();
  // True if the first bytes are not what this port speaks: they are answered then, with the hint where they should go.
  bool IsWrongDoor(std::string_view bytes);
  // False if the handshake has to wait for the first byte, or plain text is there instead of it. OpenSSL must not read
  // plain text: the answer needs it, and if unread bytes are left, the system resets the connection and the client does
  // not get the alert.
  bool MayBeginTls();
  // Takes the memory of a handshake from the budget. False if there is none: the connection is closed.
  bool MayHandshake();
  void RefuseSpeech(Speech speech, std::string_view bytes);
  // Handles the requests that are complete with `bytes`, and sends their answers.
  void Turn(std::string_view bytes);
  Stop TakeRequests(std::string_view* bytes);
  void OfferToContinue(std::string_view rest);
  void AfterTurn(Stop stop);
  void CountHeld();

  void HandleRequest();
  void OnAnswer(HttpResponse response);
  // The client speaks HTTP/2: another connection takes the socket over. As H2Connection.
  void BecomeH2(std::string_view first, std::string refusal);
  void Resume();
  void Refuse(unsigned status);
  void RefuseAndEnd(unsigned status);

  void Write(HttpResponse response);
  bool Flush();
  void KeepUnsent(std::string_view head, std::string_view body, size_t sent);

  const std::string peer_;
  const BudgetClient client_;

  bool is_handshaking_ = true;
  bool closing_ = false;        // no further request is taken
  bool took_request_ = false;   // since the deadline of a request was set
  bool sent_continue_ = false;  // for the request being read
  bool handling_ = false;       // a request is with the handler, or its answer waits for earlier output
  bool is_paused_ = false;      // requests that were read wait for OnFlush
  bool is_late_ = false;        // the next request is to be refused
  bool keep_alive_ = true;      // of the request being handled, like the next three
  bool is_http_1_0_ = false;
  bool is_head_ = false;
  bool more_was_read_ = false;
  bool knows_speech_ = false;     // the first bytes have been looked at
  bool is_tls_ = false;           // its handshake has begun
  bool is_plain_at_tls_ = false;  // all that is said here is answered with a hint
  size_t handled_bytes_ = 0;

  RequestReader reader_;
  std::string unread_;  // input that belongs to no request yet
  std::string unsent_;  // rendered answers, from unsent_begin_ on; then unsent_body_
  size_t unsent_begin_ = 0;
  std::string unsent_body_;
  size_t unsent_body_begin_ = 0;
  HeldMemory body_memory_;                     // of unsent_body_
  std::optional<HttpResponse> early_answer_;   // arrived while earlier answers were unsent
  std::optional<HttpResponse> inline_answer_;  // arrived before the handler returned
  HttpResponse posted_answer_;                 // on its way from another thread
  HeldMemory share_;                           // without answers that have memory of their own

  size_t received_ = 0;  // in this turn
  Wait wait_ = Wait::kIdle;
  int64_t deadline_ns_ = 0;
  int64_t writing_since_ns_ = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_HTTP_CONNECTION_H_
