#include "daemon/admin/backup_messages.h"

#include <string>

namespace armature::daemon {

namespace v1 = ::armature::admin::v1;

engine::StartBackupRequest ToEngine(const v1::StartBackupRequest& from) {
  engine::StartBackupRequest to;
  to.directory = from.directory();
  to.keep = from.keep();
  to.note = from.note();
  if (from.has_bytes_per_second_max()) to.bytes_per_second_max = from.bytes_per_second_max();
  return to;
}

void Fill(const store::BackupEntry& from, v1::Backup* to) {
  to->set_id(from.id);
  to->set_started_time_ms(from.started_ms);
  to->set_finished_time_ms(from.finished_ms);
  to->set_database_id(from.database_id);
  to->set_format_version(static_cast<uint32_t>(from.format_version));
  to->set_size_bytes(from.size_bytes);
  to->set_added_bytes(from.added_bytes);
  to->set_file_count(from.file_count);
  to->set_note(from.note);
  to->set_damage(from.damage);
}

void Fill(const engine::BackupJob& from, v1::BackupJob* to) {
  to->set_id(from.id);
  to->set_directory(from.directory);
  to->set_state(static_cast<v1::BackupJobState>(static_cast<int>(from.state) + 1));
  to->set_is_scheduled(from.is_scheduled);
  to->set_requested_time_ms(from.requested_ms);
  to->set_done_bytes(from.progress.done_bytes);
  to->set_total_bytes(from.progress.total_bytes);
  to->set_error(std::string(from.result.message()));
  if (from.made.has_value()) Fill(*from.made, to->mutable_backup());
  for (const store::BackupId id : from.deleted) to->add_deleted_ids(id);
}

}  // namespace armature::daemon
