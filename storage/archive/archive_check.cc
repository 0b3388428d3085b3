#include "storage/archive/archive_check.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/time/time.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::archive {
namespace {

using store::BackupRepository;

// The bases that can be used, by chain; names of the others go to `breaks`.
absl::StatusOr<std::set<store::BackupId>> WholeBackups(const ArchiveDirectory& directory, const Survey& survey,
                                                       std::vector<std::string>* breaks) {
  std::set<store::BackupId> whole;
  const bool has_bases = std::any_of(survey.chains.begin(), survey.chains.end(),
                                     [](const KnownChain& known) { return !known.bases.empty(); });
  if (!has_bases) return whole;
  absl::StatusOr<std::unique_ptr<BackupRepository>> opened = BackupRepository::Open(directory.bases_path(), {});
  if (absl::IsNotFound(opened.status()) || absl::IsDataLoss(opened.status())) {
    breaks->push_back(Cat("the bases: ", Sv(opened.status().message())));
    return whole;
  }
  ARM_RETURN_IF_ERROR(opened.status());
  ARM_ASSIGN_OR_RETURN(const std::vector<store::BackupEntry> entries, (*opened)->List());
  std::set<store::BackupId> there;
  for (const store::BackupEntry& entry : entries) {
    there.insert(entry.id);
    if (entry.damage.empty()) whole.insert(entry.id);
    if (!entry.damage.empty()) breaks->push_back(Cat("base ", entry.id, ": ", entry.damage));
  }
  for (const KnownChain& known : survey.chains) {
    for (const Base& base : known.bases) {
      if (!there.contains(base.backup))
        breaks->push_back(Cat("base ", base.backup, " is missing in ", directory.bases_path()));
    }
  }
  return whole;
}

// The end of the segments without a gap behind `first`: the index behind the last one.
uint64_t EndOfRun(const KnownChain& known, uint64_t first) {
  auto at = std::lower_bound(known.segments.begin(), known.segments.end(), first);
  uint64_t end = first;
  while (at != known.segments.end() && *at == end) {
    ++at;
    ++end;
  }
  return end;
}

// `last`: the last whole segment of the run, which ends before `end`.
void AddWindow(const KnownChain& known, const Base& base, const std::optional<SegmentFacts>& last, uint64_t end,
               Survey* survey) {
  Window window{
      .chain = known.chain.number, .base = base, .from_ms = base.from_ms, .from_sequence = base.from_sequence};
  if (last.has_value()) {
    window.until_ms = last->until_ms;
    window.until_sequence = last->last_sequence;
  }
  if (known.head.has_value() && end > known.last_segment()) {
    window.until_ms = std::max(window.until_ms, known.head->until_ms);
    window.until_sequence = std::max(window.until_sequence, known.head->sequence);
  }
  if (window.until_ms >= window.from_ms) survey->windows.push_back(window);
}

// The text about `index` and the segments behind it that are missing, too.
std::string MissingText(const ArchiveDirectory& directory, const KnownChain& known, uint64_t index) {
  const std::string first = directory.SegmentPath(known.chain.number, index);
  const uint64_t end = known.next_segment(index);
  if (end <= index + 1) return Cat(first, " is missing");
  return Cat(first, " to ", directory.SegmentPath(known.chain.number, end - 1), " are missing");
}

absl::Status SurveyChain(const ArchiveDirectory& directory, const KnownChain& known,
                         const std::set<store::BackupId>& whole, Survey* survey) {
  std::set<std::string> breaks(known.problems.begin(), known.problems.end());
  for (const Base& base : known.bases) {
    uint64_t end = EndOfRun(known, base.first_segment);
    if (end <= known.last_segment()) breaks.insert(MissingText(directory, known, end));
    if (!whole.contains(base.backup)) continue;
    // A window must not end at a segment that cannot be used: it ends before that.
    std::optional<SegmentFacts> last;
    for (; end > base.first_segment && !last.has_value(); --end) {
      const absl::StatusOr<Segment> segment = directory.ReadSegment(known.chain.number, end - 1);
      if (segment.ok()) {
        last = segment->facts;
        break;
      }
      breaks.emplace(Sv(segment.status().message()));
      if (!IsDamage(segment.status())) survey->unreadable.Update(segment.status());
    }
    AddWindow(known, base, last, end, survey);
  }
  survey->breaks.insert(survey->breaks.end(), breaks.begin(), breaks.end());
  return absl::OkStatus();
}

// The windows of a chain, of segments that were read. `ends`: for each base, the walk's last segment and the index
// behind it.
absl::Status VerifyChain(const ArchiveDirectory& directory, const KnownChain& known,
                         const std::set<store::BackupId>& whole, const ArchiveObserver& observer, Survey* survey) {
  survey->breaks.insert(survey->breaks.end(), known.problems.begin(), known.problems.end());
  if (known.bases.empty() && known.segments.empty()) return absl::OkStatus();
  uint64_t first = known.bases.empty() ? known.segments.front() : known.bases.front().first_segment;
  for (const Base& base : known.bases) first = std::min(first, base.first_segment);
  std::vector<Base> open = known.bases;
  const uint64_t last_index = known.last_segment();
  while (true) {
    ChainWalk walk(&directory, &known, first);
    std::string broken;
    while (true) {
      if (observer != nullptr && !observer(Cat("chain ", known.chain.number), walk.next_index(), last_index)) {
        return absl::CancelledError("the verification was cancelled");
      }
      absl::StatusOr<std::optional<Segment>> segment = walk.Next();
      if (!segment.ok() && !IsDamage(segment.status())) return segment.status();
      if (!segment.ok()) broken = std::string(Sv(segment.status().message()));
      if (!segment.ok() || !segment->has_value()) break;
    }
    const uint64_t next = known.next_segment(walk.next_index());
    if (!broken.empty() && next > walk.next_index()) broken = MissingText(directory, known, walk.next_index());
    const uint64_t behind = std::max(next, walk.next_index() + 1);
    // Bases behind the break have a window of their own.
    std::erase_if(open, [&](const Base& base) {
      if (base.first_segment >= behind && !broken.empty()) return false;
      const bool has_segments = base.first_segment < walk.next_index();
      if (whole.contains(base.backup)) {
        AddWindow(known, base, has_segments ? walk.last() : std::nullopt, walk.next_index(), survey);
      }
      return true;
    });
    if (broken.empty()) return absl::OkStatus();
    survey->breaks.push_back(broken);
    first = behind;
    if (first > last_index) return absl::OkStatus();
  }
}

}  // namespace

absl::Status ChainWalk::Check(const Segment& segment) const {
  const SegmentFacts& facts = segment.facts;
  if (facts.chain != chain_->chain.id) return DataLossError("belongs to another chain");
  if (facts.index != next_) return DataLossError(Cat("is segment ", facts.index));
  if (last_.has_value() && facts.previous != last_->checksum) {
    return DataLossError("does not follow the segment before it");
  }
  uint64_t sequence = last_.has_value() ? last_->last_sequence : 0;
  int64_t time_ms = last_.has_value() ? last_->last_ms : 0;
  uint64_t batches = 0;
  ARM_RETURN_IF_ERROR(ForEachBatch(segment, [&](const ArchivedBatch& batch) {
    if (batch.sequence <= sequence || batch.time_ms < time_ms)
      return DataLossError("has batches that are not in order");
    sequence = batch.sequence;
    time_ms = batch.time_ms;
    ++batches;
    return absl::OkStatus();
  }));
  return batches == facts.batches ? absl::OkStatus() : DataLossError(Cat("has ", batches, " batches"));
}

absl::StatusOr<std::optional<Segment>> ChainWalk::Next() {
  if (next_ > chain_->last_segment()) return std::nullopt;
  absl::StatusOr<Segment> segment = directory_->ReadSegment(chain_->chain.number, next_);
  const std::string path = directory_->SegmentPath(chain_->chain.number, next_);
  if (absl::IsNotFound(segment.status())) return DataLossError(Cat(path, " is missing"));
  ARM_RETURN_IF_ERROR(segment.status());
  if (const absl::Status checked = Check(*segment); !checked.ok()) {
    return DataLossError(Cat(path, " ", Sv(checked.message())));
  }
  last_ = segment->facts;
  ++next_;
  return *std::move(segment);
}

absl::StatusOr<Survey> SurveyArchive(const ArchiveDirectory& directory) {
  Survey survey{.database_id = directory.database_id()};
  ARM_ASSIGN_OR_RETURN(survey.chains, directory.ReadChains());
  ARM_ASSIGN_OR_RETURN(const std::set<store::BackupId> whole, WholeBackups(directory, survey, &survey.breaks));
  for (const KnownChain& known : survey.chains) ARM_RETURN_IF_ERROR(SurveyChain(directory, known, whole, &survey));
  return survey;
}

absl::StatusOr<Survey> VerifyArchive(const ArchiveDirectory& directory, const ArchiveObserver& observer) {
  Survey survey{.database_id = directory.database_id()};
  ARM_ASSIGN_OR_RETURN(survey.chains, directory.ReadChains());
  ARM_ASSIGN_OR_RETURN(std::set<store::BackupId> whole, WholeBackups(directory, survey, &survey.breaks));
  for (const store::BackupId id : std::set<store::BackupId>(whole)) {
    ARM_ASSIGN_OR_RETURN(const std::unique_ptr<BackupRepository> bases,
                         BackupRepository::Open(directory.bases_path(), {}));
    const absl::Status verified = bases->Verify(id, [&](const store::BackupProgress& progress) {
      return observer == nullptr || observer(Cat("base ", id), progress.done_bytes, progress.total_bytes);
    });
    if (absl::IsCancelled(verified) || absl::IsUnavailable(verified)) return verified;
    if (verified.ok()) continue;
    survey.breaks.push_back(Cat("base ", id, ": ", Sv(verified.message())));
    whole.erase(id);
  }
  for (const KnownChain& known : survey.chains) {
    ARM_RETURN_IF_ERROR(VerifyChain(directory, known, whole, observer, &survey));
  }
  return survey;
}

std::string TimeText(int64_t ms) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixMillis(ms), absl::UTCTimeZone());
}

std::string WindowsText(std::vector<Window> windows) {
  if (windows.empty()) return "nothing";
  std::sort(windows.begin(), windows.end(), [](const Window& a, const Window& b) { return a.from_ms < b.from_ms; });
  std::string text;
  for (size_t i = 0; i < windows.size();) {
    const int64_t from_ms = windows[i].from_ms;
    int64_t until_ms = windows[i].until_ms;
    for (++i; i < windows.size() && windows[i].from_ms <= until_ms; ++i)
      until_ms = std::max(until_ms, windows[i].until_ms);
    text += Cat(text.empty() ? "from " : ", and from ", TimeText(from_ms), " until ", TimeText(until_ms));
  }
  return text;
}

}  // namespace armature::archive
