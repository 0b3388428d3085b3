#include "daemon/http/request_reader.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

namespace http = boost::beast::http;

// Length of " HTTP/1.1" and the line end, which the request line adds to method and target.
constexpr size_t kLineRest = 12;
// Length of ": " and the line end.
constexpr size_t kFieldRest = 4;
// Bodies up to this size are reserved at once. Larger ones grow as they arrive, because Content-Length is only a claim:
// a body holds at most twice what has arrived of it.
constexpr size_t kReserveMax = 4 << 10;
constexpr size_t kHeadersExpected = 16;

std::string_view Sv(boost::beast::string_view view) { return {view.data(), view.size()}; }

// The line ends after the request line and after the headers.
constexpr size_t kLineEnds = 4;

bool HasBareLf(std::string_view text) {
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    if (at == 0 || text[at - 1] != '\r') return true;
  }
  return false;
}

// True if a header continues on the next line (obsolete line folding). The parser counts such a value by its unfolded
// length, so that the length limit would depend on how the bytes are split into reads.
bool HasFoldedLine(std::string_view data) {
  // The parsed bytes end with a line, so this is the end of the headers.
  if (data.starts_with("\r\n")) return false;
  const std::string_view head = data.substr(0, data.find("\r\n\r\n"));
  for (size_t at = head.find("\r\n"); at != std::string_view::npos; at = head.find("\r\n", at + 2)) {
    if (at + 2 < head.size() && (head[at + 2] == ' ' || head[at + 2] == '\t')) return true;
  }
  return false;
}

}  // namespace

RequestParser::RequestParser(const RequestLimits* limits) : limits_(limits) {
  eager(true);
  body_limit(limits->body_bytes_max);
  // Beast's limit applies to the bytes it sees at once. The exact limits are checked below.
  header_limit(static_cast<uint32_t>(limits->line_bytes_max + limits->head_bytes_max + kFieldRest));
}

void RequestParser::Refuse(unsigned status, ErrorCode* ec) {
  refused_with_ = status;
  *ec = http::error::bad_value;
}

void RequestParser::on_request_impl(http::verb, View method, View target, int version, ErrorCode& ec) {
  line_bytes_ = method.size() + target.size() + kLineRest;
  if (line_bytes_ > limits_->line_bytes_max) return Refuse(400, &ec);
  version_ = version;
  request_.method.assign(method.data(), method.size());
  request_.target.assign(target.data(), target.size());
  request_.headers.reserve(kHeadersExpected);
  head_cost_ = line_bytes_;
}

void RequestParser::on_field_impl(Field field, View name, View value, ErrorCode& ec) {
  head_bytes_ += name.size() + value.size() + kFieldRest;
  if (head_bytes_ > limits_->head_bytes_max) return Refuse(400, &ec);
  // Trailers come after the head. They are ignored.
  if (head_done_) return;
  CheckField(field, Sv(value), &ec);
  if (ec) return;
  HttpRequest::Header& header = request_.headers.emplace_back();
  header.name.assign(name.data(), name.size());
  absl::AsciiStrToLower(&header.name);
  header.value.assign(value.data(), value.size());
  head_cost_ += sizeof(HttpRequest::Header) + name.size() + value.size();
}

void RequestParser::CheckField(Field field, std::string_view value, ErrorCode* ec) {
  switch (field) {
    case Field::content_length:
      // Beast accepts "5, 5" and repeated equal lengths, as the standard allows. They are refused here, because they
      // are used to smuggle requests.
      if (lengths_++ > 0 || value.find(',') != std::string_view::npos) Refuse(400, ec);
      return;
    case Field::transfer_encoding:
      if (lengths_++ > 0 || version_ < 11 || !absl::EqualsIgnoreCase(Av(value), "chunked")) Refuse(400, ec);
      return;
    case Field::host:
      if (hosts_++ > 0) Refuse(400, ec);
      return;
    case Field::expect:
      if (version_ < 11) return;
      if (!absl::EqualsIgnoreCase(Av(value), "100-continue")) return Refuse(417, ec);
      wants_continue_ = true;
      return;
    default:
      return;
  }
}

void RequestParser::on_header_impl(ErrorCode& ec) {
  head_done_ = true;
  if (version_ >= 11 && hosts_ == 0) return Refuse(400, &ec);
}

void RequestParser::on_body_init_impl(const Length& content_length, ErrorCode&) {
  if (!content_length.has_value()) return;
  promised_bytes_ = static_cast<size_t>(*content_length);
  request_.body.reserve(std::min(promised_bytes_, kReserveMax));
}

std::size_t RequestParser::on_body_impl(View body, ErrorCode&) {
  const size_t needed = request_.body.size() + body.size();
  if (needed > request_.body.capacity()) {
    // reserve() would at least double the capacity.
    std::string larger;
    larger.reserve(std::max(needed, std::min(promised_bytes_, 2 * needed)));
    larger.append(request_.body);
    request_.body = std::move(larger);
  }
  request_.body.append(body.data(), body.size());
  return body.size();
}

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t, View body, ErrorCode&) {
  request_.body.append(body.data(), body.size());
  return body.size();
}

RequestReader::State RequestReader::Refused(unsigned status) {
  refused_with_ = status;
  return State::kRefused;
}

// True if an incomplete line or head is already too long. The parser may hold the request line back until all headers
// have arrived.
bool RequestReader::IsTooMuch(std::string_view left) const {
  size_t bytes_max = limits_->head_bytes_max + kLineEnds;
  if (!parser_->line_done()) {
    const size_t line_end = left.find("\r\n");
    bytes_max = line_end == std::string_view::npos ? limits_->line_bytes_max : line_end + bytes_max;
  }
  return left.size() > bytes_max;
}

RequestReader::State RequestReader::Read(std::string_view data, size_t* consumed) {
  *consumed = 0;
  if (!parser_.has_value()) {
    // Some clients send an uncounted empty line after a body.
    while (data.starts_with("\r\n")) {
      *consumed += 2;
      data.remove_prefix(2);
    }
    if (data.empty() || data == "\r") return State::kNeedsMore;
    parser_.emplace(limits_);
  }
  if (!head_done() && HasFoldedLine(data)) return Refused(400);
  RequestParser::ErrorCode ec;
  const size_t parsed = parser_->put(boost::asio::buffer(data.data(), data.size()), ec);
  *consumed += parsed;
  if (parser_->refused_with() != 0) return Refused(parser_->refused_with());
  if (ec == boost::beast::http::error::body_limit) return Refused(413);
  if (ec && ec != boost::beast::http::error::need_more) return Refused(400);
  if (parser_->is_done()) return State::kComplete;
  const std::string_view left = data.substr(parsed);
  // The parser would wait for a CRLF after a line that ends in a bare LF.
  if (!head_done() && HasBareLf(left)) return Refused(400);
  return IsTooMuch(left) ? Refused(400) : State::kNeedsMore;
}

}  // namespace armature::daemon
