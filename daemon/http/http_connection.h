#ifndef ARMATURE_DAEMON_HTTP_HTTP_CONNECTION_H_
#define ARMATURE_DAEMON_HTTP_HTTP_CONNECTION_H_

// One connection: reads requests, has them handled one after another, writes their answers in order.

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/http/http_message.h"
#include "daemon/http/io_loop.h"
#include "daemon/http/memory_budget.h"
#include "daemon/http/request_reader.h"
#include "daemon/http/transport.h"

namespace armature::daemon {

// Reads only while nothing of it is being handled or waits to be written: what a client sends ahead stays in the
// kernel.
//
// Thread-safety: owned by its loop's thread.
// Lifetime: the loop holds it until it is closed; a request under way holds it, and with it the loop, until it is
// answered.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  // Takes `socket`.
  HttpConnection(std::shared_ptr<IoLoop> loop, int socket, std::string peer, std::unique_ptr<Transport> transport);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void Start();
  // The answer to the request being handled.
  void OnAnswer(HttpResponse response);
  // The server stops: ends unless a request has begun to arrive.
  void Drain();
  // Gives up if it has waited too long for its client.
  void Sweep(int64_t now_ns);
  void Close();

  // Where the loop keeps it.
  size_t slot() const { return slot_; }
  void set_slot(size_t slot) { slot_ = slot; }

 private:
  enum class Phase : uint8_t { kHandshake, kOpen, kLingering, kClosed };
  // What the deadline is about.
  enum class Wait : uint8_t { kIdle, kHead, kBody, kHandler, kWriting, kLingering };
  // Why no further request is taken from the bytes at hand.
  enum class Stop : uint8_t { kNeedsMore, kHandling, kOutputFull, kClosing };

  const HttpServerOptions& options() const { return loop_->state().options; }
  bool has_unsent() const { return !unsent_.empty() || !unsent_body_.empty(); }
  bool is_reading() const { return phase_ == Phase::kOpen && !handling_ && !closing_ && !has_unsent(); }

  void WaitFor(Transport::Result what);
  void OnReady();
  void SetDeadline(Wait wait, absl::Duration timeout);
  void Credit(size_t bytes);

  void Handshake();
  void ReadSome();
  // Handles the requests that are complete with `bytes`, and sends their answers.
  void Turn(std::string_view bytes);
  Stop TakeRequests(std::string_view* bytes);
  void OfferToContinue(std::string_view rest);
  void AfterTurn(Stop stop);
  void CountHeld();

  void HandleRequest();
  void Resume();
  void Refuse(unsigned status);
  void RefuseAndEnd(unsigned status);

  void Write(HttpResponse response);
  bool Flush();
  void KeepUnsent(std::string_view head, std::string_view body, size_t sent);

  void Linger();
  void Discard();
  void Reset();

  const std::shared_ptr<IoLoop> loop_;
  boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type> socket_;
  const std::unique_ptr<Transport> transport_;
  const std::string peer_;
  size_t slot_ = 0;

  Phase phase_ = Phase::kHandshake;
  bool waiting_readable_ = false;
  bool waiting_writable_ = false;
  bool closing_ = false;        // no request is taken after the one that was answered last
  bool took_request_ = false;   // since a deadline was set for one
  bool sent_continue_ = false;  // for the request being read
  bool handling_ = false;       // a request is with the handler, or its answer waits for earlier ones to be sent
  bool keep_alive_ = true;      // of that request, as the next three
  bool is_http_1_0_ = false;
  bool is_head_ = false;
  bool more_was_read_ = false;
  size_t handled_bytes_ = 0;

  RequestReader reader_;
  std::string unread_;  // read, but part of no request yet
  std::string unsent_;  // rendered answers, from unsent_begin_ on; then unsent_body_
  size_t unsent_begin_ = 0;
  std::string unsent_body_;
  size_t unsent_body_begin_ = 0;
  std::optional<HttpResponse> early_answer_;   // came before earlier ones were written
  std::optional<HttpResponse> inline_answer_;  // came before the handler returned
  MemoryShare share_;

  size_t received_ = 0;  // in this turn
  Wait wait_ = Wait::kIdle;
  int64_t deadline_ns_ = 0;
  size_t linger_left_ = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_HTTP_CONNECTION_H_
