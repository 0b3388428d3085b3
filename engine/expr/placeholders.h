#ifndef ARMATURE_ENGINE_EXPR_PLACEHOLDERS_H_
#define ARMATURE_ENGINE_EXPR_PLACEHOLDERS_H_

// ExpressionAttributeNames and ExpressionAttributeValues: their rules, and a record of which are used.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "storage/base/strings.h"
#include "storage/model/item_view.h"

namespace armature::expr {

// The placeholders of a request.
//
// Lifetime: the bytes of `values` outlive everything bound with them.
struct Placeholders {
  // "#n" -> attribute name; nullopt: the parameter is absent.
  std::optional<StringMap<std::string>> names;
  // ":v" -> value, as canonical item bytes whose attribute names are the placeholders; nullopt: the parameter is
  // absent. The values are valid already.
  std::optional<model::ItemView> values;
  // Operations differ in these errors.
  struct Wording {
    bool lists_expressions = true;  // that could use the values, if there is none of them
    bool tells_update_size = true;  // of an UpdateExpression that is too long
  } wording;
};

// The placeholders of one request while its expressions are bound.
//
// Thread-safety: owned by one thread.
// Lifetime: points into the Placeholders passed to the constructor.
class PlaceholderTable {
 public:
  explicit PlaceholderTable(const Placeholders& placeholders);

  // Checks the two parameters themselves: not empty, well-formed keys, sizes.
  //
  // Errors: ValidationException. If several keys are bad, the first in byte order is reported.
  absl::Status CheckKeys() const;

  // The attribute name of "#n", marked as used; null if undefined.
  const std::string* Name(std::string_view placeholder);
  // Bytes of all names that Name has returned.
  size_t replaced_bytes() const { return replaced_bytes_; }

  // The value of ":v", marked as used; nullopt if undefined.
  std::optional<model::ValueView> Value(std::string_view placeholder);

  // Errors: ValidationException that lists the unused placeholders.
  absl::Status CheckAllUsed() const;

 private:
  struct Use {
    model::ValueView value;
    bool used = false;
  };

  absl::Status CheckSizes() const;

  const Placeholders& placeholders_;
  absl::flat_hash_set<std::string_view, StringHash, std::equal_to<>> used_names_;
  size_t replaced_bytes_ = 0;
  absl::flat_hash_map<std::string_view, Use, StringHash, std::equal_to<>> values_;
};

// The part of CheckKeys about ExpressionAttributeNames, which also must be names of attributes: not empty, not too
// long.
absl::Status CheckNameKeys(const Placeholders& placeholders);

}  // namespace armature::expr

#endif  // ARMATURE_ENGINE_EXPR_PLACEHOLDERS_H_
