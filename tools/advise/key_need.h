#ifndef ARMATURE_TOOLS_ADVISE_KEY_NEED_H_
#define ARMATURE_TOOLS_ADVISE_KEY_NEED_H_

// What an access pattern demands of a key, and which keys meet the demands of several patterns at once.
//
// A Query names all partition attributes by equality, then sort attributes from the left by equality, the last one
// perhaps by a range; the answer is in the order of the sort attributes. So a pattern fixes which attributes come
// first among the sort attributes, but not the order among those that it gives by equality: that freedom lets one
// index answer many patterns.

#include <cstddef>
#include <optional>
#include <vector>

#include "tools/advise/workload.h"

namespace armature::advise {

// A pattern, reduced to what keys can do.
struct KeyNeed {
  AttributeList equality;
  std::optional<AttributeId> range;
  AttributeList order;  // Without what is constant in an answer; begins with the range attribute if there are both.
  AttributeList has;    // Sparse attributes that the key must hold, wherever.

  // What is left to do with the rows that the key finds.
  AttributeList filters;          // Equality with these is checked row by row.
  AttributeList other_filters;    // As above, for ranges and existence.
  bool sorted_by_client = false;  // Keys cannot give the order, or not all of it.
  bool local = false;             // Only a local index will do.

  // The sort attributes behind those of equality, in order.
  AttributeList Tail() const;

  // Whether items without `id` are none of the answer.
  bool Demands(AttributeId id) const;
};

KeyNeed NeedOf(const Table& table, const Pattern& pattern);

// The same for a local index, which has one sort attribute: the order is kept, else the most selective equality;
// what remains becomes a filter. `partition` is the table's.
KeyNeed LocalNeed(const Table& table, const KeyNeed& need, AttributeId partition);

// Sort attributes that serve all needs behind the given partition attributes, or nothing if they contradict each other
// or are too many. Where the needs leave the order open, attributes with few values come first.
std::optional<AttributeList> MergedSort(const Table& table, const std::vector<const KeyNeed*>& needs,
                                        const AttributeList& partition);

// Whether a Query of something with this key finds the rows of the need, all of them, in order.
bool Answers(const Table& table, const Key& key, const KeyNeed& need);

// Whether no item that a need asks for is missing from an index because it lacks an attribute of the key.
bool HoldsAllItems(const Table& table, const AttributeList& key, const KeyNeed& need);

}  // namespace armature::advise

#endif  // ARMATURE_TOOLS_ADVISE_KEY_NEED_H_
