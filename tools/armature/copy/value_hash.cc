#include "tools/armature/copy/value_hash.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "absl/strings/escaping.h"
#include "daemon/auth/crypto.h"
#include "storage/base/strings.h"
#include "tools/armature/copy/item_digest.h"
#include "tools/armature/session.h"

namespace armature::cli::copy {
namespace {

constexpr char kHashKeyVariable[] = "ARMATURE_COPY_HASH_KEY";
constexpr size_t kHashKeyCharactersMin = 16;
constexpr size_t kHashBytes = 16;

// 36 digits, of which the first is not 0.
std::string DigitsOf(std::string_view bytes) {
  constexpr uint64_t kPart = 1'000'000'000'000'000'000;
  uint64_t high = 0;
  uint64_t low = 0;
  std::memcpy(&high, bytes.data(), sizeof(high));
  std::memcpy(&low, bytes.data() + sizeof(high), sizeof(low));
  const std::string tail = Cat(low % kPart);
  return Cat(kPart / 10 + high % (kPart / 10 * 9), std::string(18 - tail.size(), '0'), tail);
}

std::string HexOf(std::string_view bytes) { return absl::BytesToHexString(Av(bytes)); }

}  // namespace

std::string ValueHash::Digest16(std::string_view type, std::string_view text) const {
  const daemon::Sha256Digest digest = daemon::HmacSha256(key_, Cat(type, ":", text));
  return std::string(daemon::BytesOf(digest).substr(0, kHashBytes));
}

Wire ValueHash::Replaced(std::string_view type, const Wire& scalar) const {
  if (!scalar.is_string()) return scalar;
  const std::string text = scalar.get<std::string>();
  if (type == "N") return DigitsOf(Digest16(type, NormalNumber(text)));
  if (type == "B") return absl::Base64Escape(Digest16(type, text));
  return HexOf(Digest16(type, text));
}

// Recursion: as deep as ParseWire permits.
void ValueHash::ReplaceValue(Wire* value) const {
  if (!value->is_object()) return;
  for (auto& [type, content] : value->items()) {
    if (type == "S" || type == "N" || type == "B") content = Replaced(type, content);
    if ((type == "SS" || type == "NS" || type == "BS") && content.is_array()) {
      for (Wire& element : content) element = Replaced(std::string_view(type).substr(0, 1), element);
    }
    if ((type == "L" && content.is_array()) || (type == "M" && content.is_object())) {
      for (Wire& element : content) ReplaceValue(&element);
    }
  }
}

Wire ValueHash::Apply(Wire item) const {
  for (const std::string& name : attributes_) {
    if (const auto found = item.find(name); found != item.end()) ReplaceValue(&*found);
  }
  return item;
}

std::string ValueHash::Check() const {
  if (is_empty()) return "";
  std::string names;
  for (const std::string& name : attributes_) names += Cat(name, "\n");
  return HexOf(Digest16("check", names));
}

absl::StatusOr<std::string> ReadHashKey(const std::string& file, bool* is_new) {
  *is_new = false;
  std::string key;
  std::string place = kHashKeyVariable;
  if (!file.empty()) {
    place = file;
    std::ifstream in(file);
    std::getline(in, key);
  } else if (const char* const value = std::getenv(kHashKeyVariable); value != nullptr) {
    key = value;
  } else {
    *is_new = true;
    return HexOf(daemon::RandomBytes(32));
  }
  if (key.size() < kHashKeyCharactersMin) {
    return UsageError(Cat("the key of --hash in ", place, " has fewer than ", kHashKeyCharactersMin, " characters"));
  }
  return key;
}

}  // namespace armature::cli::copy
