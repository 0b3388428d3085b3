#ifndef ARMATURE_ENGINE_TABLES_RESOURCE_POLICIES_H_
#define ARMATURE_ENGINE_TABLES_RESOURCE_POLICIES_H_

// Policies of tables and streams: PutResourcePolicy, GetResourcePolicy, DeleteResourcePolicy, and the policy that a
// request is checked by.
//
// A policy belongs to a state of the table or the stream and is stored with it. It ends with the table; that of a
// stream ends with the stream.

#include <atomic>
#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "engine/access/pattern.h"
#include "engine/access/resource_policy.h"
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

// The policies of resources, parsed: one for each table or stream that has one. Parsing takes up to a millisecond, so
// that it is done when a policy is put, and for all of them at the start.
//
// Thread-safety: thread-safe. Lifetime: `database` must outlive it.
class ResourcePolicies {
 public:
  // Limit of the memory of all parsed policies together. Beyond it, those that were not asked for the longest are
  // parsed again when they are asked for.
  static constexpr size_t kBytesMax = 8 << 20;

  explicit ResourcePolicies(const store::Database* database, size_t bytes_max = kBytesMax)
      : database_(database), bytes_max_(bytes_max) {}

  // The policy that requests on `name_or_arn` are checked by: of the table, or of the stream that an ARN or a shard
  // iterator names. Null: it has none, or the text names neither. Cost without a policy: a look-up in the catalog.
  std::shared_ptr<const access::ResourcePolicy> Find(std::string_view name_or_arn);

  // Parses the policies that are new, and drops those that are gone or replaced. Cost: a look at each table and stream.
  void Refresh();
  // Refresh, unless the catalog is that of the last Refresh. For callers that know that only tables may have changed.
  void RefreshTables();

  // The most work of a policy that a table or a stream has, also of one whose parsed form was given up.
  access::MatchWeight weight_max() const {
    return {.values = values_weight_.load(std::memory_order_relaxed),
            .names = names_weight_.load(std::memory_order_relaxed)};
  }
  // Memory that the policies take.
  size_t bytes() const;

 private:
  // A table, or a stream of it.
  struct Resource {
    std::string table;
    std::string stream;

    auto operator<=>(const Resource&) const = default;  // NOLINT(modernize-use-nullptr): a fault of clang-tidy 14
  };
  struct Parsed {
    std::string revision;
    access::MatchWeight weight;
    std::shared_ptr<const access::ResourcePolicy> policy;  // null: there is no room for it
    uint64_t used = 0;                                     // place in the order of uses
  };

  std::shared_ptr<const access::ResourcePolicy> Get(const Resource& resource, const model::ResourcePolicy& stored);
  void Keep(const Resource& resource, std::string_view revision, std::shared_ptr<const access::ResourcePolicy> policy);
  // Gives up the parsed forms that were not used the longest until there is room for `bytes` more.
  void MakeRoom(size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Measure() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RefreshFrom(const std::shared_ptr<const store::CatalogSnapshot>& catalog)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);
  std::optional<model::ResourcePolicy> StoredFor(const Resource& resource) const;
  // All resources that have policies, with the revisions of these.
  std::map<Resource, std::string> RevisionsIn(const store::CatalogSnapshot& catalog) const;

  const store::Database* const database_;
  const size_t bytes_max_;
  std::atomic<size_t> values_weight_ = 0;
  std::atomic<size_t> names_weight_ = 0;

  absl::Mutex refresh_mutex_;  // held by Refresh. Before mutex_
  // The catalog of the last Refresh. It is not held, because that would keep deleted tables.
  std::weak_ptr<const store::CatalogSnapshot> refreshed_ ABSL_GUARDED_BY(refresh_mutex_);
  mutable absl::Mutex mutex_;
  std::map<Resource, Parsed> parsed_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t uses_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_TABLES_RESOURCE_POLICIES_H_
