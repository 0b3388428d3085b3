#ifndef ARMATURE_TESTS_BENCH_FLOOR_PIPELINE_H_
#define ARMATURE_TESTS_BENCH_FLOOR_PIPELINE_H_

// The Pipeline stream of grpc_floor.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/server_callback.h"

namespace armature::bench {

// Reads requests, has the bytes of each written as a row, and answers it when the row is durable, with as many at once
// as the daemon's stream. Nothing of a request is read but its number.
//
// Thread-safety: thread-safe. Lifetime: the owner releases it when it calls `ended`, its last action.
class FloorPipeline final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                            public std::enable_shared_from_this<FloorPipeline> {
 public:
  // Writes the bytes of a request, and calls `done` on any thread.
  using Write = std::function<void(std::string bytes, std::function<void()> done)>;

  FloorPipeline(Write write, std::function<void(FloorPipeline*)> ended)
      : write_(std::move(write)), ended_(std::move(ended)) {}

  void Start() { Step(); }
  // The server ends the calls.
  void Drain() {}

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone() override;

 private:
  void Answer(uint64_t id, uint32_t number);
  // Calls gRPC with the lock held: it never calls back from there.
  void Step();

  const Write write_;
  const std::function<void(FloorPipeline*)> ended_;
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

#endif  // ARMATURE_TESTS_BENCH_FLOOR_PIPELINE_H_
