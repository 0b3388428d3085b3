#include "daemon/http/request_reader.h"

#include <boost/asio/buffer.hpp>

namespace armature::daemon {
namespace {

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

size_t RequestReader::held_bytes() const {
  if (!parser_.has_value()) return 0;
  return parser_->held_bytes();
}

}  // namespace armature::daemon
