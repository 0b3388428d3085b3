#ifndef ARMATURE_TOOLS_ARMATURE_COPY_VALUE_HASH_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_VALUE_HASH_H_

// Replaces values by keyed hashes, so that a copy has no personal data and the same equalities.

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/armature/copy/wire_json.h"

namespace armature::cli::copy {

// Equal values have equal hashes in all attributes and tables of copies with the same key, and different values have
// different ones. The types stay: a text becomes 32 digits in hex, a number one of 36 digits, a binary 16 bytes.
// Elements of sets, lists and maps are replaced one by one; names in maps, booleans and null stay. The order of values
// is lost. Thread-safe.
class ValueHash {
 public:
  // Replaces nothing.
  ValueHash() = default;
  // `attributes`: names at the top of the items.
  ValueHash(std::string key, const std::vector<std::string>& attributes)
      : key_(std::move(key)), attributes_(attributes.begin(), attributes.end()) {}

  bool is_empty() const { return attributes_.empty(); }
  bool Replaces(const std::string& attribute) const { return attributes_.contains(attribute); }

  // An item or a key with its values replaced.
  Wire Apply(Wire item) const;

  // A text that is different for another key, or other attributes, from which the key does not follow. Empty if nothing
  // is replaced.
  std::string Check() const;

 private:
  std::string Digest16(std::string_view type, std::string_view text) const;
  void ReplaceValue(Wire* value) const;
  Wire Replaced(std::string_view type, const Wire& scalar) const;

  std::string key_;
  std::set<std::string> attributes_;
};

// The key in `file`, its first line, or in ARMATURE_COPY_HASH_KEY if `file` is empty; a new one if that is not set, and
// then *is_new. Errors: UsageError for a file without a key, and for a key of fewer than 16 characters.
absl::StatusOr<std::string> ReadHashKey(const std::string& file, bool* is_new);

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_VALUE_HASH_H_
