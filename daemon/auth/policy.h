#ifndef ARMATURE_DAEMON_AUTH_POLICY_H_
#define ARMATURE_DAEMON_AUTH_POLICY_H_

// What a principal may do: operations on tables, by patterns.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "daemon/auth/access.h"
#include "daemon/auth/failure_log.h"

namespace armature::daemon {

// Whether the whole of `text` matches: `*` stands for any number of characters, `?` for one, others for themselves.
bool MatchesPattern(std::string_view pattern, std::string_view text);

// What is not allowed is denied.
struct Policy {
  struct Entry {
    std::vector<std::string> operations;  // patterns of names: "GetItem", "Batch*"
    std::vector<std::string> tables;      // patterns of names: "orders", "logs-*"
  };

  std::vector<Entry> allow;
  // All operations of the admin service, and none without it: patterns do not reach them.
  bool admin = false;

  // `operation` and `table` as in Access::Check. An operation that is about no table needs an entry whose tables are
  // `*`.
  bool Allows(std::string_view operation, std::string_view table) const;
};

// Thread-safety: immutable, but for the log.
class PolicyAccess final : public Access {
 public:
  // Denials are counted and logged in `log`.
  PolicyAccess(std::string principal, std::shared_ptr<const Policy> policy, std::shared_ptr<FailureLog> log)
      : principal_(std::move(principal)), policy_(std::move(policy)), log_(std::move(log)) {}

  const std::string& principal() const override { return principal_; }
  absl::Status Check(std::string_view operation, std::string_view table) const override;

 private:
  const std::string principal_;
  const std::shared_ptr<const Policy> policy_;
  const std::shared_ptr<FailureLog> log_;
};

}  // namespace armature::daemon

#endif  // ARMATURE_DAEMON_AUTH_POLICY_H_
