// Calls that write several items.
#ifndef ARMATURE_TOOLS_BENCH_GROUP_WORKLOADS_H_
#define ARMATURE_TOOLS_BENCH_GROUP_WORKLOADS_H_

#include <string>

#include "tools/bench/load.h"
#include "tools/bench/options.h"

namespace armature::bench {

// BatchWriteItem with kBatchItems puts of new keys. An answer that leaves some unprocessed fails the check.
inline constexpr uint64_t kBatchItems = 25;
CallKind BatchKind(const Options& options, const std::string& table);

// TransactWriteItems with kTransactItems puts of new keys and a token of its own.
inline constexpr uint64_t kTransactItems = 4;
CallKind TransactKind(const Options& options, const std::string& table);

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_GROUP_WORKLOADS_H_
