// Tells ThreadSanitizer about the locks of the packaged Abseil, which is not instrumented: otherwise all data that they
// guard is reported as a race. Linked into the tests of the preset `tsan` only.
//
// Each function here replaces the library function of that name, also for the library's own calls, and forwards to it.
// Notification and BlockingCounter need replacements of their own, because they skip their mutex when nobody waits.
// Notification::HasBeenNotified is inline and cannot be replaced.

#include <dlfcn.h>

#include <cstdlib>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);

namespace {

template <class Fn>
Fn* Next(const char* symbol) {
  void* const found = dlsym(RTLD_NEXT, symbol);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Fn*>(found);
}

}  // namespace

#define ARM_MUTEX "_ZN4absl7debian35Mutex"
#define ARM_CONDVAR "_ZN4absl7debian37CondVar"
#define ARM_NOTIFICATION "4absl7debian312Notification"
#define ARM_COUNTER "_ZN4absl7debian315BlockingCounter"

// Defines `name`, which replaces `symbol`. `release` and `acquire` name the lock that is released first and the lock
// that is held at the end, or null. (The lock may also be an object that is handed over between threads.)
#define ARM_INTERPOSE(result, name, symbol, release, acquire, parameters, ...) \
  result name parameters __asm__(symbol);                                      \
  __attribute__((used)) result name parameters {                               \
    static auto* const next = Next<result parameters>(symbol);                 \
    void* const released = (release);                                          \
    if (released != nullptr) __tsan_release(released);                         \
    struct AtEnd {                                                             \
      void* lock;                                                              \
      ~AtEnd() {                                                               \
        if (lock != nullptr) __tsan_acquire(lock);                             \
      }                                                                        \
    } at_end{acquire};                                                         \
    return next(__VA_ARGS__);                                                  \
  }

using absl::BlockingCounter;
using absl::Condition;
using absl::CondVar;
using absl::Duration;
using absl::Mutex;
using absl::Notification;
using absl::Time;

ARM_INTERPOSE(void, Lock, ARM_MUTEX "4LockEv", nullptr, m, (Mutex * m), m)
ARM_INTERPOSE(void, Unlock, ARM_MUTEX "6UnlockEv", m, nullptr, (Mutex * m), m)
ARM_INTERPOSE(bool, TryLock, ARM_MUTEX "7TryLockEv", nullptr, m, (Mutex * m), m)
ARM_INTERPOSE(void, ReaderLock, ARM_MUTEX "10ReaderLockEv", nullptr, m, (Mutex * m), m)
ARM_INTERPOSE(void, ReaderUnlock, ARM_MUTEX "12ReaderUnlockEv", m, nullptr, (Mutex * m), m)
ARM_INTERPOSE(void, LockWhen, ARM_MUTEX "8LockWhenERKNS0_9ConditionE", nullptr, m, (Mutex * m, const Condition& c), m,
              c)
ARM_INTERPOSE(bool, LockWhenWithTimeout, ARM_MUTEX "19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE", nullptr, m,
              (Mutex * m, const Condition& c, Duration d), m, c, d)
ARM_INTERPOSE(bool, LockWhenWithDeadline, ARM_MUTEX "20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE", nullptr, m,
              (Mutex * m, const Condition& c, Time t), m, c, t)
ARM_INTERPOSE(void, Await, ARM_MUTEX "5AwaitERKNS0_9ConditionE", m, m, (Mutex * m, const Condition& c), m, c)
ARM_INTERPOSE(bool, AwaitWithTimeout, ARM_MUTEX "16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE", m, m,
              (Mutex * m, const Condition& c, Duration d), m, c, d)
ARM_INTERPOSE(bool, AwaitWithDeadline, ARM_MUTEX "17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE", m, m,
              (Mutex * m, const Condition& c, Time t), m, c, t)
ARM_INTERPOSE(void, Wait, ARM_CONDVAR "4WaitEPNS0_5MutexE", m, m, (CondVar * v, Mutex* m), v, m)
ARM_INTERPOSE(bool, WaitWithTimeout, ARM_CONDVAR "15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE", m, m,
              (CondVar * v, Mutex* m, Duration d), v, m, d)
ARM_INTERPOSE(bool, WaitWithDeadline, ARM_CONDVAR "16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE", m, m,
              (CondVar * v, Mutex* m, Time t), v, m, t)

ARM_INTERPOSE(void, Notify, "_ZN" ARM_NOTIFICATION "6NotifyEv", n, nullptr, (Notification * n), n)
ARM_INTERPOSE(void, WaitForNotification, "_ZNK" ARM_NOTIFICATION "19WaitForNotificationEv", nullptr, n,
              (Notification * n), n)
ARM_INTERPOSE(bool, WaitForNotificationWithTimeout,
              "_ZNK" ARM_NOTIFICATION "30WaitForNotificationWithTimeoutENS0_8DurationE", nullptr, n,
              (Notification * n, Duration d), n, d)
ARM_INTERPOSE(bool, WaitForNotificationWithDeadline,
              "_ZNK" ARM_NOTIFICATION "31WaitForNotificationWithDeadlineENS0_4TimeE", nullptr, n,
              (Notification * n, Time t), n, t)
ARM_INTERPOSE(bool, DecrementCount, ARM_COUNTER "14DecrementCountEv", c, c, (BlockingCounter * c), c)
ARM_INTERPOSE(void, WaitForCount, ARM_COUNTER "4WaitEv", nullptr, c, (BlockingCounter * c), c)
