#ifndef ARMATURE_TOOLS_BENCH_WORKLOAD_H_
#define ARMATURE_TOOLS_BENCH_WORKLOAD_H_

// The values of the command line, the stored items, and the measured calls.
//
// Each item for put, get, scan, overwrite, hot and update has a partition of its own: key {pk: "u" + 16 hex digits, sk:
// 1000000000}. The items for query are kQueryPartitions partitions of one page each: {pk: "q" + 16 hex digits, sk:
// 1000000000 + i}.

#include <cstdint>
#include <string>

#include "armature/api/v1/tables.pb.h"
#include "tools/bench/load.h"

namespace armature::bench {

struct Options {
  std::string target = "127.0.0.1:7700";
  std::string workload = "all";
  std::string spawn;  // path of a daemon to start; empty: use `target`
  uint32_t connections = 2;
  uint32_t outstanding = 64;
  uint32_t client_threads = 1;
  uint32_t rounds = 3;
  double seconds = 5;
  double warmup_seconds = 0.5;
  uint32_t item_bytes = 300;
  uint32_t page_items = 100;
  uint32_t gsi = 0;
  bool stream = false;
  uint64_t items = 10000;
  uint64_t key_space = 0;
  bool without_echo = false;
  bool json = false;

  bool Wants(const std::string& name) const {
    return workload == name || (workload == "all" && (name == "put" || name == "get" || name == "query"));
  }
};

inline constexpr uint64_t kQueryPartitions = 64;

api::v1::CreateTableRequest TableSchema(const Options& options, const std::string& table);

// First key of the items that workloads add. The keys of loaded items are below it.
inline constexpr uint64_t kFirstPutKey = uint64_t{1} << 40;

// 16 hexadecimal digits. Different numbers give different keys; the keys of successive numbers are far apart.
std::string KeyText(uint64_t number);

// An item of options.item_bytes with the partition key `pk`. Throws std::runtime_error if item_bytes is too small for
// the keys.
api::v1::Item BenchItem(const Options& options, const std::string& pk, uint64_t sort_offset);

// Puts that load the items of get, scan, overwrite, hot and update (LoadItems) or of query (LoadPages). Their sources
// are finite.
CallKind LoadItems(const Options& options, const std::string& table);
CallKind LoadPages(const Options& options, const std::string& table);

// `name` is put, get, query, scan, overwrite, hot, update, batch, transact or pipeline. Throws std::runtime_error if
// item_bytes is too small for the keys.
CallKind Workload(const std::string& name, const Options& options, const std::string& table);

// PutItem of new keys through Pipeline of the client library: the workload "pipeline". Each connection has a stream and
// a thread that asks for puts; the outstanding puts are divided among them. A run opens its streams and closes them.
// Throws std::runtime_error if a connection fails.
CallKind PipelineKind(const Options& options, const std::string& table);

// AdminService.Echo with messages of the given lengths, as far as its fields allow: a request may be 2 bytes shorter,
// an answer has at least 3 bytes.
CallKind Echo(uint64_t request_bytes, uint64_t response_bytes);

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_WORKLOAD_H_
