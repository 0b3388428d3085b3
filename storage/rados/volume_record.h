#ifndef ARMATURE_STORAGE_RADOS_VOLUME_RECORD_H_
#define ARMATURE_STORAGE_RADOS_VOLUME_RECORD_H_

// The attributes of the object `directory`: the format of a volume, and its owner. Inside this component only. Format:
// docs/reference/format.md, "Files in RADOS".
//
//   format := "1"
//   needs := features, separated by blanks
//   volume := uuid
//   epoch, handover := 16 hexadecimal digits
//   owner := owner_record.h
//   stripe_bytes := decimal

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "storage/rados/owner_record.h"
#include "storage/rados/rados_session.h"

namespace armature::rados {

// The object that holds the names, the owner and the epoch.
inline constexpr char kDirectoryObject[] = "directory";

// Attribute of the directory, and of each stripe: the epoch of the owner that may write the object. Every write
// requires it, so that a new owner, who raises it, ends the writes of the one before.
inline constexpr char kEpochAttribute[] = "epoch";
inline constexpr char kOwnerAttribute[] = "owner";  // an OwnerRecord; empty after an orderly end
inline constexpr char kStripeAttribute[] = "stripe_bytes";

// The epoch of the owner that an operator has asked to end. Absent until an operator has asked for the first time.
inline constexpr char kHandoverAttribute[] = "handover";

// 16 hexadecimal digits: the cluster compares texts, and their order is that of the numbers.
std::string EpochText(uint64_t epoch);
bool ParseEpoch(std::string_view text, uint64_t* epoch);

struct VolumeRecord {
  std::string id;  // of the volume, a UUID; never another volume's
  uint64_t epoch = 0;
  uint64_t stripe_bytes = 0;
  OwnerRecord owner;
};

// Errors: NotFound if the namespace has no directory; FailedPrecondition if its format, or a feature that it needs, is
// unknown to this build; DataLoss if an attribute is damaged; Unavailable.
absl::StatusOr<VolumeRecord> ReadVolumeRecord(RadosSession* session);

// Makes the directory of a new volume, without an owner. Errors: AlreadyExists; Unavailable.
absl::Status MakeVolumeRecord(RadosSession* session);

// Notes that the owner with `epoch` is to end. Errors: Unavailable, also if there is another owner meanwhile.
absl::Status AskForHandover(RadosSession* session, uint64_t epoch);

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_VOLUME_RECORD_H_
