#include "storage/store/commit/idempotency.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "glog/logging.h"
#include "rocksdb/write_batch.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/wire.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

constexpr char kTokenVersion = 1;

struct Expired {
  std::string key;  // key of the row with the expiry time
  std::string token;
};

// Finds up to `max` + 1 expired tokens.
absl::StatusOr<std::vector<Expired>> FindExpired(const Rows& rows, const Keyspace& meta, int64_t now_ms,
                                                 const std::string& from, size_t max) {
  KeyRange range;
  range.begin = std::max(from, std::string(kTokenTimePrefix));
  range.end = TokenTimeKey(now_ms + 1, "");
  std::vector<Expired> found;
  const auto visit = [&](std::string_view key, std::string_view) {
    found.push_back({std::string(key), std::string(TokenOfTimeKey(key))});
    return found.size() > max ? RowVerdict::kStop : RowVerdict::kContinue;
  };
  const absl::StatusOr<RangeEnd> end = rows.ReadRange(meta, range, Direction::kForward, visit);
  if (!end.ok()) return end.status();
  return found;
}

// True if the token's record must be removed, too. False if it is gone already, or if a later request reused the token.
absl::StatusOr<bool> HasExpired(RocksDb* rocks, std::string_view token, int64_t now_ms) {
  const absl::StatusOr<std::optional<std::string>> stored = rocks->Get(*rocks->meta(), TokenKey(token));
  absl::Status status = stored.status();
  if (status.ok()) {
    if (!stored->has_value()) return false;
    const absl::StatusOr<TokenRecord> record = ParseTokenRecord(**stored);
    if (record.ok()) return record->expires_ms <= now_ms;
    status = record.status();
  }
  if (!absl::IsDataLoss(status)) return status;
  // An unreadable record stays: it may belong to a later request, whose repeat would be executed again if the record
  // were missing. Returning false lets the sweep continue with the tokens behind it.
  LOG_EVERY_N(ERROR, 100) << "tokens: skipped an unreadable token record status=" << status;
  return false;
}

}  // namespace

std::string EncodeTokenRecord(const TokenRecord& record) {
  std::string value(1, kTokenVersion);
  model::AppendVarint(static_cast<uint64_t>(record.expires_ms), &value);
  value.append(record.fingerprint);
  return value;
}

absl::StatusOr<TokenRecord> ParseTokenRecord(std::string_view value) {
  if (value.empty() || value[0] != kTokenVersion) return DataLossError("token record: expected version 1");
  value.remove_prefix(1);
  uint64_t expires_ms = 0;
  if (!model::TakeVarint(&value, &expires_ms) || value.size() != TokenRecord::kFingerprintBytes) {
    return DataLossError("token record: expected a time and a fingerprint");
  }
  return TokenRecord{static_cast<int64_t>(expires_ms), std::string(value)};
}

absl::StatusOr<GetResult> Tokens::Find(std::string_view token, ReadMode mode, TokenRecord* record) const {
  std::string stored;
  ARM_ASSIGN_OR_RETURN(const GetResult got, rows_->Get(Keyspace{db_->meta()}, TokenKey(token), mode, &stored));
  if (got == GetResult::kFound) {
    ARM_ASSIGN_OR_RETURN(*record, ParseTokenRecord(stored));
  }
  return got;
}

void Tokens::AddTo(std::string_view token, const TokenRecord& record, WriteUnit* unit) const {
  const Keyspace meta{db_->meta()};
  const std::string key = TokenKey(token);
  const std::string time_key = TokenTimeKey(record.expires_ms, token);
  const std::string value = EncodeTokenRecord(record);
  unit->Reserve(2, key.size() + value.size() + time_key.size());
  unit->Put(meta, key, value);
  unit->Put(meta, time_key, {});
}

absl::StatusOr<int64_t> Tokens::LastExpiry() const {
  KeyRange range;
  range.begin = TokenTimeKey(0, "");
  range.end = TokenTimeKey(std::numeric_limits<int64_t>::max(), "");
  int64_t last_ms = 0;
  const auto visit = [&last_ms](std::string_view key, std::string_view) {
    last_ms = ExpiryOfTimeKey(key);
    return RowVerdict::kStop;
  };
  const absl::StatusOr<RangeEnd> end = rows_->ReadRange(Keyspace{db_->meta()}, range, Direction::kReverse, visit);
  if (!end.ok()) return end.status();
  return last_ms;
}

absl::StatusOr<TokenSweep> Tokens::SweepExpired(int64_t now_ms, const std::string& from, size_t max,
                                                absl::FunctionRef<bool(std::string_view token)> claim) {
  ARM_ASSIGN_OR_RETURN(std::vector<Expired> expired, FindExpired(*rows_, Keyspace{db_->meta()}, now_ms, from, max));
  TokenSweep sweep;
  sweep.resume = from;
  sweep.more = expired.size() > max;
  if (sweep.more) expired.pop_back();
  rocksdb::WriteBatch batch;
  bool all = true;  // no token was skipped so far
  for (const Expired& each : expired) {
    if (!claim(each.token)) {
      all = false;  // retried by the next sweep
      continue;
    }
    if (all) sweep.resume = each.key;
    ARM_ASSIGN_OR_RETURN(const bool has_expired, HasExpired(db_, each.token, now_ms));
    if (has_expired) batch.Delete(db_->meta()->handle(), TokenKey(each.token));
    batch.Delete(db_->meta()->handle(), each.key);
    ++sweep.removed;
  }
  if (sweep.removed > 0) ARM_RETURN_IF_ERROR(db_->Write(&batch, /*sync=*/false, "sweep tokens"));
  sweep.more = sweep.more && sweep.removed > 0;
  return sweep;
}

}  // namespace armature::store
