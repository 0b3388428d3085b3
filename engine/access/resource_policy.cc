#include "engine/access/resource_policy.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "engine/access/json_fields.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::access {
namespace {

using simdjson::dom::element;

constexpr std::string_view kActionPrefix = "dynamodb:";
constexpr std::string_view kUserArnPrefix = "arn:aws:iam::000000000000:user/";
constexpr std::string_view kIndexInfix = "/index/";
constexpr std::string_view kStreamInfix = "/stream/";
constexpr std::array<std::string_view, 3> kPolicyOperations = {"DeleteResourcePolicy", "GetResourcePolicy",
                                                               "PutResourcePolicy"};

absl::StatusOr<std::string_view> Text(const element& json, const std::string& place) {
  std::string_view text;
  if (json.get(text) != simdjson::SUCCESS) return Fault(place, "must be a string");
  if (text.empty() || text.size() > ResourcePolicy::kElementBytesMax) {
    return Fault(place, Cat("must have 1 to ", ResourcePolicy::kElementBytesMax, " bytes"));
  }
  return text;
}

// The part of a DynamoDB ARN after its fifth colon: "table/orders/index/*". Nullopt for another text.
std::optional<std::string_view> ResourceOfArn(std::string_view arn) {
  std::array<std::string_view, 5> parts;
  for (std::string_view& part : parts) {
    const size_t colon = arn.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    part = arn.substr(0, colon);
    arn.remove_prefix(colon + 1);
  }
  if (parts[0] != "arn" || parts[2] != "dynamodb") return std::nullopt;
  return arn;
}

}  // namespace

bool IsPolicyOperation(std::string_view operation) {
  return std::find(kPolicyOperations.begin(), kPolicyOperations.end(), operation) != kPolicyOperations.end();
}

// Reads one document.
class ResourcePolicyReader {
 public:
  ResourcePolicyReader(const ResourcePolicy::Resource& resource, absl::FunctionRef<bool(std::string_view)> is_action)
      : resource_(resource), is_action_(is_action), made_(std::make_shared<ResourcePolicy>()) {}

  absl::StatusOr<std::shared_ptr<const ResourcePolicy>> Read(const element& json) {
    ARM_RETURN_IF_ERROR(ForEachMember(json, "", [&](std::string_view name, const element& value) -> absl::Status {
      if (name == "Version") return ReadVersion(value);
      if (name == "Id") return Text(value, "Id").status();
      if (name == "Statement") {
        return ForOneOrMore(value, "Statement", ResourcePolicy::kStatementsMax,
                            [this](const std::string& at, const element& each) { return ReadStatement(each, at); });
      }
      return Fault(name, "is unknown; a policy has Version, Id and Statement");
    }));
    if (made_->statements_.empty()) return Fault("", "Statement is missing");
    made_->Measure();
    return std::shared_ptr<const ResourcePolicy>(std::move(made_));
  }

 private:
  using Statement = ResourcePolicy::Statement;

  static absl::Status ReadVersion(const element& json) {
    ARM_ASSIGN_OR_RETURN(const std::string_view version, Text(json, "Version"));
    if (version == "2012-10-17" || version == "2008-10-17") return absl::OkStatus();
    return Fault("Version", "must be 2012-10-17 or 2008-10-17");
  }

  absl::Status ReadStatement(const element& json, const std::string& place) {
    Statement& statement = made_->statements_.emplace_back();
    bool has_effect = false;
    bool has_resource = false;
    ARM_RETURN_IF_ERROR(ForEachMember(json, place, [&](std::string_view name, const element& value) -> absl::Status {
      const std::string at = Member(place, name);
      if (name == "Sid") return Text(value, at).status();
      if (name == "Effect") {
        has_effect = true;
        return ReadEffect(value, at, &statement);
      }
      if (name == "Principal") return ReadPrincipal(value, at, &statement);
      if (name == "Action") {
        return ForOneOrMore(value, at, ResourcePolicy::kListMax, [&](const std::string& each_at, const element& each) {
          return ReadAction(each, each_at, &statement);
        });
      }
      if (name == "Resource") {
        has_resource = true;
        return ForOneOrMore(value, at, ResourcePolicy::kListMax, [&](const std::string& each_at, const element& each) {
          return ReadResource(each, each_at, &statement);
        });
      }
      if (name == "Condition") {
        ARM_ASSIGN_OR_RETURN(statement.conditions, Conditions::Parse(value, at));
        made_->wildcards_ += statement.conditions.wildcards();
        return CheckPatternCount(made_->wildcards_);
      }
      return Fault(at, "is not supported; a statement has Sid, Effect, Principal, Action, Resource and Condition");
    }));
    if (!has_effect) return Fault(place, "Effect is missing");
    if (!statement.any_principal && statement.principals.empty()) return Fault(place, "Principal is missing");
    if (statement.actions.empty()) return Fault(place, "Action is missing");
    const bool has_any = statement.any_resource || statement.resource_itself || !statement.indexes.empty();
    return has_resource && has_any ? absl::OkStatus() : Fault(place, "Resource is missing");
  }

  static absl::Status ReadEffect(const element& json, const std::string& place, Statement* statement) {
    ARM_ASSIGN_OR_RETURN(const std::string_view effect, Text(json, place));
    if (effect != "Allow" && effect != "Deny") return Fault(place, "must be Allow or Deny");
    statement->effect = effect == "Allow" ? Effect::kAllow : Effect::kDeny;
    return absl::OkStatus();
  }

  static absl::Status ReadPrincipal(const element& json, const std::string& place, Statement* statement) {
    const auto read_one = [statement](const std::string& at, const element& each) -> absl::Status {
      ARM_ASSIGN_OR_RETURN(std::string_view name, Text(each, at));
      if (name == "*") {
        statement->any_principal = true;
        return absl::OkStatus();
      }
      if (name.starts_with(kUserArnPrefix)) {
        name.remove_prefix(kUserArnPrefix.size());
      } else if (name.starts_with("arn:")) {
        return Fault(at, Cat("is no principal of this daemon: principals are *, NAME, or ", kUserArnPrefix, "NAME"));
      }
      if (name.empty() || name.find_first_of("*?") != std::string_view::npos ||
          name.find("${") != std::string_view::npos) {
        return Fault(at, "a principal is * or a name without wildcards");
      }
      statement->principals.emplace_back(name);
      return absl::OkStatus();
    };
    if (json.is_string()) {
      std::string_view text;
      if (json.get(text) == simdjson::SUCCESS && text == "*") return read_one(place, json);
      return Fault(place, "must be * or an object with AWS");
    }
    return ForEachMember(json, place, [&](std::string_view kind, const element& value) -> absl::Status {
      const std::string at = Member(place, kind);
      if (kind != "AWS") return Fault(at, "is not supported; principals are in AWS");
      return ForOneOrMore(value, at, ResourcePolicy::kListMax, read_one);
    });
  }

  absl::Status ReadAction(const element& json, const std::string& place, Statement* statement) const {
    ARM_ASSIGN_OR_RETURN(std::string_view action, Text(json, place));
    if (action != "*") {
      if (!absl::StartsWithIgnoreCase(Av(action), Av(kActionPrefix))) {
        return Fault(place, "must be * or begin with dynamodb:");
      }
      action.remove_prefix(kActionPrefix.size());
    }
    if (!is_action_(action)) return Fault(place, "matches no action of the API");
    statement->actions.Add(std::string(action));
    return absl::OkStatus();
  }

  // "*", the resource's own ARN, or that of one or more indexes of the table. Regions and accounts are not compared, as
  // in requests.
  absl::Status ReadResource(const element& json, const std::string& place, Statement* statement) const {
    ARM_ASSIGN_OR_RETURN(const std::string_view arn, Text(json, place));
    if (arn == "*") {
      statement->any_resource = true;
      return absl::OkStatus();
    }
    const std::string own = resource_.stream.empty() ? Cat("table/", resource_.table)
                                                     : Cat("table/", resource_.table, kStreamInfix, resource_.stream);
    std::optional<std::string_view> named = ResourceOfArn(arn);
    if (named.has_value() && *named == own) {
      statement->resource_itself = true;
      return absl::OkStatus();
    }
    const std::string index_prefix = Cat(own, kIndexInfix);
    if (resource_.stream.empty() && named.has_value() && named->starts_with(index_prefix)) {
      named->remove_prefix(index_prefix.size());
      if (!named->empty()) {
        statement->indexes.Add(std::string(*named));
        return absl::OkStatus();
      }
    }
    return Fault(place, "must be the ARN of the resource that the policy belongs to, or of an index of it");
  }

  const ResourcePolicy::Resource& resource_;
  absl::FunctionRef<bool(std::string_view)> is_action_;
  std::shared_ptr<ResourcePolicy> made_;
};

absl::StatusOr<std::shared_ptr<const ResourcePolicy>> ResourcePolicy::Parse(
    std::string_view text, const Resource& resource, absl::FunctionRef<bool(std::string_view pattern)> is_action) {
  if (text.size() > kBytesMax) return Fault("", Cat("is larger than ", kBytesMax, " bytes"));
  simdjson::dom::parser parser(kBytesMax);
  // simdjson reads some bytes beyond the text.
  const simdjson::padded_string padded(text);
  if (parser.allocate(kBytesMax, kDepthMax) != simdjson::SUCCESS) return Fault("", "no memory to read it");
  element root;
  if (const simdjson::error_code error = parser.parse(padded).get(root); error != simdjson::SUCCESS) {
    return Fault("", "is not a JSON document");
  }
  return ResourcePolicyReader(resource, is_action).Read(root);
}

std::shared_ptr<const ResourcePolicy> ResourcePolicy::Unreadable() {
  auto made = std::make_shared<ResourcePolicy>();
  made->is_readable_ = false;
  return made;
}

void ResourcePolicy::Measure() {
  statements_.shrink_to_fit();
  bytes_ = sizeof(ResourcePolicy) + statements_.size() * sizeof(Statement);
  weight_ = {};
  for (const Statement& statement : statements_) {
    weight_ = weight_ + MatchWeight{.values = statement.conditions.weight(),
                                    .names = statement.actions.weight() + statement.indexes.weight()};
    bytes_ += statement.actions.heap_bytes() + statement.indexes.heap_bytes() + statement.conditions.heap_bytes() +
              statement.principals.capacity() * sizeof(std::string);
    for (const std::string& principal : statement.principals) bytes_ += HeapBytesOf(principal);
  }
}

bool ResourcePolicy::Applies(const Statement& statement, std::string_view principal, const Request& request,
                             LazyFacts* facts) {
  const bool is_principal =
      statement.any_principal ||
      std::find(statement.principals.begin(), statement.principals.end(), principal) != statement.principals.end();
  if (!is_principal || !statement.actions.AnyMatches(request.operation, facts->work())) return false;
  const bool is_resource =
      statement.any_resource ||
      (request.index.empty() ? statement.resource_itself
                             : statement.indexes.AnyMatches(ComparedName(request.index), facts->work()));
  return is_resource && statement.conditions.Hold(statement.effect, facts);
}

Verdict ResourcePolicy::Evaluate(std::string_view principal, const Request& request, LazyFacts* facts) const {
  if (!is_readable_) return IsPolicyOperation(request.operation) ? Verdict::kSilent : Verdict::kDenied;
  const auto any = [&](Effect effect) {
    return std::any_of(statements_.begin(), statements_.end(), [&](const Statement& statement) {
      return statement.effect == effect && Applies(statement, principal, request, facts);
    });
  };
  const bool is_denied = any(Effect::kDeny);
  const bool is_allowed = !is_denied && any(Effect::kAllow);
  if (is_denied || facts->work()->is_spent()) return Verdict::kDenied;
  return is_allowed ? Verdict::kAllowed : Verdict::kSilent;
}

}  // namespace armature::access
