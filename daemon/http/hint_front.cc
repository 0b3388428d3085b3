#include "daemon/http/hint_front.h"

#include <utility>

#include "daemon/net/wrong_door.h"

namespace armature::daemon {

void HintFront::Handle(HttpRequest request, Done done) {
  const HintAnswer answer = AnswerWithHint(request.Find("x-amz-target") != nullptr, hint_());
  HttpResponse response{.status = 400, .headers = {}, .body = answer.body};
  response.headers.emplace_back("Content-Type", answer.content_type);
  response.close = true;
  std::move(done)(std::move(response));
}

}  // namespace armature::daemon
