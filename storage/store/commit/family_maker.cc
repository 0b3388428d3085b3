#include "storage/store/commit/family_maker.h"

#include <algorithm>
#include <set>

#include "glog/logging.h"
#include "storage/base/api_error.h"
#include "storage/base/fault_points.h"
#include "storage/store/disk_space.h"
#include "storage/store/rocks_db.h"

namespace armature::store {
namespace {

constexpr int64_t kHeldRetryMs = 50;

// A deletion needs no family: there is nothing to delete in one that is not made.
bool NeedsFamily(const WriteUnit::Op& op) { return op.kind != WriteUnit::OpKind::kDelete && !op.family->is_made(); }

// The applier makes the family of an index whose changes are logged.
bool IndexNeedsFamily(const WriteUnit::IndexOp& op) { return op.is_built && !op.keyspace.family->is_made(); }

bool LacksFamily(const WriteUnit& unit, IndexUpdates updates) {
  return std::any_of(unit.ops().begin(), unit.ops().end(), NeedsFamily) ||
         (updates == IndexUpdates::kWithItem &&
          std::any_of(unit.index_ops().begin(), unit.index_ops().end(), IndexNeedsFamily));
}

bool LackFamily(const std::vector<WriteUnit>& units, IndexUpdates updates) {
  return std::any_of(units.begin(), units.end(),
                     [updates](const WriteUnit& unit) { return LacksFamily(unit, updates); });
}

void AddLacking(const WriteUnit& unit, IndexUpdates updates, std::set<std::string>* names) {
  for (const WriteUnit::Op& op : unit.ops()) {
    if (NeedsFamily(op)) names->insert(op.family->name());
  }
  if (updates == IndexUpdates::kLogged) return;
  for (const WriteUnit::IndexOp& op : unit.index_ops()) {
    if (IndexNeedsFamily(op)) names->insert(op.keyspace.family->name());
  }
}

}  // namespace

FamilyMaker::FamilyMaker(const DatabaseOptions& options, RocksDb* db, Committer* committer)
    : options_(options), db_(db), committer_(committer) {
  worker_.Start();
}

std::optional<CommitEpoch> FamilyMaker::CommitAll(std::vector<WriteUnit> units, CommitCallback done,
                                                  const CommitTerms& terms) {
  db_->CountClientWrites(1);
  absl::Status refused;
  if (Hold(&units, &done, terms, &refused)) return std::nullopt;
  if (!refused.ok()) {
    std::move(done)(std::move(refused));
    return std::nullopt;
  }
  return committer_->CommitAll(std::move(units), std::move(done), terms);
}

std::vector<std::optional<CommitEpoch>> FamilyMaker::CommitEach(std::vector<Commitment> commitments) {
  db_->CountClientWrites(commitments.size());
  const bool all_pass = held_.load(std::memory_order_acquire) == 0 &&
                        std::none_of(commitments.begin(), commitments.end(), [this](const Commitment& each) {
                          return LacksFamily(each.unit, options_.index_updates);
                        });
  if (all_pass) return committer_->CommitEach(std::move(commitments));
  std::vector<std::optional<CommitEpoch>> queued(commitments.size());
  std::vector<Commitment> passing;
  std::vector<size_t> places;  // of the passing ones
  passing.reserve(commitments.size());
  for (size_t i = 0; i < commitments.size(); ++i) {
    Commitment& each = commitments[i];
    std::vector<WriteUnit> units;
    units.push_back(std::move(each.unit));
    absl::Status refused;
    if (Hold(&units, &each.done, each.terms, &refused)) continue;
    if (!refused.ok()) {
      std::move(each.done)(std::move(refused));
      continue;
    }
    passing.push_back({std::move(units.front()), std::move(each.done), each.terms});
    places.push_back(i);
  }
  if (passing.empty()) return queued;
  const std::vector<std::optional<CommitEpoch>> passed = committer_->CommitEach(std::move(passing));
  for (size_t i = 0; i < passed.size(); ++i) queued[places[i]] = passed[i];
  return queued;
}

bool FamilyMaker::Hold(std::vector<WriteUnit>* units, CommitCallback* done, const CommitTerms& terms,
                       absl::Status* refused) {
  // A commit that must stay behind one that waits was made after it, and sees that it is held.
  const bool lacks = LackFamily(*units, options_.index_updates);
  if (!lacks && held_.load(std::memory_order_acquire) == 0) return false;
  const size_t bytes = ByteSize(*units) + terms.held_bytes;
  if (lacks) {
    // Nothing is made for a write that would then be refused.
    *refused = db_->space()->CheckClients();
    if (!refused->ok()) {
      db_->space()->CountRefused();
      return false;
    }
  }
  const absl::MutexLock lock(&mutex_);
  if (!lacks && !TouchesWaiting(*units)) return false;
  if (waiting_.size() >= options_.commit_queue_units_max ||
      (waiting_bytes_ + bytes > options_.commit_queue_bytes_max && !waiting_.empty())) {
    *refused = ThrottlingError("The server has more first writes to tables waiting than it can commit; slow down",
                               kHeldRetryMs);
    return false;
  }
  for (const WriteUnit& unit : *units) {
    for (const WriteUnit::Op& op : unit.ops()) {
      if (op.family->is_of_table()) ++touched_[op.family];
    }
  }
  waiting_bytes_ += bytes;
  held_.fetch_add(1, std::memory_order_release);
  waiting_.push_back({std::move(*units), std::move(*done), terms, bytes});
  worker_.Wake();
  return true;
}

bool FamilyMaker::TouchesWaiting(const std::vector<WriteUnit>& units) const {
  for (const WriteUnit& unit : units) {
    for (const WriteUnit::Op& op : unit.ops()) {
      if (touched_.contains(op.family)) return true;
    }
  }
  return false;
}

void FamilyMaker::PassOnAll() {
  while (true) {
    std::vector<Waiting> group;
    {
      const absl::MutexLock lock(&mutex_);
      if (waiting_.empty()) return;
      group.swap(waiting_);
    }
    PassOn(std::move(group));
  }
}

void FamilyMaker::PassOn(std::vector<Waiting> group) {
  std::set<std::string> names;
  absl::flat_hash_map<const ColumnFamily*, size_t> passed;
  size_t bytes = 0;
  for (const Waiting& each : group) {
    bytes += each.bytes;
    for (const WriteUnit& unit : each.units) {
      AddLacking(unit, options_.index_updates, &names);
      for (const WriteUnit::Op& op : unit.ops()) {
        if (op.family->is_of_table()) ++passed[op.family];
      }
    }
  }
  absl::Status made;
  if (!names.empty()) {
    ARM_FAULT_POINT("families.before_make");
    made = db_->CreateFamilies({names.begin(), names.end()});
    ARM_FAULT_POINT("families.after_make");
    if (!made.ok()) {
      LOG_EVERY_N(ERROR, 100) << "families: cannot be made count=" << names.size() << " status=" << made;
    }
  }
  const size_t count = group.size();
  std::vector<Commitment> singles;  // queued together
  for (Waiting& each : group) {
    if (LackFamily(each.units, options_.index_updates)) {
      std::move(each.done)(made);
    } else if (each.units.size() == 1) {
      singles.push_back({std::move(each.units.front()), std::move(each.done), each.terms});
    } else {
      committer_->CommitEach(std::exchange(singles, {}));
      committer_->CommitAll(std::move(each.units), std::move(each.done), each.terms);
    }
  }
  committer_->CommitEach(std::move(singles));
  // Only now may later commits to these families overtake this thread.
  const absl::MutexLock lock(&mutex_);
  for (const auto& [family, rows] : passed) {
    const auto found = touched_.find(family);
    found->second -= rows;
    if (found->second == 0) touched_.erase(found);
  }
  waiting_bytes_ -= bytes;
  held_.fetch_sub(count, std::memory_order_release);
}

}  // namespace armature::store
