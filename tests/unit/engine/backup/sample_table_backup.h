#ifndef ARMATURE_TESTS_UNIT_ENGINE_BACKUP_SAMPLE_TABLE_BACKUP_H_
#define ARMATURE_TESTS_UNIT_ENGINE_BACKUP_SAMPLE_TABLE_BACKUP_H_

// Sample backups of tables, for tests of the front ends.

#include "engine/backup/table_backups.h"

namespace armature::engine {

// A backup of a table without settings or indexes.
inline TableBackup PlainTableBackup() {
  TableBackup backup;
  backup.arn = "arn:aws:dynamodb:local:000000000000:table/Cats/backup/01489602797149-73d8d5bc";
  backup.name = "first";
  backup.status = BackupStatus::kAvailable;
  backup.creation_time_ms = 1'489'602'797'149;
  backup.table.name = "Cats";
  backup.table.uuid = "the-id";
  backup.table.state = model::TableState::kActive;
  backup.table.creation_time_ms = 1'400'000'000'500;
  backup.table.key.partition = {{"p", model::ScalarType::kString}};
  backup.table.settings.billing_mode = model::BillingMode::kPayPerRequest;
  backup.item_count = 2;
  backup.size_bytes = 300;
  return backup;
}

// A backup with every field set.
inline TableBackup FullTableBackup() {
  TableBackup backup = PlainTableBackup();
  backup.status = BackupStatus::kCreating;
  backup.table.key.sort = {{"s", model::ScalarType::kNumber}};
  model::IndexDescriptor local;
  local.name = "Local";
  local.key.partition = backup.table.key.partition;
  local.key.sort = {{"g", model::ScalarType::kString}};
  backup.table.local_indexes = {local};
  model::IndexDescriptor global;
  global.name = "Global";
  global.key.partition = local.key.sort;
  global.projection = {model::ProjectionType::kInclude, {"z", "a"}};
  global.provisioned = {5, 6};
  global.on_demand_max = {7, -1};
  backup.table.global_indexes = {global};
  model::TableSettings& settings = backup.table.settings;
  settings.billing_mode = model::BillingMode::kProvisioned;
  settings.provisioned = {3, 4};
  settings.on_demand_max = {-1, 8};
  settings.stream_enabled = true;
  settings.stream_view_type = "NEW_IMAGE";
  settings.time_to_live_attribute = "ends";
  settings.sse_enabled = true;
  settings.sse_kms_key = "key";
  settings.tags = {{"not", "told"}};
  return backup;
}

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_BACKUP_SAMPLE_TABLE_BACKUP_H_
