#include "client/src/targets.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::client {
namespace {

// The port of a "host:port" without a scheme, "" if it has none; nullopt for other names, such as "dns:///host", whose
// port gRPC chooses.
std::optional<std::string_view> PortOfPlain(std::string_view target) {
  if (target.find_first_of("/,") != target.npos) return std::nullopt;
  size_t end = target.find(':');
  if (target.starts_with('[')) {
    const size_t bracket = target.find(']');
    if (bracket == target.npos) return std::nullopt;
    end = bracket + 1;
  }
  if (end >= target.size()) return "";
  if (target[end] != ':') return std::nullopt;
  const std::string_view port = target.substr(end + 1);
  if (!std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  return port;
}

// Refuses a target that could never be reached.
absl::Status CheckTarget(std::string_view target) {
  constexpr std::string_view kAdvice = "give \"host:port\", such as \"localhost:7700\"";
  if (target.empty()) return absl::InvalidArgumentError("the target is empty");
  if (absl::StartsWithIgnoreCase(Av(target), "http:") || absl::StartsWithIgnoreCase(Av(target), "https:")) {
    return absl::InvalidArgumentError(Cat("the target ", target, " is one of HTTP; ", kAdvice));
  }
  if (const auto port = PortOfPlain(target)) {
    uint32_t number = 0;
    if (!absl::SimpleAtoi(Av(*port), &number) || number < 1 || number > 65535) {
      return absl::InvalidArgumentError(Cat("the target ", target, " has no port; ", kAdvice));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> SplitTargets(std::string_view targets) {
  if (targets.starts_with("ipv4:") || targets.starts_with("ipv6:")) return {std::string(targets)};
  return absl::StrSplit(Av(targets), ',');
}

absl::Status CheckTargets(std::string_view targets) {
  for (const std::string& target : SplitTargets(targets)) ARM_RETURN_IF_ERROR(CheckTarget(target));
  return absl::OkStatus();
}

bool AreUnixSockets(std::string_view targets) {
  const std::vector<std::string> all = SplitTargets(targets);
  return std::all_of(all.begin(), all.end(), [](const std::string& target) { return target.starts_with("unix:"); });
}

}  // namespace armature::client
