#ifndef ARMATURE_ENGINE_ACCESS_RESOURCE_POLICY_H_
#define ARMATURE_ENGINE_ACCESS_RESOURCE_POLICY_H_

// Policies of resources: documents in the language of IAM policies, each attached to a table or a stream.
//
// Source: the developer guide, "Using resource-based policies for DynamoDB"; the IAM user guide, "JSON policy elements
// reference".

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "engine/access/condition.h"
#include "engine/access/facts.h"
#include "engine/access/pattern.h"

namespace armature::access {

// Thread-safety: immutable.
class ResourcePolicy {
 public:
  static constexpr size_t kBytesMax = 20'480;
  static constexpr size_t kStatementsMax = 100;
  static constexpr size_t kListMax = 100;           // elements of a list of a statement
  static constexpr size_t kElementBytesMax = 1024;  // of a principal, an action, a resource or a Sid
  static constexpr size_t kDepthMax = 16;

  // The resource that the policy is attached to.
  struct Resource {
    std::string_view table;
    std::string_view stream = {};  // label of a stream of the table; empty: the table itself and its indexes
  };

  // `is_action`: true if a pattern such as "GetItem" or "Get*" matches an action of the API.
  //
  // Errors: InvalidArgument with the place, such as `Statement[0].Action: ...`, for anything that would not be
  // evaluated: unknown or repeated members, unsupported conditions, principals and resources, unknown actions,
  // resources other than `resource` and its indexes, and more than kPolicyPatternsMax patterns in conditions. Cost:
  // linear in the text, which may have kBytesMax bytes.
  static absl::StatusOr<std::shared_ptr<const ResourcePolicy>> Parse(
      std::string_view text, const Resource& resource, absl::FunctionRef<bool(std::string_view pattern)> is_action);

  // Stands for a document that this build cannot read: denies all operations but those on policies.
  static std::shared_ptr<const ResourcePolicy> Unreadable();

  // The work of Evaluate, at most.
  MatchWeight weight() const { return weight_; }
  // Memory that the policy takes, about.
  size_t bytes() const { return bytes_; }

  // `request`: about the resource, or an index of it. Denied if the work of `facts` is spent.
  Verdict Evaluate(std::string_view principal, const Request& request, LazyFacts* facts) const;

 private:
  friend class ResourcePolicyReader;

  struct Statement {
    Effect effect = Effect::kDeny;
    bool any_principal = false;
    std::vector<std::string> principals;
    Patterns actions;              // without "dynamodb:"
    bool any_resource = false;     // the resource and its indexes
    bool resource_itself = false;  // the resource without its indexes
    Patterns indexes;              // of index names
    Conditions conditions;
  };

  // Sets the weight and the bytes.
  void Measure();
  static bool Applies(const Statement& statement, std::string_view principal, const Request& request, LazyFacts* facts);

  bool is_readable_ = true;
  size_t wildcards_ = 0;  // number of the patterns with wildcards in its conditions
  MatchWeight weight_;
  size_t bytes_ = sizeof(ResourcePolicy);
  std::vector<Statement> statements_;
};

// True for PutResourcePolicy, GetResourcePolicy and DeleteResourcePolicy.
bool IsPolicyOperation(std::string_view operation);

}  // namespace armature::access

#endif  // ARMATURE_ENGINE_ACCESS_RESOURCE_POLICY_H_
