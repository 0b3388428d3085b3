#ifndef ARMATURE_DAEMON_HTTP_HTTP_MESSAGE_H_
#define ARMATURE_DAEMON_HTTP_HTTP_MESSAGE_H_

// HTTP requests and answers, independent of the library that parses them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "storage/base/held_memory.h"

namespace armature::daemon {

// A complete request.
struct HttpRequest {
  struct Header {
    std::string name;   // lower case
    std::string value;  // without surrounding blanks
  };

  std::string method;           // as sent, such as "POST"
  std::string target;           // as sent: path and query
  std::vector<Header> headers;  // in the order sent
  std::string body;             // as sent: still compressed if there is a Content-Encoding
  std::string peer;             // "127.0.0.1:41234"
  MemoryClient client = {};
  // The request has waited too long, because there are more than the server can serve: it should be refused.
  bool is_late = false;

  // The first header with `name` (lower case), or null.
  const std::string* Find(std::string_view name) const {
    for (const Header& header : headers) {
      if (header.name == name) return &header.value;
    }
    return nullptr;
  }
};

// The server adds Content-Length, Date and Connection. An answer 304 has no Content-Length: it would be the one of the
// body that the client has (RFC 9110, 8.6).
struct HttpResponse {
  unsigned status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  bool close = false;       // closes the connection after this answer
  bool may_refuse = false;  // the request may be refused although it was executed, if there is no memory for the answer
  HeldMemory memory = {};   // counts the body; the server counts it for its client if it has no source
};

// Answers requests.
//
// Thread-safety: called from several threads at once. Lifetime: must outlive the server that calls it.
class HttpHandler {
 public:
  using Done = absl::AnyInvocable<void(HttpResponse) &&>;

  virtual ~HttpHandler() = default;
  // Must not block. Calls `done` exactly once, on this or any other thread.
  virtual void Handle(HttpRequest request, Done done) = 0;
  // The answer to bytes that do not form a request: 400 (malformed), 408 (too slow), 413 (body too large), 417 (unknown
  // Expect), 503 (memory limit reached). The connection is closed after it. Must not block.
  virtual HttpResponse Refuse(unsigned status) { return {.status = status, .headers = {}, .body = {}, .close = true}; }
};

struct RequestLimits {
  size_t line_bytes_max = 16 << 10;  // request line; longer: 400
  size_t head_bytes_max = 16 << 10;  // headers; longer: 400
  size_t body_bytes_max = 16 << 20;  // as sent; larger: 413
};

enum class ConnectionHeader : uint8_t {
  kNone,       // no header: HTTP/1.1 keeps the connection open
  kKeepAlive,  // explicit, for clients of HTTP/1.0
  kClose,
};

// Appends status line and headers, with Date, Content-Length and, if needed, Connection, up to the empty line.
void AppendHead(const HttpResponse& response, std::string_view date, ConnectionHeader connection, std::string* out);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_HTTP_MESSAGE_H_
