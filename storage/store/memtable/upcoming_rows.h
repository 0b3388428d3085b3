#ifndef ARMATURE_STORAGE_STORE_MEMTABLE_UPCOMING_ROWS_H_
#define ARMATURE_STORAGE_STORE_MEMTABLE_UPCOMING_ROWS_H_

// Rows of a batch that are about to be inserted into memtables. Inside the store only.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace armature::store {

// RocksDB inserts the rows of a batch one after another, and each search for a place waits for memory several times. A
// memtable that knows the rows to come searches for several places at once, so that their waits overlap.
//
// While an UpcomingRows exists, memtables that insert on its thread see its rows. If another thread inserts the batch,
// nobody sees them, and nothing but the time differs. The objects do not nest.
class UpcomingRows {
 public:
  struct Row {
    std::string_view key;
    const void* family;  // identifies the memtable of the row
  };
  // Number of rows that a memtable looks for at once. Their places must still be in the processor's cache when they are
  // inserted.
  static constexpr size_t kAheadMax = 32;

  // `rows`: in the order in which they are inserted, by memtables that ask; other rows may be inserted between them.
  // The bytes of their keys must outlive this.
  explicit UpcomingRows(std::vector<Row> rows);
  ~UpcomingRows();
  UpcomingRows(const UpcomingRows&) = delete;
  UpcomingRows& operator=(const UpcomingRows&) = delete;

  // For memtables, before they insert a row with this key: the rows to look for now, which begin with it; empty if they
  // were returned before, or the row is not known.
  static std::span<const Row> Before(std::string_view key);

 private:
  std::span<const Row> Advance(std::string_view key);

  const std::vector<Row> rows_;
  size_t next_ = 0;   // the next row to be inserted
  size_t ahead_ = 0;  // rows before this were returned
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_MEMTABLE_UPCOMING_ROWS_H_
