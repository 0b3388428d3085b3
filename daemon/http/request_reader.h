#ifndef ARMATURE_DAEMON_HTTP_REQUEST_READER_H_
#define ARMATURE_DAEMON_HTTP_REQUEST_READER_H_

// Turns bytes into requests, without any sockets.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "daemon/http/http_message.h"
#include "daemon/http/request_parser.h"

namespace armature::daemon {

// Reads one request after another from the bytes of a connection.
//
// Stricter than the standard wherever two readers could see different requests in the same bytes. Refused are: both
// kinds of length, a repeated length, transfer codings other than `chunked`, a missing or repeated Host, a bare CR,
// folded headers. Trailers are read and ignored.
//
// Thread-safety: thread-compatible. Lifetime: `limits` must outlive it.
class RequestReader {
 public:
  enum class State : uint8_t {
    kNeedsMore,
    kComplete,  // TakeRequest() may be called
    kRefused,   // the rest of the input is meaningless
  };

  explicit RequestReader(const RequestLimits* limits) : limits_(limits) {}
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // Reads at most one request from `data`. `*consumed` is the number of bytes used. Unconsumed bytes must come again at
  // the beginning of the next call's `data`; they are fewer than the limits of line and headers together. Not to be
  // called after kComplete or kRefused.
  State Read(std::string_view data, size_t* consumed);

  // True if a request has begun to arrive.
  bool started() const { return parser_.has_value(); }
  // True if the headers are complete. Then wants_continue() is true if the client waits for 100 Continue before it
  // sends the body.
  bool head_done() const { return parser_.has_value() && parser_->is_header_done(); }
  bool wants_continue() const { return head_done() && parser_->wants_continue(); }

  // The next three are valid after kComplete.
  bool keep_alive() const { return parser_->keep_alive(); }
  bool is_http_1_0() const { return parser_->is_http_1_0(); }
  HttpRequest& request() { return parser_->request(); }
  // Forgets the request, so that the next one can be read.
  void Next() { parser_.reset(); }

  // The status to answer after kRefused.
  unsigned refused_with() const { return refused_with_; }

  // Approximate memory that the request holds so far.
  size_t held_bytes() const;

 private:
  State Refused(unsigned status);
  bool IsTooMuch(std::string_view left) const;

  const RequestLimits* const limits_;
  std::optional<RequestParser> parser_;
  unsigned refused_with_ = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_REQUEST_READER_H_
