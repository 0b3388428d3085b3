#include "tools/armature/copy/copier.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/time/clock.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/copy/table_scan.h"
#include "tools/armature/copy/workers.h"
#include "tools/armature/display.h"
#include "tools/armature/sql/interrupt.h"

namespace armature::cli::copy {
namespace {

constexpr int kPauseMs = 200;  // between two rounds without a change
// A page of a stream may be empty although records follow.
constexpr int kEmptyRoundsAtEnd = 5;

constexpr char kCutNotice[] = "\ncuts over: the changes that are left are applied; Ctrl-C again stops at once\n";

// Waits for the pause, for Ctrl-C, or for a line on a terminal. True if there was a line.
bool WaitForLine(const Interrupt& interrupt, int pause_ms) {
  std::array<pollfd, 2> files = {{{interrupt.descriptor(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
  const nfds_t count = isatty(STDIN_FILENO) == 1 ? 2 : 1;
  if (poll(files.data(), count, pause_ms) <= 0 || (files[1].revents & POLLIN) == 0) return false;
  std::array<char, 256> line{};
  return read(STDIN_FILENO, line.data(), line.size()) > 0;
}

std::string Listed(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += Cat("\n  ", text);
  return list;
}

}  // namespace

Copier::Copier(const CopySides& sides, const CopySettings& settings, StateKeeper* state)
    : sides_(sides), settings_(settings), state_(*state), writer_(&sides.target, &sides.write_rate, &sides.stop) {}

absl::Status Copier::Run(const std::vector<TablePair>& pairs) {
  for (const TablePair& names : pairs) ARM_RETURN_IF_ERROR(Prepare(names));
  for (const Job& job : jobs_) {
    if (state_.Table(job.names.source)->phase == Phase::kItems) {
      const absl::Status copied = CopyItems(job);
      // The save points of the pages since the last save.
      const absl::Status saved = state_.Save();
      ARM_RETURN_IF_ERROR(copied);
      ARM_RETURN_IF_ERROR(saved);
      state_.SetPhase(job.names.source, Phase::kSettings);
    }
    if (state_.Table(job.names.source)->phase == Phase::kSettings) {
      // A table that was there keeps its own: time to live would delete items that are not of this copy.
      if (state_.Table(job.names.source)->is_made) {
        ARM_RETURN_IF_ERROR(ApplySettings(&sides_.target, job.names.target, job.info, sides_.stop));
      }
      state_.SetPhase(job.names.source, settings_.follow ? Phase::kFollow : Phase::kDone);
    }
    ARM_RETURN_IF_ERROR(state_.Save());
  }
  if (settings_.follow) ARM_RETURN_IF_ERROR(Follow());
  return absl::OkStatus();
}

absl::Status Copier::Prepare(const TablePair& names) {
  Job job;
  job.names = names;
  ARM_ASSIGN_OR_RETURN(std::optional<TableInfo> info, ReadTable(&sides_.source, names.source));
  if (!info.has_value()) return UsageError(Cat("the source has no table ", names.source));
  job.info = *std::move(info);
  ARM_RETURN_IF_ERROR(ReadRateOf(job).status());
  const std::optional<TableState> known = state_.Table(names.source);
  // Before a stream is enabled, which would hide that there was none for a while.
  if (known.has_value()) ARM_RETURN_IF_ERROR(CheckSameStream(job, *known));
  if (settings_.follow) ARM_RETURN_IF_ERROR(CheckStream(&job));
  bool must_create = false;
  if (known.has_value()) {
    if (known->target != names.target) {
      return InputError(
          Cat("the state is of a copy of ", names.source, " to ", known->target, ", not to ", names.target));
    }
    if (settings_.follow && !known->stream.has_value()) {
      return InputError(Cat("the copy of ", names.source,
                            " began without --follow: its changes since then are not known. "
                            "Remove the state file to begin anew"));
    }
    if (!settings_.follow && known->stream.has_value()) {
      return InputError(Cat("the copy of ", names.source,
                            " began with --follow, and without it would end before the "
                            "cut-over"));
    }
    ARM_ASSIGN_OR_RETURN(const std::optional<TableInfo> target, ReadTable(&sides_.target, names.target));
    // Killed after the state was written, and before the table was made.
    must_create = !target.has_value();
    if (must_create && known->items > 0) {
      return InputError(Cat("the table ", names.target, " of the target is gone; remove the state file to begin anew"));
    }
    // Killed while the target made it.
    if (!must_create) ARM_RETURN_IF_ERROR(WaitUntilActive(&sides_.target, names.target, sides_.stop).status());
  } else {
    ARM_RETURN_IF_ERROR(CheckTarget(job, &must_create));
    TableState begin{.source = names.source,
                     .target = names.target,
                     .is_made = must_create,
                     .segments = std::vector<SegmentState>(settings_.segments)};
    if (settings_.follow) {
      // Before the first item is read.
      ARM_ASSIGN_OR_RETURN(begin.stream, StreamReader::Begin(&sides_.source, job.info.stream_arn, absl::Now()));
    }
    state_.Add(std::move(begin));
    ARM_RETURN_IF_ERROR(state_.Save());
  }
  if (must_create) ARM_RETURN_IF_ERROR(CreateTable(&sides_.target, names.target, job.info, sides_.stop));
  jobs_.push_back(std::move(job));
  return absl::OkStatus();
}

absl::Status Copier::CheckSameStream(const Job& job, const TableState& known) {
  if (!known.stream.has_value()) return absl::OkStatus();
  if (job.info.is_stream_enabled && job.info.stream_arn == known.stream->arn) return absl::OkStatus();
  return DataLossError(Cat("the stream of ", known.source, " that the copy follows, ", known.stream->arn,
                           ", was turned off. Lost are changes made after ",
                           absl::FormatTime(absl::FromUnixMillis(known.stream->began_ms), absl::UTCTimeZone()),
                           ". Compare and mend with --verify --mend, or remove the state file and copy anew"));
}

absl::Status Copier::CheckTarget(const Job& job, bool* must_create) {
  const std::string& name = job.names.target;
  ARM_ASSIGN_OR_RETURN(const std::optional<TableInfo> present, ReadTable(&sides_.target, name));
  *must_create = !present.has_value();
  if (*must_create) return absl::OkStatus();
  const std::vector<std::string> differences = DifferencesOf(job.info, *present);
  for (const std::string& each : differences) {
    if (!each.starts_with("KeySchema")) continue;
    return DifferencesError(Cat("the table ", name, " of the target has another key: ", each));
  }
  if (settings_.into_existing) {
    if (!differences.empty())
      sides_.session.progress() << name << ": " << OneLine(Listed(differences).substr(1)) << "\n";
    return WaitUntilActive(&sides_.target, name, sides_.stop).status();
  }
  const std::string how = Cat("the target has a table ", name, " already; --into-existing copies into it");
  if (differences.empty()) return DifferencesError(how);
  return WithSource(DifferencesError(how), "", Cat("its differences:", Listed(differences), "\n"));
}

absl::Status Copier::CheckStream(Job* job) {
  const std::string& name = job->names.source;
  if (job->info.is_stream_enabled) {
    const std::string& view = job->info.stream_view;
    if (view == "NEW_IMAGE" || view == "NEW_AND_OLD_IMAGES") return absl::OkStatus();
    return UsageError(
        Cat("the stream of ", name, " has the view ", view,
            ", without new items. Disable it (UpdateTable, StreamEnabled=false) and let --enable-stream enable "
            "another one"));
  }
  if (!settings_.enable_stream) {
    return UsageError(Cat("the table ", name,
                          " of the source has no stream, which --follow needs: --enable-stream enables one "
                          "with the view NEW_IMAGE"));
  }
  ARM_RETURN_IF_ERROR(EnableStream(&sides_.source, name, "NEW_IMAGE", sides_.stop));
  ARM_ASSIGN_OR_RETURN(const TableInfo now, WaitUntilActive(&sides_.source, name, sides_.stop));
  // The target gets the settings that the source had before.
  job->info.stream_arn = now.stream_arn;
  return absl::OkStatus();
}

absl::StatusOr<double> Copier::ReadRateOf(const Job& job) const {
  if (settings_.read_share == 0) return 0;
  if (job.info.read_units == 0) {
    return UsageError(Cat("--read-share is a part of provisioned capacity, and ", job.names.source,
                          " is billed on demand: limit it by --rate"));
  }
  return static_cast<double>(job.info.read_units) * settings_.read_share / 100;
}

absl::Status Copier::CopyItems(const Job& job) {
  ARM_ASSIGN_OR_RETURN(const double rate, ReadRateOf(job));
  RateLimit read_rate(rate);
  const size_t segments = state_.Table(job.names.source)->segments.size();
  ProgressBar bar(&sides_.session.progress(), sides_.session.is_progress_live());
  const int64_t before = state_.Table(job.names.source)->items;
  const absl::Time start = absl::Now();
  return RunParts(
      segments, settings_.segments, &sides_.stop, [&](size_t segment) { return CopySegment(job, segment, &read_rate); },
      [&]() -> absl::Status {
        const int64_t done = state_.Table(job.names.source)->items;
        const int64_t per_second = PerSecond(done - before, absl::Now() - start);
        const int64_t left = std::max<int64_t>(0, job.info.items_estimate - done);
        bar.Show({.what = Cat(job.names.source, " items"),
                  .done = done,
                  .total = std::max(done, job.info.items_estimate),
                  .per_second = per_second,
                  .seconds_left = per_second > 0 ? left / per_second : 0});
        return state_.SaveSometimes();
      });
}

absl::Status Copier::CopySegment(const Job& job, size_t segment, RateLimit* read_rate) {
  const TableState state = *state_.Table(job.names.source);
  const SegmentState& saved = state.segments[segment];
  if (saved.is_done) return absl::OkStatus();
  const SegmentToScan scan{.table = job.names.source,
                           .segment = segment,
                           .segments = state.segments.size(),
                           .is_consistent = !settings_.is_eventual,
                           .start = saved.next};
  return ScanSegment(&sides_.source, scan, read_rate, &sides_.stop,
                     [&](const Wire& items, const Wire& next) -> absl::Status {
                       std::vector<WriteText> puts;
                       puts.reserve(items.size());
                       for (const Wire& item : items) puts.push_back(PutText(sides_.hash.Apply(item)));
                       ARM_RETURN_IF_ERROR(writer_.Write(job.names.target, puts));
                       state_.SetSegment(job.names.source, segment, {.next = next, .is_done = next.is_null()},
                                         static_cast<int64_t>(items.size()));
                       return absl::OkStatus();
                     });
}

absl::Status Copier::Follow() {
  for (Job& job : jobs_) {
    job.reader =
        std::make_unique<StreamReader>(&sides_.source, job.names.source, *state_.Table(job.names.source)->stream);
  }
  Interrupt interrupt(kCutNotice);
  sides_.session.progress() << "follows the changes of the source; Ctrl-C, or Enter on a terminal, cuts over\n"
                            << std::flush;
  ProgressBar bar(&sides_.session.progress(), sides_.session.is_progress_live());
  Following following;
  int64_t changes = state_.changes();
  bool is_interrupted = false;
  while (true) {
    absl::StatusOr<StreamReader::Round> round = FollowOnce();
    ARM_RETURN_IF_ERROR(round.ok() ? state_.SaveSometimes() : state_.Save());
    ARM_RETURN_IF_ERROR(round.status());
    changes += round->records;
    if (Judge(*round, &following)) {
      ARM_RETURN_IF_ERROR(state_.Save());
      for (const Job& job : jobs_) ARM_RETURN_IF_ERROR(job.reader->CheckEnabled());
      return absl::OkStatus();
    }
    bar.Show({.what = "changes", .done = changes, .note = Cat("lag ", std::llround(following.lag_seconds), " s")});
    const bool has_line = WaitForLine(interrupt, round->is_empty && !interrupt.is_pending() ? kPauseMs : 0);
    const bool is_signalled = interrupt.is_pending();
    if (is_signalled && is_interrupted) {
      ARM_RETURN_IF_ERROR(state_.Save());
      return UsageError("stopped before the cut-over; the same command continues");
    }
    if (is_signalled || has_line) {
      is_interrupted = is_interrupted || is_signalled;
      following = {.empty_rounds = 0, .lag_seconds = following.lag_seconds, .is_cutting = true};
      interrupt.Take();
    }
  }
}

absl::StatusOr<StreamReader::Round> Copier::FollowOnce() {
  StreamReader::Round sum;
  double oldest = 0;  // newest change of the table that is the furthest behind
  for (const Job& job : jobs_) {
    const absl::StatusOr<StreamReader::Round> round = job.reader->ReadOnce(
        [&](const std::vector<Change>& changes) { return ApplyChanges(job, changes); }, absl::Now());
    // Also after an error: other shards may have been applied.
    state_.SetStream(job.names.source, job.reader->state(), round.ok() ? round->records : 0);
    ARM_RETURN_IF_ERROR(round.status());
    sum.records += round->records;
    sum.is_empty = sum.is_empty && round->is_empty;
    if (round->records > 0) oldest = oldest == 0 ? round->newest_seconds : std::min(oldest, round->newest_seconds);
  }
  sum.newest_seconds = oldest;
  return sum;
}

absl::Status Copier::ApplyChanges(const Job& job, const std::vector<Change>& changes) {
  std::vector<WriteText> writes;
  writes.reserve(changes.size());
  for (const Change& change : changes) {
    writes.push_back(change.image.is_null() ? DeleteText(sides_.hash.Apply(change.key))
                                            : PutText(sides_.hash.Apply(change.image)));
  }
  return writer_.WriteWide(job.names.target, writes, settings_.segments);
}

bool Copier::Judge(const StreamReader::Round& round, Following* following) const {
  following->empty_rounds = round.is_empty ? following->empty_rounds + 1 : 0;
  const bool is_at_end = following->empty_rounds >= kEmptyRoundsAtEnd;
  if (round.is_empty) {
    if (is_at_end) following->lag_seconds = 0;
  } else if (round.newest_seconds > 0) {
    following->lag_seconds =
        std::max(0.0, absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()) - round.newest_seconds);
  }
  if (is_at_end && (following->is_cutting || settings_.until_lag.has_value())) return true;
  return settings_.until_lag.value_or(0) > 0 && round.newest_seconds > 0 &&
         following->lag_seconds <= *settings_.until_lag;
}

}  // namespace armature::cli::copy
