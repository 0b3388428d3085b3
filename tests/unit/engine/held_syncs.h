#ifndef ARMATURE_TESTS_UNIT_ENGINE_HELD_SYNCS_H_
#define ARMATURE_TESTS_UNIT_ENGINE_HELD_SYNCS_H_

// Holds the syncs of write-ahead logs of this process, and lets them fail.

namespace armature::engine {

// While syncs are held, the committer waits in its batch, and all later writes are queued behind it.
//
// Thread-safety: thread-safe.
class HeldSyncs {
 public:
  // Later syncs wait for the end.
  static void Begin();
  // Waits until a sync is held.
  static void AwaitOne();
  // Ends the held syncs. `error`: errno with which they, and all others until the next End, fail; 0: they succeed.
  static void End(int error = 0);
};

}  // namespace armature::engine

#endif  // ARMATURE_TESTS_UNIT_ENGINE_HELD_SYNCS_H_
