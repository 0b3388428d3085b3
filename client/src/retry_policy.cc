#include "armature/client/retry_policy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/random/random.h"
#include "armature/api/v1/items.pb.h"
#include "armature/client/errors.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"

namespace armature::client {
namespace {

constexpr std::array<std::string_view, 3> kThrottlings = {"ProvisionedThroughputExceededException",
                                                          "ThrottlingException", "RequestLimitExceeded"};

constexpr std::array<std::string_view, 2> kConflicts = {"TransactionConflictException",
                                                        "TransactionInProgressException"};
constexpr std::array<std::string_view, 4> kPassingReasons = {"None", "TransactionConflict",
                                                             "ProvisionedThroughputExceeded", "ThrottlingError"};

// The methods whose repeat gives the same, whatever the request says: service.proto and admin.proto mark them with
// idempotency_level. The client links no part of the daemon, so the table of operations is not at hand here.
const absl::flat_hash_set<std::string>& IdempotentMethods() {
  static const auto* const kMethods = [] {
    auto* const marked = new absl::flat_hash_set<std::string>;
    for (const char* const service :
         {"armature.api.v1.ItemService", "armature.api.v1.TableService", "armature.api.v1.StreamService",
          "armature.api.v1.StatementService", "armature.admin.v1.AdminService"}) {
      const auto* const type = google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(service);
      for (int i = 0; type != nullptr && i < type->method_count(); ++i) {
        using google::protobuf::MethodOptions;
        const bool is_marked = type->method(i)->options().idempotency_level() != MethodOptions::IDEMPOTENCY_UNKNOWN;
        if (is_marked) marked->insert(type->method(i)->name());
      }
    }
    return marked;
  }();
  return *kMethods;
}

template <class Range>
bool Contains(const Range& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class LimitedAttemptsPolicy final : public RetryPolicy {
 public:
  explicit LimitedAttemptsPolicy(int attempts_max) : attempts_max_(attempts_max) {}
  bool ShouldRetry(const absl::Status& status, int attempts) const override {
    return attempts < attempts_max_ && IsTransient(status);
  }

 private:
  const int attempts_max_;
};

class ExponentialBackoffPolicy final : public BackoffPolicy {
 public:
  explicit ExponentialBackoffPolicy(BackoffSettings settings) : settings_(settings) {}
  absl::Duration DelayAfter(int attempts) const override {
    const absl::Duration full =
        std::min(settings_.max, settings_.initial * std::pow(settings_.factor, std::max(attempts, 1) - 1));
    thread_local absl::BitGen random;
    return full * absl::Uniform(absl::IntervalClosed, random, 0.5, 1.0);
  }

 private:
  const BackoffSettings settings_;
};

// True for a PutItemRequest or DeleteItemRequest without condition and return values. The return value of a second
// attempt would be the item that the first attempt wrote.
template <class Request>
bool IsPlainWrite(const Request& request) {
  return !request.has_condition_expression() && request.expected().empty() &&
         (request.return_values() == api::v1::RETURN_VALUES_UNSPECIFIED ||
          request.return_values() == api::v1::RETURN_VALUES_NONE);
}

class DefaultIdempotencyPolicy final : public IdempotencyPolicy {
 public:
  bool IsIdempotent(const Method& method, const google::protobuf::Message& request) const override {
    using google::protobuf::DynamicCastToGenerated;
    if (const auto* put = DynamicCastToGenerated<api::v1::PutItemRequest>(&request)) {
      return IsPlainWrite(*put);
    }
    if (const auto* del = DynamicCastToGenerated<api::v1::DeleteItemRequest>(&request)) {
      return IsPlainWrite(*del);
    }
    if (const auto* write = DynamicCastToGenerated<api::v1::TransactWriteItemsRequest>(&request)) {
      return !write->client_request_token().empty();
    }
    return IdempotentMethods().contains(std::string(method.name));
  }
};

// A cancelled transaction whose reasons are all transient.
bool IsCancelledForNow(const absl::Status& status) {
  const auto detail = ErrorDetailOf(status);
  if (!detail.has_value() || detail->cancellation_reasons().empty()) return false;
  return std::all_of(
      detail->cancellation_reasons().begin(), detail->cancellation_reasons().end(),
      [](const api::v1::CancellationReason& reason) { return Contains(kPassingReasons, reason.code()); });
}

}  // namespace

bool IsTransient(const absl::Status& status) {
  if (absl::IsUnavailable(status)) return !IsLasting(status);
  if (absl::IsAborted(status)) return Contains(kConflicts, ErrorName(status)) || IsCancelledForNow(status);
  return absl::IsResourceExhausted(status) && Contains(kThrottlings, ErrorName(status));
}

std::shared_ptr<const RetryPolicy> LimitedAttempts(int attempts_max) {
  return std::make_shared<LimitedAttemptsPolicy>(attempts_max);
}

std::shared_ptr<const RetryPolicy> NoRetries() { return LimitedAttempts(1); }

std::shared_ptr<const BackoffPolicy> ExponentialBackoff(BackoffSettings settings) {
  return std::make_shared<ExponentialBackoffPolicy>(settings);
}

std::shared_ptr<const IdempotencyPolicy> DefaultIdempotency() { return std::make_shared<DefaultIdempotencyPolicy>(); }

}  // namespace armature::client
