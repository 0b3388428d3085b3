#include "storage/rados/owner_record.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/strings/str_split.h"
#include "storage/base/strings.h"

namespace armature::rados {
namespace {

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

std::string ServiceFor(const OwnerRecord& owner, std::string_view host) {
  if (owner.host == host) return owner.service;
  std::string reachable;
  for (const absl::string_view word : absl::StrSplit(owner.service, ' ', absl::SkipEmpty())) {
    const std::string_view address = Sv(word).substr(Sv(word).find('=') + 1);
    if (address.starts_with("127.") || address.starts_with("localhost:") || address.starts_with("[::1]")) continue;
    reachable += Cat(reachable.empty() ? "" : " ", Sv(word));
  }
  return reachable;
}

std::string EncodeOwner(const OwnerRecord& owner) {
  return Cat("client=", OneLine(owner.client), "\nservice=", OneLine(owner.service), "\nhost=", OneLine(owner.host),
             "\nsince=", owner.since_s, "\nlease_ms=", owner.lease_ms, "\n");
}

OwnerRecord DecodeOwner(std::string_view text) {
  OwnerRecord owner;
  const auto parse = [](const std::string& value, uint64_t* number) {
    std::from_chars(value.data(), value.data() + value.size(), *number);
  };
  for (const absl::string_view line : absl::StrSplit(Av(text), '\n')) {
    const std::pair<std::string, std::string> field = absl::StrSplit(line, absl::MaxSplits('=', 1));
    const auto& [name, value] = field;
    if (name == "client") owner.client = value;
    if (name == "service") owner.service = value;
    if (name == "host") owner.host = value;
    if (name == "since") parse(value, &owner.since_s);
    if (name == "lease_ms") parse(value, &owner.lease_ms);
  }
  return owner;
}

}  // namespace armature::rados
