#ifndef ARMATURE_TESTS_UNIT_STORAGE_STORE_FILES_VOLUME_KINDS_H_
#define ARMATURE_TESTS_UNIT_STORAGE_STORE_FILES_VOLUME_KINDS_H_

// The volumes that the contract of volume.h is tested on.

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "storage/store/files/volume.h"

namespace armature::store {

// A volume with an empty directory for one test.
class VolumeUnderTest {
 public:
  virtual ~VolumeUnderTest() = default;

  // The volume; another one after Crash.
  virtual Volume* volume() = 0;
  // An existing, empty directory in it.
  virtual std::string root() const = 0;

  // Ends the volume as a power cut would, and opens it again. False if that cannot be done here.
  virtual bool Crash() { return false; }
  // Leaves no space, or gives it back. False if that cannot be done here.
  virtual bool SetFull(bool is_full) = 0;
};

struct VolumeKind {
  std::string name;
  std::function<std::unique_ptr<VolumeUnderTest>()> make;

  friend void PrintTo(const VolumeKind& kind, std::ostream* out) { *out << kind.name; }
};

// Another kind of volume is tested when it is named here.
std::vector<VolumeKind> VolumeKinds();

}  // namespace armature::store

#endif  // ARMATURE_TESTS_UNIT_STORAGE_STORE_FILES_VOLUME_KINDS_H_
