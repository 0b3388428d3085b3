#include "daemon/http/h2_output.h"

#include <algorithm>

namespace armature::daemon {
namespace {

// To copy so many is cheaper than a piece of its own.
constexpr size_t kCopiedMax = 2048;
// An idle connection keeps no more.
constexpr size_t kKeptMax = 4 << 10;
constexpr size_t kKeptPiecesMax = 64;

}  // namespace

void H2Output::Copy(std::string_view bytes) {
  if (bytes.empty()) return;
  if (first_ < pieces_.size() && pieces_.back().owner == nullptr) {
    pieces_.back().size += bytes.size();
  } else {
    pieces_.push_back({nullptr, nullptr, copied_.size(), bytes.size()});
  }
  copied_.append(bytes);
  size_ += bytes.size();
}

void H2Output::Refer(const std::shared_ptr<const OutMessage>& owner, std::string_view bytes) {
  if (bytes.size() <= kCopiedMax) return Copy(bytes);
  pieces_.push_back({owner, bytes.data(), 0, bytes.size()});
  size_ += bytes.size();
}

size_t H2Output::Gather(std::span<std::string_view> pieces) const {
  size_t count = 0;
  size_t skipped = skipped_;
  for (size_t i = first_; i < pieces_.size() && count < pieces.size(); ++i, skipped = 0) {
    const Piece& piece = pieces_[i];
    const char* const bytes = piece.owner == nullptr ? copied_.data() + piece.begin : piece.bytes;
    pieces[count++] = std::string_view(bytes, piece.size).substr(skipped);
  }
  return count;
}

void H2Output::Advance(size_t bytes) {
  size_ -= bytes;
  while (bytes > 0) {
    Piece& piece = pieces_[first_];
    const size_t part = std::min(bytes, piece.size - skipped_);
    skipped_ += part;
    bytes -= part;
    if (piece.owner == nullptr) read_ += part;
    if (skipped_ < piece.size) break;
    piece.owner.reset();
    ++first_;
    skipped_ = 0;
  }
  if (size_ > 0) return Compact();
  pieces_.clear();
  copied_.clear();
  first_ = skipped_ = read_ = 0;
  if (copied_.capacity() > kKeptMax) copied_.shrink_to_fit();
  if (pieces_.capacity() > kKeptPiecesMax) pieces_.shrink_to_fit();
}

// A client that reads steadily, and never all, leaves no other time to forget what it has read.
void H2Output::Compact() {
  if (first_ >= kKeptPiecesMax && 2 * first_ >= pieces_.size()) {
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<ptrdiff_t>(first_));
    first_ = 0;
  }
  if (read_ < kKeptMax || 2 * read_ < copied_.size()) return;
  if (Piece& piece = pieces_[first_]; piece.owner == nullptr) {
    piece.begin += skipped_;
    piece.size -= skipped_;
    skipped_ = 0;
  }
  for (size_t i = first_; i < pieces_.size(); ++i) {
    if (pieces_[i].owner == nullptr) pieces_[i].begin -= read_;
  }
  copied_.erase(0, read_);
  read_ = 0;
}

}  // namespace armature::daemon
