#ifndef ARMATURE_DAEMON_HTTP_REQUEST_PARSER_H_
#define ARMATURE_DAEMON_HTTP_REQUEST_PARSER_H_

// Beast's parser of one request: fills an HttpRequest and refuses ambiguous requests.

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>

#include "daemon/http/http_message.h"

namespace armature::daemon {

struct RequestLimits {
  size_t line_bytes_max = 16 << 10;    // the request line
  size_t head_bytes_max = 16 << 10;    // all headers
  uint64_t body_bytes_max = 16 << 20;  // as sent
};

// Internal to RequestReader. Thread-safety: thread-compatible. Lifetime: `limits` must outlive it.
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

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_REQUEST_PARSER_H_
