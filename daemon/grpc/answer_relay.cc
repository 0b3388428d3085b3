#include "daemon/grpc/answer_relay.h"

#include <utility>

namespace armature::daemon {
namespace {

thread_local bool is_grpc_thread = false;

}  // namespace

OnGrpcThread::OnGrpcThread() : was_here_(std::exchange(is_grpc_thread, true)) {}

OnGrpcThread::~OnGrpcThread() { is_grpc_thread = was_here_; }

bool OnGrpcThread::IsHere() { return is_grpc_thread; }

bool AnswerRelay::Take(RelayedCall* call, size_t calls_in_progress) {
  if (calls_in_progress < kCallsMin) return false;
  {
    const absl::MutexLock lock(&mutex_);
    if (is_waking_) {
      calls_.push_back(call);
      return true;
    }
    is_waking_ = true;
  }
  call->WakeForEnd();
  return true;
}

void AnswerRelay::Run(RelayedCall* woken) {
  std::vector<RelayedCall*> calls;
  {
    const absl::MutexLock lock(&mutex_);
    is_waking_ = false;
    calls.swap(calls_);
  }
  const OnGrpcThread here;
  for (RelayedCall* const call : calls) call->EndNow();
  // Last, because the caller belongs to it.
  woken->EndNow();
}

}  // namespace armature::daemon
