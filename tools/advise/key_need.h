#ifndef ARMATURE_TOOLS_ADVISE_KEY_NEED_H_
#define ARMATURE_TOOLS_ADVISE_KEY_NEED_H_

// The demands of an access pattern on a key, and the keys that meet the demands of several patterns at once.
//
// A Query gives all partition attributes by equality, then sort attributes from the left by equality, and possibly the
// next one by a range. The answer is ordered by the sort attributes. A pattern therefore determines which attributes
// are the first sort attributes, but not the order of those that it gives by equality. This freedom lets one index
// answer many patterns.

#include <cstddef>
#include <optional>
#include <vector>

#include "tools/advise/workload.h"

namespace armature::advise {

// The demands of a pattern that keys can meet.
struct KeyNeed {
  AttributeList equality;
  std::optional<AttributeId> range;
  AttributeList order;  // without attributes that are constant in an answer; begins with `range`
  AttributeList has;    // sparse attributes that the key must have in any position

  // Work that remains for the rows that the key finds.
  AttributeList filters;          // equality conditions checked for each row
  AttributeList other_filters;    // range and existence conditions checked for each row
  bool sorted_by_client = false;  // the key does not give the whole order
  bool local = false;             // needs a local index

  // The sort attributes after those given by equality, in order.
  AttributeList Tail() const;

  // True if the pattern wants only items with `id`.
  bool Demands(AttributeId id) const;
};

KeyNeed NeedOf(const Table& table, const Pattern& pattern);

// The same for a local index, which has one sort attribute: the order if there is one, or else the most selective
// equality. The remaining conditions become filters. `partition`: the partition attribute of the table.
KeyNeed LocalNeed(const Table& table, const KeyNeed& need, AttributeId partition);

// Sort attributes that meet all needs after the given partition attributes. Nothing if the needs contradict each other
// or need too many attributes. Where the needs leave the order open, attributes with few values come first.
std::optional<AttributeList> MergedSort(const Table& table, const std::vector<const KeyNeed*>& needs,
                                        const AttributeList& partition);

// True if a Query with this key finds all rows of the need, in order.
bool Answers(const Table& table, const Key& key, const KeyNeed& need);

// True if an index with this key has all items of the need: no such item lacks an attribute of the key.
bool HoldsAllItems(const Table& table, const AttributeList& key, const KeyNeed& need);

}  // namespace armature::advise

#endif  // ARMATURE_TOOLS_ADVISE_KEY_NEED_H_
