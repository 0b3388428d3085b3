#ifndef ARMATURE_TOOLS_ARMATURE_COPY_ITEM_DIGEST_H_
#define ARMATURE_TOOLS_ARMATURE_COPY_ITEM_DIGEST_H_

// Keys and canonical forms of items, which two servers may write differently.

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/armature/copy/wire_json.h"

namespace armature::cli::copy {

// The text of a number in its normal form, such as 1.5 for +1.50e0; the text itself if it is not a number.
std::string NormalNumber(const std::string& text);

// An attribute value, an item or a key with numbers in their normal form and sets in ascending order, so that equal
// items have equal texts.
Wire Canonical(const Wire& value);
std::string CanonicalText(const Wire& item);

// The attributes of `names`. Errors: DATA_LOSS if the item lacks one, or is no object.
absl::StatusOr<Wire> KeyOf(const Wire& item, const std::vector<std::string>& names);

// 128 bits of a text's SHA-256.
struct Digest {
  uint64_t high = 0;
  uint64_t low = 0;
  friend auto operator<=>(const Digest&, const Digest&) = default;
};
Digest DigestOf(std::string_view text);

}  // namespace armature::cli::copy

#endif  // ARMATURE_TOOLS_ARMATURE_COPY_ITEM_DIGEST_H_
