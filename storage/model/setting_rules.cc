#include "storage/model/setting_rules.h"

#include <string>
#include <string_view>

#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/model/limits.h"

namespace armature::model {
namespace {

// In the order in which messages list them.
constexpr std::string_view kBillingModes[] = {kProvisionedName, kOnDemandName};
constexpr std::string_view kStreamViewTypes[] = {"NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"};
constexpr std::string_view kSseTypes[] = {"AES256", "KMS"};

bool IsIndex(const ThroughputOwner& owner) { return !owner.index_name.empty(); }

// Restores have a prefix of their own.
absl::Status Invalid(SettingUse use, std::string_view detail) {
  return use == SettingUse::kRestore ? InvalidRequestError(detail) : InvalidParameterError(detail);
}

// "table" or "index <name>", as texts about one amount name it.
std::string NameOf(const ThroughputOwner& owner) {
  return IsIndex(owner) ? Cat("index ", owner.index_name) : std::string("table");
}

// Refuses amounts above the maximum. Amounts that are not given are below it.
absl::Status CheckUpperBounds(const Throughput& units, std::string_view read, std::string_view write,
                              const ThroughputOwner& owner) {
  const std::string suffix = IsIndex(owner) ? Cat(" for index ", owner.index_name) : "";
  const auto check = [&](int64_t value, std::string_view member) {
    if (value <= kCapacityUnitsMax) return absl::OkStatus();
    return ValidationError(Cat("Given value ", value, " for ", member, " is out of bounds", suffix));
  };
  ARM_RETURN_IF_ERROR(check(units.read_units, read));
  return check(units.write_units, write);
}

bool IsEmpty(const Throughput& units) {
  return units.read_units == kThroughputNotGiven && units.write_units == kThroughputNotGiven;
}

absl::Status CheckOnDemandAmounts(const Throughput& given, const ThroughputOwner& owner) {
  if (IsEmpty(given)) {
    if (owner.use == SettingUse::kRestore) return absl::OkStatus();
    return InvalidParameterError(
        Cat("MaxReadRequestUnits, MaxWriteRequestUnits, or both must be specified in OnDemandThroughput for ",
            NameOf(owner)));
  }
  const auto check = [&owner](int64_t value, std::string_view member) {
    if (value == kThroughputNotGiven || (value >= 1 && value <= kCapacityUnitsMax)) return absl::OkStatus();
    if (value == kNoMaximum && owner.use == SettingUse::kChange) return absl::OkStatus();
    // The text of a restore does not name its table.
    const bool names_owner = owner.use != SettingUse::kRestore || IsIndex(owner);
    return Invalid(owner.use, Cat("Requested ", member, " for OnDemandThroughput",
                                  names_owner ? Cat(" for ", NameOf(owner)) : "", " is outside of valid range"));
  };
  ARM_RETURN_IF_ERROR(check(given.read_units, "MaxReadRequestUnits"));
  return check(given.write_units, "MaxWriteRequestUnits");
}

absl::Status CheckWarmAmounts(const Throughput& given, const ThroughputOwner& owner) {
  if (owner.use == SettingUse::kRestore) {
    return Invalid(owner.use, Cat("Cannot override WarmThroughput for index ", owner.index_name));
  }
  if (IsEmpty(given)) {
    return InvalidParameterError(Cat(
        "ReadUnitsPerSecond, WriteUnitsPerSecond, or both must be specified in WarmThroughput for ", NameOf(owner)));
  }
  return CheckUpperBounds(given, "ReadUnitsPerSecond", "WriteUnitsPerSecond", owner);
}

absl::Status CheckNoProvisioned(const ThroughputOwner& owner) {
  if (owner.use == SettingUse::kRestore) {
    return Invalid(owner.use, Cat("Cannot override ProvisionedThroughput ",
                                  IsIndex(owner) ? Cat("for index ", owner.index_name, " ") : "",
                                  owner.overrides_mode ? "if BillingMode is overridden to PAY_PER_REQUEST"
                                                       : "unless BillingMode is PROVISIONED"));
  }
  if (!IsIndex(owner)) {
    return InvalidParameterError(
        "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST");
  }
  if (owner.use == SettingUse::kChange) {
    return InvalidParameterError(Cat("The only Updates for index: ", owner.index_name,
                                     " when TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, "
                                     "WarmThroughput"));
  }
  return InvalidParameterError(Cat("ProvisionedThroughput should not be specified for index: ", owner.index_name,
                                   " when BillingMode is PAY_PER_REQUEST"));
}

// `given` is an on-demand maximum of what is provisioned.
absl::Status CheckNoOnDemandMaximum(const Throughput& given, const ThroughputOwner& owner) {
  if (owner.use == SettingUse::kRestore) {
    if (IsEmpty(given)) return absl::OkStatus();
    return Invalid(owner.use,
                   Cat("Cannot override ",
                       given.read_units != kThroughputNotGiven ? "MaxReadRequestUnits" : "MaxWriteRequestUnits",
                       " for OnDemandThroughput ", IsIndex(owner) ? Cat("for index ", owner.index_name, " ") : "",
                       "unless BillingModeOverride is PAY_PER_REQUEST"));
  }
  if (IsIndex(owner)) {
    return InvalidParameterError(Cat("OnDemandThroughput should not be specified for index: ", owner.index_name,
                                     " when BillingMode is PROVISIONED"));
  }
  return InvalidParameterError(
      "Neither MaxReadRequestUnits nor MaxWriteRequestUnits can be specified when BillingMode is PROVISIONED");
}

// Only an enabled stream has shards.
absl::Status CheckShardCount(const StreamDefinition& stream) {
  if (!stream.shards.has_value()) return absl::OkStatus();
  if (!stream.enabled.value_or(false)) {
    return InvalidParameterError("ShardCount must not be specified for a stream that is not enabled");
  }
  if (IsShardCount(*stream.shards)) return absl::OkStatus();
  return InvalidParameterError(
      Cat("ShardCount must be a power of two up to ", kStreamShardsMax, ", and is ", *stream.shards));
}

}  // namespace

void CheckThroughputShape(const std::optional<Throughput>& throughput, const std::string& path,
                          ConstraintList* faults) {
  if (!throughput.has_value()) return;
  const auto check = [faults](int64_t units, const std::string& member) {
    if (units == kThroughputNotGiven) {
      faults->AddNull(member);
    } else {
      faults->CheckMinimum(units, member, 1);
    }
  };
  check(throughput->read_units, Cat(path, ".readCapacityUnits"));
  check(throughput->write_units, Cat(path, ".writeCapacityUnits"));
}

void CheckBillingModeShape(std::string_view billing_mode, std::string_view path, ConstraintList* faults) {
  if (!billing_mode.empty()) faults->CheckEnum(billing_mode, path, kBillingModes);
}

void CheckStreamShape(const std::optional<StreamDefinition>& stream, SettingUse use, ConstraintList* faults) {
  if (!stream.has_value()) return;
  if (stream->shards.has_value()) {
    faults->CheckMinimum(*stream->shards, "streamSpecification.shardCount", 1);
    faults->CheckMaximum(*stream->shards, "streamSpecification.shardCount", kStreamShardsMax);
  }
  if (use == SettingUse::kCreation && stream->view_type.empty()) return;
  if (!stream->enabled.has_value()) faults->AddNull("streamSpecification.streamEnabled");
  if (stream->view_type.empty()) return;
  faults->CheckEnum(stream->view_type, "streamSpecification.streamViewType", kStreamViewTypes);
}

void CheckSseShape(const std::optional<SseDefinition>& sse, std::string_view path, ConstraintList* faults) {
  if (sse.has_value() && !sse->type.empty()) faults->CheckEnum(sse->type, Cat(path, ".sSEType"), kSseTypes);
}

absl::Status CheckAmounts(const ThroughputSettings& given, const ThroughputOwner& owner) {
  if (given.provisioned.has_value()) {
    ARM_RETURN_IF_ERROR(CheckUpperBounds(*given.provisioned, "ReadCapacityUnits", "WriteCapacityUnits", owner));
  }
  if (given.on_demand_max.has_value()) ARM_RETURN_IF_ERROR(CheckOnDemandAmounts(*given.on_demand_max, owner));
  return given.warm.has_value() ? CheckWarmAmounts(*given.warm, owner) : absl::OkStatus();
}

absl::Status CheckAgainstBilling(const ThroughputSettings& given, const ThroughputOwner& owner, BillingMode mode) {
  if (mode == BillingMode::kPayPerRequest) {
    return given.provisioned.has_value() ? CheckNoProvisioned(owner) : absl::OkStatus();
  }
  return given.on_demand_max.has_value() ? CheckNoOnDemandMaximum(*given.on_demand_max, owner) : absl::OkStatus();
}

absl::Status CheckWarm(const std::optional<Throughput>& given, const ThroughputOwner& owner,
                       const std::optional<Throughput>& provisioned, const std::optional<Throughput>& before) {
  if (!given.has_value()) return absl::OkStatus();
  const Throughput least = WarmThroughputOf({.provisioned = provisioned, .on_demand_max = {}, .warm = {}});
  const auto check = [&](int64_t wanted, int64_t current, int64_t minimum, std::string_view units) {
    if (wanted == kThroughputNotGiven) return absl::OkStatus();
    const std::string requested =
        Cat("Requested ", units, "UnitsPerSecond for WarmThroughput for ", NameOf(owner), " is lower than ");
    if (wanted < current) {
      return InvalidParameterError(
          Cat(requested, "current WarmThroughput, decreasing WarmThroughput is not supported"));
    }
    if (wanted >= minimum) return absl::OkStatus();
    if (!provisioned.has_value()) return InvalidParameterError(Cat(requested, "initial throughput for OnDemand"));
    return InvalidParameterError(Cat(requested, units, "CapacityUnits of ProvisionedThroughput"));
  };
  const Throughput current = before.value_or(Throughput{kThroughputNotGiven, kThroughputNotGiven});
  ARM_RETURN_IF_ERROR(check(given->read_units, current.read_units, least.read_units, "Read"));
  return check(given->write_units, current.write_units, least.write_units, "Write");
}

absl::Status CheckSse(const std::optional<SseDefinition>& sse) {
  if (!sse.has_value()) return absl::OkStatus();
  const bool is_enabled = sse->enabled.value_or(false);
  if (sse->type == "AES256") return InvalidParameterError("SSEType AES256 is not supported, only KMS is");
  if (!is_enabled && !sse->type.empty()) {
    return InvalidParameterError("SSEType must not be specified when Server-Side Encryption is not enabled");
  }
  if (!is_enabled && !sse->kms_key.empty()) {
    return InvalidParameterError("KMSMasterKeyId must not be specified when Server-Side Encryption is not enabled");
  }
  if (!sse->kms_key.empty() && sse->type.empty()) {
    return InvalidParameterError("SSEType KMS must be specified when KMSMasterKeyId is specified");
  }
  return absl::OkStatus();
}

absl::Status CheckSseChange(const SseDefinition& sse, const TableSettings& before) {
  const bool is_enabled = sse.enabled.value_or(false);
  if (!is_enabled && !before.sse_enabled) return InvalidParameterError("Table is already encrypted by default");
  if (is_enabled && before.sse_enabled && sse.kms_key == before.sse_kms_key) {
    return InvalidParameterError("Table is already encrypted with given KMSMasterKeyId");
  }
  return absl::OkStatus();
}

absl::Status ViewTypeRequiredError(SettingUse use) {
  return InvalidParameterError(use == SettingUse::kCreation
                                   ? "Table is being created with a stream enabled, UpdateViewType is required"
                                   : "If stream is being enabled then UpdateViewType is required");
}

absl::Status CheckStream(const StreamDefinition& stream, SettingUse use) {
  const bool is_creation = use == SettingUse::kCreation;
  ARM_RETURN_IF_ERROR(CheckShardCount(stream));
  if (is_creation && !stream.enabled.has_value()) return absl::OkStatus();
  const bool is_enabled = stream.enabled.value_or(false);
  const bool has_view_type = !stream.view_type.empty();
  // A number of shards may be for a stream that is enabled already.
  const bool may_be_enabled = !is_creation && stream.shards.has_value();
  if (is_enabled && !has_view_type && !may_be_enabled) return ViewTypeRequiredError(use);
  if (!is_enabled && has_view_type) {
    return InvalidParameterError(
        is_creation ? "Table is being created with a stream disabled, UpdateViewType should not be specified"
                    : "If stream is being disabled, then UpdateViewType must not be specified");
  }
  return absl::OkStatus();
}

absl::Status CheckTableClass(std::string_view table_class) {
  if (table_class.empty() || table_class == "STANDARD" || table_class == "STANDARD_INFREQUENT_ACCESS") {
    return absl::OkStatus();
  }
  return ValidationError(
      "Invalid table-class parameter provided. Please try again with a valid table-class value: "
      "[STANDARD, STANDARD_INFREQUENT_ACCESS].");
}

}  // namespace armature::model
