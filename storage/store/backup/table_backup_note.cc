#include "storage/store/backup/table_backup_note.h"

#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "armature/disk/v1/backup.pb.h"
#include "storage/base/strings.h"
#include "storage/store/catalog/catalog_record.h"

namespace armature::store {
namespace {

constexpr std::string_view kHead = "table backup ";

}  // namespace

std::string EncodeTableBackupNote(const TableBackupNote& note) {
  armature::disk::v1::TableBackupNote message;
  message.set_arn(note.arn);
  message.set_name(note.name);
  message.set_creation_time_ms(note.creation_time_ms);
  message.set_table_record(EncodeTableRecord(note.table));
  message.set_item_count(note.item_count);
  message.set_size_bytes(note.size_bytes);
  return Cat(kHead, note.name, " of ", note.table.name, "\n", Sv(absl::Base64Escape(message.SerializeAsString())));
}

std::optional<TableBackupNote> ParseTableBackupNote(const std::string& text) {
  const size_t end = text.find('\n');
  if (!text.starts_with(kHead) || end == std::string::npos) return std::nullopt;
  std::string bytes;
  armature::disk::v1::TableBackupNote message;
  if (!absl::Base64Unescape(text.substr(end + 1), &bytes) || !message.ParseFromString(bytes)) return std::nullopt;
  absl::StatusOr<model::TableDescriptor> table = ParseTableRecord(message.table_record());
  if (!table.ok()) return std::nullopt;
  return TableBackupNote{.arn = message.arn(),
                         .name = message.name(),
                         .creation_time_ms = message.creation_time_ms(),
                         .table = *std::move(table),
                         .item_count = message.item_count(),
                         .size_bytes = message.size_bytes()};
}

}  // namespace armature::store
