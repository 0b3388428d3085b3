#ifndef ARMATURE_TOOLS_ADVISE_WORKLOAD_H_
#define ARMATURE_TOOLS_ADVISE_WORKLOAD_H_

// The input of the index advisor: a table, its writes, and its access patterns; sizes and capacity units of its items,
// tables and index entries by the documented rules: cost of storage, writes and reads.
//
// Plain values. Attributes are identified by their position in Table::attributes. Thread-safety: thread-compatible.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "armature/api/v1/tables.pb.h"

namespace armature::advise {

using Json = nlohmann::ordered_json;

// Only strings, numbers and binaries can be keys. kOther: all other types.
enum class AttributeType { kString, kNumber, kBinary, kOther };

// Assumed average size of a value.
double DefaultValueBytes(AttributeType type);

struct Attribute {
  std::string name;
  AttributeType type = AttributeType::kString;
  double value_bytes = 0;           // average, by the API's rules for sizes.
  std::optional<double> distinct;   // number of different values
  std::optional<double> hot_share;  // share of the items, and of the traffic, with the most frequent value
  double share = 1;                 // share of the items with the attribute; a sparse attribute has less than 1
  std::optional<double> share_new;  // share of the new items with the attribute

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
  AttributeList non_key;  // only for kInclude
};

// An index of the existing table.
struct ExistingIndex {
  std::string name;
  bool local = false;
  Key key;
  Projection projection;
};

// The effect of an update on its attributes.
enum class UpdateKind {
  kChange,  // changes their values
  kSet,     // adds them to the item
  kRemove,  // removes them from the item
};

struct Update {
  AttributeList attributes;
  double per_second = 0;
  UpdateKind kind = UpdateKind::kChange;
};

struct Table {
  std::string name;
  std::vector<Attribute> attributes;
  std::optional<Key> key;  // one partition attribute, at most one sort attribute; absent: the advisor chooses a key
  AttributeList identity;  // one or two attributes that identify an item; for tables without a key
  bool created = false;    // the table exists: its key and its local indexes are fixed
  std::optional<double> items;
  std::optional<double> item_bytes;  // average
  double puts_per_second = 0;        // new items
  double deletes_per_second = 0;
  std::vector<Update> updates;
  std::vector<ExistingIndex> indexes;
};

enum class RangeKind { kRange, kBeginsWith };

struct RangeCondition {
  AttributeId attribute = 0;
  RangeKind kind = RangeKind::kRange;
};

// One access pattern: a read that the application repeats.
struct Pattern {
  std::string name;
  AttributeList equality;
  std::optional<RangeCondition> range;
  AttributeList order;
  bool descending = false;
  AttributeList has;  // reads only items with these attributes
  bool returns_all = true;
  AttributeList returns;  // returned attributes beside the keys, unless returns_all
  double per_second = 1;
  bool strong = false;         // needs strongly consistent answers
  std::optional<double> rows;  // average number of items of one answer
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
// True if `whole` has all attributes of `part`.
bool IsSubset(const AttributeList& part, const AttributeList& whole);

// Appends the attributes that the list does not have yet.
void AddOnce(AttributeList* list, AttributeId id);
void AddOnce(AttributeList* list, const AttributeList& more);

// The attributes of `list` that are not in `removed`, or that are also in `other`.
AttributeList Without(const AttributeList& list, const AttributeList& removed);
AttributeList Common(const AttributeList& list, const AttributeList& other);

// Words as text: "A, B and C". `conjunction` stands before the last word.
std::string Listed(const std::vector<std::string>& words, std::string_view conjunction = "and");
std::string NamesOf(const Table& table, const AttributeList& list);

// Reads a workload from the advisor's file. Refuses every mistake: unknown members, values of another type or out of
// range, attributes that the table does not list. Missing members get their documented defaults. The key may be
// missing: see CheckWorkload. Errors: InvalidArgument that begins with the place, such as "patterns[2].range.kind:
// ...".
absl::StatusOr<Workload> WorkloadFromJson(const Json& json);

// Checks that the workload has a key or an identity, and that keys have only attributes of key types. Precondition: all
// positions are in range. Errors: InvalidArgument with the place and the rule.
absl::Status CheckWorkload(const Workload& workload);

// Completes a workload from the description of an existing table: name, key, indexes, number and size of items. Marks
// the table as created. Numbers and sizes in the workload prevail. Appends to `notes` a sentence about each number that
// the description lacks. Errors: InvalidArgument if workload and description disagree about the key, the indexes or the
// type of a key attribute. `workload` is unspecified then.
absl::Status AddLiveTable(const api::v1::TableDescription& live, Workload* workload, std::vector<std::string>* notes);

// Completes the workload: an attribute that alone identifies items has as many values as there are items.
void CompleteWorkload(Workload* workload);

// The functions below are pure functions of averages: the results are estimates and may be fractions. Source: developer
// guide, "Capacity unit consumption", "Global secondary indexes" and "Local secondary indexes".

inline constexpr double kWriteUnitBytes = 1024;
inline constexpr double kReadUnitBytes = 4096;
inline constexpr double kEventualFactor = 0.5;       // factor of an eventually consistent read
inline constexpr double kPageBytes = 1024 * 1024.0;  // maximum size of a page of a Query

// Maximum rates of one partition. Source: developer guide, "Designing partition keys to distribute your workload".
inline constexpr double kPartitionWriteUnits = 1000;
inline constexpr double kPartitionReadUnits = 3000;

// Maximum size of the items of one partition key value with their entries in local indexes. Source: developer guide,
// "Item collections".
inline constexpr double kCollectionBytesMax = 10.0 * 1024 * 1024 * 1024;

// Assumed number of values of an attribute without a given number: more than the states of a status, fewer than the
// items of a table.
inline constexpr double kDistinctUnknown = 1000;

// Size of name and value.
double AttributeBytes(const Attribute& attribute);

// Number of values, or kDistinctUnknown.
double Distinct(const Attribute& attribute);

// Number of different combinations of the values: the product of the numbers of values, but at most the number of
// items.
double Distinct(const Table& table, const AttributeList& list);

// Share of the items and of the traffic with the most frequent combination of the values: the product of the shares of
// the most frequent values, as if the attributes were independent.
double HotShare(const Table& table, const AttributeList& list);

// Share of the items that have all of these attributes: that of the rarest, which is an upper bound.
double Share(const Table& table, const AttributeList& list);

// The given size, or the sum of the sizes of the attributes.
double ItemBytes(const Table& table);

// Units of a write of one item or entry: one for each started kilobyte, at least one.
double WriteUnits(double bytes);

// Units of a read of `bytes` in one request: one for each started 4 KB, at least one. Half of that if eventually
// consistent.
double ReadUnits(double bytes, bool strong);

// Size of one entry for reads and writes: the keys of the table and of the index, and the projected attributes.
double EntryBytes(const Table& table, const Key& table_key, const Key& key, const Projection& projection);

// Size of the entries of an index on disk, with the overhead of each entry. Absent if the number of items is unknown.
std::optional<double> StorageBytes(const Table& table, double share, double entry_bytes);

// Units per second that the writes of the table cause in the index. Adding or removing an entry, or changing a
// projected attribute, is one write. Changing the key of an entry is two writes.
double IndexWriteUnits(const Table& table, const Key& table_key, const Key& key, const Projection& projection);

// Units per second of the writes of the table itself.
double TableWriteUnits(const Table& table);

// Number of items of one answer: the given number, or an estimate from the number of values, or ten. At most the items
// of one page.
double Rows(const Table& table, const Pattern& pattern);

}  // namespace armature::advise

#endif  // ARMATURE_TOOLS_ADVISE_WORKLOAD_H_
