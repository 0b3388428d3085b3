// HTTP requests from arbitrary bytes: the result must not depend on how the bytes are split, the reader holds no more
// than it counts, and looks at no byte more often than the limits permit.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/request_reader.h"
#include "tests/fuzz/allocated_bytes.h"

namespace {

using armature::daemon::HttpRequest;
using armature::daemon::RequestLimits;
using armature::daemon::RequestReader;

constexpr RequestLimits kLimits{.line_bytes_max = 256, .head_bytes_max = 512, .body_bytes_max = 1024};
// Memory of a reader beside what it counts.
constexpr int64_t kReaderBytes = 4 << 10;

// Reads the requests and keeps none.
void CheckCost(std::string_view bytes) {
  const int64_t before = armature::fuzz::AllocatedBytes();
  RequestReader reader(&kLimits);
  std::string held;
  size_t looked_at = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    held.push_back(bytes[i]);
    RequestReader::State state = RequestReader::State::kComplete;
    while (state == RequestReader::State::kComplete && !held.empty()) {
      size_t consumed = 0;
      looked_at += held.size();
      state = reader.Read(held, &consumed);
      held.erase(0, consumed);
      if (state == RequestReader::State::kRefused) return;
      const auto counted = static_cast<int64_t>(reader.held_bytes() + held.capacity());
      if (armature::fuzz::AllocatedBytes() - before > kReaderBytes + 2 * counted) std::abort();
      if (state == RequestReader::State::kComplete) reader.Next();
    }
  }
  if (looked_at > bytes.size() * (kLimits.line_bytes_max + kLimits.head_bytes_max + 4)) std::abort();
}

std::vector<HttpRequest> ReadAll(std::string_view bytes, size_t piece) {
  const RequestLimits& limits = kLimits;
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
  // Objects that are made once belong to no input.
  static const bool kIsWarm = (ReadAll("GET / HTTP/1.1\r\nHost: h\r\n\r\n", 1), true);
  if (kIsWarm) CheckCost(bytes);
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
