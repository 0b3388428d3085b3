#include "storage/archive/shipper.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "glog/logging.h"
#include "storage/base/fault_points.h"
#include "storage/base/monotonic_wait.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/store/backup/backup_repository.h"
#include "storage/store/data_directory.h"

namespace armature::archive {
namespace {

using store::BackupRepository;

// Time for the last segments when the database ends.
constexpr absl::Duration kEndTime = absl::Seconds(10);
constexpr absl::Duration kShipAgain = absl::Milliseconds(20);
constexpr absl::Duration kKeepInterval = absl::Seconds(5);
constexpr int64_t kBaseRetryMs = 60'000;
constexpr int64_t kRemovalMs = 3'600'000;
// The verification takes a few percent of a processor.
constexpr size_t kVerifiedInTurn = 4;
constexpr int64_t kPassMs = 600'000;
// Backups of others are not touched.
constexpr std::string_view kBaseNote = "base of chain ";
// A clock that is slewed does not step.
constexpr int64_t kClockStepMs = 1000;

int64_t NowMs() { return absl::ToUnixMillis(absl::Now()); }

}  // namespace

Shipper::Shipper(store::Database* database, ShipperOptions options)
    : database_(database),
      tail_(database->committed_log()),
      has_archive_(!tail_->owner().empty()),
      path_(options.directory),
      live_(std::move(options)),
      keeper_("arm-bases", [this] { return KeepTurn(); }),
      shipper_("arm-archive", [this] { return ShipTurn(); }) {}

void Shipper::Start() {
  shipper_.Start();
  keeper_.Start(Worker::Next::WhenWoken(kKeepInterval));
}

void Shipper::Stop() {
  if (std::exchange(is_stopped_, true)) return;
  keeper_.Stop();
  shipper_.Stop();
  NoteOutcome(TryShip(absl::Now() + kEndTime));
}

ShipperStats Shipper::stats() const {
  const absl::MutexLock lock(&mutex_);
  ShipperStats stats = stats_;
  stats.waiting_bytes = tail_->waiting_bytes();
  return stats;
}

void Shipper::ChangeOptions(const ShipperOptions& options) {
  {
    const absl::MutexLock lock(&mutex_);
    live_ = options;
  }
  // A turn that is due by a shorter interval begins at once.
  shipper_.Wake();
  keeper_.Wake();
}

ShipperOptions Shipper::live() const {
  const absl::MutexLock lock(&mutex_);
  return live_;
}

bool Shipper::AwaitArchived(int64_t at_ms, absl::Duration patience) {
  const int64_t due_ns = MonotonicAfter(patience);
  // One turn may come before the moment.
  while (!restorable_.Await(at_ms, std::min(due_ns, MonotonicAfter(kShipAgain)))) {
    // An archive that is away does not come back by being asked.
    if (MonotonicNs() >= due_ns || stats().paused_since_ms != 0) return false;
    restorable_.spans().has_value() ? shipper_.Wake() : keeper_.Wake();
  }
  return true;
}

std::optional<Shipper::Position> Shipper::shared() const {
  const absl::MutexLock lock(&mutex_);
  return shared_;
}

void Shipper::Share() {
  const absl::MutexLock lock(&mutex_);
  shared_ = position_;
  if (position_.has_value()) stats_.until_ms = position_->until_ms;
}

// ---------------------------------------------------------------------------------------------------------------
// Segments

Worker::Next Shipper::ShipTurn() {
  NoteOutcome(Ship());
  return Worker::Next::WhenWoken(live().interval);
}

absl::Status Shipper::Ship() { return TryShip(absl::InfiniteFuture()); }

void Shipper::NoteOutcome(const absl::Status& status) {
  const absl::MutexLock lock(&mutex_);
  if (status.ok()) {
    if (stats_.paused_since_ms != 0) {
      LOG(INFO) << "archive: resumed path=" << path_ << " paused_since=" << TimeText(stats_.paused_since_ms);
    }
    stats_.paused_since_ms = 0;
    stats_.paused_reason.clear();
    return;
  }
  stats_.paused_reason = std::string(Sv(status.message()));
  const bool is_first = stats_.paused_since_ms == 0;
  if (is_first) stats_.paused_since_ms = NowMs();
  if (is_first) {
    LOG(ERROR) << "archive: paused, the log waits for it path=" << path_ << " status=" << status;
  } else {
    LOG_EVERY_N(WARNING, 12) << "archive: paused since=" << TimeText(stats_.paused_since_ms)
                             << " waiting_bytes=" << tail_->waiting_bytes() << " status=" << status;
  }
}

absl::Status Shipper::TryShip(absl::Time give_up) {
  if (directory_ == nullptr) {
    ARM_ASSIGN_OR_RETURN(directory_, ArchiveDirectory::OpenToWrite(path_, database_->database_id(),
                                                                   /*may_make=*/!has_archive_));
  }
  ARM_RETURN_IF_ERROR(directory_->CheckThere());
  if (!position_.has_value()) {
    ARM_RETURN_IF_ERROR(Attach());
  } else if (tail_->owner() != position_->chain.id) {
    ARM_RETURN_IF_ERROR(BeginChain(tail_->loss()));
  }
  // Before the log is made durable: what was acknowledged until now is in it.
  const int64_t now_ms = NowMs();
  if (const absl::Status settled = tail_->Settle(); !settled.ok()) {
    LOG_EVERY_N(WARNING, 60) << "archive: the log cannot be synced status=" << settled;
    return absl::OkStatus();
  }
  bool is_all = false;
  while (!is_all) {
    absl::StatusOr<bool> shipped = ShipSegment(now_ms);
    if (absl::IsDataLoss(shipped.status())) return BeginChain(Sv(shipped.status().message()));
    ARM_RETURN_IF_ERROR(shipped.status());
    is_all = *shipped;
    if (!is_all && (absl::Now() > give_up || (shipper_.is_stopping() && give_up == absl::InfiniteFuture()))) break;
  }
  ARM_RETURN_IF_ERROR(WriteHead());
  restorable_.NoteHead(position_->chain.number, position_->until_ms);
  return absl::OkStatus();
}

int64_t Shipper::TimeOf(const store::LogBatch& batch) {
  // Times never go back: what a head has promised as complete stays so, also behind a step of the clock.
  const int64_t least_ms = std::max(position_->last_ms, position_->until_ms + 1);
  const bool is_behind = batch.time_ms != 0 && batch.time_ms + kClockStepMs < least_ms;
  if (is_behind && !is_clock_behind_) {
    LOG(WARNING) << "archive: the clock went back; writes are archived with the time " << TimeText(least_ms)
                 << " until it has passed that again, from " << TimeText(batch.time_ms);
    const absl::MutexLock lock(&mutex_);
    ++stats_.clock_steps_total;
  }
  is_clock_behind_ = is_behind;
  return std::max(batch.time_ms, least_ms);
}

absl::StatusOr<bool> Shipper::ShipSegment(int64_t now_ms) {
  Position& position = *position_;
  const absl::StatusOr<store::LogChunk> read = tail_->Read(position.log, kSegmentBytes);
  // If kept files were dropped meanwhile, the reader may have passed over them.
  if (tail_->owner() != position.chain.id) return UnavailableError(Cat("the chain has ended: ", tail_->loss()));
  ARM_RETURN_IF_ERROR(read.status());
  const store::LogChunk& chunk = *read;
  // Writes that are acknowledged in this millisecond may still be on their way.
  const int64_t until_ms = chunk.is_last ? std::max(position.until_ms, now_ms - 1) : position.until_ms;
  if (chunk.batches.empty()) {
    position.log = chunk.end;
    position.until_ms = until_ms;
    Share();
    return chunk.is_last;
  }
  SegmentWriter writer({.chain = position.chain.id,
                        .index = position.next_index,
                        .previous = position.previous,
                        .start = position.log,
                        .families = chunk.families});
  int64_t last_ms = position.last_ms;
  for (const store::LogBatch& batch : chunk.batches) {
    if (batch.sequence <= std::max(position.last_sequence, writer.facts().last_sequence)) {
      return DataLossError(Cat("the log has sequence ", batch.sequence, " again"));
    }
    last_ms = std::max(last_ms, TimeOf(batch));
    writer.Add(batch, last_ms);
  }
  ARM_ASSIGN_OR_RETURN(const std::string bytes, writer.Finish(chunk.end, std::max(until_ms, last_ms - 1)));
  ARM_RETURN_IF_ERROR(directory_->WriteSegment(position.chain.number, position.next_index, bytes));
  ARM_FAULT_POINT("archive.after_segment");
  const SegmentFacts& facts = writer.facts();
  ++position.next_index;
  position.previous = facts.checksum;
  position.log = chunk.end;
  position.last_sequence = facts.last_sequence;
  position.last_ms = facts.last_ms;
  position.until_ms = facts.until_ms;
  tail_->Release(position.log);
  Share();
  const absl::MutexLock lock(&mutex_);
  ++stats_.segments_total;
  stats_.bytes_total += bytes.size();
  return chunk.is_last;
}

absl::Status Shipper::WriteHead() {
  return directory_->WriteHead(
      position_->chain.number,
      {.segments = position_->next_index - 1, .sequence = position_->last_sequence, .until_ms = position_->until_ms});
}

// ---------------------------------------------------------------------------------------------------------------
// Chains

absl::Status Shipper::Attach() {
  const std::string owner = tail_->owner();
  if (owner.empty()) return BeginChain(tail_->loss());
  ARM_ASSIGN_OR_RETURN(const std::vector<KnownChain> chains, directory_->ReadChains());
  for (const KnownChain& known : chains) {
    if (known.chain.id != owner) continue;
    // Without its head, times would go back.
    ARM_RETURN_IF_ERROR(known.unreadable);
    return Resume(known);
  }
  // It may be one of those that cannot be read now.
  for (const KnownChain& known : chains) ARM_RETURN_IF_ERROR(known.unreadable);
  return BeginChain("the archive does not have the chain that this database continues");
}

absl::Status Shipper::Resume(const KnownChain& known) {
  Position position{.chain = known.chain, .log = known.chain.start};
  if (known.head.has_value()) position.until_ms = known.head->until_ms;
  if (const uint64_t last = known.last_segment(); last > 0) {
    const absl::StatusOr<Segment> segment = directory_->ReadSegment(known.chain.number, last);
    if (!segment.ok() && !IsDamage(segment.status())) return segment.status();
    if (!segment.ok()) return BeginChain(Cat("its last segment cannot be used: ", Sv(segment.status().message())));
    const SegmentFacts& facts = segment->facts;
    position.next_index = facts.index + 1;
    position.previous = facts.checksum;
    position.log = facts.end;
    position.last_sequence = facts.last_sequence;
    position.last_ms = facts.last_ms;
    position.until_ms = std::max(position.until_ms, facts.until_ms);
  }
  if (position.last_sequence > tail_->known_sequence()) {
    return BeginChain(Cat("the database is behind its archive, which has sequence ", position.last_sequence,
                          ": the volume was set back, or its disk has lost what was synced"));
  }
  position_ = std::move(position);
  tail_->Release(position_->log);
  int64_t last_base_ms = 0;
  for (const Base& base : known.bases) last_base_ms = std::max(last_base_ms, base.from_ms);
  {
    const absl::MutexLock lock(&mutex_);
    // Behind a step of the clock it is in the future, and the next base would wait for it.
    stats_.last_base_ms = std::min(last_base_ms, NowMs());
    wants_base_ = known.bases.empty();
  }
  Share();
  is_restorable_stale_ = true;
  keeper_.Wake();
  LOG(INFO) << "archive: continued path=" << path_ << " chain=" << known.chain.number
            << " segment=" << position_->next_index << " until=" << TimeText(position_->until_ms);
  return absl::OkStatus();
}

int64_t Shipper::LatestTime(const std::vector<KnownChain>& chains) const {
  int64_t latest_ms = 0;
  for (const KnownChain& known : chains) {
    if (known.head.has_value()) latest_ms = std::max(latest_ms, known.head->until_ms);
    for (const Base& base : known.bases) latest_ms = std::max(latest_ms, base.from_ms);
  }
  if (chains.empty() || chains.back().last_segment() == 0) return latest_ms;
  // Its head may be older than its last segment.
  const absl::StatusOr<Segment> last =
      directory_->ReadSegment(chains.back().chain.number, chains.back().last_segment());
  return last.ok() ? std::max(latest_ms, last->facts.last_ms) : latest_ms;
}

absl::Status Shipper::BeginChain(std::string_view reason) {
  if (pending_reason_.empty()) pending_reason_ = std::string(reason);
  position_.reset();
  Share();
  ARM_ASSIGN_OR_RETURN(const std::vector<KnownChain> chains, directory_->ReadChains());
  Chain chain{.number = chains.empty() ? 1 : chains.back().chain.number + 1,
              .id = store::RandomUuid(),
              .began_ms = NowMs(),
              .reason = pending_reason_};
  ARM_ASSIGN_OR_RETURN(chain.start, tail_->Begin(chain.id));
  ARM_RETURN_IF_ERROR(directory_->WriteChain(chain));
  const int64_t latest_ms = LatestTime(chains);
  position_ = Position{.chain = chain, .log = chain.start, .last_ms = latest_ms, .until_ms = latest_ms};
  {
    const absl::MutexLock lock(&mutex_);
    wants_base_ = true;
    next_try_ms_ = 0;
    ++stats_.chains_total;
  }
  Share();
  // The first chain of an archive is as it should be; a further one has a gap before it.
  LOG_AT_LEVEL(chains.empty() ? google::GLOG_INFO : google::GLOG_WARNING)
      << "archive: a new chain begins, with a new base path=" << path_ << " chain=" << chain.number
      << " reason=" << std::exchange(pending_reason_, "");
  is_restorable_stale_ = true;
  keeper_.Wake();
  return absl::OkStatus();
}

// ---------------------------------------------------------------------------------------------------------------
// Bases

Worker::Next Shipper::KeepTurn() {
  const int64_t now_ms = NowMs();
  // A base takes long.
  RefreshRestorable();
  if (IsBaseDue(now_ms)) {
    if (const absl::Status made = MakeBase(); !made.ok() && !keeper_.is_stopping()) {
      LOG(ERROR) << "archive: a base cannot be made, it is tried again path=" << path_ << " status=" << made;
      const absl::MutexLock lock(&mutex_);
      next_try_ms_ = NowMs() + kBaseRetryMs;
      ++stats_.bases_failed_total;
    }
  }
  if (live().keep > absl::ZeroDuration() && now_ms >= next_removal_ms_) {
    next_removal_ms_ = now_ms + kRemovalMs;
    if (const absl::Status removed = RemoveOld(now_ms); !removed.ok()) {
      LOG(WARNING) << "archive: what is old cannot be removed status=" << removed;
    }
  }
  if (now_ms >= next_pass_ms_) {
    const absl::Status verified = VerifySome(kVerifiedInTurn);
    if (!verified.ok()) {
      LOG_EVERY_N(WARNING, 60) << "archive: it cannot be verified status=" << verified;
    }
    if (!walk_.has_value()) next_pass_ms_ = now_ms + kPassMs;
  }
  RefreshRestorable();
  return Worker::Next::WhenWoken(kKeepInterval);
}

void Shipper::RefreshRestorable() {
  if (!is_restorable_stale_.exchange(false)) return;
  const absl::Status found = FindRestorable();
  if (found.ok()) return;
  is_restorable_stale_ = true;
  LOG_EVERY_N(WARNING, 60) << "archive: the moments that it can restore are not known status=" << found;
}

absl::Status Shipper::FindRestorable() {
  const std::optional<Position> current = shared();
  if (!current.has_value()) return absl::OkStatus();
  ARM_RETURN_IF_ERROR(directory_->CheckThere());
  const uint64_t chain = current->chain.number;
  absl::Status unreadable;
  ARM_ASSIGN_OR_RETURN(std::vector<KnownSpan> spans, FindSpans(*directory_, chain, damaged_[chain], &unreadable));
  restorable_.Set(std::move(spans), chain);
  // They may be too short: looked at again.
  return unreadable;
}

bool Shipper::IsBaseDue(int64_t now_ms) const {
  const absl::MutexLock lock(&mutex_);
  if (!shared_.has_value() || now_ms < next_try_ms_) return false;
  return wants_base_ || now_ms - stats_.last_base_ms >= absl::ToInt64Milliseconds(live_.base_interval);
}

absl::Status Shipper::MakeBase() {
  const std::optional<Position> begun = shared();
  if (!begun.has_value()) return UnavailableError("there is no chain");
  // To open the bases would make them.
  ARM_RETURN_IF_ERROR(directory_->CheckThere());
  ARM_ASSIGN_OR_RETURN(
      const std::unique_ptr<BackupRepository> bases,
      BackupRepository::Open(directory_->bases_path(), {.mode = store::BackupRepositoryOptions::Mode::kWrite,
                                                        .bytes_per_second_max = live().base_bytes_per_second_max}));
  // The content of earlier segments was durable before this.
  ARM_ASSIGN_OR_RETURN(const store::BackupEntry entry,
                       bases->Create(database_, Cat(kBaseNote, begun->chain.number),
                                     [this](const store::BackupProgress&) { return !keeper_.is_stopping(); }));
  ARM_FAULT_POINT("archive.base_made");
  // Its copy of the log has writes that the database may still lose, and whose numbers would come again.
  absl::Status usable = tail_->Sync();
  const std::optional<Position> now = shared();
  if (usable.ok() && (!now.has_value() || now->chain.id != begun->chain.id)) {
    usable = UnavailableError("its chain has ended meanwhile");
  }
  if (!usable.ok()) {
    static_cast<void>(bases->Delete(entry.id));
    return usable;
  }
  const Base base{.backup = entry.id,
                  .first_segment = begun->next_index,
                  .from_ms = std::max({NowMs(), now->last_ms, now->until_ms + 1}),
                  .from_sequence = tail_->last_sequence()};
  if (const absl::Status written = directory_->WriteBase(begun->chain.number, base); !written.ok()) {
    // The record may be there all the same, and must not outlive its backup.
    if (directory_->RemoveBase(begun->chain.number, entry.id).ok()) static_cast<void>(bases->Delete(entry.id));
    return written;
  }
  LOG(INFO) << "archive: base made path=" << path_ << " chain=" << begun->chain.number << " base=" << base.backup
            << " bytes=" << entry.size_bytes << " added=" << entry.added_bytes
            << " restorable_from=" << TimeText(base.from_ms);
  is_restorable_stale_ = true;
  const absl::MutexLock lock(&mutex_);
  wants_base_ = false;
  stats_.last_base_ms = NowMs();
  ++stats_.bases_total;
  return absl::OkStatus();
}

absl::Status Shipper::RemoveOld(int64_t now_ms) {
  const std::optional<Position> current = shared();
  if (!current.has_value()) return absl::OkStatus();
  ARM_RETURN_IF_ERROR(directory_->CheckThere());
  // The walk's view of the chain grows old by what follows. It goes on with the segment before, if that was whole, so
  // that the next one is compared with it.
  if (walk_.has_value()) {
    walk_place_ =
        WalkPlace{.chain = walked_->chain.id, .index = walk_->next_index() - (walk_->last().has_value() ? 1 : 0)};
  }
  walk_.reset();
  ARM_ASSIGN_OR_RETURN(std::vector<KnownChain> chains, directory_->ReadChains());
  absl::StatusOr<std::unique_ptr<BackupRepository>> bases =
      BackupRepository::Open(directory_->bases_path(), {.mode = store::BackupRepositoryOptions::Mode::kWrite});
  ARM_RETURN_IF_ERROR(bases.status());
  for (const KnownChain& known : chains) {
    if (known.problems.empty()) continue;
    LOG(WARNING) << "archive: a chain is kept whole, as a file of it cannot be used path=" << path_
                 << " chain=" << known.chain.number << " problem=" << known.problems.front();
  }
  if (std::all_of(chains.begin(), chains.end(), [](const KnownChain& known) { return known.problems.empty(); })) {
    RemoveOrphans(chains, bases->get());
  }
  is_restorable_stale_ = true;
  // Without one of its records it is not known what a chain needs.
  std::erase_if(chains, [](const KnownChain& known) { return !known.problems.empty(); });
  // The newest whole base that is old enough is the way back to the oldest moment that is kept.
  const int64_t before_ms = now_ms - absl::ToInt64Milliseconds(live().keep);
  int64_t anchor_ms = 0;
  for (const KnownChain& known : chains) {
    for (const Base& base : known.bases) {
      const absl::StatusOr<store::BackupEntry> entry = (*bases)->Find(base.backup);
      if (base.from_ms <= before_ms && entry.ok() && entry->damage.empty())
        anchor_ms = std::max(anchor_ms, base.from_ms);
    }
  }
  for (const KnownChain& known : chains) {
    std::vector<Base> left;
    for (const Base& base : known.bases) {
      if (base.from_ms >= anchor_ms) left.push_back(base);
      if (base.from_ms >= anchor_ms) continue;
      const absl::Status deleted = (*bases)->Delete(base.backup);
      // Somebody reads it.
      if (!deleted.ok() && !absl::IsNotFound(deleted)) left.push_back(base);
      if (!deleted.ok() && !absl::IsNotFound(deleted)) continue;
      ARM_RETURN_IF_ERROR(directory_->RemoveBase(known.chain.number, base.backup));
      LOG(INFO) << "archive: old base removed path=" << path_ << " base=" << base.backup;
    }
    const bool is_current = known.chain.id == current->chain.id;
    if (left.empty() && !is_current && known.chain.began_ms < anchor_ms) {
      ARM_RETURN_IF_ERROR(directory_->RemoveChain(known.chain.number));
      continue;
    }
    if (left.empty()) continue;
    uint64_t first = left.front().first_segment;
    for (const Base& base : left) first = std::min(first, base.first_segment);
    for (const uint64_t index : known.segments) {
      // The last one stays in any case: the next start continues the chain behind it.
      const bool is_old = index < first && index < known.last_segment();
      if (is_old) ARM_RETURN_IF_ERROR(directory_->RemoveSegment(known.chain.number, index));
    }
  }
  return absl::OkStatus();
}

void Shipper::RemoveOrphans(const std::vector<KnownChain>& chains, BackupRepository* bases) {
  std::set<store::BackupId> recorded;
  for (const KnownChain& known : chains) {
    for (const Base& base : known.bases) recorded.insert(base.backup);
  }
  const absl::StatusOr<std::vector<store::BackupEntry>> entries = bases->List();
  if (!entries.ok()) return;
  for (const store::BackupEntry& entry : *entries) {
    if (recorded.contains(entry.id) || !entry.note.starts_with(kBaseNote)) continue;
    if (const absl::Status deleted = bases->Delete(entry.id); !deleted.ok()) continue;
    LOG(INFO) << "archive: backup without a record removed path=" << path_ << " base=" << entry.id;
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Verification

void Shipper::NoteBreak(const KnownChain& known, uint64_t index, std::string_view what) {
  ++breaks_in_pass_;
  damaged_in_pass_.insert(index);
  if (damaged_[known.chain.number].insert(index).second) is_restorable_stale_ = true;
  LOG(ERROR) << "archive: a chain is broken: " << what;
  uint64_t newest = 0;
  for (const Base& base : known.bases) newest = std::max(newest, base.first_segment);
  const absl::MutexLock lock(&mutex_);
  stats_.breaks = std::max(stats_.breaks, breaks_in_pass_);
  // Moments behind the break can be restored from a base behind it.
  if (index >= newest) wants_base_ = true;
}

absl::Status Shipper::VerifySome(size_t segments) {
  if (!walk_.has_value()) {
    const std::optional<Position> current = shared();
    if (!current.has_value()) return absl::OkStatus();
    ARM_ASSIGN_OR_RETURN(const std::vector<KnownChain> chains, directory_->ReadChains());
    walked_.reset();
    for (const KnownChain& known : chains) {
      if (known.chain.id == current->chain.id && !known.bases.empty()) walked_ = known;
    }
    if (!walked_.has_value()) return absl::OkStatus();
    uint64_t first = walked_->bases.front().first_segment;
    for (const Base& base : walked_->bases) first = std::min(first, base.first_segment);
    const std::optional<WalkPlace> place = std::exchange(walk_place_, std::nullopt);
    const bool goes_on = place.has_value() && place->chain == walked_->chain.id && place->index > first;
    walk_.emplace(directory_.get(), &*walked_, goes_on ? place->index : first);
    if (!goes_on) breaks_in_pass_ = 0;
    if (!goes_on) damaged_in_pass_.clear();
  }
  for (size_t i = 0; i < segments && !keeper_.is_stopping(); ++i) {
    const absl::StatusOr<std::optional<Segment>> segment = walk_->Next();
    if (!segment.ok() && !IsDamage(segment.status())) return segment.status();
    const uint64_t index = walk_->next_index();
    if (!segment.ok()) {
      NoteBreak(*walked_, index, Sv(segment.status().message()));
      // Segments that are missing together are one break.
      walk_.emplace(directory_.get(), &*walked_, std::max(index + 1, walked_->next_segment(index)));
    } else if (!segment->has_value()) {
      walk_.reset();
      // Files that are whole again, as those of a disk that is back.
      std::set<uint64_t>& damaged = damaged_[walked_->chain.number];
      if (damaged != damaged_in_pass_) is_restorable_stale_ = true;
      damaged = damaged_in_pass_;
      const absl::MutexLock lock(&mutex_);
      stats_.breaks = breaks_in_pass_;
      stats_.last_verified_ms = NowMs();
      break;
    }
  }
  return absl::OkStatus();
}

}  // namespace armature::archive
