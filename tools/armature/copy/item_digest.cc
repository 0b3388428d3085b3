#include "tools/armature/copy/item_digest.h"

#include <algorithm>
#include <cstring>

#include "daemon/auth/crypto.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/number.h"

namespace armature::cli::copy {

std::string NormalNumber(const std::string& text) {
  const absl::StatusOr<model::Number> number = model::Number::Parse(text);
  return number.ok() ? number->CanonicalText() : text;
}

// Recursion: as deep as ParseWire permits.
Wire Canonical(const Wire& value) {
  if (value.is_array()) {
    Wire made = Wire::array();
    for (const Wire& element : value) made.push_back(Canonical(element));
    return made;
  }
  if (!value.is_object()) return value;
  Wire made = Wire::object();
  for (const auto& [name, member] : value.items()) {
    if (name == "N" && member.is_string()) {
      made[name] = NormalNumber(member.get<std::string>());
    } else if ((name == "NS" || name == "SS" || name == "BS") && member.is_array()) {
      // An attribute may be called so, but then it is an object.
      Wire set = member;
      for (Wire& element : set) {
        if (name == "NS" && element.is_string()) element = NormalNumber(element.get<std::string>());
      }
      std::sort(set.begin(), set.end());
      made[name] = std::move(set);
    } else {
      made[name] = Canonical(member);
    }
  }
  return made;
}

std::string CanonicalText(const Wire& item) { return WireText(Canonical(item)); }

absl::StatusOr<Wire> KeyOf(const Wire& item, const std::vector<std::string>& names) {
  Wire key = Wire::object();
  for (const std::string& name : names) {
    const Wire* const value = Find(item, name);
    if (value == nullptr) return DataLossError(Cat("an item without its key attribute ", name));
    key[name] = *value;
  }
  return key;
}

Digest DigestOf(std::string_view text) {
  const daemon::Sha256Digest bytes = daemon::Sha256(text);
  Digest digest;
  std::memcpy(&digest.high, bytes.data(), sizeof(digest.high));
  std::memcpy(&digest.low, bytes.data() + sizeof(digest.high), sizeof(digest.low));
  return digest;
}

}  // namespace armature::cli::copy
