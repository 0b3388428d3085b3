#include "storage/store/expiry/expiry_index.h"

#include "rocksdb/write_batch.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/wire.h"
#include "storage/store/commit/unit_batch.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_db.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

constexpr char kStateVersion = 1;

}  // namespace

std::string EncodeExpiryState(const ExpiryState& state) {
  std::string value(1, kStateVersion);
  model::AppendVarint(state.generation, &value);
  model::AppendVarint(static_cast<uint64_t>(state.phase), &value);
  return value.append(state.next_key);
}

absl::StatusOr<ExpiryState> ParseExpiryState(std::string_view value) {
  if (value.empty() || value[0] != kStateVersion) return DataLossError("expiry record: expected version 1");
  value.remove_prefix(1);
  uint64_t generation = 0;
  uint64_t phase = 0;
  if (!model::TakeVarint(&value, &generation) || !model::TakeVarint(&value, &phase) || generation > UINT32_MAX) {
    return DataLossError("expiry record: expected a generation and a phase");
  }
  if (phase < static_cast<uint64_t>(ExpiryPhase::kScanning) || phase > static_cast<uint64_t>(ExpiryPhase::kCleared)) {
    return DataLossError("expiry record: holds a phase that this build does not know");
  }
  ExpiryState state{static_cast<uint32_t>(generation), static_cast<ExpiryPhase>(phase), std::string(value)};
  if (state.phase != ExpiryPhase::kScanning && !state.next_key.empty()) {
    return DataLossError("expiry record: holds a key although no scan is under way");
  }
  return state;
}

Keyspace ExpiryIndex::keyspace() const { return Keyspace{db_->expiry()}; }

absl::StatusOr<std::optional<ExpiryState>> ExpiryIndex::ReadState(TableId table) const {
  ARM_ASSIGN_OR_RETURN(const std::optional<std::string> stored, db_->Get(*db_->meta(), ExpiryStateKey(table)));
  if (!stored.has_value()) return std::nullopt;
  ARM_ASSIGN_OR_RETURN(ExpiryState state, ParseExpiryState(*stored));
  return state;
}

absl::Status ExpiryIndex::CommitScanned(const WriteUnit& unit, TableId table, const ExpiryState& state) {
  // A scan can be repeated, so it waits for space like a client.
  ARM_RETURN_IF_ERROR(db_->space()->CheckClients());
  UnitBatch batch(db_, unit.batch_bytes(), unit.ops().size());
  batch.Add(unit);
  batch.records().Put(db_->meta()->handle(), ExpiryStateKey(table), EncodeExpiryState(state));
  ARM_FAULT_POINT("expiry.before_write");
  absl::Status written = batch.Write(/*sync=*/false, Cat("fill the expiry of table ", table.value()));
  ARM_FAULT_POINT("expiry.after_write");
  return written;
}

absl::Status ExpiryIndex::Clear(TableId table, uint32_t generation, const ExpiryState& state) {
  rocksdb::WriteBatch batch;
  batch.DeleteRange(db_->expiry()->handle(), ExpiryGenerationKey(table, 0), ExpiryGenerationKey(table, generation));
  batch.Put(db_->meta()->handle(), ExpiryStateKey(table), EncodeExpiryState(state));
  return db_->Write(&batch, /*sync=*/false, Cat("clear the expiry of table ", table.value()));
}

}  // namespace armature::store
