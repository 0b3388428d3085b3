#ifndef ARMATURE_TOOLS_ADVISE_ADVICE_H_
#define ARMATURE_TOOLS_ADVISE_ADVICE_H_

// The index advisor proposes keys and indexes for a workload, with the reason and the cost of each.
//
// Uses neither files nor a daemon. Deterministic: equal workloads have equal advice. docs/develop/advise.md has the
// rules.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/advise/plan.h"
#include "tools/advise/workload.h"

namespace armature::advise {

// A paragraph with the reason of a decision.
struct Reason {
  std::string topic;  // "key", "kind", "projection", "sparse", "sharding", "cost", "sharing", "limit".
  std::string text;
};

struct KeyAttribute {
  std::string name;
  AttributeType type = AttributeType::kString;
};

struct KeyAdvice {
  std::vector<KeyAttribute> partition;
  std::vector<KeyAttribute> sort;
  // Text such as "CustomerId | Status, OrderDate".
  std::string ToString() const;
};

struct TableAdvice {
  std::string name;
  KeyAdvice key;
  bool created = false;
  double item_bytes = 0;
  std::optional<double> items;
  std::optional<double> storage_bytes;
  double write_units = 0;  // per second
  std::vector<Reason> reasons;
};

struct IndexAdvice {
  std::string name;
  bool local = false;
  KeyAdvice key;  // includes the shard attribute
  ProjectionKind projection = ProjectionKind::kKeysOnly;
  std::vector<std::string> non_key;
  double share = 1;  // share of the items with an entry, at most; below 1 for a sparse index
  int shards = 1;
  std::string shard_attribute;  // empty without shards; writers set it to a random number from 1 to `shards`
  double entry_bytes = 0;
  std::optional<double> entries;
  std::optional<double> storage_bytes;
  double write_units = 0;  // per second
  double read_units = 0;   // per second
  std::vector<std::string> patterns;
  std::vector<Reason> reasons;
};

struct PatternAdvice {
  std::string name;
  Service service = Service::kScan;
  std::string index;      // empty for the table
  std::string condition;  // key condition, such as "CustomerId = ? AND OrderDate > ?".
  std::string filter;     // checked for each row
  bool sorted_by_client = false;
  bool descending = false;
  bool strong = false;  // the answers are strongly consistent, as requested
  int queries = 1;
  double units_per_read = 0;
  double read_units = 0;  // per second
  std::string reason;     // a paragraph
};

struct Advice {
  TableAdvice table;
  std::vector<IndexAdvice> indexes;
  std::vector<PatternAdvice> patterns;  // in the order of the workload
  std::vector<std::string> warnings;
};

// Errors: those of CheckWorkload.
absl::StatusOr<Advice> Advise(Workload workload);

// The advice as JSON. Its member CreateTable is a request that creates the table with all proposed indexes. For an
// existing table, UpdateTable is a list of requests that each add one of the proposed global indexes.
Json AdviceToJson(const Advice& advice);

std::string_view ServiceName(Service service);
std::string_view ProjectionName(ProjectionKind kind);

}  // namespace armature::advise

#endif  // ARMATURE_TOOLS_ADVISE_ADVICE_H_
