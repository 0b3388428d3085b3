#ifndef ARMATURE_STORAGE_RADOS_FILE_TOTALS_H_
#define ARMATURE_STORAGE_RADOS_FILE_TOTALS_H_

// Sums over all files of a volume, kept while files change: nobody has to list them. Inside this component only.

#include <atomic>
#include <cstdint>

namespace armature::rados {

struct FileTotals {
  std::atomic<uint64_t> bytes = 0;
  std::atomic<uint64_t> objects = 0;
};

// A number that is part of a total: changes of it are changes of the total, and its end takes it out.
//
// Thread-safety: thread-compatible; the total may be that of many. Lifetime: the total outlives it.
class PartOfTotal {
 public:
  PartOfTotal(std::atomic<uint64_t>* total, uint64_t value) : total_(total), value_(value) { total_->fetch_add(value); }
  ~PartOfTotal() { total_->fetch_sub(value_); }
  PartOfTotal(const PartOfTotal&) = delete;
  PartOfTotal& operator=(const PartOfTotal&) = delete;

  operator uint64_t() const { return value_; }  // NOLINT(google-explicit-constructor): used as the number it is
  PartOfTotal& operator=(uint64_t value) {
    // Differences of unsigned numbers wrap, and so do their sums.
    total_->fetch_add(value - value_);
    value_ = value;
    return *this;
  }
  PartOfTotal& operator+=(uint64_t more) { return *this = value_ + more; }

 private:
  std::atomic<uint64_t>* const total_;
  uint64_t value_;
};

}  // namespace armature::rados

#endif  // ARMATURE_STORAGE_RADOS_FILE_TOTALS_H_
