#include "daemon/rpc/rpc_wire.h"

#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "storage/base/strings.h"

namespace armature::daemon {
namespace {

constexpr size_t kTimeoutDigitsMax = 8;

// Nanoseconds of a unit of grpc-timeout; 0: there is no such unit.
constexpr int64_t TimeoutUnitNs(char unit) {
  switch (unit) {
    case 'H':
      return 3'600'000'000'000;
    case 'M':
      return 60'000'000'000;
    case 'S':
      return 1'000'000'000;
    case 'm':
      return 1'000'000;
    case 'u':
      return 1'000;
    case 'n':
      return 1;
    default:
      return 0;
  }
}

}  // namespace

std::optional<int64_t> ParseRpcTimeoutNs(std::string_view text) {
  if (text.size() < 2 || text.size() > kTimeoutDigitsMax + 1) return std::nullopt;
  const int64_t unit_ns = TimeoutUnitNs(text.back());
  if (unit_ns == 0) return std::nullopt;
  text.remove_suffix(1);
  int64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  return number > kMax / unit_ns ? kMax : number * unit_ns;
}

std::string BinaryMetadata(std::string_view bytes) {
  std::string out = absl::Base64Escape(Av(bytes));
  while (!out.empty() && out.back() == '=') out.pop_back();
  return out;
}

bool IsRpcContentType(std::string_view type) {
  constexpr std::string_view kType = "application/grpc";
  if (!absl::StartsWithIgnoreCase(Av(type), Av(kType))) return false;
  const std::string_view rest = type.substr(kType.size());
  return rest.empty() || rest[0] == '+' || rest[0] == ';';
}

}  // namespace armature::daemon
