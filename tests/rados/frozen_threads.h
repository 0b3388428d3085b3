#ifndef ARMATURE_TESTS_RADOS_FROZEN_THREADS_H_
#define ARMATURE_TESTS_RADOS_FROZEN_THREADS_H_

// Threads of librados that stand still, as if it hung: nothing that a client sends leaves, and no answer arrives.

#include <set>

namespace armature::rados {

// The threads of all connections of this process to the cluster.
std::set<int> ConnectionThreads();

// Holds these threads until destroyed. One at a time.
class FrozenThreads {
 public:
  explicit FrozenThreads(const std::set<int>& threads);
  ~FrozenThreads();
  FrozenThreads(const FrozenThreads&) = delete;
  FrozenThreads& operator=(const FrozenThreads&) = delete;

 private:
  int release_ = -1;
};

}  // namespace armature::rados

#endif  // ARMATURE_TESTS_RADOS_FROZEN_THREADS_H_
