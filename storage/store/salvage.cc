#include "storage/store/salvage.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "storage/base/strings.h"
#include "storage/codec/key_codec.h"
#include "storage/store/meta_keys.h"
#include "storage/store/rocks_status.h"

namespace armature::store {
namespace {

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

}  // namespace

RangeEnd WalkPastDamage(MakeIterator make, std::string_view family, const KeyRange& range,
                        absl::FunctionRef<RowVerdict(std::string_view, std::string_view)> visit,
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

}  // namespace armature::store
