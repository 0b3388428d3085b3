#include "storage/archive/restorable.h"

#include <algorithm>
#include <utility>

#include "storage/archive/archive_check.h"
#include "storage/base/status_macros.h"

namespace armature::archive {
namespace {

// The time until which segments before the first damaged one are complete; nullopt: there are none. `window` is cut.
absl::StatusOr<std::optional<int64_t>> EndBeforeDamage(const ArchiveDirectory& directory, const Window& window,
                                                       uint64_t damaged) {
  if (damaged <= window.base.first_segment) return std::nullopt;
  const absl::StatusOr<Segment> last = directory.ReadSegment(window.chain, damaged - 1);
  if (last.ok()) return last->facts.until_ms;
  if (IsDamage(last.status())) return std::nullopt;
  return last.status();
}

}  // namespace

absl::StatusOr<std::vector<KnownSpan>> FindSpans(const ArchiveDirectory& directory, uint64_t chain,
                                                 const std::set<uint64_t>& damaged, absl::Status* unreadable) {
  ARM_ASSIGN_OR_RETURN(const Survey survey, SurveyArchive(directory));
  *unreadable = survey.unreadable;
  int64_t head_ms = 0;
  std::vector<KnownSpan> spans;
  for (const KnownChain& known : survey.chains) {
    if (known.chain.number != chain) continue;
    if (known.head.has_value()) head_ms = known.head->until_ms;
    // The segments have not reached the beginning of a base that was just made.
    for (const Base& base : known.bases) {
      if (base.from_ms > head_ms) spans.push_back({.span = {base.from_ms, base.from_ms - 1}, .is_growing = true});
    }
  }
  for (const Window& window : survey.windows) {
    KnownSpan known{.span = {window.from_ms, window.until_ms}};
    const auto first = damaged.lower_bound(window.base.first_segment);
    if (window.chain == chain && first != damaged.end()) {
      ARM_ASSIGN_OR_RETURN(const std::optional<int64_t> end_ms, EndBeforeDamage(directory, window, *first));
      if (!end_ms.has_value() || *end_ms < window.from_ms) continue;
      known.span.until_ms = std::min(*end_ms, window.until_ms);
    } else {
      known.is_growing = window.chain == chain && window.until_ms >= head_ms;
    }
    spans.push_back(known);
  }
  return spans;
}

void Restorable::Set(std::vector<KnownSpan> spans, uint64_t chain) {
  std::sort(spans.begin(), spans.end(),
            [](const KnownSpan& a, const KnownSpan& b) { return a.span.from_ms < b.span.from_ms; });
  const absl::MutexLock lock(&mutex_);
  spans_ = std::move(spans);
  spans_chain_ = chain;
  moved_.Notify();
}

void Restorable::NoteHead(uint64_t chain, int64_t until_ms) {
  const absl::MutexLock lock(&mutex_);
  head_chain_ = chain;
  until_ms_ = until_ms;
  moved_.Notify();
}

std::optional<std::vector<Span>> Restorable::spans() const {
  const absl::MutexLock lock(&mutex_);
  if (!spans_.has_value()) return std::nullopt;
  std::vector<Span> joined;
  for (const KnownSpan& known : *spans_) {
    Span span = known.span;
    if (known.is_growing && head_chain_ == spans_chain_) span.until_ms = std::max(span.until_ms, until_ms_);
    if (span.until_ms < span.from_ms) continue;
    if (!joined.empty() && span.from_ms <= joined.back().until_ms) {
      joined.back().until_ms = std::max(joined.back().until_ms, span.until_ms);
    } else {
      joined.push_back(span);
    }
  }
  return joined;
}

bool Restorable::Await(int64_t at_ms, int64_t due_ns) {
  const absl::MutexLock lock(&mutex_);
  const auto is_there = [this, at_ms] {
    mutex_.AssertHeld();
    return spans_.has_value() && until_ms_ >= at_ms;
  };
  while (!is_there() && MonotonicNs() < due_ns) moved_.Until(&mutex_, due_ns);
  return is_there();
}

}  // namespace armature::archive
