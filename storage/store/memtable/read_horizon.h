#ifndef ARMATURE_STORAGE_STORE_MEMTABLE_READ_HORIZON_H_
#define ARMATURE_STORAGE_STORE_MEMTABLE_READ_HORIZON_H_

// Which old versions of rows can still be read. CollapsingMemtable drops the others. Inside the store only.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/db.h"

namespace armature::store {

// Registers the reads of one database by the sequence number of RocksDB that they may see.
//
// Every read of a family with collapsing memtables (point read, iterator, snapshot) must be made while a Reading or a
// Holding exists that was made before it; if there is only a Holding, of the snapshot that it registers. A read without
// one may miss rows that are overwritten meanwhile.
//
// Thread-safety: thread-safe. Lifetime: outlives the database and all Readings and Holdings.
class ReadHorizon {
 public:
  // Number of reads at one time that are registered one by one. While there are more, nothing is dropped.
  static constexpr size_t kReadings = 64;

  // A read that begins after the construction and ends before the destruction. While it exists, no version that is
  // overwritten after the construction is dropped, in the whole database: not for reads that take minutes. Costs two
  // atomic exchanges.
  class Reading {
   public:
    explicit Reading(ReadHorizon* horizon);
    ~Reading();
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    std::atomic<uint64_t>* place_;
    const bool is_counted_;  // in `crowd_` instead of a place of its own
  };

  // Registers a snapshot that is kept for long. Only the versions that it shows are kept for it, while those that come
  // and go after it are dropped. Made while a Reading exists that is older than the snapshot.
  class Holding {
   public:
    Holding(ReadHorizon* horizon, uint64_t sequence);
    ~Holding();
    Holding(const Holding&) = delete;
    Holding& operator=(const Holding&) = delete;

   private:
    ReadHorizon* const horizon_;
    const uint64_t sequence_;
  };

  // A version with sequence `s`, overwritten by one with sequence `n`, can be dropped if n <= `overwritten` and no
  // `held` is in [s, n). The statement stays true for ever.
  struct Limits {
    uint64_t overwritten = 0;
    std::vector<uint64_t> held;

    bool AllowsToDrop(uint64_t version, uint64_t next_version) const;
  };

  ReadHorizon() = default;
  ReadHorizon(const ReadHorizon&) = delete;
  ReadHorizon& operator=(const ReadHorizon&) = delete;

  // Called once, when the database is open; until then nothing is dropped.
  void Attach(const rocksdb::DB* db) { db_.store(db, std::memory_order_release); }

  // Cost: about 0.1 us.
  void GetLimits(Limits* limits) const;

 private:
  struct alignas(64) Place {
    std::atomic<uint64_t> sequence = 0;  // of the newest version when the read began, plus 1; 0: free
  };

  uint64_t LastSequence() const;

  std::atomic<const rocksdb::DB*> db_ = nullptr;
  std::array<Place, kReadings> places_;
  alignas(64) std::atomic<uint64_t> crowd_ = 0;
  mutable absl::Mutex mutex_;
  std::vector<uint64_t> held_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_MEMTABLE_READ_HORIZON_H_
