#ifndef ARMATURE_STORAGE_STORE_MEMTABLE_COLLAPSING_MEMTABLE_H_
#define ARMATURE_STORAGE_STORE_MEMTABLE_COLLAPSING_MEMTABLE_H_

// A memtable that forgets versions of rows that nobody can read any more. Inside the store only.

#include <memory>

#include "rocksdb/memtablerep.h"

namespace armature::store {

class ReadHorizon;

// Memtables of RocksDB's own kind keep every version of a row until they are flushed, and a range read steps over all
// of them. Collapsing memtables are skip lists as well, but a write of a row unlinks its older versions as soon as
// `horizon` says that no read needs them. A row has one version, except for the few rows that were written last, and
// except for versions that snapshots show. A deletion is a version like any other: it stays, because files may hold the
// row.
//
// Unlinked versions stay in the memtable's memory, where a reader may stand on one and go on from there. So memory, the
// size at which a memtable is flushed, the log and the flushed files are as before.
//
// Searches begin near the key if the first four bytes of the keys are spread evenly, as those of rows are, which begin
// with a hash. With other keys they are as slow as in any skip list, and as right.
//
// Requires of its families: the bytewise comparator, only puts and deletes, no concurrent memtable writes. RocksDB's
// check that a flush writes as many entries as were inserted (flush_verify_memtable_count) must be off. `horizon`
// outlives the database; every read of the families is registered there.
std::shared_ptr<rocksdb::MemTableRepFactory> MakeCollapsingMemtableFactory(const ReadHorizon* horizon);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_MEMTABLE_COLLAPSING_MEMTABLE_H_
