#ifndef ARMATURE_ENGINE_ACCESS_FACTS_H_
#define ARMATURE_ENGINE_ACCESS_FACTS_H_

// The request as policies see it: the operation, the table, and the values of the condition keys.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "engine/access/pattern.h"

namespace armature::access {

// The condition keys. Source: the developer guide, "Using IAM policy conditions for fine-grained access control".
enum class ConditionKey : uint8_t {
  kLeadingKeys,         // dynamodb:LeadingKeys: values of the partition key
  kAttributes,          // dynamodb:Attributes: top-level attributes that the request names
  kSelect,              // dynamodb:Select
  kReturnValues,        // dynamodb:ReturnValues
  kEnclosingOperation,  // dynamodb:EnclosingOperation: the transaction of an element
  kFullTableScan,       // dynamodb:FullTableScan: "true" or "false"
};
inline constexpr size_t kConditionKeyCount = 6;

// As policies write it: "dynamodb:LeadingKeys".
std::string_view ConditionKeyName(ConditionKey key);
// Nullopt if unknown. Letters match in upper and lower case.
std::optional<ConditionKey> FindConditionKey(std::string_view name);

// The values of all condition keys. A key without values is absent.
struct Facts {
  std::array<std::vector<std::string>, kConditionKeyCount> values;

  std::vector<std::string>& operator[](ConditionKey key) { return values[static_cast<size_t>(key)]; }
  const std::vector<std::string>& operator[](ConditionKey key) const { return values[static_cast<size_t>(key)]; }
};

// Determines the facts. Called only if a condition needs them. An error means that they are unknown, because the
// request is invalid or its table is missing.
using FactsSource = absl::FunctionRef<absl::StatusOr<Facts>()>;

// Facts of a request about no items: all keys are absent.
absl::StatusOr<Facts> NoFacts();

class ResourcePolicy;

// The part of the name of a table or an index that is compared with patterns. No resource has a longer name, and
// requests for one are refused after they were authorised.
constexpr std::string_view ComparedName(std::string_view name) {
  constexpr size_t kBytesMax = 256;
  return name.substr(0, kBytesMax);
}

// One right that a caller needs. Lifetime: used during a call only.
struct Request {
  std::string_view operation;  // "GetItem"; of the admin service "admin:GetStatus"
  std::string_view table;      // name or ARN; empty for an operation that concerns no table
  std::string_view index = {};
  FactsSource facts = NoFacts;
  // The policy of the table or the stream; null: it has none.
  const ResourcePolicy* resource_policy = nullptr;
  // As in LazyFacts.
  MatchWork* work = nullptr;
};

// Determines the facts at most once, and bounds the work of their comparison with policies.
//
// Thread-safety: owned by one thread.
class LazyFacts {
 public:
  // `work`: of all rights that the request needs. Null: the bound is that of one right.
  explicit LazyFacts(FactsSource source, MatchWork* work = nullptr)
      : source_(source), work_(work == nullptr ? &own_work_ : work) {}
  LazyFacts(const LazyFacts&) = delete;
  LazyFacts& operator=(const LazyFacts&) = delete;

  MatchWork* work() { return work_; }

  // Null if they are unknown.
  const Facts* Get() {
    if (!facts_.has_value()) facts_ = source_();
    return facts_->ok() ? &**facts_ : nullptr;
  }

 private:
  FactsSource source_;
  std::optional<absl::StatusOr<Facts>> facts_;
  MatchWork own_work_;
  MatchWork* const work_;
};

}  // namespace armature::access

#endif  // ARMATURE_ENGINE_ACCESS_FACTS_H_
