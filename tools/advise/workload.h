#ifndef ARMATURE_TOOLS_ADVISE_WORKLOAD_H_
#define ARMATURE_TOOLS_ADVISE_WORKLOAD_H_

// What the index advisor is told: a table, how it is written, and the questions it must answer.
//
// Plain values. Attributes are named by their position in Table::attributes, so that nothing is looked up twice.
// Values of these types are compatible with threads as those of the standard library are.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace armature::advise {

// Only strings, numbers and binaries can be keys; all other types are one here.
enum class AttributeType { kString, kNumber, kBinary, kOther };

struct Attribute {
  std::string name;
  AttributeType type = AttributeType::kString;
  double value_bytes = 0;           // Average, by the API's rules for sizes.
  std::optional<double> distinct;   // Number of values that occur.
  std::optional<double> hot_share;  // Share of the items, and of the traffic, that has the most frequent value.
  double share = 1;                 // Share of the items that have the attribute; below 1 it is sparse.
  std::optional<double> share_new;  // The same among items that are new.

  bool CanBeKey() const { return type != AttributeType::kOther; }
  bool IsSparse() const { return share < 1; }
};

// Positions in Table::attributes.
using AttributeId = size_t;
using AttributeList = std::vector<AttributeId>;

struct Key {
  AttributeList partition;
  AttributeList sort;

  // Partition attributes, then sort attributes.
  AttributeList All() const;
  bool operator==(const Key&) const = default;
};

enum class ProjectionKind { kKeysOnly, kInclude, kAll };

struct Projection {
  ProjectionKind kind = ProjectionKind::kKeysOnly;
  AttributeList non_key;  // With kInclude only.
};

// An index that the table already has.
struct ExistingIndex {
  std::string name;
  bool local = false;
  Key key;
  Projection projection;
};

// What happens to the attributes of an update.
enum class UpdateKind {
  kChange,  // From one value to another.
  kSet,     // The item did not have them before.
  kRemove,  // The item loses them.
};

struct Update {
  AttributeList attributes;
  double per_second = 0;
  UpdateKind kind = UpdateKind::kChange;
};

struct Table {
  std::string name;
  std::vector<Attribute> attributes;
  std::optional<Key> key;  // One partition attribute, at most one sort attribute. Without it the advisor finds one.
  AttributeList identity;  // One or two attributes that no two items share. For tables without a key.
  bool created = false;    // It exists already: its key and its local indexes are fixed.
  std::optional<double> items;
  std::optional<double> item_bytes;  // Average.
  double puts_per_second = 0;        // New items.
  double deletes_per_second = 0;
  std::vector<Update> updates;
  std::vector<ExistingIndex> indexes;
};

enum class RangeKind { kRange, kBeginsWith };

struct RangeCondition {
  AttributeId attribute = 0;
  RangeKind kind = RangeKind::kRange;
};

// One question that the application asks, again and again.
struct Pattern {
  std::string name;
  AttributeList equality;
  std::optional<RangeCondition> range;
  AttributeList order;
  bool descending = false;
  AttributeList has;  // Only items that have these attributes, with whatever value.
  bool returns_all = true;
  AttributeList returns;  // Beside the keys; without returns_all.
  double per_second = 1;
  bool strong = false;         // The answer must hold every write acknowledged before.
  std::optional<double> rows;  // Items of one answer, on average.
};

struct Workload {
  Table table;
  std::vector<Pattern> patterns;
};

inline constexpr size_t kPatternsMax = 200;
inline constexpr size_t kAttributesMax = 1000;

// The attribute with this name, or nothing.
std::optional<AttributeId> FindAttribute(const Table& table, std::string_view name);

bool Contains(const AttributeList& list, AttributeId id);

// Appends `id` unless it is there.
void AddOnce(AttributeList* list, AttributeId id);

// "A, B and C".
std::string NamesOf(const Table& table, const AttributeList& list);

// Whether advice can be given: a key or an identity is known, and keys are made of what can be a key. Positions that
// are out of range are the caller's fault and not checked. Errors: InvalidArgument with the place and the rule.
absl::Status CheckWorkload(const Workload& workload);

// Sets what follows from the rest: an attribute that alone identifies items has as many values as there are items.
void CompleteWorkload(Workload* workload);

}  // namespace armature::advise

#endif  // ARMATURE_TOOLS_ADVISE_WORKLOAD_H_
