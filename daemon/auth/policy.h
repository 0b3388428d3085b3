#ifndef ARMATURE_DAEMON_AUTH_POLICY_H_
#define ARMATURE_DAEMON_AUTH_POLICY_H_

// Permissions of the sender of a request: policies, which permit operations on tables by patterns.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "daemon/auth/failures.h"
#include "engine/access/condition.h"
#include "engine/access/facts.h"
#include "engine/access/pattern.h"

namespace armature::daemon {

// The sender of a request: its name and its permissions.
//
// Thread-safety: immutable. Lifetime: shared with the requests under way, so that they keep it when the credentials are
// reloaded.
class Access {
 public:
  virtual ~Access() = default;

  // For logs: the id of the access key or the name of the certificate. Empty without authentication.
  virtual const std::string& principal() const = 0;

  // OK if this principal may do what the request says. Batches and transactions check each element. Errors:
  // AccessDeniedException.
  virtual absl::Status Check(const access::Request& request) const = 0;

  // True if Check would return OK. Nothing is logged: for a request that the principal has not made.
  virtual bool Permits(const access::Request& request) const { return Check(request).ok(); }

  // The work of a check, at most, without that of the policies of resources.
  virtual access::MatchWeight weight() const { return {}; }
};

// Operations without a matching entry are denied.
struct Policy {
  struct Entry {
    access::Patterns operations;  // of operation names: "GetItem", "Batch*"
    access::Patterns tables;      // of table names: "orders", "logs-*"; of indexes: "orders/index/*"
    access::Conditions condition = {};
  };

  std::vector<Entry> allow;
  // Allows all operations of the admin service. Patterns do not apply to them.
  bool admin = false;
  // Denies, whatever is allowed.
  std::vector<Entry> deny = {};

  // An operation that concerns no table needs an entry with the table pattern `*`. A table pattern matches the reads of
  // the table's indexes, too, except in an entry that allows by a condition: the leading key of an index is not that of
  // its table, so such an entry must name the index. Denied if the work of `facts` is spent.
  access::Verdict Evaluate(const access::Request& request, access::LazyFacts* facts) const;

  // Number of the patterns with wildcards in its conditions.
  size_t wildcards() const;
  // The work of Evaluate, at most.
  access::MatchWeight weight() const;
};

// Access by a policy of the credentials file together with the policy of the resource: one of them must allow, and none
// may deny. A principal with `admin` may change policies of resources whatever these say, so that a policy that denies
// everything can be removed.
//
// Thread-safety: immutable, except for the log.
class PolicyAccess final : public Access {
 public:
  // Denials are counted and logged in `log`.
  PolicyAccess(std::string principal, std::shared_ptr<const Policy> policy, std::shared_ptr<FailureLog> log)
      : principal_(std::move(principal)),
        policy_(std::move(policy)),
        weight_(policy_->weight()),
        log_(std::move(log)) {}

  const std::string& principal() const override { return principal_; }
  absl::Status Check(const access::Request& request) const override;
  bool Permits(const access::Request& request) const override;
  access::MatchWeight weight() const override { return weight_; }

 private:
  const std::string principal_;
  const std::shared_ptr<const Policy> policy_;
  const access::MatchWeight weight_;
  const std::shared_ptr<FailureLog> log_;
};

// Prefix of this daemon's table ARNs: no region, no account.
inline constexpr std::string_view kTableArnPrefix = "arn:aws:dynamodb:local:000000000000:table/";

// The name in `arn:<partition>:dynamodb:<region>:<account>:table/<name>`, also if `/index/...`, `/stream/...` or
// `/backup/...` follow. Any other text is returned unchanged.
std::string_view TableNameOf(std::string_view name_or_arn);

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_POLICY_H_
