#ifndef ARMATURE_DAEMON_HTTP_RESPONSE_HEAD_H_
#define ARMATURE_DAEMON_HTTP_RESPONSE_HEAD_H_

// The head of an answer: status line and headers.

#include <string>
#include <string_view>

#include "daemon/http/http_message.h"

namespace armature::daemon {

enum class ConnectionHeader : uint8_t {
  kNone,       // no header: HTTP/1.1 keeps the connection open
  kKeepAlive,  // explicit, for clients of HTTP/1.0
  kClose,
};

// Appends status line and headers, with Date, Content-Length and, if needed, Connection, up to the empty line.
void AppendHead(const HttpResponse& response, std::string_view date, ConnectionHeader connection, std::string* out);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_RESPONSE_HEAD_H_
