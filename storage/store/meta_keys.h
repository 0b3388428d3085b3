#ifndef ARMATURE_STORAGE_STORE_META_KEYS_H_
#define ARMATURE_STORAGE_STORE_META_KEYS_H_

// Every key of the families `meta`, `log`, `stream` and `expiry`. docs/reference/format.md, "The meta family", "Change
// log", "Streams" and "Expiry".
//
//   meta key := "next_id" | "sequence" | "epoch"
//             | "table/" table | "cursor/" table index | "build/" table index | "stats/" family
//             | "token/" token | "token_at/" time token | "stream/" stream | "stream_segment/" segment
//             | "expiry/" table | "transfer/" arn | "damaged/" family
//   log key := table sequence
//   stream key := segment stream slot sequence
//   expiry key := table generation time table-key
//   table, index, stream, segment, generation := fixed32    big-endian
//   sequence, time := fixed64                               big-endian; milliseconds
//   slot := byte
//   segment record := 0x01 varint varint                    begin in milliseconds since 1970, least sequence

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "storage/base/strong_type.h"

namespace armature::store {

inline constexpr std::string_view kMetaFamily = "meta";
inline constexpr std::string_view kLogFamily = "log";
inline constexpr std::string_view kStreamFamily = "stream";
inline constexpr std::string_view kExpiryFamily = "expiry";
// The families that every database has, and RocksDB's default one.
std::set<std::string> FixedFamilyNames();

// meta: the next id of a table, an index or a stream, u32.
inline constexpr std::string_view kNextIdKey = "next_id";
// meta: a change sequence above which none was handed out, u64.
inline constexpr std::string_view kSequenceKey = "sequence";
// meta: the present epoch of change sequences; see log/sequence_epoch.h.
inline constexpr std::string_view kEpochKey = "epoch";
// meta: the damage of a column family, by the family's name.
inline constexpr std::string_view kDamagedPrefix = "damaged/";
std::string DamagedKey(std::string_view family_name);
// meta: descriptor of a table. Prefix of all descriptors: "table/".
inline constexpr std::string_view kTablePrefix = "table/";
std::string TableKey(TableId table);
// meta: cursor of an index in its table's change log, u64. Prefix: "cursor/" and the table.
inline constexpr std::string_view kCursorPrefix = "cursor/";
std::string CursorKey(TableId table, IndexId index);
std::string CursorPrefix(TableId table);
// meta: progress of the construction of an index.
inline constexpr std::string_view kBuildPrefix = "build/";
std::string BuildKey(TableId table, IndexId index);
// meta: totals of a column family.
inline constexpr std::string_view kStatsPrefix = "stats/";
std::string StatsKey(std::string_view family_name);

// meta: record of a client's idempotency token.
inline constexpr std::string_view kTokenPrefix = "token/";
std::string TokenKey(std::string_view token);
// meta: a token ordered by its expiry time in milliseconds; the value is empty.
inline constexpr std::string_view kTokenTimePrefix = "token_at/";
std::string TokenTimeKey(int64_t expires_ms, std::string_view token);
std::string_view TokenOfTimeKey(std::string_view key);
// The time in a key that TokenTimeKey has made; 0 for other keys.
int64_t ExpiryOfTimeKey(std::string_view key);

// meta: an export, an import or a bulk operation, by its ARN.
inline constexpr std::string_view kTransferPrefix = "transfer/";
std::string TransferKey(std::string_view arn);

// meta: descriptor of a stream.
inline constexpr std::string_view kStreamPrefix = "stream/";
std::string StreamKey(StreamId stream);
// meta: begin of a segment of the streams.
inline constexpr std::string_view kSegmentPrefix = "stream_segment/";
std::string SegmentKey(SegmentId segment);
std::string EncodeSegmentRecord(int64_t begin_ms, uint64_t first_sequence);
// False for another version or malformed bytes.
bool ParseSegmentRecord(std::string_view value, uint64_t* begin_ms, uint64_t* first_sequence);

// stream: segment | stream | slot | sequence. Prefix of a segment's records: SegmentDataKey.
std::string StreamRecordKey(SegmentId segment, StreamId stream, uint8_t slot, ChangeSequence sequence);
std::string SegmentDataKey(SegmentId segment);
std::optional<ChangeSequence> SequenceOfStreamRecordKey(std::string_view key);

// meta: progress of the rows of a table in the family `expiry`.
inline constexpr std::string_view kExpiryPrefix = "expiry/";
std::string ExpiryStateKey(TableId table);

// expiry: table | generation | due time | row key. A generation is one enabling of time to live. Keys of a generation
// begin with ExpiryGenerationKey.
std::string ExpiryKey(TableId table, uint32_t generation, int64_t due_ms, std::string_view row_key);
std::string ExpiryGenerationKey(TableId table, uint32_t generation);
// The due time and the row key in a key that ExpiryKey has made; nullopt for other keys. The view is into `key`.
struct ExpiryKeyParts {
  int64_t due_ms = 0;
  std::string_view row_key;
};
std::optional<ExpiryKeyParts> ParseExpiryKey(std::string_view key);

// log: table | sequence.
std::string LogKey(TableId table, ChangeSequence sequence);
std::optional<ChangeSequence> SequenceOfLogKey(std::string_view key);

// True for the families that requests read by ranges only: logs, streams, expiries, entries of indexes.
bool IsRangeFamilyName(std::string_view name);
// Column family names of a table.
std::string DataFamilyName(TableId table);
bool IsDataFamilyName(std::string_view name);
// True for all families of tables: rows, index entries, sizes of item collections.
bool IsTableFamilyName(std::string_view name);
// True for the families whose rows are overwritten, and whose memtables forget old versions: those of tables, and meta.
bool IsOverwrittenFamilyName(std::string_view name);
// The table of a family; nullopt for families that all tables share.
std::optional<TableId> TableOfFamily(std::string_view name);
std::string LocalIndexFamilyName(TableId table, IndexId index);
std::string GlobalIndexFamilyName(TableId table, IndexId index);
std::string CollectionFamilyName(TableId table);

std::string EncodeU32(uint32_t value);
std::string EncodeU64(uint64_t value);
std::optional<uint32_t> ParseU32(std::string_view bytes);
std::optional<uint64_t> ParseU64(std::string_view bytes);

}  // namespace armature::store

#endif  // ARMATURE_STORAGE_STORE_META_KEYS_H_
