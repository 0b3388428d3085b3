#ifndef ARMATURE_STORAGE_MODEL_SETTING_RULES_H_
#define ARMATURE_STORAGE_MODEL_SETTING_RULES_H_

// The rules of settings of tables and global indexes: throughput, billing mode, encryption, stream, table class. The
// requests that carry a setting (CreateTable, ImportTable, UpdateTable with its creations and updates of indexes, and
// restores) check it here and nowhere else. The texts of errors depend on the request; see SettingUse.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "storage/model/constraint_list.h"
#include "storage/model/table_settings.h"

namespace armature::model {

// The kind of request that gives a setting.
enum class SettingUse : uint8_t {
  kCreation,  // of a table or an index
  kChange,    // of a table or an index
  kRestore,   // an override of the restored table or of one of its indexes
};

// The owner of a throughput.
struct ThroughputOwner {
  SettingUse use = SettingUse::kCreation;
  std::string_view index_name = {};  // empty: the table
  bool overrides_mode = false;       // of a restore: the request overrides the billing mode, too
};

// Constraints on shapes. Each adds violations to `faults`; `path` names the member, such as "provisionedThroughput".
// Absent members are valid.
void CheckThroughputShape(const std::optional<Throughput>& throughput, const std::string& path, ConstraintList* faults);
void CheckBillingModeShape(std::string_view billing_mode, std::string_view path, ConstraintList* faults);
// A change requires the member StreamEnabled. A creation does only with a view type.
void CheckStreamShape(const std::optional<StreamDefinition>& stream, SettingUse use, ConstraintList* faults);
void CheckSseShape(const std::optional<SseDefinition>& sse, std::string_view path, ConstraintList* faults);

// The remaining functions require settings of valid shape. Errors: ValidationException.

// Checks the amounts by the rules that need no table: the bounds of all units; an on-demand maximum and a warm
// throughput have a member. -1 removes a maximum, so only a change may have it. A restore ignores an empty maximum.
// Source of the values: the API reference, OnDemandThroughput and WarmThroughput.
absl::Status CheckAmounts(const ThroughputSettings& given, const ThroughputOwner& owner);

// Checks that the billing mode after the request admits provisioned units and an on-demand maximum.
absl::Status CheckAgainstBilling(const ThroughputSettings& given, const ThroughputOwner& owner, BillingMode mode);

// Checks the given warm throughput. Neither amount may be lower than the one that the table or index can serve already
// (of a change only: `before`), nor lower than its provisioned units. `provisioned`: those after the request; absent if
// it is on demand.
absl::Status CheckWarm(const std::optional<Throughput>& given, const ThroughputOwner& owner,
                       const std::optional<Throughput>& provisioned, const std::optional<Throughput>& before);

// Checks the type and the key of an encryption. The daemon has one kind: SSEType KMS, with or without a key.
absl::Status CheckSse(const std::optional<SseDefinition>& sse);
// Checks that a change of encryption changes it.
absl::Status CheckSseChange(const SseDefinition& sse, const TableSettings& before);

absl::Status CheckStream(const StreamDefinition& stream, SettingUse use);
// A stream is to be enabled, without its view type.
absl::Status ViewTypeRequiredError(SettingUse use);

// Checks that `table_class` is one, or empty.
absl::Status CheckTableClass(std::string_view table_class);

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_SETTING_RULES_H_
