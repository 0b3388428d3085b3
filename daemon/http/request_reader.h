#ifndef ARMATURE_DAEMON_HTTP_REQUEST_READER_H_
#define ARMATURE_DAEMON_HTTP_REQUEST_READER_H_

// Turns bytes into requests, without any sockets.

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "daemon/http/http_message.h"

namespace armature::daemon {

// Beast's parser of one request: fills an HttpRequest and refuses ambiguous requests. Internal to RequestReader.
//
// Thread-safety: thread-compatible. Lifetime: `limits` must outlive it.
class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  using ErrorCode = boost::beast::error_code;

  explicit RequestParser(const RequestLimits* limits);

  HttpRequest& request() { return request_; }
  // Approximate memory that the request holds so far.
  size_t held_bytes() const { return request_.body.capacity() + head_cost_; }
  bool line_done() const { return line_bytes_ > 0; }
  bool is_http_1_0() const { return version_ == 10; }
  // The status to refuse with if one of our own rules is broken, else 0.
  unsigned refused_with() const { return refused_with_; }
  bool wants_continue() const { return wants_continue_; }

 private:
  using Field = boost::beast::http::field;
  using View = boost::beast::string_view;
  using Length = boost::optional<std::uint64_t>;

  void on_request_impl(boost::beast::http::verb, View method, View target, int version, ErrorCode& ec) override;
  void on_response_impl(int, View, int, ErrorCode&) override {}
  void on_field_impl(Field field, View name, View value, ErrorCode& ec) override;
  void on_header_impl(ErrorCode& ec) override;
  void on_body_init_impl(const Length& content_length, ErrorCode& ec) override;
  std::size_t on_body_impl(View body, ErrorCode& ec) override;
  void on_chunk_header_impl(std::uint64_t, View, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t remain, View body, ErrorCode& ec) override;
  void on_finish_impl(ErrorCode&) override {}

  void CheckField(Field field, std::string_view value, ErrorCode* ec);
  void Refuse(unsigned status, ErrorCode* ec);

  const RequestLimits* const limits_;
  HttpRequest request_;
  size_t line_bytes_ = 0;
  size_t head_bytes_ = 0;
  size_t head_cost_ = 0;
  size_t promised_bytes_ = 0;
  int version_ = 0;
  unsigned refused_with_ = 0;
  uint8_t hosts_ = 0;
  uint8_t lengths_ = 0;
  bool head_done_ = false;
  bool wants_continue_ = false;
};

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
  size_t held_bytes() const { return parser_.has_value() ? parser_->held_bytes() : 0; }

 private:
  State Refused(unsigned status);
  bool IsTooMuch(std::string_view left) const;

  const RequestLimits* const limits_;
  std::optional<RequestParser> parser_;
  unsigned refused_with_ = 0;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_REQUEST_READER_H_
