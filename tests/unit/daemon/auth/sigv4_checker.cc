// Verifies requests for sigv4_test.py. An input line is a request of blank-separated fields in hexadecimal ("-" for an
// empty one): time, secret of the key AKIDEXAMPLE, method, target, body, then names and values of the headers. An
// output line is OK or the name of the exception.

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "daemon/auth/sigv4.h"
#include "storage/base/api_error.h"

namespace armature::daemon {
namespace {

std::string Check(const std::vector<std::string>& fields) {
  constexpr size_t kFirstHeader = 5;
  HttpRequest request;
  request.method = fields[2];
  request.target = fields[3];
  request.body = fields[4];
  for (size_t i = kFirstHeader; i + 1 < fields.size(); i += 2) request.headers.push_back({fields[i], fields[i + 1]});
  static const SigV4Verifier verifier({});
  // A verifier depends on its secrets. All requests here have the same one.
  const auto secret_of = [&](std::string_view id) { return id == "AKIDEXAMPLE" ? &fields[1] : nullptr; };
  const SigV4Outcome outcome = verifier.Verify(request, *ParseBasicTime(fields[0]), secret_of);
  return outcome.status.ok() ? "OK" : std::string(ApiErrorName(GetApiError(outcome.status)->type));
}

}  // namespace
}  // namespace armature::daemon

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::vector<std::string> fields;
    for (std::string word; words >> word;) fields.push_back(word == "-" ? "" : absl::HexStringToBytes(word));
    std::cout << armature::daemon::Check(fields) << "\n";
  }
}
