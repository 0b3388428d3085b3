#include "storage/store/catalog/catalog_record.h"

#include <optional>
#include <utility>

#include "armature/disk/v1/catalog.pb.h"
#include "storage/base/status_macros.h"

namespace armature::store {
namespace {

namespace disk = ::armature::disk::v1;

// The enum value of a stored number. A number out of range becomes 0, which no enum of the model has, instead of
// another value.
template <class Enum>
Enum ToEnum(int value) {
  return static_cast<Enum>(value >= 0 && value <= 255 ? value : 0);
}

void ToDisk(const std::vector<model::KeyAttribute>& from, google::protobuf::RepeatedPtrField<disk::KeyAttribute>* to) {
  for (const model::KeyAttribute& attribute : from) {
    disk::KeyAttribute* const out = to->Add();
    out->set_name(attribute.name);
    out->set_type(static_cast<disk::ScalarType>(attribute.type));
  }
}

std::vector<model::KeyAttribute> FromDisk(const google::protobuf::RepeatedPtrField<disk::KeyAttribute>& from) {
  std::vector<model::KeyAttribute> to;
  for (const disk::KeyAttribute& attribute : from) {
    to.push_back({attribute.name(), ToEnum<model::ScalarType>(attribute.type())});
  }
  return to;
}

void ToDisk(const model::KeySchema& from, disk::KeySchema* to) {
  ToDisk(from.partition, to->mutable_partition());
  ToDisk(from.sort, to->mutable_sort());
}

model::KeySchema FromDisk(const disk::KeySchema& from) { return {FromDisk(from.partition()), FromDisk(from.sort())}; }

void ToDisk(const model::Throughput& from, disk::Throughput* to) {
  to->set_read_units(from.read_units);
  to->set_write_units(from.write_units);
}

model::Throughput FromDisk(const disk::Throughput& from) { return {from.read_units(), from.write_units()}; }

// Sets nothing if there was no change, so that such records keep the bytes of earlier builds.
template <class Record>
void ChangesToDisk(const model::ThroughputChanges& from, Record* record) {
  if (from == model::ThroughputChanges{}) return;
  disk::ThroughputChanges* const to = record->mutable_throughput_changes();
  to->set_last_increase_ms(from.last_increase_ms);
  to->set_last_decrease_ms(from.last_decrease_ms);
  to->set_decreases(from.decreases);
}

model::ThroughputChanges FromDisk(const disk::ThroughputChanges& from) {
  return {from.last_increase_ms(), from.last_decrease_ms(), from.decreases()};
}

void ToDisk(const model::IndexDescriptor& from, disk::IndexRecord* to) {
  to->set_id(from.id.value());
  to->set_name(from.name);
  ToDisk(from.key, to->mutable_key());
  to->mutable_projection()->set_type(static_cast<disk::ProjectionType>(from.projection.type));
  for (const std::string& name : from.projection.non_key_attributes) {
    to->mutable_projection()->add_non_key_attributes(name);
  }
  to->set_state(static_cast<disk::State>(from.state));
  to->set_backfilling(from.backfilling);
  if (from.provisioned.has_value()) ToDisk(*from.provisioned, to->mutable_provisioned());
  if (from.on_demand_max.has_value()) ToDisk(*from.on_demand_max, to->mutable_on_demand_max());
  if (from.warm.has_value()) ToDisk(*from.warm, to->mutable_warm());
  ChangesToDisk(from.throughput_changes, to);
}

model::IndexDescriptor FromDisk(const disk::IndexRecord& from, model::IndexKind kind) {
  model::IndexDescriptor to;
  to.id = IndexId(from.id());
  to.kind = kind;
  to.name = from.name();
  to.key = FromDisk(from.key());
  to.projection.type = ToEnum<model::ProjectionType>(from.projection().type());
  to.projection.non_key_attributes.assign(from.projection().non_key_attributes().begin(),
                                          from.projection().non_key_attributes().end());
  to.state = ToEnum<model::IndexState>(from.state());
  to.backfilling = from.backfilling();
  if (from.has_provisioned()) to.provisioned = FromDisk(from.provisioned());
  if (from.has_on_demand_max()) to.on_demand_max = FromDisk(from.on_demand_max());
  if (from.has_warm()) to.warm = FromDisk(from.warm());
  to.throughput_changes = FromDisk(from.throughput_changes());
  return to;
}

void ToDisk(const model::TableSettings& from, disk::TableSettings* to) {
  to->set_billing_mode(static_cast<disk::BillingMode>(from.billing_mode));
  if (from.provisioned.has_value()) ToDisk(*from.provisioned, to->mutable_provisioned());
  if (from.on_demand_max.has_value()) ToDisk(*from.on_demand_max, to->mutable_on_demand_max());
  if (from.warm.has_value()) ToDisk(*from.warm, to->mutable_warm());
  to->set_deletion_protection(from.deletion_protection);
  to->set_table_class(from.table_class);
  to->set_stream_enabled(from.stream_enabled);
  to->set_stream_view_type(from.stream_view_type);
  to->set_sse_enabled(from.sse_enabled);
  to->set_sse_type(from.sse_type);
  to->set_sse_kms_key(from.sse_kms_key);
  for (const auto& [key, value] : from.tags) {
    disk::Tag* const tag = to->add_tags();
    tag->set_key(key);
    tag->set_value(value);
  }
  ChangesToDisk(from.throughput_changes, to);
  to->set_on_demand_since_ms(from.on_demand_since_ms);
  to->set_table_class_changed_ms(from.table_class_changed_ms);
  to->set_latest_stream_label(from.latest_stream_label);
  to->set_time_to_live_attribute(from.time_to_live_attribute);
  if (from.point_in_time_recovery.has_value()) {
    to->mutable_point_in_time_recovery()->set_enabled_since_ms(from.point_in_time_recovery->enabled_since_ms);
    to->mutable_point_in_time_recovery()->set_period_days(from.point_in_time_recovery->period_days);
  }
}

model::TableSettings FromDisk(const disk::TableSettings& from) {
  model::TableSettings to;
  to.billing_mode = ToEnum<model::BillingMode>(from.billing_mode());
  if (from.has_provisioned()) to.provisioned = FromDisk(from.provisioned());
  if (from.has_on_demand_max()) to.on_demand_max = FromDisk(from.on_demand_max());
  if (from.has_warm()) to.warm = FromDisk(from.warm());
  to.deletion_protection = from.deletion_protection();
  to.table_class = from.table_class();
  to.stream_enabled = from.stream_enabled();
  to.stream_view_type = from.stream_view_type();
  to.sse_enabled = from.sse_enabled();
  to.sse_type = from.sse_type();
  to.sse_kms_key = from.sse_kms_key();
  for (const disk::Tag& tag : from.tags()) to.tags.emplace_back(tag.key(), tag.value());
  to.throughput_changes = FromDisk(from.throughput_changes());
  to.on_demand_since_ms = from.on_demand_since_ms();
  to.table_class_changed_ms = from.table_class_changed_ms();
  to.latest_stream_label = from.latest_stream_label();
  to.time_to_live_attribute = from.time_to_live_attribute();
  if (from.has_point_in_time_recovery()) {
    to.point_in_time_recovery = {from.point_in_time_recovery().enabled_since_ms(),
                                 from.point_in_time_recovery().period_days()};
  }
  return to;
}

void ToDisk(const model::RestoreOrigin& from, disk::RestoreOrigin* to) {
  to->set_backup_arn(from.backup_arn);
  to->set_source_table_arn(from.source_table_arn);
  to->set_time_ms(from.time_ms);
  to->set_in_progress(from.in_progress);
}

model::RestoreOrigin FromDisk(const disk::RestoreOrigin& from) {
  return {from.backup_arn(), from.source_table_arn(), from.time_ms(), from.in_progress()};
}

bool IsKnown(const std::vector<model::KeyAttribute>& attributes) {
  for (const model::KeyAttribute& attribute : attributes) {
    const auto type = static_cast<uint8_t>(attribute.type);
    if (attribute.name.empty() || type < 1 || type > 3) return false;
  }
  return true;
}

bool IsKnown(const model::KeySchema& key) {
  return !key.partition.empty() && IsKnown(key.partition) && IsKnown(key.sort);
}

bool IsKnown(const std::vector<model::IndexDescriptor>& indexes) {
  for (const model::IndexDescriptor& index : indexes) {
    const auto projection = static_cast<uint8_t>(index.projection.type);
    const auto state = static_cast<uint8_t>(index.state);
    if (!IsKnown(index.key) || projection < 1 || projection > 3 || state < 1 || state > 4) return false;
  }
  return true;
}

}  // namespace

std::string EncodeTableRecord(const model::TableDescriptor& descriptor) {
  disk::TableRecord record;
  record.set_id(descriptor.id.value());
  record.set_name(descriptor.name);
  record.set_uuid(descriptor.uuid);
  record.set_state(static_cast<disk::State>(descriptor.state));
  record.set_creation_time_ms(descriptor.creation_time_ms);
  ToDisk(descriptor.key, record.mutable_key());
  ToDisk(descriptor.attribute_definitions, record.mutable_attribute_definitions());
  for (const model::IndexDescriptor& index : descriptor.local_indexes) {
    ToDisk(index, record.add_local_indexes());
  }
  for (const model::IndexDescriptor& index : descriptor.global_indexes) {
    ToDisk(index, record.add_global_indexes());
  }
  ToDisk(descriptor.settings, record.mutable_settings());
  if (descriptor.restore.has_value()) ToDisk(*descriptor.restore, record.mutable_restore());
  std::string value(1, kTableRecordVersion);
  record.AppendToString(&value);
  return value;
}

absl::StatusOr<model::TableDescriptor> ParseTableRecord(std::string_view value) {
  if (value.empty() || value[0] != kTableRecordVersion) {
    return DataLossError("table record: expected version 1");
  }
  value.remove_prefix(1);
  disk::TableRecord record;
  if (!record.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
    return DataLossError("table record: malformed");
  }
  model::TableDescriptor descriptor;
  descriptor.id = TableId(record.id());
  descriptor.name = record.name();
  descriptor.uuid = record.uuid();
  descriptor.state = ToEnum<model::TableState>(record.state());
  descriptor.creation_time_ms = record.creation_time_ms();
  descriptor.key = FromDisk(record.key());
  descriptor.attribute_definitions = FromDisk(record.attribute_definitions());
  for (const disk::IndexRecord& index : record.local_indexes()) {
    descriptor.local_indexes.push_back(FromDisk(index, model::IndexKind::kLocal));
  }
  for (const disk::IndexRecord& index : record.global_indexes()) {
    descriptor.global_indexes.push_back(FromDisk(index, model::IndexKind::kGlobal));
  }
  descriptor.settings = FromDisk(record.settings());
  if (record.has_restore()) descriptor.restore = FromDisk(record.restore());
  const auto state = static_cast<uint8_t>(descriptor.state);
  const auto billing = static_cast<uint8_t>(descriptor.settings.billing_mode);
  if (descriptor.id == TableId(0) || descriptor.name.empty() || state < 1 || state > 4 || billing < 1 || billing > 2 ||
      !IsKnown(descriptor.key) || !IsKnown(descriptor.attribute_definitions) || !IsKnown(descriptor.local_indexes) ||
      !IsKnown(descriptor.global_indexes)) {
    return DataLossError(Cat("table record ", descriptor.name, ": holds values this build does not know"));
  }
  return descriptor;
}

}  // namespace armature::store
