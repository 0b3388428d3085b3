// What is stored, and the calls that are measured.
//
// Items for put, get, scan and update have a partition each: key {pk: "u" + 16 hex digits, sk: 1000000000}.
// Items for query are kQueryPartitions partitions of one page each: {pk: "q" + 16 hex digits, sk:
// 1000000000 + i}.
#ifndef ARMATURE_TOOLS_BENCH_WORKLOAD_H_
#define ARMATURE_TOOLS_BENCH_WORKLOAD_H_

#include <cstdint>
#include <string>

#include "armature/api/v1/tables.pb.h"
#include "tools/bench/load.h"
#include "tools/bench/options.h"

namespace armature::bench {

inline constexpr uint64_t kQueryPartitions = 64;

api::v1::CreateTableRequest TableSchema(const Options& options, const std::string& table);

inline constexpr uint64_t kFirstPutKey = uint64_t{1} << 40;  // of items that workloads add; past all loaded ones

// An item of options.item_bytes with that partition key. Throws std::runtime_error if item_bytes does not hold the
// keys.
api::v1::Item BenchItem(const Options& options, const std::string& pk, uint64_t sort_offset);

// Puts that load what get, scan and update (`LoadItems`) or query (`LoadPages`) read; they end by
// themselves.
CallKind LoadItems(const Options& options, const std::string& table);
CallKind LoadPages(const Options& options, const std::string& table);

// `name` is put, get, query, scan, update, batch, transact or pipeline. Throws std::runtime_error if item_bytes does
// not hold the keys.
CallKind Workload(const std::string& name, const Options& options, const std::string& table);

// AdminService.Echo with messages as long as given, as near as its fields allow: a request may be 2
// bytes shorter, an answer is never shorter than 3 bytes.
CallKind Echo(uint64_t request_bytes, uint64_t response_bytes);

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_WORKLOAD_H_
