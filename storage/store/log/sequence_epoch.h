#ifndef ARMATURE_STORAGE_STORE_LOG_SEQUENCE_EPOCH_H_
#define ARMATURE_STORAGE_STORE_LOG_SEQUENCE_EPOCH_H_

// Epochs of change sequences: docs/reference/format.md, "Epochs", and docs/decisions/0048-epochs-of-change-sequences.md
//
// A position is a change sequence that a client keeps: in a stream, in a watch, or to read its own writes. In another
// history of the database, such as one that was restored from a backup, the same sequence is another change or none. So
// each history begins an epoch with greater sequences than any other has, and positions before its base are refused.
//
//   epoch := 0x01 base begun
//   base := varint                                 greatest sequence that belongs to an earlier epoch
//   begun := varint                                milliseconds since 1970

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/base/strong_type.h"

namespace armature::store {

class RocksDb;

// Value of the epoch's record in `meta`.
std::string EncodeEpochRecord(ChangeSequence base, int64_t begun_ms);
// False for another version or malformed bytes.
bool ParseEpochRecord(std::string_view value, ChangeSequence* base, int64_t* begun_ms);

// The base of the present epoch: its sequences are greater. 0 in a database from before the epochs. Errors: DataLoss.
absl::StatusOr<ChangeSequence> ReadEpochBase(RocksDb* db);

// Begins an epoch, durably, and returns its base. `last`: the highest sequence that the database knows. `clock`: see
// DatabaseOptions::epoch_clock; may be null. If there are streams, a segment begins with the epoch. Errors: those of a
// write; DataLoss.
absl::StatusOr<ChangeSequence> BeginEpoch(RocksDb* db, ChangeSequence last, const std::function<uint64_t()>& clock);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_LOG_SEQUENCE_EPOCH_H_
