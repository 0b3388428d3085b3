#include "storage/store/commit/commits.h"

#include <utility>

#include "storage/store/commit/family_maker.h"
#include "storage/store/damaged_tables.h"

namespace armature::store {

std::optional<CommitEpoch> Commits::Commit(WriteUnit unit, CommitCallback done, const CommitTerms& terms) {
  std::vector<WriteUnit> units;
  units.push_back(std::move(unit));
  return CommitAll(std::move(units), std::move(done), terms);
}

std::optional<CommitEpoch> Commits::CommitAll(std::vector<WriteUnit> units, CommitCallback done,
                                              const CommitTerms& terms) {
  for (const WriteUnit& unit : units) {
    if (absl::Status refused = damages_.CheckWritable(unit); !refused.ok()) {
      std::move(done)(std::move(refused));
      return std::nullopt;
    }
  }
  return families_.CommitAll(std::move(units), std::move(done), terms);
}

std::vector<std::optional<CommitEpoch>> Commits::CommitEach(std::vector<Commitment> commitments) {
  if (commitments.empty()) return {};
  if (!damages_.any()) return families_.CommitEach(std::move(commitments));
  std::vector<std::optional<CommitEpoch>> queued;
  queued.reserve(commitments.size());
  for (Commitment& each : commitments) queued.push_back(Commit(std::move(each.unit), std::move(each.done), each.terms));
  return queued;
}

}  // namespace armature::store
