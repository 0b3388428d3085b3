#ifndef ARMATURE_DAEMON_HTTP_REQUEST_READER_H_
#define ARMATURE_DAEMON_HTTP_REQUEST_READER_H_

// From bytes to requests; knows no sockets.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "daemon/http/http_message.h"
#include "daemon/http/request_parser.h"

namespace armature::daemon {

// Reads one request after another from the bytes of a connection.
//
// Stricter than it must be wherever two readers could see different requests in the same bytes: both lengths given,
// a length given twice, transfer codings other than `chunked`, a missing or repeated Host, a bare CR, headers folded
// over lines. Trailers are read and forgotten.
//
// Thread-safety: thread-compatible. Lifetime: `limits` must outlive it.
class RequestReader {
 public:
  enum class State : uint8_t {
    kNeedsMore,
    kComplete,  // TakeRequest() may be called
    kRefused,   // what follows has no meaning
  };

  explicit RequestReader(const RequestLimits* limits) : limits_(limits) {}
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // Reads as far as the first request in `data` goes; `*consumed` tells how far that was. What was not consumed must
  // come again at the beginning of the next call's `data`, which is how much a request may make its caller keep: less
  // than the limits of line and headers together. Not to be called after kComplete or kRefused.
  State Read(std::string_view data, size_t* consumed);

  // Whether a request has begun to arrive.
  bool started() const { return parser_.has_value(); }
  // Whether the headers are complete; then, whether the client waits for 100 Continue before it sends its body.
  bool head_done() const { return parser_.has_value() && parser_->is_header_done(); }
  bool wants_continue() const { return head_done() && parser_->wants_continue(); }

  // After kComplete.
  bool keep_alive() const { return parser_->keep_alive(); }
  bool is_http_1_0() const { return parser_->is_http_1_0(); }
  HttpRequest& request() { return parser_->request(); }
  // Forgets the request; the next one may come.
  void Next() { parser_.reset(); }

  // After kRefused: the status to answer.
  unsigned refused_with() const { return refused_with_; }

  // What the request holds in memory so far, about.
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
