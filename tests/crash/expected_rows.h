#ifndef ARMATURE_TESTS_CRASH_EXPECTED_ROWS_H_
#define ARMATURE_TESTS_CRASH_EXPECTED_ROWS_H_

// What a table must hold after a crash: for each key what was acknowledged last, and what was under way.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "armature/client/item_builder.h"

namespace armature::test {

// Every write has a version of its own, and the whole item follows from key and version. 0: no item.
using Version = int64_t;
using RowKey = std::pair<std::string, int64_t>;  // pk, sk

client::Item KeyItem(const RowKey& key);
// Attributes: pk, sk, v, often l and g, and a text of varying length.
client::Item ItemOfVersion(const RowKey& key, Version version);
// The way back. 0 if `item` is none that ItemOfVersion made.
Version VersionOf(const client::Item& item);

// Thread-safety: thread-safe; each key has one writer.
class ExpectedRows {
 public:
  // Before a write is sent; 0 deletes. Only one per key is under way.
  void Begin(const RowKey& key, Version version);
  // The write was acknowledged.
  void Acknowledge(const RowKey& key);
  // The write was certainly not applied.
  void Withdraw(const RowKey& key);

  // After a crash: whether the row may have `found`. What was under way is settled by that.
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
