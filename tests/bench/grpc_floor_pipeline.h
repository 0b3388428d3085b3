#ifndef ARMATURE_TESTS_BENCH_GRPC_FLOOR_PIPELINE_H_
#define ARMATURE_TESTS_BENCH_GRPC_FLOOR_PIPELINE_H_

// The Pipeline stream of grpc_floor.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"
#include "tests/bench/floor_methods.h"

namespace armature::bench {

// Reads requests, has the bytes of each written as a row, and answers it when the row is durable, with as many at once
// as the daemon's stream. Nothing of a request is read but its number.
//
// Thread-safety: thread-safe. Lifetime: ends itself when gRPC is done with it.
class GrpcFloorPipeline final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                                public std::enable_shared_from_this<GrpcFloorPipeline> {
 public:
  // The stream of a new call. `serve` outlives it.
  static GrpcFloorPipeline* Open(const FloorServe* serve);
  explicit GrpcFloorPipeline(const FloorServe* serve) : serve_(serve) {}

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone() override;

 private:
  void Answer(uint64_t id, uint32_t number);
  // Calls gRPC with the lock held: it never calls back from there.
  void Step();

  const FloorServe* const serve_;
  std::shared_ptr<GrpcFloorPipeline> self_;  // until OnDone
  grpc::ByteBuffer request_;
  grpc::ByteBuffer sent_;
  absl::Mutex mutex_;
  std::deque<grpc::ByteBuffer> unsent_ ABSL_GUARDED_BY(mutex_);
  size_t open_ ABSL_GUARDED_BY(mutex_) = 0;  // requests without an answer that was sent
  bool is_reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_read_all_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace armature::bench

#endif  // ARMATURE_TESTS_BENCH_GRPC_FLOOR_PIPELINE_H_
