#ifndef ARMATURE_TOOLS_ADVISE_ARITHMETIC_H_
#define ARMATURE_TOOLS_ADVISE_ARITHMETIC_H_

// Sizes and capacity units of items, tables and index entries by the documented rules: cost of storage, writes and
// reads.
//
// Pure functions of averages: the results are estimates and may be fractions. Source: developer guide, "Capacity unit
// consumption", "Global secondary indexes" and "Local secondary indexes".

#include <optional>
#include <vector>

#include "tools/advise/workload.h"

namespace armature::advise {

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

// Share of the items with all of these attributes: the share of the rarest attribute, which is an upper bound.
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

#endif  // ARMATURE_TOOLS_ADVISE_ARITHMETIC_H_
