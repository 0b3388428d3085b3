// HTTP requests from arbitrary bytes: the result must not depend on how the bytes are split.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/request_reader.h"

namespace {

using armature::daemon::HttpRequest;
using armature::daemon::RequestLimits;
using armature::daemon::RequestReader;

std::vector<HttpRequest> ReadAll(std::string_view bytes, size_t piece) {
  const RequestLimits limits{.line_bytes_max = 256, .head_bytes_max = 512, .body_bytes_max = 1024};
  RequestReader reader(&limits);
  std::vector<HttpRequest> requests;
  std::string held;
  while (!bytes.empty()) {
    held += bytes.substr(0, piece);
    bytes.remove_prefix(piece < bytes.size() ? piece : bytes.size());
    for (bool more = true; more && !held.empty();) {
      size_t consumed = 0;
      const RequestReader::State state = reader.Read(held, &consumed);
      if (consumed > held.size()) std::abort();
      held.erase(0, consumed);
      if (state == RequestReader::State::kRefused) return requests;
      more = state == RequestReader::State::kComplete;
      if (!more) continue;
      if (reader.request().body.size() > limits.body_bytes_max) std::abort();
      requests.push_back(std::move(reader.request()));
      reader.Next();
    }
    if (held.size() > limits.line_bytes_max + limits.head_bytes_max + 4 + piece) std::abort();
  }
  return requests;
}

bool Same(const HttpRequest& a, const HttpRequest& b) {
  if (a.method != b.method || a.target != b.target || a.body != b.body || a.headers.size() != b.headers.size())
    return false;
  for (size_t i = 0; i < a.headers.size(); ++i) {
    if (a.headers[i].name != b.headers[i].name || a.headers[i].value != b.headers[i].value) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::vector<HttpRequest> whole = ReadAll(bytes, size + 1);
  for (const size_t piece : {size_t{1}, size_t{3}, size_t{50}}) {
    const std::vector<HttpRequest> pieces = ReadAll(bytes, piece);
    if (pieces.size() != whole.size()) std::abort();
    for (size_t i = 0; i < whole.size(); ++i) {
      if (!Same(whole[i], pieces[i])) std::abort();
    }
  }
  return 0;
}
