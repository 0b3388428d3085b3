#include "daemon/admin/admin_operations.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "armature/admin/v1/admin.pb.h"
#include "armature/version.h"
#include "daemon/admin/index_operations.h"
#include "daemon/admin/request_list.h"
#include "daemon/api/table_messages.h"
#include "engine/backup/backup_jobs.h"
#include "storage/archive/shipper.h"
#include "storage/base/api_error.h"
#include "storage/base/strings.h"
#include "storage/model/wire.h"
#include "storage/store/data_directory.h"
#include "storage/store/database.h"
#include "storage/store/stream/stream_keeper.h"
#include "storage/store/stream/stream_log.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::admin::v1;
using daemon::Fill;  // beside those below

constexpr std::string_view kEcho = "admin:Echo";

// A larger echo than any page is of no use for measurements.
constexpr uint64_t kEchoBytesMax = 16 << 20;

int64_t MonotonicNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int64_t ToMicros(const timeval& time) { return int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; }

int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total_pages = 0;
  int64_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

void SetItem(const std::string& bytes, api::v1::Item* item) {
  if (!item->ParseFromString(bytes)) item->Clear();
}

void Fill(const engine::VerifyTableResult& from, v1::VerifyTableResponse* to) {
  for (const engine::IndexDifference& difference : from.differences) {
    v1::IndexDifference* const out = to->add_differences();
    out->set_index_name(difference.index_name);
    out->set_kind(static_cast<v1::IndexDifference::Kind>(difference.kind));
    if (!difference.key_bytes.empty()) SetItem(difference.key_bytes, out->mutable_key());
    out->set_entry_key(difference.entry_key);
    out->set_repaired(difference.repaired);
  }
  to->set_rows_checked(from.rows_checked);
  to->set_keyspace(from.keyspace);
  to->set_keyspace_rows(from.keyspace_rows);
  to->set_next_position(from.next_position);
}

// Answers with the payload, or with as many bytes as requested: the cost of an empty call.
absl::StatusOr<OutMessage> EchoBytes(std::string_view request) {
  std::string_view payload;
  uint64_t wanted = 0;
  model::WireField field;
  while (!request.empty() && model::TakeField(&request, &field)) {
    if (field.number == v1::EchoRequest::kPayloadFieldNumber) payload = field.bytes;
    if (field.number == v1::EchoRequest::kResponseBytesFieldNumber) wanted = field.varint;
  }
  if (wanted > kEchoBytesMax) return ValidationError("response_bytes must be at most 16777216");
  OutMessage message;
  message.bytes = wanted == 0 ? std::string(payload) : std::string(wanted, 'x');
  message.head.push_back(
      static_cast<char>(model::WireTag(v1::EchoResponse::kPayloadFieldNumber, model::WireType::kBytes)));
  model::AppendVarint(message.bytes.size(), &message.head);
  return message;
}

void Echo(MessageCall& call, std::string_view request) {
  if (const auto engine = call.caller.Allow({kEcho, ""}); !engine.ok())
    return std::move(call.answer).Fail(engine.status());
  absl::StatusOr<OutMessage> answer = EchoBytes(request);
  if (!answer.ok()) return std::move(call.answer).Fail(answer.status());
  std::move(call.answer).Send(*std::move(answer));
}

std::string WhyWritesAreRefused(const store::DiskReport& disk) {
  if (!disk.damage.empty()) return Cat(disk.damage, "; restore a backup, or see armature recover");
  if (disk.is_broken) return "a write has failed; the daemon must be restarted";
  if (disk.has_failed) return "a write has failed for want of space; writes go on when there is some";
  if (disk.has_no_descriptors) return "no file descriptors were left; writes go on when there are some";
  if (disk.is_low) return "less space than the reserve is free; writes go on when there is more";
  return "";
}

// State of the storage engine, which explains slow writes.
void FillStore(const store::Database& database, v1::GetServerInfoResponse* to) {
  const store::DatabaseStats stats = database.stats();
  to->set_writes_refused_reason(WhyWritesAreRefused(stats.disk));
  for (const store::DamagedPart& part : database.damages().All()) {
    to->add_damaged(Cat(store::NameOf(part), ": ", store::DamageText(part.damage)));
  }
  to->set_disk_free_bytes(stats.disk.usage.free_bytes);
  to->set_disk_total_bytes(stats.disk.usage.total_bytes);
  to->set_disk_reserve_bytes(stats.disk.reserve_bytes);
  to->set_file_bytes(stats.files.file_bytes);
  to->set_commit_queue_units(stats.committer.queue_commits);
  to->set_writes_stopped(stats.files.write_stopped != 0);
  to->set_writes_delayed_to_bytes_per_second(stats.files.delayed_write_bytes_per_second);
  to->set_stall_ms_total(stats.files.stall_micros_total / 1000);
  to->set_compaction_pending_bytes(stats.files.compaction_pending_bytes);
  to->set_stream_count(database.streams().streams().size());
  to->set_stream_bytes(database.streams().bytes());
  to->set_stream_max_bytes(database.stream_keeper().options().bytes_max);
  to->set_stream_segments_trimmed_early(database.stream_keeper().trimmed_early());
  to->set_column_families_needed(stats.column_families_needed);
  to->set_column_families_max(stats.column_families_max);
}

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

// Answers with one backup job.
template <class Response>
void AnswerJob(const absl::StatusOr<engine::BackupJob>& job, Response* response, Finished done) {
  if (job.ok()) Fill(*job, response->mutable_job());
  std::move(done)(job.status());
}

engine::HotKeysRequest ToEngine(const v1::GetHotKeysRequest& from) {
  engine::HotKeysRequest to;
  to.table_name = from.table_name();
  to.index_name = from.index_name();
  if (from.use() == v1::KEY_USE_WRITE) to.use = store::KeyUse::kWrite;
  if (from.use() == v1::KEY_USE_THROTTLED) to.use = store::KeyUse::kThrottled;
  to.whole_keys = from.whole_keys();
  to.limit = from.limit();
  to.minutes = from.minutes();
  return to;
}

void Fill(const engine::HotKeys& from, v1::GetHotKeysResponse* to) {
  for (const engine::HotKey& key : from.keys) {
    v1::HotKey* const out = to->add_keys();
    SetItem(key.key_bytes, out->mutable_key());
    out->set_count(key.count);
    out->set_error(key.error);
    out->set_cut(key.cut);
  }
  to->set_total(from.total);
  to->set_missed(from.missed);
  to->set_error_max(from.error_max);
  to->set_seconds(static_cast<int32_t>(from.seconds));
  to->set_keys_are_whole(from.keys_are_whole);
}

void GetHotKeys(const OperationContext& context, const v1::GetHotKeysRequest& request, v1::GetHotKeysResponse* response,
                Finished done) {
  if (request.use() < v1::KEY_USE_UNSPECIFIED || request.use() > v1::KEY_USE_THROTTLED) {
    return std::move(done)(ValidationError(Cat("Unknown use of keys: ", static_cast<int>(request.use()))));
  }
  context.engine->GetHotKeys(ToEngine(request), AnswerIn<engine::HotKeys>(response, std::move(done), Fill));
}

void VerifyTable(const OperationContext& context, const v1::VerifyTableRequest& request,
                 v1::VerifyTableResponse* response, Finished done) {
  context.engine->VerifyTable({request.table_name(), request.start_position(), request.repair()},
                              AnswerIn<engine::VerifyTableResult>(response, std::move(done), Fill));
}

void StartBackup(const OperationContext& context, const v1::StartBackupRequest& request,
                 v1::StartBackupResponse* response, Finished done) {
  AnswerJob(context.engine->backups()->Start(ToEngine(request)), response, std::move(done));
}

void GetBackupJob(const OperationContext& context, const v1::GetBackupJobRequest& request,
                  v1::GetBackupJobResponse* response, Finished done) {
  AnswerJob(context.engine->backups()->Find(request.id()), response, std::move(done));
}

void CancelBackupJob(const OperationContext& context, const v1::CancelBackupJobRequest& request,
                     v1::CancelBackupJobResponse* response, Finished done) {
  AnswerJob(context.engine->backups()->Cancel(request.id()), response, std::move(done));
}

void Fill(const std::vector<store::BackupEntry>& from, v1::ListBackupsResponse* to) {
  for (const store::BackupEntry& each : from) Fill(each, to->add_backups());
}

void ListBackups(const OperationContext& context, const v1::ListBackupsRequest& request,
                 v1::ListBackupsResponse* response, Finished done) {
  context.engine->ListDatabaseBackups(request.directory(),
                                      AnswerIn<std::vector<store::BackupEntry>>(response, std::move(done), Fill));
}

void RestoreTable(const OperationContext& context, const v1::RestoreTableRequest& request,
                  v1::RestoreTableResponse* response, Finished done) {
  context.engine->RestoreTableOf({.directory = request.directory(),
                                  .backup = request.backup_id(),
                                  .table_name = request.table_name(),
                                  .target_table_name = request.target_table_name()},
                                 AnswerIn<engine::TableDescription>(response->mutable_table(), std::move(done), Fill));
}

void FillArchive(const archive::Shipper& archive, v1::ArchiveStatus* to) {
  const archive::ShipperStats stats = archive.stats();
  to->set_until_ms(stats.until_ms);
  if (stats.until_ms != 0) to->set_lag_ms(std::max<int64_t>(absl::ToUnixMillis(absl::Now()) - stats.until_ms, 0));
  to->set_paused_since_ms(stats.paused_since_ms);
  to->set_paused_reason(stats.paused_reason);
  to->set_waiting_bytes(stats.waiting_bytes);
  to->set_breaks(stats.breaks);
  for (const archive::Span& span : archive.restorable().value_or(std::vector<archive::Span>())) {
    v1::ArchiveSpan* const added = to->add_restorable();
    added->set_from_ms(span.from_ms);
    added->set_until_ms(span.until_ms);
  }
}

// GetServerInfo for this process with `data_dir`.
UnaryOperation ServerInfoOperation(std::string data_dir) {
  const auto run = [data_dir = std::move(data_dir), start = absl::Now(), start_monotonic_ns = MonotonicNs()](
                       const OperationContext& context, const v1::GetServerInfoRequest&,
                       v1::GetServerInfoResponse* response, Finished done) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    response->set_version(kVersion);
    response->set_pid(getpid());
    response->set_start_time_ms(absl::ToUnixMillis(start));
    response->set_uptime_ms((MonotonicNs() - start_monotonic_ns) / 1'000'000);
    response->set_data_directory(data_dir);
    response->set_cpu_user_us(ToMicros(usage.ru_utime));
    response->set_cpu_system_us(ToMicros(usage.ru_stime));
    response->set_resident_bytes(ResidentBytes());
    response->set_column_family_count(static_cast<int64_t>(context.engine->database()->stats().column_families));
    response->set_format_version(static_cast<uint32_t>(store::kFormatVersion));
    FillStore(*context.engine->database(), response);
    if (context.engine->archive() != nullptr) FillArchive(*context.engine->archive(), response->mutable_archive());
    std::move(done)(absl::OkStatus());
  };
  return UnaryOperation(UnaryOperation::Run<v1::GetServerInfoRequest, v1::GetServerInfoResponse>(run));
}

UnaryOperation RequestsOperation(const RequestStats* stats) {
  const auto run = [stats](const OperationContext&, const v1::ListRequestsRequest& request,
                           v1::ListRequestsResponse* response,
                           Finished done) { std::move(done)(ListRequests(stats, request, response)); };
  return UnaryOperation(UnaryOperation::Run<v1::ListRequestsRequest, v1::ListRequestsResponse>(run));
}

}  // namespace

std::vector<UnaryOperation> AdminOperations(std::string data_dir, const RequestStats* stats) {
  std::vector<UnaryOperation> all = {ServerInfoOperation(std::move(data_dir)), RequestsOperation(stats)};
  all.push_back(ListIndexStatusOperation());
  all.push_back(GetIndexStatusOperation());
  all.push_back(ListIndexViolationsOperation());
  AddOperations(&all, VerifyTable, StartBackup, GetBackupJob, CancelBackupJob, ListBackups, RestoreTable, GetHotKeys);
  return all;
}

MessageOperation EchoOperation() { return {engine::FindOperation(kEcho), Echo}; }

}  // namespace armature::daemon
