#ifndef ARMATURE_ENGINE_TABLES_RESOURCE_POLICIES_H_
#define ARMATURE_ENGINE_TABLES_RESOURCE_POLICIES_H_

// Policies of tables and streams: PutResourcePolicy, GetResourcePolicy, DeleteResourcePolicy, and the policy that a
// request is checked by.
//
// A policy belongs to a state of the table or the stream and is stored with it. It ends with the table; that of a
// stream ends with the stream.

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "engine/access/resource_policy.h"
#include "storage/base/strings.h"
#include "storage/model/table_settings.h"
#include "storage/store/database.h"

namespace armature::engine {

// Members are present or absent as in the client's request.
struct PutResourcePolicyRequest {
  std::optional<std::string> resource_arn;
  std::optional<std::string> policy;
  std::optional<std::string> expected_revision_id;
  bool confirm_remove_self_resource_access = false;
  // True if the caller might change the policy again under the given one. Empty: everything is permitted.
  std::function<bool(std::string_view arn, const access::ResourcePolicy& policy)> may_change;
};

struct GetResourcePolicyRequest {
  std::optional<std::string> resource_arn;
};

struct DeleteResourcePolicyRequest {
  std::optional<std::string> resource_arn;
  std::optional<std::string> expected_revision_id;
};

// Expected by a client that wants to create a policy, not replace one.
inline constexpr std::string_view kNoPolicyRevision = "NO_POLICY";

// Errors: ValidationException, ResourceNotFoundException, ResourceInUseException, PolicyNotFoundException. Put and
// Delete block: they write to disk. Put returns the revision, which is that of the policy if it has this document
// already; Delete returns that of the deleted policy, or an empty text if there was none.
absl::StatusOr<std::string> PutResourcePolicy(store::Database* database, const PutResourcePolicyRequest& request);
absl::StatusOr<model::ResourcePolicy> GetResourcePolicy(const store::Database& database,
                                                        const GetResourcePolicyRequest& request);
absl::StatusOr<std::string> DeleteResourcePolicy(store::Database* database, const DeleteResourcePolicyRequest& request);

// A policy for a new table. Errors: ValidationException.
absl::StatusOr<model::ResourcePolicy> MakeTablePolicy(std::string_view table, const std::string& document);

// The policies of resources, parsed once for each revision. Thread-safety: thread-safe.
class ResourcePolicies {
 public:
  // The policy that requests on `name_or_arn` are checked by: of the table, or of the stream that an ARN or a shard
  // iterator names. Null: it has none, or the text names neither. Cost without a policy: a look-up in the catalog.
  std::shared_ptr<const access::ResourcePolicy> Find(const store::Database& database, std::string_view name_or_arn);

  // The most patterns with wildcards that a policy had so far.
  size_t wildcards_max() const { return wildcards_max_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kCountMax = 1'000;  // kept

  std::atomic<size_t> wildcards_max_ = 0;

  absl::Mutex mutex_;
  StringMap<std::shared_ptr<const access::ResourcePolicy>> by_revision_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_RESOURCE_POLICIES_H_
