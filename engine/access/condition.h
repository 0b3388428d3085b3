#ifndef ARMATURE_ENGINE_ACCESS_CONDITION_H_
#define ARMATURE_ENGINE_ACCESS_CONDITION_H_

// The conditions of policy statements: {"operator": {"key": value or values}}.
//
// Source: the IAM user guide, "IAM JSON policy elements: Condition". Two rules are stricter than there, so that a
// statement that allows never allows by an absent key: see Conditions::Hold.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/access/facts.h"
#include "engine/access/json_fields.h"
#include "engine/access/pattern.h"

namespace armature::access {

enum class Effect : uint8_t { kAllow, kDeny };

// The result of the statements of a policy. An explicit denial of one policy overrides the permissions of all others.
enum class Verdict : uint8_t { kSilent, kAllowed, kDenied };

// One operator applied to one key.
struct Condition {
  enum class Operator : uint8_t { kEquals, kNotEquals, kLike, kNotLike, kBool, kNull };
  enum class Quantifier : uint8_t { kNone, kForAll, kForAny };

  Operator op = Operator::kEquals;
  Quantifier quantifier = Quantifier::kNone;
  bool if_exists = false;
  ConditionKey key = ConditionKey::kLeadingKeys;
  TextSet values = {};     // of kBool and kNull: "true" or "false"; empty for kLike and kNotLike
  Patterns patterns = {};  // of kLike and kNotLike
};

// Limit of the patterns with wildcards in the conditions of one policy. Each costs time at each value of a request.
inline constexpr size_t kPolicyPatternsMax = 1'000;
// OK if a policy may have `patterns` patterns with wildcards. Errors: InvalidArgument.
absl::Status CheckPatternCount(size_t patterns);

// All conditions of a statement. Thread-safety: immutable after Parse.
class Conditions {
 public:
  static constexpr size_t kCountMax = 50;         // operators times keys
  static constexpr size_t kValuesMax = 1'000;     // of one condition
  static constexpr size_t kValueBytesMax = 2048;  // the longest partition key

  // No conditions, which always hold.
  Conditions() = default;

  // Errors: InvalidArgument with the place, for an operator or a key that is not supported, a policy variable
  // (`${...}`), a value of the wrong type, or too many or too long values. So a condition that would not be evaluated
  // is never stored.
  static absl::StatusOr<Conditions> Parse(const simdjson::dom::element& json, const std::string& place);

  bool empty() const { return all_.empty(); }
  // Number of the patterns with wildcards, against each of which each value of its key is matched.
  size_t wildcards() const;
  // Steps that Hold takes for each byte of the values of its keys, at most.
  size_t weight() const;
  // Bytes on the heap, about.
  size_t heap_bytes() const;

  // True if all conditions hold. The rules for a key with several values, and for an absent key, depend on `effect`:
  //
  // - Without a quantifier, a statement that allows needs all values of the key to match, and one that denies one
  // value.
  // - If the key is absent, a condition of a statement that allows does not hold, except for IfExists and Null. A
  //   statement that denies follows IAM: an operator of negation holds, and so does ForAllValues.
  // - If the facts are unknown, a statement that denies applies, and one that allows does not.
  //
  // If the work of `facts` is spent, the result means nothing, and the request must be denied.
  bool Hold(Effect effect, LazyFacts* facts) const;

 private:
  std::vector<Condition> all_;
};

}  // namespace armature::access

#endif  // ARMATURE_ENGINE_ACCESS_CONDITION_H_
