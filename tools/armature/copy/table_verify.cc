#include "tools/armature/copy/table_verify.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/copy/batch_writer.h"
#include "tools/armature/copy/item_digest.h"
#include "tools/armature/copy/table_definition.h"
#include "tools/armature/copy/table_scan.h"
#include "tools/armature/copy/workers.h"
#include "tools/armature/display.h"

namespace armature::cli::copy {
namespace {

constexpr size_t kGroups = 4096;
constexpr size_t kKeysOfRead = 25;
// Digests of keys that are held at most, about a hundred bytes each.
constexpr size_t kHeldKeysMax = 8'000'000;

struct Group {
  uint64_t high = 0;
  uint64_t low = 0;
  uint64_t items = 0;
  friend bool operator==(const Group&, const Group&) = default;
};
using Groups = std::array<Group, kGroups>;

size_t GroupOf(const std::string& key_text) { return DigestOf(key_text).high % kGroups; }

class Verifier {
 public:
  Verifier(const CopySides& sides, const CopySettings& settings, TablePair names, std::vector<std::string> key,
           double read_rate)
      : sides_(sides),
        settings_(settings),
        names_(std::move(names)),
        key_(std::move(key)),
        source_rate_(read_rate),
        target_rate_(0),
        writer_(&sides.target, &sides.write_rate, &sides.stop),
        has_hashed_key_(
            std::any_of(key_.begin(), key_.end(), [&](const auto& name) { return sides.hash.Replaces(name); })) {}

  absl::StatusOr<VerifyResult> Run() {
    const auto source = std::make_unique<Groups>();
    const auto target = std::make_unique<Groups>();
    ARM_RETURN_IF_ERROR(SumUp(Side::kSource, source.get()));
    ARM_RETURN_IF_ERROR(SumUp(Side::kTarget, target.get()));
    bool is_equal = true;
    for (size_t i = 0; i < kGroups; ++i) {
      differs_[i] = (*source)[i] != (*target)[i];
      is_equal = is_equal && !differs_[i];
      result_.source_items += static_cast<int64_t>((*source)[i].items);
      result_.target_items += static_cast<int64_t>((*target)[i].items);
    }
    if (!is_equal) {
      ARM_RETURN_IF_ERROR(CompareItems(Side::kSource));
      ARM_RETURN_IF_ERROR(CompareItems(Side::kTarget));
    }
    std::sort(result_.differences.begin(), result_.differences.end(),
              [](const Difference& a, const Difference& b) { return a.key < b.key; });
    return std::move(result_);
  }

 private:
  enum class Side { kSource, kTarget };
  // An item as it should be at the target.
  struct Compared {
    Wire original_key;  // at its own side
    Wire key;
    std::string key_text;
    std::string text;
    Wire item;
  };
  using TakePage = absl::FunctionRef<absl::Status(std::vector<Compared> items)>;

  // Reads all items of one side. `begin`, called on each thread, gives the function that takes the pages of a segment.
  absl::Status ReadAll(Side side, absl::FunctionRef<absl::Status(size_t segment)> read_segment) {
    ProgressBar bar(&sides_.session.progress(), sides_.session.is_progress_live());
    return RunParts(settings_.segments, settings_.segments, &sides_.stop, read_segment, [&]() -> absl::Status {
      const absl::MutexLock lock(&mutex_);
      bar.Show(
          {.what = Cat("compare ", side == Side::kSource ? names_.source : names_.target, " items"), .done = read_});
      return absl::OkStatus();
    });
  }

  absl::Status ReadSegment(Side side, size_t segment, TakePage take) {
    const bool is_source = side == Side::kSource;
    const SegmentToScan scan{.table = is_source ? names_.source : names_.target,
                             .segment = segment,
                             .segments = settings_.segments,
                             .is_consistent = !settings_.is_eventual};
    return ScanSegment(&(is_source ? sides_.source : sides_.target), scan, is_source ? &source_rate_ : &target_rate_,
                       &sides_.stop, [&](const Wire& items, const Wire& /*next*/) -> absl::Status {
                         std::vector<Compared> page;
                         for (const Wire& item : items) {
                           Compared one;
                           ARM_ASSIGN_OR_RETURN(one.original_key, KeyOf(item, key_));
                           one.key = is_source ? sides_.hash.Apply(one.original_key) : one.original_key;
                           one.item = is_source ? sides_.hash.Apply(item) : item;
                           one.key_text = CanonicalText(one.key);
                           one.text = CanonicalText(one.item);
                           page.push_back(std::move(one));
                         }
                         {
                           const absl::MutexLock lock(&mutex_);
                           read_ += static_cast<int64_t>(page.size());
                         }
                         return take(std::move(page));
                       });
  }

  absl::Status SumUp(Side side, Groups* sums) {
    return ReadAll(side, [&](size_t segment) -> absl::Status {
      const auto mine = std::make_unique<Groups>();
      ARM_RETURN_IF_ERROR(ReadSegment(side, segment, [&](const std::vector<Compared>& items) {
        for (const Compared& item : items) {
          Group& group = (*mine)[GroupOf(item.key_text)];
          const Digest digest = DigestOf(item.text);
          group.high += digest.high;
          group.low += digest.low;
          ++group.items;
        }
        return absl::OkStatus();
      }));
      const absl::MutexLock lock(&mutex_);
      for (size_t i = 0; i < kGroups; ++i) {
        (*sums)[i].high += (*mine)[i].high;
        (*sums)[i].low += (*mine)[i].low;
        (*sums)[i].items += (*mine)[i].items;
      }
      return absl::OkStatus();
    });
  }

  absl::Status CompareItems(Side side) {
    return ReadAll(side, [&](size_t segment) {
      return ReadSegment(side, segment, [&](std::vector<Compared> items) -> absl::Status {
        std::vector<Compared> batch;
        for (Compared& item : items) {
          if (!differs_[GroupOf(item.key_text)]) continue;
          batch.push_back(std::move(item));
          if (batch.size() < kKeysOfRead) continue;
          ARM_RETURN_IF_ERROR(CompareBatch(side, std::exchange(batch, {})));
        }
        return batch.empty() ? absl::OkStatus() : CompareBatch(side, batch);
      });
    });
  }

  absl::Status CompareBatch(Side side, const std::vector<Compared>& batch) {
    return side == Side::kSource ? CompareWithTarget(batch) : FindExtra(batch);
  }

  absl::Status CompareWithTarget(const std::vector<Compared>& batch) {
    std::vector<Wire> keys;
    keys.reserve(batch.size());
    for (const Compared& item : batch) keys.push_back(item.key);
    ARM_ASSIGN_OR_RETURN(const auto found, GetItems(&sides_.target, names_.target, keys, key_, sides_.stop));
    std::vector<WriteText> writes;
    for (const Compared& item : batch) {
      if (has_hashed_key_) ARM_RETURN_IF_ERROR(Hold(item.key_text));
      const auto there = found.find(item.key_text);
      if (there != found.end() && CanonicalText(there->second) == item.text) continue;
      Report(there == found.end() ? DifferenceKind::kMissing : DifferenceKind::kDifferent, item.key);
      writes.push_back(PutText(item.item));
    }
    return Mend(writes);
  }

  absl::Status FindExtra(const std::vector<Compared>& batch) {
    std::map<std::string, Wire> found;
    if (!has_hashed_key_) {
      std::vector<Wire> keys;
      keys.reserve(batch.size());
      for (const Compared& item : batch) keys.push_back(item.original_key);
      ARM_ASSIGN_OR_RETURN(found, GetItems(&sides_.source, names_.source, keys, key_, sides_.stop));
    }
    std::vector<WriteText> writes;
    for (const Compared& item : batch) {
      if (has_hashed_key_ ? IsHeld(item.key_text) : found.contains(item.key_text)) continue;
      Report(DifferenceKind::kExtra, item.key);
      writes.push_back(DeleteText(item.key));
    }
    return Mend(writes);
  }

  absl::Status Hold(const std::string& key_text) {
    const absl::MutexLock lock(&mutex_);
    const Digest digest = DigestOf(key_text);
    held_.insert({digest.high, digest.low});
    if (held_.size() <= kHeldKeysMax) return absl::OkStatus();
    return DifferencesError(Cat("more than ", kHeldKeysMax, " items of ", names_.source, " are in groups that differ"));
  }

  bool IsHeld(const std::string& key_text) {
    const absl::MutexLock lock(&mutex_);
    const Digest digest = DigestOf(key_text);
    return held_.contains({digest.high, digest.low});
  }

  void Report(DifferenceKind kind, const Wire& key) {
    const absl::MutexLock lock(&mutex_);
    result_.missing += kind == DifferenceKind::kMissing ? 1 : 0;
    result_.different += kind == DifferenceKind::kDifferent ? 1 : 0;
    result_.extra += kind == DifferenceKind::kExtra ? 1 : 0;
    if (static_cast<int64_t>(result_.differences.size()) < settings_.differences_max) {
      result_.differences.push_back({kind, WireText(key)});
    }
  }

  absl::Status Mend(const std::vector<WriteText>& writes) {
    if (!settings_.mend || writes.empty()) return absl::OkStatus();
    ARM_RETURN_IF_ERROR(writer_.Write(names_.target, writes));
    const absl::MutexLock lock(&mutex_);
    result_.mended += static_cast<int64_t>(writes.size());
    return absl::OkStatus();
  }

  const CopySides& sides_;
  const CopySettings& settings_;
  const TablePair names_;
  const std::vector<std::string> key_;
  RateLimit source_rate_;
  RateLimit target_rate_;
  BatchWriter writer_;
  const bool has_hashed_key_;
  std::array<bool, kGroups> differs_{};
  absl::Mutex mutex_;
  int64_t read_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_set<std::pair<uint64_t, uint64_t>> held_ ABSL_GUARDED_BY(mutex_);
  VerifyResult result_;
};

}  // namespace

absl::StatusOr<VerifyResult> VerifyTable(const CopySides& sides, const CopySettings& settings, const TablePair& names) {
  ARM_ASSIGN_OR_RETURN(const std::optional<TableInfo> source, ReadTable(&sides.source, names.source));
  if (!source.has_value()) return UsageError(Cat("the source has no table ", names.source));
  ARM_ASSIGN_OR_RETURN(const std::optional<TableInfo> target, ReadTable(&sides.target, names.target));
  if (!target.has_value()) return DifferencesError(Cat("the target has no table ", names.target));
  std::vector<std::string> definition = DifferencesOf(*source, *target);
  for (const std::string& each : definition) {
    if (each.starts_with("KeySchema")) return DifferencesError(Cat("the tables have different keys: ", each));
  }
  const double read_rate = static_cast<double>(source->read_units) * settings.read_share / 100;
  ARM_ASSIGN_OR_RETURN(VerifyResult result, Verifier(sides, settings, names, source->key, read_rate).Run());
  result.definition = std::move(definition);
  return result;
}

}  // namespace armature::cli::copy
