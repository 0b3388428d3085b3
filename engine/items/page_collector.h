#ifndef ARMATURE_ENGINE_ITEMS_PAGE_COLLECTOR_H_
#define ARMATURE_ENGINE_ITEMS_PAGE_COLLECTOR_H_

// Collects the rows of one page of a Query or Scan.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/items/page_reader.h"
#include "engine/items/request.h"
#include "storage/codec/stored_item.h"
#include "storage/model/item_view.h"
#include "storage/store/database.h"

namespace armature::engine {

// Counts and filters rows, projects those that pass into the page, and decides where the page ends.
//
// VisitRow is for plans without fetch, which use ReadRange. Choose and Visit are for plans with fetch, which use
// ReadJoined.
//
// Thread-safety: owned by one thread. Lifetime: all arguments outlive it.
class PageCollector final : public store::JoinVisitor {
 public:
  PageCollector(const RequestContext& context, const ReadPlan& plan, PageWriter* page);

  // Stops at the first row that cannot be read; `status` holds the error.
  store::RowVerdict VisitRow(std::string_view value);

  // Applies the filter, if it needs only the entry, and chooses the items to fetch. Stops no later than Visit will, so
  // that no entries are read beyond the page.
  absl::StatusOr<Choice> Choose(std::string_view entry) override;
  absl::StatusOr<store::RowVerdict> Visit(std::string_view entry, std::optional<std::string_view> row) override;

  const absl::Status& status() const { return status_; }
  // Amounts read: API sizes of rows (of entries, for plans with fetch), and 4 KB blocks of fetched items.
  size_t entry_bytes() const { return visited_.entry_bytes; }
  size_t fetched_blocks() const { return visited_.fetched_blocks; }
  // Called once, at the end.
  ReadResult TakeResult();

 private:
  // Counters that the page limits apply to.
  struct Progress {
    int64_t rows = 0;
    size_t entry_bytes = 0;
    size_t fetched_blocks = 0;
  };

  absl::StatusOr<codec::StoredItemView> Parse(std::string_view value, int64_t rows_before) const;
  bool Passes(const model::ItemView& item) const;
  // True if a page with this progress accepts no more rows.
  bool IsFull(const Progress& progress) const;
  void Keep(const model::ItemView& item);
  // Ends a row after it was counted and filtered. `key_source` provides the page's last key.
  store::RowVerdict EndRow(const model::ItemView& key_source);

  const RequestContext& context_;
  const ReadPlan& plan_;
  PageWriter* const page_;
  const bool count_only_;
  // plans with fetch: items come from the table, not from the index
  const bool keeps_fetched_;
  const int64_t rows_max_;
  int64_t kept_ = 0;
  size_t encoded_bytes_ = 0;
  Progress visited_;
  Progress chosen_;  // lower bound of the progress after the last chosen entry
  std::optional<std::string> last_key_;
  absl::Status status_;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_PAGE_COLLECTOR_H_
