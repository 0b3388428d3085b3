#ifndef ARMATURE_STORAGE_STORE_COMMIT_IDEMPOTENCY_H_
#define ARMATURE_STORAGE_STORE_COMMIT_IDEMPOTENCY_H_

// Tokens of requests that were carried out, so that a repeat is not carried out again.
//
// A record is written in the batch of the request that it stands for. A second row for each has its time in the key, so
// that those that have expired are found without looking at the others.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace armature::store {

class RocksDb;

struct TokenRecord {
  static constexpr size_t kFingerprintBytes = 16;

  int64_t expires_ms = 0;   // since the epoch
  std::string fingerprint;  // of the request: kFingerprintBytes
  friend bool operator==(const TokenRecord&, const TokenRecord&) = default;
};

// docs/FORMAT.md, "The meta family".
std::string EncodeTokenRecord(const TokenRecord& record);
// Errors: DataLoss for another version or malformed bytes.
absl::StatusOr<TokenRecord> ParseTokenRecord(std::string_view value);

struct TokenSweep {
  size_t removed = 0;
  bool more = false;   // others have expired, too
  std::string resume;  // where the next sweep begins
};

// Removes up to `max` tokens that expired at `now_ms` or before, without fsync: what a crash brings back is removed
// again. `from`: where the last sweep has ended, or empty. `claim`: whether nobody uses the token; it is asked before
// the token is looked at, and nobody may write it until the call returns. Errors: DataLoss, Unavailable.
absl::StatusOr<TokenSweep> SweepTokens(RocksDb* rocks, int64_t now_ms, const std::string& from, size_t max,
                                       absl::FunctionRef<bool(std::string_view token)> claim);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_COMMIT_IDEMPOTENCY_H_
