#include "storage/archive/archive_directory.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "storage/archive/text_record.h"
#include "storage/base/fault_points.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::archive {
namespace {

constexpr std::string_view kMarkFile = "/armature.archive";
constexpr std::string_view kLockFile = "/LOCK";
constexpr std::string_view kChains = "/chains";
constexpr std::string_view kBases = "/bases";
constexpr std::string_view kChainFile = "/chain";
constexpr std::string_view kHeadFile = "/head";
constexpr std::string_view kBasePrefix = "base.";
constexpr std::string_view kSegmentSuffix = ".segment";

constexpr std::string_view kMarkTitle = "armature archive";
constexpr std::string_view kChainTitle = "armature chain";
constexpr std::string_view kBaseTitle = "armature base";
constexpr std::string_view kHeadTitle = "armature head";

// As many as names of segments have digits for.
constexpr uint64_t kSegmentsMax = 999'999'999'999;

std::string ChainName(uint64_t chain) { return absl::StrFormat("%08u", chain); }
std::string SegmentName(uint64_t index) { return absl::StrFormat("%012u%s", index, std::string(kSegmentSuffix)); }
std::string BaseName(store::BackupId backup) { return Cat(kBasePrefix, backup); }

// A file that is a record. Errors: NotFound; DataLoss.
absl::StatusOr<TextRecord> ReadRecord(store::Volume* volume, const std::string& path, std::string_view title) {
  ARM_ASSIGN_OR_RETURN(const std::string text, volume->Read(path));
  absl::StatusOr<TextRecord> record = TextRecord::Parse(text, title, kArchiveFormat);
  if (!record.ok()) return WithContext(record.status(), path);
  return record;
}

TextRecord NewRecord(std::string_view title) {
  TextRecord record{std::string(title)};
  record.Add("format", kArchiveFormat);
  return record;
}

absl::StatusOr<Chain> ChainOf(const TextRecord& record) {
  Chain chain;
  ARM_ASSIGN_OR_RETURN(chain.number, record.Number("chain"));
  ARM_ASSIGN_OR_RETURN(chain.id, record.Text("id"));
  ARM_ASSIGN_OR_RETURN(chain.began_ms, record.Time("began_ms"));
  ARM_ASSIGN_OR_RETURN(chain.start.file, record.Number("start_file"));
  ARM_ASSIGN_OR_RETURN(chain.start.offset, record.Number("start_offset"));
  ARM_ASSIGN_OR_RETURN(chain.reason, record.Text("reason"));
  return chain;
}

absl::StatusOr<Base> BaseOf(const TextRecord& record, std::string_view file) {
  Base base;
  ARM_ASSIGN_OR_RETURN(const uint64_t backup, record.Number("backup"));
  base.backup = static_cast<store::BackupId>(backup);
  if (BaseName(base.backup) != file) return DataLossError("is about another backup");
  ARM_ASSIGN_OR_RETURN(base.first_segment, record.Number("first_segment"));
  ARM_ASSIGN_OR_RETURN(base.from_ms, record.Time("from_ms"));
  ARM_ASSIGN_OR_RETURN(base.from_sequence, record.Number("from_sequence"));
  return base;
}

absl::StatusOr<ChainHead> HeadOf(const TextRecord& record) {
  ChainHead head;
  ARM_ASSIGN_OR_RETURN(head.segments, record.Number("segments"));
  if (head.segments > kSegmentsMax) return DataLossError(Cat("has ", head.segments, " segments"));
  ARM_ASSIGN_OR_RETURN(head.sequence, record.Number("sequence"));
  ARM_ASSIGN_OR_RETURN(head.until_ms, record.Time("until_ms"));
  return head;
}

}  // namespace

bool IsDamage(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsNotFound(status) || absl::IsFailedPrecondition(status);
}

uint64_t KnownChain::last_segment() const {
  return std::max(head.has_value() ? head->segments : 0, segments.empty() ? 0 : segments.back());
}

uint64_t KnownChain::next_segment(uint64_t index) const {
  const auto at = std::lower_bound(segments.begin(), segments.end(), index);
  return at == segments.end() ? std::max(index, last_segment() + 1) : *at;
}

absl::Status ArchiveDirectory::ReadMark() {
  absl::StatusOr<TextRecord> mark = ReadRecord(volume_, Cat(path_, kMarkFile), kMarkTitle);
  if (absl::IsNotFound(mark.status())) return absl::NotFoundError(Cat(path_, " holds no archive"));
  ARM_RETURN_IF_ERROR(mark.status());
  ARM_ASSIGN_OR_RETURN(database_id_, mark->Text("database"));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ArchiveDirectory>> ArchiveDirectory::OpenToRead(const std::string& path) {
  store::Volume* const volume = store::LocalVolume();
  auto directory = std::unique_ptr<ArchiveDirectory>(new ArchiveDirectory(volume, volume->Absolute(path)));
  ARM_RETURN_IF_ERROR(directory->ReadMark());
  return directory;
}

absl::StatusOr<std::unique_ptr<ArchiveDirectory>> ArchiveDirectory::OpenToWrite(const std::string& path,
                                                                                const std::string& database_id,
                                                                                bool may_make) {
  store::Volume* const volume = store::LocalVolume();
  auto directory = std::unique_ptr<ArchiveDirectory>(new ArchiveDirectory(volume, volume->Absolute(path)));
  if (const absl::Status there = directory->CheckThere(); !may_make && !there.ok()) {
    return absl::Status(there.code(), Cat(Sv(there.message()), "; the database continues a chain in it: mount it, or ",
                                          "start once without --archive_dir to begin another archive"));
  }
  ARM_RETURN_IF_ERROR(volume->MakeDirectories(directory->path_));
  absl::StatusOr<std::unique_ptr<store::VolumeLock>> lock =
      volume->Lock(Cat(directory->path_, kLockFile), store::Volume::LockMode::kAlone, /*make=*/true);
  if (!lock.ok()) return WithContext(lock.status(), Cat("archive ", path, " is in use by another process"));
  directory->lock_ = *std::move(lock);
  absl::Status read = directory->ReadMark();
  if (absl::IsNotFound(read)) {
    ARM_ASSIGN_OR_RETURN(const std::vector<std::string> names, volume->List(directory->path_));
    if (names.size() > 1) return FailedPreconditionError(Cat(path, " is neither empty nor an archive"));
    TextRecord mark = NewRecord(kMarkTitle);
    mark.Add("database", database_id);
    ARM_RETURN_IF_ERROR(volume->WriteDurably(Cat(directory->path_, kMarkFile), mark.Encode()));
    read = directory->ReadMark();
  }
  ARM_RETURN_IF_ERROR(read);
  if (directory->database_id_ != database_id) {
    return FailedPreconditionError(Cat("archive ", path, " is of another database (", directory->database_id_,
                                       "; this one is ", database_id, ")"));
  }
  ARM_RETURN_IF_ERROR(volume->MakeDirectories(Cat(directory->path_, kChains)));
  return directory;
}

absl::Status ArchiveDirectory::CheckThere() const {
  ARM_ASSIGN_OR_RETURN(const bool is_there, volume_->Exists(Cat(path_, kMarkFile)));
  return is_there ? absl::OkStatus() : UnavailableError(Cat("the archive ", path_, " is away"));
}

std::string ArchiveDirectory::bases_path() const { return Cat(path_, kBases); }
std::string ArchiveDirectory::ChainPath(uint64_t chain) const { return Cat(path_, kChains, "/", ChainName(chain)); }
std::string ArchiveDirectory::SegmentPath(uint64_t chain, uint64_t index) const {
  return Cat(ChainPath(chain), "/", SegmentName(index));
}

absl::StatusOr<std::vector<KnownChain>> ArchiveDirectory::ReadChains() const {
  absl::StatusOr<std::vector<std::string>> names = volume_->List(Cat(path_, kChains));
  if (absl::IsNotFound(names.status()) && lock_ == nullptr) return std::vector<KnownChain>();
  // The writer has made the directory.
  if (absl::IsNotFound(names.status())) return UnavailableError(Cat("the archive ", path_, " is away"));
  ARM_RETURN_IF_ERROR(names.status());
  std::sort(names->begin(), names->end());
  std::vector<KnownChain> chains;
  for (const std::string& name : *names) {
    const std::optional<uint64_t> number = ParseNumber(name);
    if (!number.has_value() || ChainName(*number) != name) continue;
    ARM_ASSIGN_OR_RETURN(chains.emplace_back(), ReadChain(*number));
  }
  return chains;
}

absl::StatusOr<KnownChain> ArchiveDirectory::ReadChain(uint64_t number) const {
  KnownChain known;
  known.chain.number = number;
  const std::string path = ChainPath(number);
  const auto note = [&known](const absl::Status& status) {
    known.problems.emplace_back(Sv(status.message()));
    if (!IsDamage(status)) known.unreadable.Update(status);
  };
  const auto read = [&](std::string_view file, std::string_view title, auto parse) {
    const std::string file_path = Cat(path, "/", file);
    const absl::StatusOr<TextRecord> record = ReadRecord(volume_, file_path, title);
    // A new chain has no head.
    if (absl::IsNotFound(record.status()) && title == kHeadTitle) return;
    if (!record.ok()) return note(record.status());
    if (const absl::Status parsed = parse(*record); !parsed.ok()) note(WithContext(parsed, file_path));
  };
  read(kChainFile.substr(1), kChainTitle, [&](const TextRecord& record) -> absl::Status {
    ARM_ASSIGN_OR_RETURN(known.chain, ChainOf(record));
    if (known.chain.number == number) return absl::OkStatus();
    known.chain.number = number;
    return DataLossError("is about another chain");
  });
  // Before the names are listed: the daemon writes a segment before the head that counts it.
  read(kHeadFile.substr(1), kHeadTitle, [&](const TextRecord& record) -> absl::Status {
    ARM_ASSIGN_OR_RETURN(known.head, HeadOf(record));
    return absl::OkStatus();
  });
  ARM_ASSIGN_OR_RETURN(const std::vector<std::string> files, volume_->List(path));
  for (const std::string& file : files) {
    if (file.ends_with(store::kUnfinishedSuffix)) continue;
    if (file.starts_with(kBasePrefix)) {
      read(file, kBaseTitle, [&](const TextRecord& record) -> absl::Status {
        ARM_ASSIGN_OR_RETURN(known.bases.emplace_back(), BaseOf(record, file));
        return absl::OkStatus();
      });
    } else if (file.ends_with(kSegmentSuffix)) {
      const std::optional<uint64_t> index =
          ParseNumber(std::string_view(file).substr(0, file.size() - kSegmentSuffix.size()));
      const bool is_segment = index.has_value() && *index <= kSegmentsMax && SegmentName(*index) == file;
      if (is_segment) known.segments.push_back(*index);
    }
  }
  // A record that could not be read has left an empty one.
  std::erase_if(known.bases, [](const Base& base) { return base.backup == 0; });
  std::sort(known.bases.begin(), known.bases.end(), [](const Base& a, const Base& b) { return a.backup < b.backup; });
  std::sort(known.segments.begin(), known.segments.end());
  return known;
}

absl::StatusOr<Segment> ArchiveDirectory::ReadSegment(uint64_t chain, uint64_t index) const {
  const std::string path = SegmentPath(chain, index);
  ARM_ASSIGN_OR_RETURN(const std::string bytes, volume_->Read(path));
  absl::StatusOr<Segment> segment = ParseSegment(bytes);
  if (!segment.ok()) return absl::Status(segment.status().code(), Cat(path, " ", Sv(segment.status().message())));
  return segment;
}

absl::StatusOr<std::unique_ptr<store::VolumeLock>> ArchiveDirectory::HoldBase(store::BackupId backup) const {
  // As BackupRepository holds a backup that it reads.
  absl::StatusOr<std::unique_ptr<store::VolumeLock>> held =
      volume_->Lock(Cat(bases_path(), "/manifests/", backup), store::Volume::LockMode::kSharedIfPossible,
                    /*make=*/false);
  const bool is_being_removed = absl::IsFailedPrecondition(held.status()) || (held.ok() && !(*held)->IsLinked());
  if (is_being_removed) return absl::NotFoundError(Cat("base ", backup, " is gone"));
  return held;
}

absl::Status ArchiveDirectory::WriteChain(const Chain& chain) {
  ARM_RETURN_IF_ERROR(volume_->MakeDirectories(ChainPath(chain.number)));
  TextRecord record = NewRecord(kChainTitle);
  record.Add("chain", chain.number);
  record.Add("id", chain.id);
  record.Add("began_ms", static_cast<uint64_t>(chain.began_ms));
  record.Add("start_file", chain.start.file);
  record.Add("start_offset", chain.start.offset);
  record.Add("reason", chain.reason);
  return volume_->WriteDurably(Cat(ChainPath(chain.number), kChainFile), record.Encode());
}

absl::Status ArchiveDirectory::WriteBase(uint64_t chain, const Base& base) {
  TextRecord record = NewRecord(kBaseTitle);
  record.Add("backup", base.backup);
  record.Add("first_segment", base.first_segment);
  record.Add("from_ms", static_cast<uint64_t>(base.from_ms));
  record.Add("from_sequence", base.from_sequence);
  return volume_->WriteDurably(Cat(ChainPath(chain), "/", BaseName(base.backup)), record.Encode());
}

absl::Status ArchiveDirectory::WriteHead(uint64_t chain, const ChainHead& head) {
  TextRecord record = NewRecord(kHeadTitle);
  record.Add("segments", head.segments);
  record.Add("sequence", head.sequence);
  record.Add("until_ms", static_cast<uint64_t>(head.until_ms));
  return volume_->WriteDurably(Cat(ChainPath(chain), kHeadFile), record.Encode());
}

absl::Status ArchiveDirectory::WriteSegment(uint64_t chain, uint64_t index, const std::string& bytes) {
  ARM_FAULT_POINT("archive.before_segment");
  return volume_->WriteDurably(SegmentPath(chain, index), bytes);
}

absl::Status ArchiveDirectory::RemoveBase(uint64_t chain, store::BackupId backup) {
  return volume_->Remove(Cat(ChainPath(chain), "/", BaseName(backup))).status();
}

absl::Status ArchiveDirectory::RemoveSegment(uint64_t chain, uint64_t index) {
  return volume_->Remove(SegmentPath(chain, index)).status();
}

absl::Status ArchiveDirectory::RemoveChain(uint64_t chain) { return volume_->RemoveTree(ChainPath(chain)); }

}  // namespace armature::archive
