#include "engine/tables/resource_policies.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/access/pattern.h"
#include "engine/operations.h"
#include "engine/parts.h"
#include "engine/streams/stream_shards.h"
#include "engine/tables/resource_arn.h"
#include "engine/tables/table_settings.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/model/constraint_list.h"
#include "storage/model/stream_descriptor.h"
#include "storage/model/table_name.h"

namespace armature::engine {
namespace {

using access::ResourcePolicy;

constexpr size_t kRevisionIdMaxChars = 255;
constexpr std::string_view kBackupInfix = "/backup/";

// Actions that are no operations of the daemon: of elements of transactions and statements, and of operations that are
// documented but not available, so that existing documents can be used.
constexpr auto kOtherActions = std::to_array<std::string_view>(
    {"ConditionCheckItem", "PartiQLSelect", "PartiQLInsert", "PartiQLUpdate", "PartiQLDelete",
     "DescribeKinesisStreamingDestination", "EnableKinesisStreamingDestination", "DisableKinesisStreamingDestination",
     "UpdateKinesisStreamingDestination", "DescribeTableReplicaAutoScaling", "UpdateTableReplicaAutoScaling",
     "ExportTableToPointInTime", "ImportTable"});

bool IsAction(std::string_view pattern) {
  const access::Pattern compiled{std::string(pattern)};
  access::MatchWork work;
  const auto matches = [&](std::string_view name) { return compiled.Matches(name, &work); };
  return std::any_of(kOtherActions.begin(), kOtherActions.end(), matches) ||
         std::any_of(kOperations.begin(), kOperations.end(), [&](const Operation& operation) {
           return operation.plane != Plane::kAdmin && matches(operation.name);
         });
}

absl::StatusOr<std::shared_ptr<const ResourcePolicy>> ParseDocument(const std::string& document,
                                                                    const ResourcePolicy::Resource& resource) {
  if (document.size() > ResourcePolicy::kBytesMax) {
    return InvalidParameterError(Cat("Maximum policy size of ", ResourcePolicy::kBytesMax, " bytes exceeded"));
  }
  absl::StatusOr<std::shared_ptr<const ResourcePolicy>> parsed = ResourcePolicy::Parse(document, resource, IsAction);
  if (!parsed.ok()) return ValidationError(Cat("Invalid policy document: ", Sv(parsed.status().message())));
  return parsed;
}

// Microseconds since 1970 in 16 digits, and later than `last`, so that revisions sort by time even if the clock was set
// back.
std::string NewRevision(std::string_view last) {
  constexpr size_t kDigits = 16;
  std::string now = std::to_string(std::max<int64_t>(0, absl::ToUnixMicros(absl::Now())));
  now.insert(0, kDigits - std::min(kDigits, now.size()), '0');
  if (now > last) return now;
  std::string next(last);
  for (size_t i = next.size(); i-- > 0;) {
    if (next[i] != '9') {
      ++next[i];
      break;
    }
    next[i] = '0';
  }
  return next;
}

void CheckRevisionShape(const std::optional<std::string>& revision, model::ConstraintList* constraints) {
  if (!revision.has_value()) return;
  const std::string printed = model::PrintedValue(model::Shown(*revision));
  const size_t length = model::CharacterCount(*revision);
  constraints->CheckLengthMin(printed, length, "expectedRevisionId", 1);
  constraints->CheckLengthMax(printed, length, "expectedRevisionId", kRevisionIdMaxChars);
}

// `detail`: the ARN, or the mismatch of revisions.
absl::Status NoPolicyError(std::string_view detail) {
  return PolicyNotFoundError(Cat("Resource-based policy not found for the provided ResourceArn: ", detail));
}

// `resource` names the owner of the policy in texts, which are those of the original service.
absl::Status CheckRevision(std::string_view resource, const std::optional<std::string>& expected,
                           const std::optional<model::ResourcePolicy>& current) {
  if (!expected.has_value()) return absl::OkStatus();
  const std::string_view revision = current.has_value() ? std::string_view(current->revision_id) : kNoPolicyRevision;
  if (*expected == revision) return absl::OkStatus();
  if (*expected == kNoPolicyRevision) {
    return NoPolicyError(Cat("Requested policy update expecting none to be present for ", resource,
                             ", but a policy exists with revision id ", revision, "."));
  }
  return NoPolicyError(Cat("Requested update for policy with revision id ", model::Shown(*expected), ", but ",
                           current.has_value()
                               ? Cat("the policy associated to target ", resource, " has revision id ", revision, ".")
                               : Cat("no policy is associated to target ", resource, ".")));
}

// "table Cats"; of a stream, its label instead of the table's name.
std::string ResourceName(const std::string& arn, std::string_view table) {
  return IsStreamResource(arn) ? Cat("stream ", StreamLabelOf(arn)) : Cat("table ", table);
}

absl::Status NoSuchResourceError(const std::string& arn, std::string_view table) {
  return IsStreamResource(arn) ? ResourceArnNotFoundError(arn) : NoSuchTableError(table);
}

absl::Status CheckTableState(const model::TableDescriptor& table) {
  constexpr std::string_view kInUse = "Attempt to change a resource which is still in use: Table ";
  if (table.state == model::TableState::kCreating) {
    return ResourceInUseError(Cat(kInUse, table.name, " is being created"));
  }
  if (table.state == model::TableState::kDeleting) {
    return ResourceInUseError(Cat(kInUse, table.name, " is being deleted"));
  }
  return absl::OkStatus();
}

using PolicyChange = absl::FunctionRef<absl::Status(std::optional<model::ResourcePolicy>*)>;

absl::Status ChangePolicy(store::Database* database, const std::string& arn, std::string_view table,
                          PolicyChange change) {
  if (IsStreamResource(arn)) {
    ARM_ASSIGN_OR_RETURN(const bool is_there, database->streams().ChangeSettings(
                                                  table, StreamLabelOf(arn), [&](model::StreamDescriptor* stream) {
                                                    return change(&stream->resource_policy);
                                                  }));
    return is_there ? absl::OkStatus() : ResourceArnNotFoundError(arn);
  }
  ARM_ASSIGN_OR_RETURN(const std::optional<model::TableDescriptor> changed,
                       UpdateSettings(database, table, [&](model::TableDescriptor* descriptor) -> absl::Status {
                         ARM_RETURN_IF_ERROR(CheckTableState(*descriptor));
                         return change(&descriptor->settings.resource_policy);
                       }));
  return changed.has_value() ? absl::OkStatus() : NoSuchResourceError(arn, table);
}

std::optional<model::ResourcePolicy> StreamPolicy(const store::Database& database, std::string_view table,
                                                  std::string_view label) {
  std::optional<model::StreamDescriptor> stream = database.streams().Find(table, label);
  return stream.has_value() ? std::move(stream->resource_policy) : std::nullopt;
}

}  // namespace

absl::StatusOr<std::string> PutResourcePolicy(store::Database* database, const PutResourcePolicyRequest& request) {
  model::ConstraintList constraints;
  CheckResourceArnShape(request.resource_arn, &constraints);
  if (!request.policy.has_value()) constraints.AddNull("policy");
  CheckRevisionShape(request.expected_revision_id, &constraints);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  ARM_ASSIGN_OR_RETURN(const std::string_view table, TableOfResource(request.resource_arn, ResourceUse::kPolicy));
  const std::string& arn = *request.resource_arn;
  const std::string_view stream = IsStreamResource(arn) ? StreamLabelOf(arn) : std::string_view();
  ARM_ASSIGN_OR_RETURN(const std::shared_ptr<const ResourcePolicy> parsed,
                       ParseDocument(*request.policy, {table, stream}));
  if (!request.confirm_remove_self_resource_access && request.may_change && !request.may_change(arn, *parsed)) {
    return ValidationError(
        "The policy removes your own permission to change it. To confirm this, set ConfirmRemoveSelfResourceAccess");
  }
  std::string revision;
  const auto put = [&](std::optional<model::ResourcePolicy>* policy) -> absl::Status {
    ARM_RETURN_IF_ERROR(CheckRevision(ResourceName(arn, table), request.expected_revision_id, *policy));
    if (!policy->has_value() || (*policy)->document != *request.policy) {
      std::string next = NewRevision(policy->has_value() ? std::string_view((*policy)->revision_id) : "");
      *policy = model::ResourcePolicy{*request.policy, std::move(next)};
    }
    revision = (*policy)->revision_id;
    return absl::OkStatus();
  };
  ARM_RETURN_IF_ERROR(ChangePolicy(database, arn, table, put));
  return revision;
}

absl::StatusOr<model::ResourcePolicy> GetResourcePolicy(const store::Database& database,
                                                        const GetResourcePolicyRequest& request) {
  model::ConstraintList constraints;
  CheckResourceArnShape(request.resource_arn, &constraints);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  ARM_ASSIGN_OR_RETURN(const std::string_view table, TableOfResource(request.resource_arn, ResourceUse::kPolicy));
  const std::string& arn = *request.resource_arn;
  std::optional<model::ResourcePolicy> policy;
  if (IsStreamResource(arn)) {
    if (!database.streams().Find(table, StreamLabelOf(arn)).has_value()) return ResourceArnNotFoundError(arn);
    policy = StreamPolicy(database, table, StreamLabelOf(arn));
  } else {
    const std::shared_ptr<const store::Table> found = database.catalog()->Hold(table);
    if (found == nullptr || !HasSettings(found->descriptor)) return NoSuchResourceError(arn, table);
    policy = found->descriptor.settings.resource_policy;
  }
  if (!policy.has_value()) return NoPolicyError(arn);
  return *std::move(policy);
}

absl::StatusOr<std::string> DeleteResourcePolicy(store::Database* database,
                                                 const DeleteResourcePolicyRequest& request) {
  model::ConstraintList constraints;
  CheckResourceArnShape(request.resource_arn, &constraints);
  CheckRevisionShape(request.expected_revision_id, &constraints);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  ARM_ASSIGN_OR_RETURN(const std::string_view table, TableOfResource(request.resource_arn, ResourceUse::kPolicy));
  const std::string& arn = *request.resource_arn;
  std::string revision;
  const auto remove = [&](std::optional<model::ResourcePolicy>* policy) -> absl::Status {
    if (!policy->has_value() && !request.expected_revision_id.has_value()) return absl::OkStatus();
    ARM_RETURN_IF_ERROR(CheckRevision(ResourceName(arn, table), request.expected_revision_id, *policy));
    if (!policy->has_value()) return NoPolicyError(arn);  // as expected
    revision = (*policy)->revision_id;
    policy->reset();
    return absl::OkStatus();
  };
  ARM_RETURN_IF_ERROR(ChangePolicy(database, arn, table, remove));
  return revision;
}

absl::StatusOr<model::ResourcePolicy> MakeTablePolicy(std::string_view table, const std::string& document) {
  ARM_RETURN_IF_ERROR(ParseDocument(document, {table}).status());
  return model::ResourcePolicy{document, NewRevision("")};
}

std::shared_ptr<const ResourcePolicy> ResourcePolicies::Find(std::string_view name_or_arn) {
  if (name_or_arn.empty() || name_or_arn.find(kBackupInfix) != std::string_view::npos) return nullptr;
  // A shard iterator begins with the ARN of its stream.
  const std::string_view arn = name_or_arn.substr(0, name_or_arn.find('|'));
  if (const std::optional<StreamName> stream = ParseStreamArn(arn); stream.has_value()) {
    const std::optional<model::ResourcePolicy> stored = StreamPolicy(*database_, stream->table, stream->label);
    return stored.has_value() ? Get({std::string(stream->table), std::string(stream->label)}, *stored) : nullptr;
  }
  // ARNs of exports, imports and bulk operations go on behind the name of their table. The region does not matter,
  // because some operations take no notice of it.
  const std::shared_ptr<const store::Table> table = database_->catalog()->Hold(model::TableNamePart(arn));
  if (table == nullptr || !table->descriptor.settings.resource_policy.has_value()) return nullptr;
  return Get({table->descriptor.name, ""}, *table->descriptor.settings.resource_policy);
}

std::shared_ptr<const ResourcePolicy> ResourcePolicies::Get(const Resource& resource,
                                                            const model::ResourcePolicy& stored) {
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = parsed_.find(resource);
    const bool is_there =
        found != parsed_.end() && found->second.policy != nullptr && found->second.revision == stored.revision_id;
    if (is_there) {
      found->second.used = ++uses_;
      return found->second.policy;
    }
  }
  const absl::StatusOr<std::shared_ptr<const ResourcePolicy>> parsed =
      ParseDocument(stored.document, {resource.table, resource.stream});
  std::shared_ptr<const ResourcePolicy> policy = parsed.ok() ? *parsed : ResourcePolicy::Unreadable();
  Keep(resource, stored.revision_id, policy);
  return policy;
}

void ResourcePolicies::Keep(const Resource& resource, std::string_view revision,
                            std::shared_ptr<const ResourcePolicy> policy) {
  const absl::MutexLock lock(&mutex_);
  // Read under the lock: a change that this misses is followed by a Refresh, which finds the entry.
  const std::optional<model::ResourcePolicy> stored = StoredFor(resource);
  if (!stored.has_value() || stored->revision_id != revision) return;
  const auto found = parsed_.find(resource);
  if (found != parsed_.end() && found->second.revision == revision) {
    // Given up before, or parsed by another request meanwhile.
    if (found->second.policy != nullptr) return;
    MakeRoom(policy->bytes());
    bytes_ += policy->bytes();
    found->second.policy = std::move(policy);
    found->second.used = ++uses_;
    return;
  }
  if (found != parsed_.end()) {
    parsed_.erase(found);
    Measure();
  }
  MakeRoom(policy->bytes());
  bytes_ += policy->bytes();
  const access::MatchWeight weight = policy->weight();
  values_weight_.store(std::max(values_weight_.load(std::memory_order_relaxed), weight.values),
                       std::memory_order_relaxed);
  names_weight_.store(std::max(names_weight_.load(std::memory_order_relaxed), weight.names), std::memory_order_relaxed);
  parsed_[resource] = {std::string(revision), weight, std::move(policy), ++uses_};
}

void ResourcePolicies::MakeRoom(size_t bytes) {
  if (bytes_ + bytes <= bytes_max_) return;
  std::vector<Parsed*> by_use;
  for (auto& [resource, parsed] : parsed_) {
    if (parsed.policy != nullptr) by_use.push_back(&parsed);
  }
  std::sort(by_use.begin(), by_use.end(), [](const Parsed* a, const Parsed* b) { return a->used < b->used; });
  // More than is needed, so that not every policy that is parsed looks at all others.
  const size_t target = bytes_max_ - bytes_max_ / 8;
  for (auto it = by_use.begin(); it != by_use.end() && bytes_ + bytes > target; ++it) {
    bytes_ -= (*it)->policy->bytes();
    (*it)->policy = nullptr;
  }
}

void ResourcePolicies::Measure() {
  bytes_ = 0;
  access::MatchWeight most;
  for (const auto& [resource, parsed] : parsed_) {
    most = {.values = std::max(most.values, parsed.weight.values), .names = std::max(most.names, parsed.weight.names)};
    if (parsed.policy != nullptr) bytes_ += parsed.policy->bytes();
  }
  values_weight_.store(most.values, std::memory_order_relaxed);
  names_weight_.store(most.names, std::memory_order_relaxed);
}

std::optional<model::ResourcePolicy> ResourcePolicies::StoredFor(const Resource& resource) const {
  if (!resource.stream.empty()) return StreamPolicy(*database_, resource.table, resource.stream);
  const std::shared_ptr<const store::Table> table = database_->catalog()->Hold(resource.table);
  return table == nullptr ? std::nullopt : table->descriptor.settings.resource_policy;
}

std::map<ResourcePolicies::Resource, std::string> ResourcePolicies::RevisionsIn(
    const store::CatalogSnapshot& catalog) const {
  std::map<Resource, std::string> revisions;
  for (const auto& [name, table] : catalog.tables()) {
    const std::optional<model::ResourcePolicy>& policy = table->descriptor.settings.resource_policy;
    if (policy.has_value()) revisions[{name, ""}] = policy->revision_id;
  }
  for (const model::StreamDescriptor& stream : database_->streams().streams()) {
    if (stream.resource_policy.has_value()) {
      revisions[{stream.table_name, stream.label}] = stream.resource_policy->revision_id;
    }
  }
  return revisions;
}

void ResourcePolicies::Refresh() {
  const absl::MutexLock refreshing(&refresh_mutex_);
  RefreshFrom(database_->catalog());
}

void ResourcePolicies::RefreshTables() {
  const absl::MutexLock refreshing(&refresh_mutex_);
  const std::shared_ptr<const store::CatalogSnapshot> catalog = database_->catalog();
  if (refreshed_.lock() != catalog) RefreshFrom(catalog);
}

void ResourcePolicies::RefreshFrom(const std::shared_ptr<const store::CatalogSnapshot>& catalog) {
  refreshed_ = catalog;
  std::map<Resource, std::string> wanted = RevisionsIn(*catalog);
  {
    const absl::MutexLock lock(&mutex_);
    for (auto it = parsed_.begin(); it != parsed_.end();) {
      const auto found = wanted.find(it->first);
      const bool is_current = found != wanted.end() && found->second == it->second.revision;
      if (is_current) wanted.erase(found);
      it = is_current ? std::next(it) : parsed_.erase(it);
    }
    Measure();
  }
  for (const auto& [resource, revision] : wanted) {
    if (const std::optional<model::ResourcePolicy> stored = StoredFor(resource); stored.has_value()) {
      Get(resource, *stored);
    }
  }
}

size_t ResourcePolicies::bytes() const {
  const absl::MutexLock lock(&mutex_);
  return bytes_;
}

}  // namespace armature::engine
