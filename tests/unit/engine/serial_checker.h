#ifndef ARMATURE_TESTS_UNIT_ENGINE_SERIAL_CHECKER_H_
#define ARMATURE_TESTS_UNIT_ENGINE_SERIAL_CHECKER_H_

// Whether what clients saw has an explanation: one order of all operations, in which each sees what those before it
// have left, and which keeps the order of operations that did not overlap in time.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace armature::engine {

// What an operation did to one item, whose state is a number; 0 is what it has in the beginning. Each state is written
// at most once, so that it tells who wrote it.
struct Access {
  int item = 0;
  int64_t seen = 0;
  int64_t written = 0;  // 0: it only read
};

struct Operation {
  int64_t began = 0;  // times of one clock; each at most once
  int64_t ended = 0;
  std::vector<Access> accesses;  // at one moment; each item at most once
};

// Empty if there is such an order; otherwise what speaks against it.
//
// A write tells which state it found, so the states of an item form a chain: two writes that found the same one are a
// lost update. Chains, reads between their links and the order in time are edges of a graph, and an order exists
// exactly if it has no cycle. Cost: time grows with the square of the number of operations at worst; memory with the
// number.
//
// `unanswered`: operations of which nobody knows whether they were carried out, but not after their `ended`; what they
// saw is the only thing that they would have accepted. One of which somebody saw a state was carried out, as a whole;
// any other is left out. So each write must tell what it found, and the history must read all items at its end.
std::string FindContradiction(const std::vector<Operation>& history, const std::vector<Operation>& unanswered = {});

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_SERIAL_CHECKER_H_
