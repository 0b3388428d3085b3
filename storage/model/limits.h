#ifndef ARMATURE_STORAGE_MODEL_LIMITS_H_
#define ARMATURE_STORAGE_MODEL_LIMITS_H_

// All limits of the data model. Source, unless stated otherwise: the DynamoDB developer guide, "Service, account, and
// table quotas".

#include <cstddef>
#include <cstdint>

namespace armature::model {

// Items.
inline constexpr size_t kItemSizeMaxBytes = 409'600;  // attribute names included
// Canonical bytes of an item; ours. Canonical bytes of large items are less than 13 times the API size, so no item that
// keeps the limit of the API exceeds it: it bounds memory even if the two sizes are not as related as thought.
inline constexpr size_t kItemEncodedMaxBytes = 13 * kItemSizeMaxBytes;
inline constexpr size_t kAttributeNameMaxBytes = 65'535;
inline constexpr size_t kKeyAttributeNameMaxBytes = 255;
inline constexpr int kNestingDepthMax = 32;  // the top-level attribute counts as level one
inline constexpr size_t kPartitionKeyMaxBytes = 2048;
inline constexpr size_t kSortKeyMaxBytes = 1024;

// Numbers.
inline constexpr int kNumberDigitsMax = 38;
inline constexpr int kNumberExponentMin = -130;  // decimal exponent of the leading digit
inline constexpr int kNumberExponentMax = 125;
// Number of zeros that only place the decimal point from which canonical texts have an exponent instead; ours. The
// plain texts of all integers of 64 bits are canonical.
inline constexpr size_t kPlacingZerosMin = 20;

// Tables and indexes.
inline constexpr size_t kTableNameMinChars = 3;
inline constexpr size_t kTableNameMaxChars = 255;
inline constexpr size_t kTableArnMaxChars = 1024;
inline constexpr size_t kLocalIndexesMax = 5;
inline constexpr size_t kGlobalIndexesMax = 20;
inline constexpr size_t kGlobalKeyAttributesMax = 4;  // per role: four HASH and four RANGE
inline constexpr size_t kNonKeyAttributesPerIndexMax = 20;
inline constexpr size_t kNonKeyAttributesPerTableMax = 100;
inline constexpr int64_t kCapacityUnitsMax = 1'000'000'000'000;
inline constexpr size_t kTagsMax = 50;

// Requests and pages.
inline constexpr size_t kPageMaxBytes = 1 << 20;  // API sizes, before any filter
inline constexpr uint32_t kTotalSegmentsMax = 1'000'000;
inline constexpr size_t kExpressionMaxBytes = 4096;
inline constexpr int kExpressionOperatorsMax = 300;
inline constexpr int kInOperandsMax = 100;  // the values of the list
inline constexpr int kDocumentPathDepthMax = 32;
inline constexpr size_t kAttributesToGetMax = 255;
inline constexpr size_t kPlaceholderMaxBytes = 255;  // including its sign
inline constexpr size_t kPlaceholderMapsMaxBytes = 2 << 20;
// Bytes of all names that replace placeholders in the expressions of a request; ours. The longest expression has room
// for 1,365 placeholders, so it is enough for names of 255 bytes everywhere, and eight of the longest name.
inline constexpr size_t kReplacedNamesMaxBytes = 512 << 10;

// Batches and transactions.
inline constexpr size_t kBatchGetKeysMax = 100;
inline constexpr size_t kBatchWritesMax = 25;
inline constexpr size_t kBatchGetMaxBytes = 16 << 20;      // API size of the items
inline constexpr size_t kBatchGetMaxWireBytes = 32 << 20;  // encoded size of the items
inline constexpr size_t kTransactActionsMax = 100;
inline constexpr size_t kTransactMaxBytes = 4 << 20;
inline constexpr size_t kTransactMaxWireBytes = 32 << 20;  // items of an answer or a cancellation as sent; ours
inline constexpr size_t kClientTokenMaxChars = 36;

// Accounting: storage overhead per table item or index entry beyond its attributes.
inline constexpr uint64_t kStorageOverheadBytes = 100;

}  // namespace armature::model

#endif  // ARMATURE_STORAGE_MODEL_LIMITS_H_
