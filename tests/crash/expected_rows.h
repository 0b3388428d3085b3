#ifndef ARMATURE_TESTS_CRASH_EXPECTED_ROWS_H_
#define ARMATURE_TESTS_CRASH_EXPECTED_ROWS_H_

// The rows that a table may have after a crash: for each key the last acknowledged write, or the one in progress.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "armature/client/item_builder.h"

namespace armature::test {

// Every write has a unique version. Key and version determine the whole item. 0: no item.
using Version = int64_t;
using RowKey = std::pair<std::string, int64_t>;  // pk, sk

client::Item KeyItem(const RowKey& key);
// An item with the attributes pk, sk, v, often l and g, and a text of varying length.
client::Item ItemOfVersion(const RowKey& key, Version version);
// The version of an item, 0 if `item` was not made by ItemOfVersion.
Version VersionOf(const client::Item& item);

// Thread-safety: thread-safe; each key has one writer.
class ExpectedRows {
 public:
  // Call it before a write is sent. Version 0 is a delete. Each key has at most one write in progress.
  void Begin(const RowKey& key, Version version);
  // The write was acknowledged.
  void Acknowledge(const RowKey& key);
  // The write was certainly not applied.
  void Withdraw(const RowKey& key);

  // After a crash: true if the row may have version `found`. This decides the write in progress.
  bool Settle(const RowKey& key, Version found);

  std::map<RowKey, Version> Acknowledged() const;
  int64_t acknowledged_writes() const;

 private:
  struct Row {
    Version acknowledged = 0;
    std::optional<Version> pending;
  };
  mutable absl::Mutex mutex_;
  std::map<RowKey, Row> rows_ ABSL_GUARDED_BY(mutex_);
  int64_t acknowledged_writes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace armature::test

#endif  // ARMATURE_TESTS_CRASH_EXPECTED_ROWS_H_
