#include "storage/model/table_settings.h"

#include "storage/base/api_error.h"

namespace armature::model {
namespace {

void FillNotGiven(int64_t unset, std::optional<Throughput>* throughput) {
  if (!throughput->has_value()) return;
  if ((*throughput)->read_units == kThroughputNotGiven) (*throughput)->read_units = unset;
  if ((*throughput)->write_units == kThroughputNotGiven) (*throughput)->write_units = unset;
}

// Two amounts of -1 remove the current ones.
void MergeThroughput(const std::optional<Throughput>& given, int64_t unset, std::optional<Throughput>* current) {
  if (!given.has_value()) return;
  Throughput merged = current->value_or(Throughput{unset, unset});
  if (given->read_units != kThroughputNotGiven) merged.read_units = given->read_units;
  if (given->write_units != kThroughputNotGiven) merged.write_units = given->write_units;
  if (merged == Throughput{-1, -1}) {
    current->reset();
  } else {
    *current = merged;
  }
}

}  // namespace

std::string_view BillingModeName(BillingMode mode) {
  switch (mode) {
    case BillingMode::kProvisioned:
      return "PROVISIONED";
    case BillingMode::kPayPerRequest:
      return "PAY_PER_REQUEST";
  }
  return "UNKNOWN";
}

int64_t DecreasesOnDayOf(int64_t now_ms, const ThroughputChanges& changes) {
  constexpr int64_t kDayMs = int64_t{24} * 60 * 60 * 1000;
  return now_ms / kDayMs == changes.last_decrease_ms / kDayMs ? changes.decreases : 0;
}

int CountGiven(const SettingsDefinition& definition) {
  int count = 0;
  for (const bool is_given :
       {definition.provisioned.has_value(), definition.on_demand_max.has_value(), definition.warm.has_value(),
        !definition.billing_mode.empty(), definition.stream.has_value(), definition.sse.has_value(),
        !definition.table_class.empty(), definition.deletion_protection.has_value()}) {
    if (is_given) ++count;
  }
  return count;
}

absl::Status CheckTableClass(std::string_view table_class) {
  if (table_class.empty() || table_class == "STANDARD" || table_class == "STANDARD_INFREQUENT_ACCESS") {
    return absl::OkStatus();
  }
  return ValidationError(
      "Invalid table-class parameter provided. Please try again with a valid table-class value: "
      "[STANDARD, STANDARD_INFREQUENT_ACCESS].");
}

ThroughputSettings WithDefaults(const ThroughputSettings& given) {
  ThroughputSettings filled = given;
  FillNotGiven(-1, &filled.on_demand_max);
  FillNotGiven(0, &filled.warm);
  return filled;
}

TableSettings BuildSettings(const SettingsDefinition& definition) {
  TableSettings settings;
  settings.throughput() = WithDefaults(definition);
  if (definition.billing_mode == BillingModeName(BillingMode::kPayPerRequest)) {
    settings.billing_mode = BillingMode::kPayPerRequest;
  }
  if (definition.stream.has_value()) {
    settings.stream_enabled = definition.stream->enabled.value_or(false);
    settings.stream_view_type = definition.stream->view_type;
  }
  if (definition.sse.has_value()) {
    settings.sse_enabled = definition.sse->enabled.value_or(false);
    settings.sse_type = definition.sse->type;
    settings.sse_kms_key = definition.sse->kms_key;
  }
  settings.table_class = definition.table_class;
  settings.deletion_protection = definition.deletion_protection.value_or(false);
  return settings;
}

void ApplyPlainSettings(const SettingsDefinition& definition, int64_t now_ms, TableSettings* settings) {
  if (definition.sse.has_value()) {
    settings->sse_enabled = definition.sse->enabled.value_or(false);
    settings->sse_type = settings->sse_enabled ? definition.sse->type : "";
    settings->sse_kms_key = settings->sse_enabled ? definition.sse->kms_key : "";
  }
  if (!definition.table_class.empty() && definition.table_class != settings->table_class) {
    settings->table_class = definition.table_class;
    settings->table_class_changed_ms = now_ms;
  }
  if (definition.deletion_protection.has_value()) settings->deletion_protection = *definition.deletion_protection;
  ApplyThroughputLimits(definition, settings);
}

bool NeedsUpdating(const TableSettings& before, const TableSettings& after) {
  return before.billing_mode != after.billing_mode || before.provisioned != after.provisioned ||
         before.on_demand_max != after.on_demand_max || before.table_class != after.table_class ||
         before.stream_enabled != after.stream_enabled;
}

void ApplyThroughputLimits(const ThroughputSettings& given, ThroughputSettings* current) {
  MergeThroughput(given.on_demand_max, -1, &current->on_demand_max);
  MergeThroughput(given.warm, 0, &current->warm);
}

}  // namespace armature::model
