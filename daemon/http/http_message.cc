#include "daemon/http/http_message.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

// The statuses of our handlers; others have no reason.
std::string_view ReasonOf(unsigned status) {
  constexpr std::pair<unsigned, std::string_view> kReasons[] = {
      {200, "OK"},
      {302, "Found"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {413, "Payload Too Large"},
      {417, "Expectation Failed"},
      {500, "Internal Server Error"},
      {503, "Service Unavailable"},
  };
  for (const auto& [code, reason] : kReasons) {
    if (code == status) return reason;
  }
  return {};
}

}  // namespace

void AppendHead(const HttpResponse& response, std::string_view date, ConnectionHeader connection, std::string* out) {
  absl::StrAppend(out, "HTTP/1.1 ", response.status, " ", Av(ReasonOf(response.status)), "\r\n");
  for (const auto& [name, value] : response.headers) absl::StrAppend(out, name, ": ", value, "\r\n");
  if (response.status != 304) absl::StrAppend(out, "Content-Length: ", response.body.size(), "\r\n");
  absl::StrAppend(out, "Date: ", Av(date));
  if (connection == ConnectionHeader::kClose) out->append("\r\nConnection: close");
  if (connection == ConnectionHeader::kKeepAlive) out->append("\r\nConnection: keep-alive");
  out->append("\r\n\r\n");
}

}  // namespace armature::daemon
