#include "storage/store/inspector.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "rocksdb/db.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/codec/key_codec.h"
#include "storage/store/catalog/catalog_record.h"
#include "storage/store/damage_keeper.h"
#include "storage/store/files/volume.h"
#include "storage/store/log/sequence_epoch.h"
#include "storage/store/meta_keys.h"
#include "storage/store/options.h"
#include "storage/store/rocks_options.h"
#include "storage/store/rocks_status.h"
#include "storage/store/table_files.h"
#include "storage/store/wal/log_check.h"

namespace armature::store {
namespace {

constexpr size_t kInspectorCacheBytes = size_t{32} << 20;

// Leaves room below a shell's usual limit of open files.
constexpr int kOpenFilesMax = 512;

// Ways to open the database, each more tolerant than the one before.
struct Attempt {
  Inspector::Extent extent;
  rocksdb::WALRecoveryMode mode;
  std::string_view what;  // consequence, shown if all earlier attempts failed
};
constexpr Attempt kAttempts[] = {
    {Inspector::Extent::kAll, rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords, ""},
    {Inspector::Extent::kBeforeDamage, rocksdb::WALRecoveryMode::kPointInTimeRecovery,
     "what follows is the state before the damage in RocksDB's log; later writes are left out"},
    {Inspector::Extent::kSome, rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords,
     "what follows is all that can be read, which need not be the state of one moment"}};

// RocksDB opens the first few table files at once, and all if `open_files_max` is -1, which is what a start does.
rocksdb::DBOptions ReadOnlyOptions(const DatabaseOptions& options, const Attempt& attempt, rocksdb::Env* env,
                                   int open_files_max = kOpenFilesMax) {
  rocksdb::DBOptions db_options = MakeDbOptions(options);
  db_options.env = env;
  db_options.create_if_missing = false;
  db_options.max_open_files = open_files_max;
  db_options.paranoid_checks = attempt.extent != Inspector::Extent::kSome;
  db_options.wal_recovery_mode = attempt.mode;
  return db_options;
}

// Locks the directory. Null if it has no lock file.
absl::StatusOr<std::unique_ptr<const VolumeLock>> LockShared(Volume* volume, const std::string& directory) {
  const std::string file = Cat(directory, kDataLockFile);
  absl::StatusOr<std::unique_ptr<VolumeLock>> lock = volume->Lock(file, Volume::LockMode::kShared, /*make=*/false);
  if (absl::IsNotFound(lock.status())) return nullptr;
  if (absl::IsFailedPrecondition(lock.status())) {
    return FailedPreconditionError(Cat("data directory ", directory, " is in use by another process (", file,
                                       " is locked): stop the daemon first, or inspect a copy"));
  }
  if (!lock.ok()) return lock.status();
  return *std::move(lock);
}

// Creates an iterator whose upper bound is the end of the range.
using MakeIterator = absl::FunctionRef<std::unique_ptr<rocksdb::Iterator>()>;

// Searches for the first readable key behind a damaged place.
class GapSearch {
 public:
  GapSearch(MakeIterator make, std::string_view end) : make_(make), end_(end) {}

  // Returns a key behind `last` at which a seek succeeds, or nullopt if there is none before the end. Seeks at `last`
  // and shortly behind it fail.
  std::optional<std::string> FindReadable(std::string_view last) {
    std::string unreadable(last);
    // Each candidate differs in a byte further left, so steps grow by a factor of 256.
    for (size_t size = last.size(); size > 0; --size) {
      std::string candidate = codec::PrefixSuccessor(last.substr(0, size));
      if (candidate.empty() || candidate == unreadable) continue;
      if (IsBehindEnd(candidate)) return std::nullopt;
      if (IsReadable(candidate)) return Refine(unreadable, std::move(candidate));
      unreadable = std::move(candidate);
    }
    // The first byte usually belongs to a hash, so a step of one is already large.
    const int first = unreadable.empty() ? 0 : static_cast<uint8_t>(unreadable[0]) + 1;
    for (int byte = first; byte <= 255; ++byte) {
      std::string candidate(1, static_cast<char>(byte));
      if (IsBehindEnd(candidate)) return std::nullopt;
      if (IsReadable(candidate)) return Refine(unreadable, std::move(candidate));
      unreadable = std::move(candidate);
    }
    return std::nullopt;
  }

 private:
  bool IsBehindEnd(std::string_view key) const { return !end_.empty() && key >= end_; }

  // An iterator that met damage may fail once more on readable blocks, so each try uses a new one.
  bool IsReadable(std::string_view key) {
    const std::unique_ptr<rocksdb::Iterator> it = make_();
    it->Seek(ToSlice(key));
    return it->status().ok();
  }

  // The eight bytes of `key` behind its first `skip` bytes, as a number.
  static uint64_t Window(std::string_view key, size_t skip) {
    std::string bytes(key.substr(std::min(skip, key.size()), sizeof(uint64_t)));
    bytes.resize(sizeof(uint64_t), '\0');
    return *ParseU64(bytes);
  }

  // Bisects between the two keys. Returns a readable key.
  std::string Refine(const std::string& unreadable, std::string readable) {
    const size_t length = std::min(unreadable.size(), readable.size());
    const auto differ =
        std::mismatch(unreadable.begin(), unreadable.begin() + static_cast<std::ptrdiff_t>(length), readable.begin());
    const auto skip = static_cast<size_t>(differ.first - unreadable.begin());
    const std::string common = readable.substr(0, skip);
    uint64_t low = Window(unreadable, skip);
    uint64_t high = Window(readable, skip);
    while (high > low && high - low > 1) {
      const uint64_t middle = low + (high - low) / 2;
      std::string candidate = common + EncodeU64(middle);
      if (IsReadable(candidate)) {
        high = middle;
        readable = std::move(candidate);
      } else {
        low = middle;
      }
    }
    return readable;
  }

  const MakeIterator make_;
  const std::string_view end_;
};

// Visits the readable rows of `range`. Behind an unreadable block or file the walk continues, and the gap is reported
// to `on_gap`. RocksDB does not say where a damaged block ends, so the next key with a successful seek is searched for
// in growing steps. Rows of other files inside the gap are skipped as well. If the damage is in many places, readable
// rows between two of them may be skipped. `family` is the first part of each gap's reason.
RangeEnd WalkPastDamage(MakeIterator make, std::string_view family, const KeyRange& range, RowVisitor visit,
                        absl::FunctionRef<void(const ReadGap&)> on_gap) {
  std::string last = range.begin;
  std::string from = range.begin;
  while (true) {
    const std::unique_ptr<rocksdb::Iterator> it = make();
    for (it->Seek(ToSlice(from)); it->Valid(); it->Next()) {
      last.assign(it->key().data(), it->key().size());
      if (visit(last, ToView(it->value())) == RowVerdict::kStop) return RangeEnd::kStopped;
    }
    if (it->status().ok()) return RangeEnd::kReached;
    ReadGap gap{last, "", FromRocks(it->status(), family)};
    std::optional<std::string> next = GapSearch(make, range.end).FindReadable(last);
    gap.to = next.value_or(range.end);
    on_gap(gap);
    if (!next.has_value()) return RangeEnd::kReached;
    from = *std::move(next);
    // The next failure, wherever it is, is behind this place.
    last = from;
  }
}

MetaKind KindOf(std::string_view key, std::string_view* rest) {
  if (key == kNextIdKey) return MetaKind::kNextId;
  if (key == kSequenceKey) return MetaKind::kSequence;
  if (key == kEpochKey) return MetaKind::kEpoch;
  constexpr std::pair<std::string_view, MetaKind> kPrefixes[] = {
      {kTablePrefix, MetaKind::kTable},         {kCursorPrefix, MetaKind::kCursor}, {kBuildPrefix, MetaKind::kBuild},
      {kTokenTimePrefix, MetaKind::kTokenTime}, {kTokenPrefix, MetaKind::kToken},   {kStatsPrefix, MetaKind::kStats},
      {kSegmentPrefix, MetaKind::kSegment},     {kStreamPrefix, MetaKind::kStream}, {kExpiryPrefix, MetaKind::kExpiry},
      {kTransferPrefix, MetaKind::kTransfer},   {kDamagedPrefix, MetaKind::kDamage}};
  for (const auto& [prefix, kind] : kPrefixes) {
    if (!key.starts_with(prefix)) continue;
    *rest = key.substr(prefix.size());
    return kind;
  }
  return MetaKind::kUnknown;
}

// Takes a big-endian number of `size` bytes from the front.
std::optional<uint64_t> TakeNumber(std::string_view* bytes, size_t size) {
  if (bytes->size() < size) return std::nullopt;
  const std::string_view number = bytes->substr(0, size);
  bytes->remove_prefix(size);
  if (size == sizeof(uint32_t)) return ParseU32(number);
  return ParseU64(number);
}

// Parses the part of the key behind its prefix.
absl::Status ParseKey(std::string_view rest, MetaRecord* record) {
  const absl::Status malformed = DataLossError("key of the meta family: malformed");
  switch (record->kind) {
    case MetaKind::kTable:
    case MetaKind::kExpiry:
    case MetaKind::kCursor:
    case MetaKind::kBuild: {
      const std::optional<uint64_t> table = TakeNumber(&rest, sizeof(uint32_t));
      if (!table.has_value()) return malformed;
      record->table = TableId(static_cast<uint32_t>(*table));
      if (record->kind == MetaKind::kCursor || record->kind == MetaKind::kBuild) {
        const std::optional<uint64_t> index = TakeNumber(&rest, sizeof(uint32_t));
        if (!index.has_value()) return malformed;
        record->index = IndexId(static_cast<uint32_t>(*index));
      }
      return rest.empty() ? absl::OkStatus() : malformed;
    }
    case MetaKind::kStream:
    case MetaKind::kSegment: {
      const std::optional<uint64_t> id = TakeNumber(&rest, sizeof(uint32_t));
      if (!id.has_value() || !rest.empty()) return malformed;
      record->stream = StreamId(static_cast<uint32_t>(*id));
      record->segment = SegmentId(static_cast<uint32_t>(*id));
      return absl::OkStatus();
    }
    case MetaKind::kTokenTime: {
      const std::optional<uint64_t> expires = TakeNumber(&rest, sizeof(uint64_t));
      if (!expires.has_value()) return malformed;
      record->expires_ms = static_cast<int64_t>(*expires);
      record->name = std::string(rest);
      return absl::OkStatus();
    }
    case MetaKind::kToken:
    case MetaKind::kTransfer:
    case MetaKind::kStats:
    case MetaKind::kDamage:
      record->name = std::string(rest);
      return absl::OkStatus();
    case MetaKind::kUnknown:
      return DataLossError("key of the meta family: of no kind that this build knows");
    case MetaKind::kNextId:
    case MetaKind::kSequence:
    case MetaKind::kEpoch:
      break;
  }
  return absl::OkStatus();
}

// Moves a parsed value to its member, or returns the parse error.
template <class T>
absl::Status Store(absl::StatusOr<T> parsed, T* to) {
  ARM_RETURN_IF_ERROR(parsed.status());
  *to = *std::move(parsed);
  return absl::OkStatus();
}

absl::Status ParseNumber(std::string_view value, size_t size, uint64_t* number) {
  const std::optional<uint64_t> parsed = TakeNumber(&value, size);
  if (!parsed.has_value() || !value.empty()) return DataLossError(Cat("number: expected ", size, " bytes"));
  *number = *parsed;
  return absl::OkStatus();
}

absl::Status ParseValue(std::string_view value, MetaRecord* record) {
  switch (record->kind) {
    case MetaKind::kNextId:
      return ParseNumber(value, sizeof(uint32_t), &record->number);
    case MetaKind::kSequence:
    case MetaKind::kCursor:
      return ParseNumber(value, sizeof(uint64_t), &record->number);
    case MetaKind::kTable:
      ARM_RETURN_IF_ERROR(Store(ParseTableRecord(value), &record->descriptor));
      if (record->descriptor.id == record->table) return absl::OkStatus();
      return DataLossError(Cat("table record ", record->descriptor.name, ": of table ", record->descriptor.id.value(),
                               " under the key of table ", record->table.value()));
    case MetaKind::kBuild:
      return Store(ParseBuildState(value), &record->build);
    case MetaKind::kStats:
      return Store(ParseStats(value), &record->totals);
    case MetaKind::kToken:
      return Store(ParseTokenRecord(value), &record->token);
    case MetaKind::kTokenTime:
      return value.empty() ? absl::OkStatus() : DataLossError("time of a token: expected an empty value");
    case MetaKind::kStream:
      ARM_RETURN_IF_ERROR(Store(ParseStreamDescriptor(value), &record->stream_descriptor));
      if (record->stream_descriptor.id == record->stream) return absl::OkStatus();
      return DataLossError(Cat("stream record: of stream ", record->stream_descriptor.id.value(),
                               " under the key of stream ", record->stream.value()));
    case MetaKind::kSegment:
      return ParseSegmentRecord(value, &record->begin_ms, &record->number)
                 ? absl::OkStatus()
                 : DataLossError("segment record: expected version 1, a time and a sequence");
    case MetaKind::kExpiry:
      return Store(ParseExpiryState(value), &record->expiry);
    case MetaKind::kTransfer:
      ARM_RETURN_IF_ERROR(Store(ParseTransferRecord(value), &record->transfer));
      if (record->transfer.arn == record->name) return absl::OkStatus();
      return DataLossError(Cat("transfer record: of ", record->transfer.arn, " under the key of ", record->name));
    case MetaKind::kEpoch: {
      ChangeSequence base;
      int64_t begun_ms = 0;
      if (!ParseEpochRecord(value, &base, &begun_ms)) {
        return DataLossError("epoch record: expected version 1, a sequence and a time");
      }
      record->number = base.value();
      record->begin_ms = static_cast<uint64_t>(begun_ms);
      return absl::OkStatus();
    }
    case MetaKind::kDamage:
      record->damage.family = record->name;
      return ParseDamageRecord(value, &record->damage) ? absl::OkStatus()
                                                       : DataLossError("damage record: expected version 1");
    case MetaKind::kUnknown:
      break;
  }
  return absl::OkStatus();
}

}  // namespace

struct Inspector::Rocks {
  Rocks(Volume* volume, std::string current) : env(MakeReadOnlyEnv(volume, std::move(current))) {}

  std::unique_ptr<rocksdb::Env> env;  // outlives the database
  ReadOnlyDb open;
};

Inspector::Inspector(Volume* volume, std::string path, std::unique_ptr<const VolumeLock> lock)
    : volume_(volume), path_(std::move(path)), lock_(std::move(lock)) {}

Inspector::~Inspector() {
  rocks_.reset();
  if (!work_directory_.empty()) static_cast<void>(volume_->RemoveTree(work_directory_));
}

absl::StatusOr<std::unique_ptr<Inspector>> Inspector::Open(Volume* volume, const std::string& path,
                                                           IfUnreadable if_unreadable) {
  // Missing permission must not be reported as a missing database.
  ARM_ASSIGN_OR_RETURN(bool is_there, HoldsDatabase(volume, path));
  if (!is_there) {
    ARM_ASSIGN_OR_RETURN(is_there, volume->Exists(path + "/db/CURRENT"));
  }
  if (!is_there) {
    return FailedPreconditionError(Cat(path, " holds no database of Armature"));
  }
  ARM_ASSIGN_OR_RETURN(std::unique_ptr<const VolumeLock> lock, LockShared(volume, path));
  auto inspector = std::unique_ptr<Inspector>(new Inspector(volume, path, std::move(lock)));
  ARM_RETURN_IF_ERROR(inspector->ReadFormat());
  inspector->OpenRocks();
  if (inspector->extent_ == Extent::kNothing && if_unreadable == IfUnreadable::kReadFiles) {
    if (const absl::Status opened = inspector->OpenFiles(); !opened.ok()) {
      inspector->problems_.push_back(Cat("nor can the table files alone: ", Sv(opened.message())));
    }
  }
  return inspector;
}

absl::Status Inspector::ReadFormat() {
  is_new_ = volume_->Exists(Cat(path_, kDataNewFile)).value_or(false);
  absl::StatusOr<DirectoryFormat> format = ReadDirectoryFormat(volume_, path_);
  if (!format.ok()) {
    problems_.push_back(Cat(Sv(format.status().message()), "; its data is taken for format ", kFormatVersion));
    return absl::OkStatus();
  }
  if (format->version > kFormatVersion) {
    return FailedPreconditionError(Cat("data directory ", path_, " has format ", format->version,
                                       "; this build reads formats up to ", kFormatVersion, ": use a newer armature"));
  }
  format_ = *std::move(format);
  return absl::OkStatus();
}

void Inspector::OpenRocks() {
  const std::string path = path_ + "/db";
  DatabaseOptions options;
  options.volume = volume_;
  options.cache_bytes = kInspectorCacheBytes;
  std::string failure;
  if (const absl::StatusOr<LogName> manifest = FindLostManifest(volume_, path); manifest.ok()) {
    current_ = CurrentText(*manifest);
    problems_.push_back(Cat(path, "/CURRENT is missing or damaged; ", FileName(*manifest), " is read, which it named"));
  }
  for (const Attempt& attempt : kAttempts) {
    auto rocks = std::make_unique<Rocks>(volume_, current_);
    const rocksdb::Status status =
        rocks->open.Open(ReadOnlyOptions(options, attempt, rocks->env.get()), path, options.cache_bytes);
    if (!status.ok()) {
      if (failure.empty()) failure = Cat("the database in ", path, " cannot be opened: ", TextOf(status));
      continue;
    }
    rocks_ = std::move(rocks);
    extent_ = attempt.extent;
    if (!failure.empty()) problems_.push_back(Cat(failure, "; ", attempt.what));
    return;
  }
  problems_.push_back(Cat(failure, "; nothing of it can be read that way"));
}

absl::Status Inspector::OpenFiles() {
  ARM_ASSIGN_OR_RETURN(work_directory_, volume_->MakeScratchDirectory());
  // Only on a local disk is the scratch directory in another file system, and only there are symbolic links.
  const LinkKind link = volume_ == LocalVolume() ? LinkKind::kSymbolic : LinkKind::kHard;
  ARM_ASSIGN_OR_RETURN(const std::vector<std::string> left_out, MakeManifestOf(volume_, path_, work_directory_, link));
  auto rocks = std::make_unique<Rocks>(volume_, "");
  const Attempt attempt{Extent::kFiles, rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords, ""};
  DatabaseOptions options;
  options.volume = volume_;
  options.cache_bytes = kInspectorCacheBytes;
  ARM_RETURN_IF_ERROR(FromRocks(rocks->open.Open(ReadOnlyOptions(options, attempt, rocks->env.get()),
                                                 work_directory_ + "/db", options.cache_bytes),
                                Cat("read the files of ", path_)));
  rocks_ = std::move(rocks);
  extent_ = Extent::kFiles;
  for (const std::string& file : left_out) {
    problems_.push_back(Cat(path_, "/db/", file, " cannot be read as a whole; left out"));
  }
  problems_.push_back(
      "the manifest is lost: what follows are the rows in table files, which may be older than those in the log, and "
      "deleted or overwritten since");
  return absl::OkStatus();
}

std::vector<FamilyFiles> Inspector::Families() const {
  std::vector<FamilyFiles> families;
  if (rocks_ == nullptr) return families;
  for (const auto& [name, handle] : rocks_->open.families) {
    const auto number = [&, family = handle](const std::string& property) {
      uint64_t value = 0;
      return rocks_->open.db->GetIntProperty(family, property, &value) ? value : 0;
    };
    FamilyFiles family;
    family.name = name;
    family.id = handle->GetID();
    family.rows_estimate = number(rocksdb::DB::Properties::kEstimateNumKeys);
    family.memory_rows = number(rocksdb::DB::Properties::kNumEntriesActiveMemTable) +
                         number(rocksdb::DB::Properties::kNumEntriesImmMemTables);
    rocksdb::ColumnFamilyMetaData files;
    rocks_->open.db->GetColumnFamilyMetaData(handle, &files);
    family.file_bytes = files.size;
    family.files = files.file_count;
    for (const rocksdb::LevelMetaData& level : files.levels) {
      family.levels += level.files.empty() ? 0 : 1;
      for (const rocksdb::SstFileMetaData& file : level.files) {
        family.largest_sequence = std::max(family.largest_sequence, file.largest_seqno);
      }
    }
    families.push_back(std::move(family));
  }
  return families;
}

std::vector<FamilyDamage> Inspector::CheckFiles(CheckDepth depth) const {
  std::vector<FamilyDamage> damages;
  if (rocks_ == nullptr) return damages;
  for (const auto& [name, handle] : rocks_->open.families) {
    rocksdb::ColumnFamilyMetaData facts;
    rocks_->open.db->GetColumnFamilyMetaData(handle, &facts);
    for (const rocksdb::LevelMetaData& level : facts.levels) {
      for (const rocksdb::SstFileMetaData& file : level.files) {
        const std::string file_name(NameIn(file.name));
        const std::string path = Cat(file.db_path, "/", file_name);
        const absl::Status checked = depth == CheckDepth::kOpen ? OpenTableFile(rocks_->env.get(), path)
                                                                : CheckTableFile(rocks_->env.get(), path);
        if (!checked.ok()) damages.push_back({name, file_name, 0, std::string(Sv(checked.message()))});
      }
    }
  }
  return damages;
}

bool Inspector::OpensAllFiles() const {
  DatabaseOptions options;
  options.volume = volume_;
  options.cache_bytes = kInspectorCacheBytes;
  for (const Attempt& attempt : kAttempts) {
    if (attempt.extent != extent_ || extent_ == Extent::kSome) continue;
    Rocks rocks(volume_, current_);
    const rocksdb::DBOptions db_options = ReadOnlyOptions(options, attempt, rocks.env.get(), /*open_files_max=*/-1);
    return rocks.open.Open(db_options, path_ + "/db", options.cache_bytes).ok();
  }
  return false;
}

bool Inspector::HasFamily(std::string_view name) const {
  return rocks_ != nullptr && rocks_->open.families.find(name) != rocks_->open.families.end();
}

absl::StatusOr<RangeEnd> Inspector::ForEachRow(std::string_view family, const KeyRange& range, RowVisitor visit,
                                               absl::FunctionRef<void(const ReadGap&)> on_gap) const {
  if (!HasFamily(family)) return absl::NotFoundError(Cat("the database has no family ", family));
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  read.fill_cache = false;
  const rocksdb::Slice end = ToSlice(range.end);
  if (!range.end.empty()) read.iterate_upper_bound = &end;
  rocksdb::ColumnFamilyHandle* const handle = rocks_->open.families.find(family)->second;
  const auto make = [&] { return std::unique_ptr<rocksdb::Iterator>(rocks_->open.db->NewIterator(read, handle)); };
  return WalkPastDamage(make, family, range, visit, on_gap);
}

MetaRecord ParseMetaRecord(std::string_view key, std::string_view value) {
  MetaRecord record;
  std::string_view rest;
  record.kind = KindOf(key, &rest);
  record.status = ParseKey(rest, &record);
  if (record.status.ok()) record.status = ParseValue(value, &record);
  return record;
}

}  // namespace armature::store
