#ifndef ARMATURE_DAEMON_HTTP_RESPONSE_HEAD_H_
#define ARMATURE_DAEMON_HTTP_RESPONSE_HEAD_H_

// The bytes before an answer's body.

#include <string>
#include <string_view>

#include "daemon/http/http_message.h"

namespace armature::daemon {

enum class ConnectionHeader : uint8_t {
  kNone,       // what HTTP/1.1 means by saying nothing: the connection stays
  kKeepAlive,  // said aloud, for clients of HTTP/1.0
  kClose,
};

// Appends status line and headers, with Date, Content-Length and, if need be, Connection, up to the empty line.
void AppendHead(const HttpResponse& response, std::string_view date, ConnectionHeader connection, std::string* out);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_RESPONSE_HEAD_H_
