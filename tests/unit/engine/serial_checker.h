#ifndef ARMATURE_TESTS_UNIT_ENGINE_SERIAL_CHECKER_H_
#define ARMATURE_TESTS_UNIT_ENGINE_SERIAL_CHECKER_H_

// Checks that concurrent operations have a serial order that explains what each of them saw and that keeps the
// real-time order of operations that did not overlap (linearizability).

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace armature::engine {

// The access of an operation to one item. States of an item are numbers, starting with 0. Each state is written at most
// once, so it identifies its writer.
struct Access {
  int item = 0;
  int64_t seen = 0;
  int64_t written = 0;  // 0: read only
};

struct Operation {
  int64_t began = 0;  // times of one clock, all different
  int64_t ended = 0;
  std::vector<Access> accesses;  // at one moment; each item at most once
};

// Empty if there is such an order. Otherwise describes the contradiction.
//
// A write reports the state that it replaced, so the states of an item form a chain. Two writes that replaced the same
// state are a lost update. Chains, reads between their links and the order in time are edges of a graph; an order
// exists exactly if the graph has no cycle. Cost: at worst quadratic time and linear memory in the number of
// operations.
//
// `unanswered`: operations of unknown outcome, executed before their `ended` or never. Their `seen` states are
// conditions: the operation had no effect unless they held. An operation with a state that another one saw was executed
// as a whole; the rest are ignored. So each write must state what it replaces, and the history must end with a read of
// all items.
std::string FindContradiction(const std::vector<Operation>& history, const std::vector<Operation>& unanswered = {});

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_SERIAL_CHECKER_H_
