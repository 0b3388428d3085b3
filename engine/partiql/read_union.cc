#include "engine/partiql/read_union.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"

namespace armature::engine::partiql {
namespace {

using Partition = std::vector<const std::string*>;
using Terms = std::vector<const Condition*>;

// Orders partitions by their values in wire form, which are equal if the values are.
struct PartitionLess {
  bool operator()(const Partition& a, const Partition& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [](const std::string* one, const std::string* other) { return *one < *other; });
  }
};

// True for an OR of which each branch selects by one of `attributes`.
bool IsChoiceBy(const std::vector<model::KeyAttribute>& attributes, const Condition& term) {
  if (term.kind != Condition::Kind::kOr) return false;
  const Terms branches = Disjuncts(term);
  return std::all_of(branches.begin(), branches.end(), [&attributes](const Condition* branch) {
    const Terms terms = Conjuncts(*branch);
    return std::any_of(terms.begin(), terms.end(),
                       [&attributes](const Condition* each) { return SelectsBy(attributes, *each); });
  });
}

// True unless the branch makes the statement a scan, whatever its other conditions are.
bool RestrictsPartition(const model::KeySchema& schema, const Condition& branch) {
  const Terms terms = Conjuncts(branch);
  return std::all_of(schema.partition.begin(), schema.partition.end(), [&terms](const model::KeyAttribute& attribute) {
    return std::any_of(terms.begin(), terms.end(), [&attribute](const Condition* term) {
      return ListsValuesOf(attribute.name, *term) || IsChoiceBy({attribute}, *term);
    });
  });
}

// The conjunctions that `terms` is the OR of, because of its first term that is a choice by one of `attributes`;
// without such a term only itself. Further choices are filters: read by several of them, an item would be read twice.
// Errors: ValidationException for more than kReadsMax conjunctions, which are not made.
absl::StatusOr<std::vector<Terms>> Distributed(const std::vector<model::KeyAttribute>& attributes, const Terms& terms) {
  const auto choice =
      std::find_if(terms.begin(), terms.end(), [&](const Condition* term) { return IsChoiceBy(attributes, *term); });
  if (choice == terms.end()) return std::vector<Terms>{terms};
  const Terms branches = Disjuncts(**choice);
  if (branches.size() > kReadsMax) return TooManyReadsError();
  std::vector<Terms> all;
  for (const Condition* const branch : branches) {
    Terms& each = all.emplace_back(terms.begin(), choice);
    const Terms inner = Conjuncts(*branch);
    each.insert(each.end(), inner.begin(), inner.end());
    each.insert(each.end(), choice + 1, terms.end());
  }
  return all;
}

// True if `terms` gives values to all partition attributes. A conjunction that does not makes the statement a scan.
bool ListsPartition(const model::KeySchema& schema, const Terms& terms) {
  return std::all_of(schema.partition.begin(), schema.partition.end(), [&terms](const model::KeyAttribute& attribute) {
    return std::any_of(terms.begin(), terms.end(),
                       [&attribute](const Condition* term) { return ListsValuesOf(attribute.name, *term); });
  });
}

// True if a conjunction of `branches` makes the statement a scan. Errors: ValidationException for a choice between more
// than kReadsMax conditions.
absl::StatusOr<bool> HasScan(const model::KeySchema& schema, const Terms& branches) {
  for (const Condition* const branch : branches) {
    ARM_ASSIGN_OR_RETURN(const std::vector<Terms> all, Distributed(schema.partition, Conjuncts(*branch)));
    const bool is_scan =
        !std::all_of(all.begin(), all.end(), [&schema](const Terms& terms) { return ListsPartition(schema, terms); });
    if (is_scan) return true;
  }
  return false;
}

// The reads of one branch of WHERE, none if it makes the statement a scan. Choices between keys inside of it are
// multiplied out, until the budget is spent.
absl::StatusOr<std::vector<KeyReads>> ReadsOfBranch(const model::KeySchema& schema, const Condition& branch,
                                                    ReadBudget* budget) {
  std::vector<KeyReads> all;
  ARM_ASSIGN_OR_RETURN(const std::vector<Terms> by_partition, Distributed(schema.partition, Conjuncts(branch)));
  for (const Terms& terms : by_partition) {
    if (budget->is_spent()) return all;
    ARM_ASSIGN_OR_RETURN(KeyReads found, FindKeyReads(schema, terms));
    if (found.reads.empty()) return std::vector<KeyReads>();
    budget->Count(found.reads.size());
    ARM_ASSIGN_OR_RETURN(const std::vector<Terms> by_sort, Distributed(schema.sort, terms));
    // Also when the budget is spent: a branch without reads would make the statement a scan.
    if (by_sort.size() == 1 || budget->is_spent()) {
      all.push_back(std::move(found));
      continue;
    }
    for (auto each = by_sort.begin(); each != by_sort.end() && !budget->is_spent(); ++each) {
      ARM_ASSIGN_OR_RETURN(found, FindKeyReads(schema, *each));
      budget->Count(found.reads.size());
      all.push_back(std::move(found));
    }
  }
  return all;
}

KeyedRead MakeRead(const model::KeySchema& schema, const KeyTerms& key, const std::vector<const Condition*>& others,
                   const Condition& branch, size_t number) {
  KeyedRead read;
  read.key = key;
  read.others = others;
  read.branches = {&branch};
  read.number = number;
  // Conditions on other attributes alone do not tell whether two branches select the same items.
  const bool is_filter_only = key.sort.empty() && !others.empty();
  if (!is_filter_only) read.range = RangeOf(schema, key);
  return read;
}

// Errors: ValidationException if two reads of a partition select the same sort keys.
absl::Status CheckApart(const std::vector<KeyedRead>& reads) {
  std::vector<const SortRange*> ranges;
  for (const KeyedRead& read : reads) {
    if (read.range.has_value() && !read.range->empty()) ranges.push_back(&*read.range);
  }
  std::sort(ranges.begin(), ranges.end(), [](const SortRange* a, const SortRange* b) { return a->begin < b->begin; });
  for (size_t i = 1; i < ranges.size(); ++i) {
    const SortRange& before = *ranges[i - 1];
    if (before.end.empty() || ranges[i]->begin < before.end) return OverlapError();
  }
  return absl::OkStatus();
}

// One read of a whole partition for all branches.
KeyedRead Merged(const std::vector<KeyedRead>& reads) {
  KeyedRead all;
  all.key.partition = reads.front().key.partition;
  for (const KeyedRead& read : reads) {
    const bool is_new = all.branches.empty() || all.branches.back() != read.branches.front();
    if (is_new) all.branches.push_back(read.branches.front());
  }
  return all;
}

// Appends the reads of one partition.
absl::Status AppendUnion(std::vector<KeyedRead>* from, std::vector<KeyedRead>* to) {
  ARM_RETURN_IF_ERROR(CheckApart(*from));
  const bool are_apart = from->size() == 1 || std::all_of(from->begin(), from->end(),
                                                          [](const KeyedRead& read) { return read.range.has_value(); });
  if (are_apart) {
    for (KeyedRead& read : *from) {
      read.branches.clear();
      to->push_back(std::move(read));
    }
  } else {
    to->push_back(Merged(*from));
  }
  return to->size() > kReadsMax ? TooManyReadsError() : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<KeyedRead>> DecomposeReads(const model::KeySchema& schema, const Condition& where,
                                                      ReadBudget* budget) {
  const Terms branches = Disjuncts(where);
  const bool is_scan = !std::all_of(branches.begin(), branches.end(),
                                    [&schema](const Condition* branch) { return RestrictsPartition(schema, *branch); });
  if (is_scan) return std::vector<KeyedRead>();
  std::map<Partition, std::vector<KeyedRead>, PartitionLess> by_partition;
  std::vector<std::vector<KeyedRead>*> order;
  size_t number = 0;
  for (const Condition* const branch : branches) {
    ARM_ASSIGN_OR_RETURN(const std::vector<KeyReads> found, ReadsOfBranch(schema, *branch, budget));
    if (found.empty()) return std::vector<KeyedRead>();
    const bool is_only_read = branches.size() == 1 && found.size() == 1 && found.front().reads.size() == 1;
    for (const KeyReads& each : found) {
      ++number;
      for (const KeyTerms& key : each.reads) {
        if (!is_only_read) ARM_RETURN_IF_ERROR(CheckKeyTerms(schema, key));
        std::vector<KeyedRead>& reads = by_partition[key.partition];
        if (reads.empty()) order.push_back(&reads);
        if (order.size() > kReadsMax) return TooManyReadsError();
        reads.push_back(MakeRead(schema, key, each.others, *branch, number));
      }
    }
    if (budget->is_spent()) break;
  }
  if (budget->is_spent()) {
    ARM_ASSIGN_OR_RETURN(const bool is_any_scan, HasScan(schema, branches));
    if (is_any_scan) return std::vector<KeyedRead>();
  }
  std::vector<KeyedRead> all;
  for (std::vector<KeyedRead>* const reads : order) ARM_RETURN_IF_ERROR(AppendUnion(reads, &all));
  if (budget->is_spent()) return TooManyReadsError();
  return all;
}

bool IsSamePartition(const KeyedRead& a, const KeyedRead& b) {
  const PartitionLess is_less;
  return !is_less(a.key.partition, b.key.partition) && !is_less(b.key.partition, a.key.partition);
}

void OrderByKey(bool has_order, bool descending, std::vector<KeyedRead>* reads) {
  const auto is_before = [descending](const KeyedRead& a, const KeyedRead& b) {
    return descending ? b.range->begin < a.range->begin : a.range->begin < b.range->begin;
  };
  for (auto begin = reads->begin(); begin != reads->end();) {
    auto end = begin + 1;
    while (end != reads->end() && begin->range.has_value() && end->range.has_value() &&
           (has_order || begin->number == end->number) && IsSamePartition(*begin, *end)) {
      ++end;
    }
    std::stable_sort(begin, end, is_before);
    begin = end;
  }
}

}  // namespace armature::engine::partiql
