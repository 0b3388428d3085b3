// Parser and verifier of request signatures. Input: lines of method, target and headers (`name: value`), an empty line,
// then the body. The signature is right only if the fuzzer forges one.

#include <algorithm>
#include <string>
#include <string_view>

#include "daemon/auth/canonical_request.h"
#include "daemon/auth/sigv4.h"
#include "storage/base/api_error.h"
#include "tests/fuzz/fuzz_util.h"

namespace armature::fuzz {
namespace {

std::string_view TakeLine(std::string_view* rest) {
  const std::string_view line = rest->substr(0, rest->find('\n'));
  rest->remove_prefix(std::min(rest->size(), line.size() + 1));
  return line;
}

daemon::HttpRequest ReadRequest(std::string_view input) {
  daemon::HttpRequest request;
  request.method = std::string(TakeLine(&input));
  request.target = std::string(TakeLine(&input));
  while (!input.empty()) {
    const std::string_view line = TakeLine(&input);
    if (line.empty()) break;
    const size_t colon = std::min(line.find(": "), line.size());
    std::string name(line.substr(0, colon));
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    request.headers.push_back({std::move(name), std::string(line.substr(std::min(colon + 2, line.size())))});
  }
  request.body = std::string(input);
  return request;
}

void CheckCanonicalForm(const std::string& target) {
  const std::string path = daemon::CanonicalPath(daemon::PathOf(target));
  Check(path.front() == '/' && path.find("//") == std::string::npos, "a canonical path has no empty segments");
  const std::string query = daemon::CanonicalQuery(daemon::QueryOf(target));
  for (const std::string& text : {path, query}) {
    Check(std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; }), "canonical is ASCII");
  }
  Check(daemon::CanonicalQuery(daemon::QueryOf("/?" + query)) == query, "a canonical query is its own canonical form");
}

}  // namespace
}  // namespace armature::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string secret = "one that the fuzzer does not know";
  static const absl::Time now = *armature::daemon::ParseBasicTime("20251104T120000Z");
  static const armature::daemon::SigV4Verifier verifier({});
  const armature::daemon::HttpRequest request = armature::fuzz::ReadRequest(armature::fuzz::Text(data, size));
  armature::fuzz::CheckCanonicalForm(request.target);
  const auto outcome =
      verifier.Verify(request, now, [](std::string_view id) { return id == "AKIDEXAMPLE" ? &secret : nullptr; });
  armature::fuzz::Check(!outcome.status.ok(), "no signature is right by chance");
  const auto error = armature::GetApiError(outcome.status);
  armature::fuzz::Check(error.has_value(), "a refusal is an error of the API");
  armature::fuzz::Check(error->message.find(secret) == std::string::npos ||
                            armature::fuzz::Text(data, size).find(secret) != std::string_view::npos,
                        "a text holds the secret only if the request did");
  return 0;
}
