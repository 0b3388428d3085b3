#include "storage/rados/striped_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "glog/logging.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/rados/volume_record.h"

namespace armature::rados {
namespace {

// Bytes that are collected before they are sent without being asked for.
constexpr size_t kSendBytes = size_t{1} << 20;
constexpr size_t kPatchedBytesMax = size_t{256} << 10;
// Writes of a file under way at once, of kSendBytes each as a rule.
constexpr size_t kFlightsMax = 16;
// Objects that are looked for behind a missing one.
constexpr uint64_t kLookedBehind = 16;
// Removals of objects under way at once.
constexpr size_t kRemovalsMax = 32;

}  // namespace

// A read of one object.
struct StripedFile::Piece {
  Flight flight;
  size_t at = 0;    // in the result
  size_t size = 0;  // asked for
};

StripedFile::StripedFile(std::shared_ptr<RadosSession> session, std::string id, uint64_t stripe_bytes, StripesMade made,
                         uint64_t size)
    : session_(std::move(session)),
      id_(std::move(id)),
      stripe_bytes_(stripe_bytes),
      made_when_(made),
      size_(&session_->totals().bytes, size),
      sent_(size),
      stripes_(&session_->totals().objects, (size + stripe_bytes - 1) / stripe_bytes) {}

StripedFile::~StripedFile() {
  const absl::MutexLock lock(&mutex_);
  for (const Sent& sent : flights_) sent.flight->Wait();
  if (!is_unlinked_ || session_->is_lost()) return;
  // One more than known: an object may have been made ahead. Objects that a crash leaves here belong to no name.
  std::deque<std::unique_ptr<Flight>> removals;
  for (uint64_t stripe = 0; stripe <= stripes_; ++stripe) {
    WriteOp op;
    op.Remove();
    auto flight = std::make_unique<Flight>();
    if (session_->Start(op, NameOf(stripe), *flight) < 0) break;
    removals.push_back(std::move(flight));
    if (removals.size() < kRemovalsMax) continue;
    removals.front()->Wait();
    removals.pop_front();
  }
  // The rest ends by itself.
}

std::string StripedFile::NameOf(uint64_t stripe) const { return Cat(id_, ".", stripe); }

uint64_t StripedFile::Size() const {
  const absl::MutexLock lock(&mutex_);
  return size_;
}

bool StripedFile::IsUnlinked() const {
  const absl::MutexLock lock(&mutex_);
  return is_unlinked_;
}

void StripedFile::Unlink() {
  const absl::MutexLock lock(&mutex_);
  is_unlinked_ = true;
}

absl::Status StripedFile::CheckGood() const {
  ARM_RETURN_IF_ERROR(session_->CheckOwned());
  return failure_;
}

void StripedFile::Fail(uint64_t offset, int result) {
  first_failed_ = failure_.ok() ? offset : std::min(first_failed_, offset);
  // Behind the failure that an object could not be made, its absence is no sign of another owner.
  const bool is_consequence = !failure_.ok() && (result == -ENOENT || result == -ENODATA);
  if (is_consequence) return;
  const std::string name = NameOf(offset / stripe_bytes_);
  absl::Status failed = session_->GuardedError("write", name, result);
  if (failure_.ok()) failure_ = std::move(failed);
}

absl::Status StripedFile::Prepare() {
  const absl::MutexLock lock(&mutex_);
  return PrepareLocked();
}

absl::Status StripedFile::PrepareToChange(StripesMade made) {
  const absl::MutexLock lock(&mutex_);
  made_when_ = made;
  return PrepareLocked();
}

absl::Status StripedFile::PrepareLocked() {
  is_ours_ = true;
  ARM_RETURN_IF_ERROR(CheckGood());
  if (made_when_ == StripesMade::kAhead) {
    // The stripe of the next byte, and the one after it.
    const uint64_t next = sent_ / stripe_bytes_;
    for (uint64_t stripe = stripes_; stripe <= next + 1; ++stripe) MakeStripe(stripe);
  }
  return failure_;
}

int StripedFile::TakeStripe(uint64_t stripe, Former former, uint64_t* size) {
  // The mark first, the size afterwards: nothing of the former owner is applied between the two.
  const std::string name = NameOf(stripe);
  if (former == Former::kFenced) {
    WriteOp take;
    take.RequireExisting();
    take.RequireAtMost(kEpochAttribute, session_->epoch_text());
    take.SetAttribute(kEpochAttribute, session_->epoch_text());
    if (const int taken = session_->Operate(take, name); taken < 0) return taken;
  }
  return session_->Stat(name, size);
}

absl::StatusOr<bool> StripedFile::HasStripeBehind(uint64_t stripe) {
  for (uint64_t behind = stripe + 1; behind <= stripe + kLookedBehind; ++behind) {
    uint64_t size = 0;
    const int told = session_->Stat(NameOf(behind), &size);
    if (told == 0) return true;
    if (told != -ENOENT) return session_->Error("read", NameOf(behind), told);
  }
  return false;
}

absl::Status StripedFile::TakeOver(Former former, Known known) {
  const bool fences = former == Former::kFenced;
  const absl::MutexLock lock(&mutex_);
  if (is_ours_ && known == Known::kSize) return CheckGood();
  const uint64_t known_size = size_;
  uint64_t found = 0;
  bool has_gap = false;
  bool is_second_look = false;
  for (stripes_ = 0;;) {
    uint64_t size = 0;
    const int taken = TakeStripe(stripes_, former, &size);
    if (taken == -ENOENT) {
      if (made_when_ == StripesMade::kWhenNeeded) break;
      ARM_ASSIGN_OR_RETURN(const bool has_more, HasStripeBehind(stripes_));
      if (!has_more) break;
      // The former owner may have made it meanwhile, and the next one.
      if (!std::exchange(is_second_look, true)) continue;
      return DataLossError(Cat("RADOS: object ", NameOf(stripes_), " is missing before others of its file"));
    }
    if (taken == -ECANCELED) return session_->GuardedError("take over", NameOf(stripes_), taken);
    if (taken < 0) return session_->Error("take over", NameOf(stripes_), taken);
    is_second_look = false;
    stripes_ += 1;
    if (!has_gap) found += size;
    has_gap = has_gap || size < stripe_bytes_;
  }
  if (known == Known::kSize && found < known_size) {
    return DataLossError(Cat("RADOS: file ", id_, " of ", known_size, " bytes has ", found, " bytes in its objects"));
  }
  // Bytes behind a known size are those of a write that failed.
  if (known == Known::kSize) found = known_size;
  size_ = found;
  sent_ = found;
  is_ours_ = fences;
  return fences ? CutStripes(found) : absl::OkStatus();
}

// Objects stay where they are, shorter or empty: some are made ahead.
absl::Status StripedFile::CutStripes(uint64_t size) {
  for (uint64_t stripe = size / stripe_bytes_; stripe < stripes_; ++stripe) {
    const uint64_t begin = stripe * stripe_bytes_;
    WriteOp cut;
    cut.Require(kEpochAttribute, session_->epoch_text());
    cut.Truncate(size > begin ? size - begin : 0);
    const int result = session_->Operate(cut, NameOf(stripe));
    // A file whose objects are made when needed may lack some.
    if (result == -ENOENT && made_when_ == StripesMade::kWhenNeeded) continue;
    if (result < 0) return session_->GuardedError("truncate", NameOf(stripe), result);
  }
  return absl::OkStatus();
}

void StripedFile::MakeStripe(uint64_t stripe) {
  if (stripe < stripes_ || !failure_.ok()) return;
  WriteOp make;
  make.CreateNew();
  make.SetAttribute(kEpochAttribute, session_->epoch_text());
  int made = session_->Operate(make, NameOf(stripe));
  if (made == -EEXIST) {
    // Left by a former owner of the file, whose writes do not count any more, or by an attempt that was not answered.
    WriteOp take;
    take.RequireAtMost(kEpochAttribute, session_->epoch_text());
    take.SetAttribute(kEpochAttribute, session_->epoch_text());
    take.Truncate(0);
    made = session_->Operate(take, NameOf(stripe));
  }
  if (made < 0) {
    first_failed_ = sent_;
    failure_ = made == -ECANCELED ? session_->GuardedError("make", NameOf(stripe), made)
                                  : session_->Error("make", NameOf(stripe), made);
    return;
  }
  stripes_ = stripe + 1;
}

void StripedFile::SendPiece(uint64_t stripe, uint64_t offset, std::string_view bytes) {
  if (!failure_.ok()) return;
  WriteOp op;
  if (stripe >= stripes_) {
    op.CreateNew();
    op.SetAttribute(kEpochAttribute, session_->epoch_text());
    stripes_ = stripe + 1;
  } else {
    op.Require(kEpochAttribute, session_->epoch_text());
  }
  op.Write(offset, bytes);
  auto flight = std::make_shared<Flight>();
  if (const int started = session_->Start(op, NameOf(stripe), *flight); started < 0) {
    Fail(stripe * stripe_bytes_ + offset, started);
    return;
  }
  flights_.push_back({std::move(flight), stripe * stripe_bytes_ + offset});
  Land(kFlightsMax);
}

void StripedFile::SendTail() {
  std::string_view rest = tail_;
  while (!rest.empty() && failure_.ok()) {
    const uint64_t stripe = sent_ / stripe_bytes_;
    const uint64_t offset = sent_ % stripe_bytes_;
    const std::string_view piece = rest.substr(0, std::min<uint64_t>(rest.size(), stripe_bytes_ - offset));
    if (made_when_ == StripesMade::kAhead) {
      MakeStripe(stripe);
      MakeStripe(stripe + 1);
    }
    SendPiece(stripe, offset, piece);
    rest.remove_prefix(piece.size());
    sent_ += piece.size();
  }
  // After a failure the rest stays, so that Truncate knows what there is.
  tail_.erase(0, tail_.size() - rest.size());
  // A burst of large writes must not keep its memory in a file that is idle.
  if (tail_.capacity() > 2 * kSendBytes) tail_.shrink_to_fit();
}

void StripedFile::SendPatches() {
  for (const auto& [begin, bytes] : patches_) {
    std::string_view rest = bytes;
    for (uint64_t at = begin; !rest.empty() && failure_.ok();) {
      const uint64_t offset = at % stripe_bytes_;
      const std::string_view piece = rest.substr(0, std::min<uint64_t>(rest.size(), stripe_bytes_ - offset));
      SendPiece(at / stripe_bytes_, offset, piece);
      rest.remove_prefix(piece.size());
      at += piece.size();
    }
  }
  patches_.clear();
  patched_bytes_ = 0;
}

void StripedFile::Land(size_t left) {
  while (!flights_.empty() && (flights_.size() > left || flights_.front().flight->has_landed())) {
    const Sent sent = flights_.front();
    flights_.pop_front();
    if (const int result = sent.flight->Wait(); result < 0) Fail(sent.offset, result);
  }
}

absl::Status StripedFile::Append(std::string_view bytes) {
  const absl::MutexLock lock(&mutex_);
  ARM_RETURN_IF_ERROR(CheckGood());
  tail_.append(bytes);
  size_ += bytes.size();
  if (tail_.size() >= kSendBytes) SendTail();
  return failure_;
}

// Joins the bytes with patches that they overlap or touch.
void StripedFile::AddPatch(uint64_t offset, std::string_view bytes) {
  uint64_t begin = offset;
  std::string joined(bytes);
  auto next = patches_.upper_bound(offset);
  if (next != patches_.begin()) {
    const auto before = std::prev(next);
    const uint64_t end = before->first + before->second.size();
    if (end >= offset) {
      begin = before->first;
      std::string head = before->second.substr(0, offset - begin);
      if (end > offset + bytes.size()) joined += before->second.substr(offset + bytes.size() - begin);
      joined.insert(0, head);
      patched_bytes_ -= before->second.size();
      next = patches_.erase(before);
    }
  }
  while (next != patches_.end() && next->first <= begin + joined.size()) {
    const uint64_t covered = begin + joined.size() - next->first;
    if (covered < next->second.size()) joined += next->second.substr(covered);
    patched_bytes_ -= next->second.size();
    next = patches_.erase(next);
  }
  patched_bytes_ += joined.size();
  patches_[begin] = std::move(joined);
}

absl::Status StripedFile::WriteAt(uint64_t offset, std::string_view bytes) {
  const absl::MutexLock lock(&mutex_);
  ARM_RETURN_IF_ERROR(CheckGood());
  while (size_ < offset && failure_.ok()) {  // a gap
    const uint64_t zeros = std::min<uint64_t>(offset - size_, kSendBytes);
    tail_.append(zeros, '\0');
    size_ += zeros;
    if (tail_.size() >= kSendBytes) SendTail();
  }
  if (offset < sent_) {
    const std::string_view stored = bytes.substr(0, std::min<uint64_t>(bytes.size(), sent_ - offset));
    AddPatch(offset, stored);
    bytes.remove_prefix(stored.size());
    offset += stored.size();
  }
  if (!bytes.empty()) {
    const uint64_t at = offset - sent_;
    if (tail_.size() < at + bytes.size()) tail_.resize(at + bytes.size());
    tail_.replace(at, bytes.size(), bytes);
    size_ = std::max<uint64_t>(size_, offset + bytes.size());
  }
  if (tail_.size() >= kSendBytes) SendTail();
  if (patched_bytes_ >= kPatchedBytesMax) SendPatches();
  return failure_;
}

absl::Status StripedFile::Flush() {
  const absl::MutexLock lock(&mutex_);
  ARM_RETURN_IF_ERROR(CheckGood());
  Land(kFlightsMax);
  if (flights_.empty() && failure_.ok()) SendTail();
  return failure_;
}

absl::Status StripedFile::Sync() {
  std::vector<std::shared_ptr<Flight>> waited;
  {
    const absl::MutexLock lock(&mutex_);
    ARM_RETURN_IF_ERROR(CheckGood());
    SendPatches();
    SendTail();
    ARM_RETURN_IF_ERROR(failure_);
    for (const Sent& sent : flights_) waited.push_back(sent.flight);
  }
  int failed = 0;
  for (const std::shared_ptr<Flight>& flight : waited) failed = std::min(failed, flight->Wait());
  const absl::MutexLock lock(&mutex_);
  Land(kFlightsMax);
  ARM_RETURN_IF_ERROR(CheckGood());
  // Cut off by another thread meanwhile.
  return failed < 0 ? session_->Error("sync", id_, failed) : absl::OkStatus();
}

absl::Status StripedFile::Truncate(uint64_t size) {
  const absl::MutexLock lock(&mutex_);
  ARM_RETURN_IF_ERROR(session_->CheckOwned());
  if (size > size_) return UnavailableError(Cat("RADOS: cannot extend ", id_, " by truncation"));
  while (!patches_.empty() && std::prev(patches_.end())->first >= size) patches_.erase(std::prev(patches_.end()));
  if (!patches_.empty()) {
    auto& [begin, bytes] = *std::prev(patches_.end());
    if (begin + bytes.size() > size) bytes.resize(size - begin);
  }
  Land(0);
  // Bytes that are to stay were not written.
  if (!failure_.ok() && size > first_failed_) return failure_;
  if (size < sent_ || !failure_.ok()) {
    const uint64_t cut = std::min(size, sent_);
    if (absl::Status failed = CutStripes(cut); !failed.ok()) {
      if (failure_.ok()) failure_ = failed;
      return failed;
    }
    failure_ = absl::OkStatus();
    if (size < sent_) tail_.clear();
    sent_ = cut;
  }
  if (size >= sent_ && tail_.size() > size - sent_) tail_.resize(size - sent_);
  size_ = size;
  SendPatches();
  SendTail();
  Land(0);
  return failure_;
}

absl::StatusOr<size_t> StripedFile::ReadStored(uint64_t offset, size_t size, char* to) const {
  if (size == 0) return size_t{0};
  if (offset / stripe_bytes_ == (offset + size - 1) / stripe_bytes_) {
    const std::string name = NameOf(offset / stripe_bytes_);
    const int got = rados_read(session_->io(), name.c_str(), to, size, offset % stripe_bytes_);
    if (got == -ENOENT) return DataLossError(Cat("RADOS: object ", name, " is missing"));
    if (got < 0) return session_->Error("read", name, got);
    return static_cast<size_t>(got);
  }
  std::deque<Piece> pieces;
  int failed = 0;
  for (size_t at = 0; at < size && failed >= 0;) {
    Piece& piece = pieces.emplace_back();
    const uint64_t begin = (offset + at) % stripe_bytes_;
    piece.at = at;
    piece.size = std::min<uint64_t>(size - at, stripe_bytes_ - begin);
    failed = rados_aio_read(session_->io(), NameOf((offset + at) / stripe_bytes_).c_str(), piece.flight.get(), to + at,
                            piece.size, begin);
    if (failed < 0) pieces.pop_back();
    at += piece.size;
  }
  size_t filled = 0;
  bool is_short = false;
  for (Piece& piece : pieces) {
    const int got = piece.flight.Wait();  // each: they write to `to`
    if (got < 0 && failed >= 0) failed = got;
    if (got < 0 || is_short) continue;
    filled += static_cast<size_t>(got);
    is_short = static_cast<size_t>(got) < piece.size;
  }
  if (failed == -ENOENT) return DataLossError(Cat("RADOS: an object of ", id_, " is missing"));
  if (failed < 0) return session_->Error("read", id_, failed);
  return filled;
}

absl::StatusOr<size_t> StripedFile::ReadAt(uint64_t offset, size_t size, char* to) const {
  size_t stored = 0;
  std::vector<std::pair<uint64_t, std::string>> patches;
  {
    const absl::MutexLock lock(&mutex_);
    if (offset >= size_) return size_t{0};
    size = std::min<uint64_t>(size, size_ - offset);
    stored = offset >= sent_ ? 0 : std::min<uint64_t>(size, sent_ - offset);
    if (size > stored) std::memcpy(to + stored, tail_.data() + (offset + stored - sent_), size - stored);
    for (const auto& [begin, bytes] : patches_) {
      if (begin < offset + stored && begin + bytes.size() > offset) patches.emplace_back(begin, bytes);
    }
  }
  ARM_ASSIGN_OR_RETURN(const size_t got, ReadStored(offset, stored, to));
  if (got < stored) {
    const absl::MutexLock lock(&mutex_);
    if (size_ < offset + stored) return std::min<size_t>(got, size_ > offset ? size_ - offset : 0);  // cut meanwhile
    if (!failure_.ok()) return failure_;
    return DataLossError(Cat("RADOS: file ", id_, " of ", uint64_t{size_}, " bytes ends at ", offset + got));
  }
  for (const auto& [begin, bytes] : patches) {
    const uint64_t from = std::max(begin, offset);
    const uint64_t end = std::min<uint64_t>(begin + bytes.size(), offset + stored);
    std::memcpy(to + (from - offset), bytes.data() + (from - begin), end - from);
  }
  return size;
}

}  // namespace armature::rados
