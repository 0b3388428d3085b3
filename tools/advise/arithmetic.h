#ifndef ARMATURE_TOOLS_ADVISE_ARITHMETIC_H_
#define ARMATURE_TOOLS_ADVISE_ARITHMETIC_H_

// Sizes and capacity units of tables and indexes, by the documented rules: what an item or an index entry weighs, what
// it costs to store, to write and to read.
//
// Pure functions of averages, so results are estimates and may have fractions. Source: developer guide, "Capacity unit
// consumption", "Global secondary indexes" and "Local secondary indexes".

#include <optional>
#include <vector>

#include "tools/advise/workload.h"

namespace armature::advise {

inline constexpr double kWriteUnitBytes = 1024;
inline constexpr double kReadUnitBytes = 4096;
inline constexpr double kEventualFactor = 0.5;       // An eventually consistent read costs half.
inline constexpr double kPageBytes = 1024 * 1024.0;  // What one Query reads at most.

// What one partition takes. Source: developer guide, "Designing partition keys to distribute your workload".
inline constexpr double kPartitionWriteUnits = 1000;
inline constexpr double kPartitionReadUnits = 3000;

// Items of one partition key value, with their entries in local indexes. Source: developer guide, "Item collections".
inline constexpr double kCollectionBytesMax = 10.0 * 1024 * 1024 * 1024;

// What an attribute counts for while its number of values is not given: more than a handful of states, fewer than the
// items of a table.
inline constexpr double kDistinctUnknown = 1000;

double DefaultValueBytes(AttributeType type);

// Name and value.
double AttributeBytes(const Attribute& attribute);

// Number of values, or kDistinctUnknown.
double Distinct(const Attribute& attribute);

// Number of values that the attributes have together: the product, but no more than there are items.
double Distinct(const Table& table, const AttributeList& list);

// Share of all items that have the most frequent values of these attributes, as if the attributes were independent.
double HotShare(const Table& table, const AttributeList& list);

// Share of the items that have all of these attributes: that of the rarest, which is an upper bound.
double Share(const Table& table, const AttributeList& list);

// As given, or the sum of the attributes.
double ItemBytes(const Table& table);

// A write of one item or entry: one unit for each begun kilobyte, at least one.
double WriteUnits(double bytes);

// A read of `bytes` in one request: one unit for each begun 4 KB, at least one; half of it if eventually consistent.
double ReadUnits(double bytes, bool strong);

// One entry, as reads and writes count it: the keys of the table and of the index, and what is projected.
double EntryBytes(const Table& table, const Key& table_key, const Key& key, const Projection& projection);

// What the entries of an index take on disk, with the overhead of each; nothing if the number of items is unknown.
std::optional<double> StorageBytes(const Table& table, double share, double entry_bytes);

// Units a second that the writes of the table cause in the index. An entry that appears, disappears or changes a
// projected attribute is one write; one that changes its key is two, since it moves.
double IndexWriteUnits(const Table& table, const Key& table_key, const Key& key, const Projection& projection);

// Units a second that the writes of the table cost in the table itself.
double TableWriteUnits(const Table& table);

// Items of one answer: as given, or estimated from the number of values, or ten; no more than fit into one page.
double Rows(const Table& table, const Pattern& pattern);

}  // namespace armature::advise

#endif  // ARMATURE_TOOLS_ADVISE_ARITHMETIC_H_
