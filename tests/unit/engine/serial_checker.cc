#include "tests/unit/engine/serial_checker.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "storage/base/strings.h"

namespace armature::engine {
namespace {

using State = std::pair<int, int64_t>;  // an item and one of its states

// A graph of operations and of the moments between them.
class Graph {
 public:
  explicit Graph(std::vector<Operation> history) : history_(std::move(history)), edges_(2 * history_.size()) {}

  std::string Check() {
    std::string problem = FindWriters();
    if (problem.empty()) problem = AddAccesses();
    if (!problem.empty()) return problem;
    AddTimes();
    return FindCycle();
  }

 private:
  std::string FindWriters() {
    for (size_t i = 0; i < history_.size(); ++i) {
      for (const Access& access : history_[i].accesses) {
        if (access.written == 0) continue;
        if (!writers_.emplace(State{access.item, access.written}, i).second) {
          return Cat("item ", access.item, " state ", access.written, " was written twice");
        }
        if (!followers_.emplace(State{access.item, access.seen}, i).second) {
          return Cat("item ", access.item, ": two writes found state ", access.seen, ", one of them is lost");
        }
      }
    }
    return "";
  }

  std::string AddAccesses() {
    for (size_t i = 0; i < history_.size(); ++i) {
      for (const Access& access : history_[i].accesses) {
        const State seen{access.item, access.seen};
        if (access.seen != 0) {
          const auto writer = writers_.find(seen);
          if (writer == writers_.end()) return Cat("item ", access.item, " state ", access.seen, " was never written");
          edges_[writer->second].push_back(i);
        }
        const auto follower = followers_.find(seen);
        if (access.written == 0 && follower != followers_.end()) edges_[i].push_back(follower->second);
      }
    }
    return "";
  }

  // Adds a chain of nodes for the ends of operations. Each operation precedes its end. The last end before an operation
  // began precedes the operation.
  void AddTimes() {
    std::vector<size_t> by_end(history_.size());
    std::iota(by_end.begin(), by_end.end(), size_t{0});
    std::sort(by_end.begin(), by_end.end(),
              [this](size_t a, size_t b) { return history_[a].ended < history_[b].ended; });
    const size_t first_point = history_.size();
    for (size_t i = 0; i < by_end.size(); ++i) {
      edges_[by_end[i]].push_back(first_point + i);
      if (i + 1 < by_end.size()) edges_[first_point + i].push_back(first_point + i + 1);
    }
    for (size_t i = 0; i < history_.size(); ++i) {
      const auto after = std::partition_point(
          by_end.begin(), by_end.end(), [this, i](size_t other) { return history_[other].ended < history_[i].began; });
      if (after == by_end.begin()) continue;
      edges_[first_point + static_cast<size_t>(after - by_end.begin()) - 1].push_back(i);
    }
  }

  // Removes nodes without predecessors until none is left. Remaining nodes are on a cycle or after one.
  std::string FindCycle() const {
    std::vector<size_t> before(edges_.size(), 0);
    for (const auto& targets : edges_) {
      for (const size_t target : targets) ++before[target];
    }
    std::vector<size_t> free;
    for (size_t i = 0; i < edges_.size(); ++i) {
      if (before[i] == 0) free.push_back(i);
    }
    size_t taken = 0;
    while (!free.empty()) {
      const size_t node = free.back();
      free.pop_back();
      ++taken;
      for (const size_t target : edges_[node]) {
        if (--before[target] == 0) free.push_back(target);
      }
    }
    if (taken == edges_.size()) return "";
    return Cat("no order explains what was seen: ", edges_.size() - taken, " operations and times go round in circles");
  }

  const std::vector<Operation> history_;
  std::map<State, size_t> writers_;    // the operation that wrote a state
  std::map<State, size_t> followers_;  // the operation that wrote the next state
  std::vector<std::vector<size_t>> edges_;
};

// Adds those unanswered operations whose states were seen by others, also by other added ones.
std::vector<Operation> AddCarriedOut(std::vector<Operation> history, std::vector<Operation> unanswered) {
  std::set<State> seen;
  const auto look = [&seen](const Operation& operation) {
    for (const Access& access : operation.accesses) seen.emplace(access.item, access.seen);
  };
  const auto is_seen = [&seen](const Operation& operation) {
    return std::any_of(operation.accesses.begin(), operation.accesses.end(), [&seen](const Access& access) {
      return access.written != 0 && seen.count({access.item, access.written}) > 0;
    });
  };
  for (const Operation& operation : history) look(operation);
  while (true) {
    const auto carried_out = std::find_if(unanswered.begin(), unanswered.end(), is_seen);
    if (carried_out == unanswered.end()) return history;
    look(*carried_out);
    history.push_back(std::move(*carried_out));
    unanswered.erase(carried_out);
  }
}

}  // namespace

std::string FindContradiction(const std::vector<Operation>& history, const std::vector<Operation>& unanswered) {
  return Graph(AddCarriedOut(history, unanswered)).Check();
}

}  // namespace armature::engine
