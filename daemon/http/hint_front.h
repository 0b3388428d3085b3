#ifndef ARMATURE_DAEMON_HTTP_HINT_FRONT_H_
#define ARMATURE_DAEMON_HTTP_HINT_FRONT_H_

// Answers HTTP where it is not served: with one sentence that says where to go.

#include <functional>
#include <string>
#include <utility>

#include "daemon/http/http_message.h"

namespace armature::daemon {

// Every request is answered 400, that of an SDK with JSON.
//
// Thread-safety: thread-safe.
class HintFront final : public HttpHandler {
 public:
  // `hint`: plain text without line ends, quotes and backslashes.
  explicit HintFront(std::function<std::string()> hint) : hint_(std::move(hint)) {}

  void Handle(HttpRequest request, Done done) override;

 private:
  const std::function<std::string()> hint_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_HTTP_HINT_FRONT_H_
