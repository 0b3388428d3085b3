#ifndef ARMATURE_STORAGE_STORE_COMMIT_COMMITS_H_
#define ARMATURE_STORAGE_STORE_COMMIT_COMMITS_H_

// Commits of write units, from a request to the committer.

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/store/commit/committer.h"
#include "storage/store/commit/write_unit.h"

namespace armature::store {

class DamagedTables;
class FamilyMaker;

// The way of write units into one database: past the check for damaged tables, by way of FamilyMaker, to the committer.
//
// Thread-safety: thread-safe. Lifetime: the objects that it is made of outlive it.
class Commits {
 public:
  Commits(const DamagedTables* damages, FamilyMaker* families, Committer* committer)
      : damages_(*damages), families_(*families), committer_(*committer) {}

  // Commits a write unit, several units together, or independent ones: see Committer. Other errors: those of
  // FamilyMaker, and DataLoss for a unit that writes rows of a damaged table.
  std::optional<CommitEpoch> Commit(WriteUnit unit, CommitCallback done, const CommitTerms& terms = {});
  std::optional<CommitEpoch> CommitAll(std::vector<WriteUnit> units, CommitCallback done,
                                       const CommitTerms& terms = {});
  std::vector<std::optional<CommitEpoch>> CommitEach(std::vector<Commitment> commitments);

  // See Committer.
  void WhenDurable(CommitEpoch decided_on, size_t held_bytes, CommitCallback done) {
    committer_.WhenDurable(decided_on, held_bytes, std::move(done));
  }
  absl::StatusOr<ChangeSequence> CommitNothing() const { return committer_.CommitNothing(); }
  CommitterCounters counters() const { return committer_.counters(); }
  size_t queue_bytes_max() const { return committer_.queue_bytes_max(); }

 private:
  const DamagedTables& damages_;
  FamilyMaker& families_;
  Committer& committer_;
};

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_COMMIT_COMMITS_H_
