#ifndef ARMATURE_TOOLS_BENCH_WORKLOAD_H_
#define ARMATURE_TOOLS_BENCH_WORKLOAD_H_

// The workloads: their stored items, and their measured calls.
//
// An item of most workloads has a partition of its own: key {pk: "u" + 16 hex digits, sk: 1000000000}. The items for
// query are kQueryPartitions partitions of one page each: {pk: "q" + 16 hex digits, sk: 1000000000 + i}. Record n of
// YCSB is {pk: "y" + the 16 hex digits of n / kYcsbPartition, sk: 1000000000 + n % kYcsbPartition}.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "armature/api/v1/tables.pb.h"
#include "tools/bench/load.h"
#include "tools/bench/options.h"
#include "tools/bench/request_template.h"

namespace armature::bench {

inline constexpr uint64_t kQueryPartitions = 64;
inline constexpr uint64_t kYcsbPartition = 128;

// First key of the items that workloads add. The keys of loaded items are below it.
inline constexpr uint64_t kFirstPutKey = uint64_t{1} << 40;

enum class Loaded : uint8_t { kNothing, kItems, kPages, kYcsb };

struct WorkloadInfo {
  std::string_view name;
  bool is_in_all = false;
  Loaded loaded = Loaded::kNothing;
  // Throws std::runtime_error if item_bytes is too small for the keys.
  CallKind (*make)(const Options& options, const std::string& table) = nullptr;
};

// All workloads, in the order in which they run.
const std::vector<WorkloadInfo>& Workloads();

api::v1::CreateTableRequest TableSchema(const Options& options, const std::string& table);

// An item of options.item_bytes with the partition key `pk`. Throws std::runtime_error if item_bytes is too small for
// the keys.
api::v1::Item BenchItem(const Options& options, const std::string& pk, uint64_t sort_offset);
api::v1::Item MakeKey(const std::string& pk, uint64_t sort_offset);
// Replaces the beginning of the payload by the second key, so that puts of one key differ: the daemon writes nothing if
// an item does not change. Throws std::runtime_error if the payload is too small.
void VaryPayload(const Options& options, api::v1::Item* item);

// Puts, or batches of them, that load the items of a workload. Their sources are finite.
CallKind LoadKind(Loaded what, const Options& options, const std::string& table);

// Kinds of workloads in files of their own: reads of ranges, batches and transactions, YCSB, and puts through the
// client library's Pipeline. Each stream has a connection and a thread that asks for puts; the outstanding puts are
// divided among them. A run opens its streams and closes them.
CallKind QueryKind(const Options& options, const std::string& table);
CallKind ScanKind(const Options& options, const std::string& table);
CallKind BatchKind(const Options& options, const std::string& table);
// Batches of puts that write the items 0 to options.items - 1.
CallKind BatchLoadKind(const Options& options, const std::string& table);
CallKind TransactKind(const Options& options, const std::string& table);
template <char kLetter>
CallKind YcsbKind(const Options& options, const std::string& table);
CallKind PipelineKind(const Options& options, const std::string& table);

// AdminService.Echo with messages of the given lengths, as far as its fields allow: a request may be 2 bytes shorter,
// an answer has at least 3 bytes.
CallKind Echo(uint64_t request_bytes, uint64_t response_bytes);

// Sources of calls of one type: with keys drawn at random from [first_key, first_key + keys), in turns from the
// templates; and with keys that no call has used before, one key in all places or `keys` of them, one for each place.
CallKind RandomKind(std::string name, CallType type, std::vector<RequestTemplate> templates, uint64_t first_key,
                    uint64_t keys);
CallKind NewKeysKind(std::string name, CallType type, RequestTemplate message, uint64_t keys);

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_WORKLOAD_H_
