#include "daemon/http/http_message.h"

#include <array>
#include <charconv>

namespace armature::daemon {
namespace {

std::string_view StatusLine(unsigned status) {
  switch (status) {
    case 200:
      return "HTTP/1.1 200 OK\r\n";
    case 400:
      return "HTTP/1.1 400 Bad Request\r\n";
    case 403:
      return "HTTP/1.1 403 Forbidden\r\n";
    case 404:
      return "HTTP/1.1 404 Not Found\r\n";
    case 408:
      return "HTTP/1.1 408 Request Timeout\r\n";
    case 413:
      return "HTTP/1.1 413 Payload Too Large\r\n";
    case 417:
      return "HTTP/1.1 417 Expectation Failed\r\n";
    case 500:
      return "HTTP/1.1 500 Internal Server Error\r\n";
    case 503:
      return "HTTP/1.1 503 Service Unavailable\r\n";
    default:
      return {};
  }
}

void AppendNumber(size_t number, std::string* out) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out->append(digits.data(), end);
}

void AppendStatusLine(unsigned status, std::string* out) {
  if (const std::string_view line = StatusLine(status); !line.empty()) {
    out->append(line);
    return;
  }
  out->append("HTTP/1.1 ");
  AppendNumber(status, out);
  out->append(" \r\n");
}

}  // namespace

void AppendHead(const HttpResponse& response, std::string_view date, ConnectionHeader connection, std::string* out) {
  AppendStatusLine(response.status, out);
  for (const auto& [name, value] : response.headers) {
    out->append(name).append(": ").append(value).append("\r\n");
  }
  out->append("Content-Length: ");
  AppendNumber(response.body.size(), out);
  out->append("\r\nDate: ").append(date);
  if (connection == ConnectionHeader::kClose) out->append("\r\nConnection: close");
  if (connection == ConnectionHeader::kKeepAlive) out->append("\r\nConnection: keep-alive");
  out->append("\r\n\r\n");
}

}  // namespace armature::daemon
