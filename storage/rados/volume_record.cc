#include "storage/rados/volume_record.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_format.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/data_directory.h"

namespace armature::rados {
namespace {

constexpr char kFormatAttribute[] = "format";  // version of the format of the namespace
constexpr char kNeedsAttribute[] = "needs";    // features that a reader must know, separated by blanks
constexpr char kVolumeAttribute[] = "volume";  // id
constexpr std::string_view kFormat = "1";
constexpr size_t kEpochDigits = 16;

bool ParseWhole(std::string_view text, int base, uint64_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number, base);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

}  // namespace

std::string EpochText(uint64_t epoch) { return absl::StrFormat("%016x", epoch); }

bool ParseEpoch(std::string_view text, uint64_t* epoch) {
  return text.size() == kEpochDigits && ParseWhole(text, 16, epoch);
}

absl::StatusOr<VolumeRecord> ReadVolumeRecord(RadosSession* session) {
  const RadosVolumeOptions& options = session->options();
  const std::string place = Cat("RADOS: namespace ", options.name_space, " of pool ", options.pool);
  std::string format;
  const int known = session->ReadAttribute(kDirectoryObject, kFormatAttribute, &format);
  if (known == -ENOENT) return absl::NotFoundError(Cat(place, " holds no volume"));
  if (known < 0 && known != -ENODATA) return session->Error("read", kDirectoryObject, known);
  if (format != kFormat) {
    return FailedPreconditionError(Cat(place, " holds no volume of this build's format ", kFormat));
  }
  VolumeRecord record;
  std::string needs;
  std::string epoch;
  std::string stripe;
  std::string owner;
  // The epoch first: whoever becomes the owner requires that it is still the same.
  const std::pair<const char*, std::string*> attributes[] = {{kEpochAttribute, &epoch},
                                                             {kNeedsAttribute, &needs},
                                                             {kVolumeAttribute, &record.id},
                                                             {kStripeAttribute, &stripe},
                                                             {kOwnerAttribute, &owner}};
  for (const auto& [name, value] : attributes) {
    const int read = session->ReadAttribute(kDirectoryObject, name, value);
    if (read == -ENODATA) return DataLossError(Cat(place, ": object ", kDirectoryObject, " has no attribute ", name));
    if (read < 0) return session->Error("read", kDirectoryObject, read);
  }
  if (!needs.empty()) return FailedPreconditionError(Cat(place, " needs a newer version, which knows: ", needs));
  if (!ParseEpoch(epoch, &record.epoch) || !ParseWhole(stripe, 10, &record.stripe_bytes) || record.stripe_bytes == 0) {
    return DataLossError(Cat(place, ": the attributes of object ", kDirectoryObject, " are damaged"));
  }
  record.owner = DecodeOwner(owner);
  // Without the address nobody can block the owner.
  if (!owner.empty() && record.owner.client.empty()) {
    return DataLossError(
        Cat(place, ": the attribute ", kOwnerAttribute, " of object ", kDirectoryObject, " names no client"));
  }
  return record;
}

absl::Status MakeVolumeRecord(RadosSession* session) {
  WriteOp make;
  make.CreateNew();
  make.SetAttribute(kFormatAttribute, kFormat);
  make.SetAttribute(kNeedsAttribute, "");
  make.SetAttribute(kVolumeAttribute, store::RandomUuid());
  make.SetAttribute(kEpochAttribute, EpochText(0));
  make.SetAttribute(kOwnerAttribute, "");
  make.SetAttribute(kStripeAttribute, Cat(session->options().stripe_bytes));
  const int made = session->Operate(make, kDirectoryObject);
  if (made == -EEXIST) return absl::AlreadyExistsError("RADOS: the volume exists");
  return made < 0 ? session->Error("make", kDirectoryObject, made) : absl::OkStatus();
}

absl::Status AskForHandover(RadosSession* session, uint64_t epoch) {
  WriteOp ask;
  ask.Require(kEpochAttribute, EpochText(epoch));
  ask.SetAttribute(kHandoverAttribute, EpochText(epoch));
  const int asked = session->Operate(ask, kDirectoryObject);
  if (asked == -ECANCELED) return UnavailableError("RADOS: the volume has another owner meanwhile");
  return asked < 0 ? session->Error("ask for a handover in", kDirectoryObject, asked) : absl::OkStatus();
}

}  // namespace armature::rados
