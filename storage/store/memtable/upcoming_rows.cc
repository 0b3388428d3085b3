#include "storage/store/memtable/upcoming_rows.h"

#include <algorithm>
#include <utility>

#include "glog/logging.h"

namespace armature::store {
namespace {

thread_local UpcomingRows* of_thread = nullptr;

}  // namespace

UpcomingRows::UpcomingRows(std::vector<Row> rows) : rows_(std::move(rows)) {
  CHECK(of_thread == nullptr);
  of_thread = this;
}
UpcomingRows::~UpcomingRows() { of_thread = nullptr; }

std::span<const UpcomingRows::Row> UpcomingRows::Before(std::string_view key) {
  return of_thread == nullptr ? std::span<const Row>() : of_thread->Advance(key);
}

std::span<const UpcomingRows::Row> UpcomingRows::Advance(std::string_view key) {
  if (next_ == rows_.size() || rows_[next_].key != key) return {};
  const size_t begin = next_++;
  if (begin < ahead_) return {};
  ahead_ = begin + 1;
  const size_t end = std::min(begin + kAheadMax, rows_.size());
  while (ahead_ < end && rows_[ahead_].family == rows_[begin].family) ++ahead_;
  return std::span(rows_).subspan(begin, ahead_ - begin);
}

}  // namespace armature::store
