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

// Counts rows, filters, projects, gives to the page what passes, and says where the page ends.
//
// VisitRow takes the rows of ReadRange, for plans without fetch; Choose and Visit are for ReadJoined, for the others.
//
// Thread-safety: owned by one thread. Lifetime: all arguments outlive it.
class PageCollector final : public store::JoinVisitor {
 public:
  PageCollector(const RequestContext& context, const ReadPlan& plan, PageWriter* page);

  // Stops at the first row that cannot be read, which `status` tells.
  store::RowVerdict VisitRow(std::string_view value);

  // Judges the filter, where an entry is enough for it, and chooses the items to fetch. Stops where Visit will stop at
  // the latest, so that no more is read ahead than the page can hold.
  absl::StatusOr<Choice> Choose(std::string_view entry) override;
  absl::StatusOr<store::RowVerdict> Visit(std::string_view entry, std::optional<std::string_view> row) override;

  const absl::Status& status() const { return status_; }
  // What was read: sizes of rows (of entries, with fetches) as the API counts them; 4 KB blocks of fetched items.
  size_t entry_bytes() const { return visited_.entry_bytes; }
  size_t fetched_blocks() const { return visited_.fetched_blocks; }
  // Called once, at the end.
  ReadResult TakeResult();

 private:
  // How far a page has come, as its limits count.
  struct Progress {
    int64_t rows = 0;
    size_t entry_bytes = 0;
    size_t fetched_blocks = 0;
  };

  absl::StatusOr<codec::StoredItemView> Parse(std::string_view value, int64_t rows_before) const;
  bool Passes(const model::ItemView& item) const;
  // Whether a page that has come so far takes no more rows.
  bool IsFull(const Progress& progress) const;
  void Keep(const model::ItemView& item);
  // After the row of `key_source` was counted and kept or not.
  store::RowVerdict EndRow(const model::ItemView& key_source);

  const RequestContext& context_;
  const ReadPlan& plan_;
  PageWriter* const page_;
  const bool count_only_;
  // With fetches: items are taken from the table, not from the index.
  const bool keeps_fetched_;
  const int64_t rows_max_;
  int64_t kept_ = 0;
  size_t encoded_bytes_ = 0;
  Progress visited_;
  Progress chosen_;  // what it will be at least after the last entry that was chosen
  std::optional<std::string> last_key_;
  absl::Status status_;
};

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_ITEMS_PAGE_COLLECTOR_H_
