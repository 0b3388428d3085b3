// Measures puts over streams instead of calls.
#ifndef ARMATURE_TOOLS_BENCH_PIPELINE_WORKLOAD_H_
#define ARMATURE_TOOLS_BENCH_PIPELINE_WORKLOAD_H_

#include <string>

#include "tools/bench/load.h"
#include "tools/bench/options.h"

namespace armature::bench {

// PutItem of new keys through Pipeline of the client library. Each connection has a stream and a thread that asks for
// puts; the outstanding puts are divided among them. A run opens its streams and closes them. Throws std::runtime_error
// if a connection fails.
CallKind PipelineKind(const Options& options, const std::string& table);

}  // namespace armature::bench

#endif  // ARMATURE_TOOLS_BENCH_PIPELINE_WORKLOAD_H_
