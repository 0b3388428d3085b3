#ifndef ARMATURE_STORAGE_STORE_COMMIT_IDEMPOTENCY_H_
#define ARMATURE_STORAGE_STORE_COMMIT_IDEMPOTENCY_H_

// Idempotency tokens of completed requests, so that a repeated request is not executed again.
//
// A token record is written in the batch of its request. A second row for each token has the expiry time in its key, so
// that expired tokens are found without reading the others.
//
//   token record := 0x01 expires fingerprint
//   expires := varint                              milliseconds, by the clock of tokens
//   fingerprint := 16 bytes                        hash of the request

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "storage/store/commit/write_unit.h"
#include "storage/store/rows.h"

namespace armature::store {

class RocksDb;

struct TokenRecord {
  static constexpr size_t kFingerprintBytes = 16;

  int64_t expires_ms = 0;   // by the clock of tokens, which starts as the wall clock
  std::string fingerprint;  // fingerprint of the request, kFingerprintBytes long
  friend bool operator==(const TokenRecord&, const TokenRecord&) = default;
};

// The value of a token record. docs/reference/format.md, "The meta family".
std::string EncodeTokenRecord(const TokenRecord& record);
// Errors: DataLoss for another version or malformed bytes.
absl::StatusOr<TokenRecord> ParseTokenRecord(std::string_view value);

struct TokenSweep {
  size_t removed = 0;
  bool more = false;   // more expired tokens remain
  std::string resume;  // start of the next sweep
};

// The tokens of one database.
//
// Thread-safety: thread-safe. Lifetime: the objects that it is made of outlive it.
class Tokens {
 public:
  Tokens(RocksDb* db, const Rows* rows) : db_(db), rows_(rows) {}

  // Reads the record of a token. `record` is unspecified unless kFound. Errors: as Rows::Get.
  absl::StatusOr<GetResult> Find(std::string_view token, ReadMode mode, TokenRecord* record) const;
  // Adds the record of `token` to `unit`, to be committed together with the effects of the request.
  void AddTo(std::string_view token, const TokenRecord& record, WriteUnit* unit) const;
  // The latest time at which a token expires; 0 without tokens. Errors: DataLoss, Unavailable.
  absl::StatusOr<int64_t> LastExpiry() const;
  // Removes up to `max` tokens that expired at or before `now_ms`, without fsync: a token that a crash brings back is
  // removed again. `from`: `resume` of the last sweep, or empty. `claim` returns true if no request uses the token; the
  // sweep calls it before it reads the token, and no request may write the token until the sweep returns. Errors:
  // DataLoss, Unavailable.
  absl::StatusOr<TokenSweep> SweepExpired(int64_t now_ms, const std::string& from, size_t max,
                                          absl::FunctionRef<bool(std::string_view token)> claim);

 private:
  RocksDb* const db_;
  const Rows* const rows_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_COMMIT_IDEMPOTENCY_H_
