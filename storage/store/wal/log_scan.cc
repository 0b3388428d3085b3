#include "storage/store/wal/log_scan.h"

#include <algorithm>
#include <bit>
#include <boost/crc.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "storage/base/status_macros.h"
#include "storage/base/strings.h"

namespace armature::store {
namespace {

constexpr size_t kBlockBytes = size_t{32} << 10;
// Whole blocks. In RADOS each read is a round trip.
constexpr size_t kReadBytes = 128 * kBlockBytes;
constexpr size_t kPartHeadBytes = 7;

enum class PartType : uint8_t { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

// One part that passed its checksum.
struct Part {
  PartType type;
  std::string_view data;
};

uint32_t LittleEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

// CRC-32C, changed as RocksDB stores it.
uint32_t StoredChecksum(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return std::rotr(static_cast<uint32_t>(crc.checksum()), 15) + 0xA282EAD8;
}

// The part at the beginning of `bytes`, the rest of a block.
std::optional<Part> ParsePart(std::string_view bytes) {
  if (bytes.size() < kPartHeadBytes) return std::nullopt;
  const auto type = static_cast<unsigned char>(bytes[6]);
  const size_t size = LittleEndian(bytes.substr(4, 2));
  if (type < 1 || type > 4 || size > bytes.size() - kPartHeadBytes) return std::nullopt;
  if (StoredChecksum(bytes.substr(6, size + 1)) != LittleEndian(bytes.substr(0, 4))) return std::nullopt;
  return Part{static_cast<PartType>(type), bytes.substr(kPartHeadBytes, size)};
}

// Puts records together from parts.
class RecordReader {
 public:
  // Takes the part that begins at `offset`. True if it completes the record that begins at record_offset().
  bool Take(const Part& part, uint64_t offset) {
    const bool begins = part.type == PartType::kFull || part.type == PartType::kFirst;
    // A record that another one interrupts was not written to its end.
    is_torn_ = is_torn_ || begins == is_open_;
    if (begins) {
      data_.clear();
      offset_ = offset;
    } else if (!is_open_) {
      return false;
    }
    data_.append(part.data);
    is_open_ = part.type == PartType::kFirst || part.type == PartType::kMiddle;
    return !is_open_;
  }
  void Forget() { is_open_ = false; }

  // True if a part was not the one expected after the part before it.
  bool is_torn() const { return is_torn_; }
  uint64_t record_offset() const { return offset_; }
  const std::string& data() const { return data_; }

 private:
  bool is_open_ = false;
  bool is_torn_ = false;
  uint64_t offset_ = 0;
  std::string data_;
};

class Scanner {
 public:
  Scanner(LogScan* scan, LogVisitor visit) : scan_(scan), visit_(visit) {}

  // `block` begins at `offset` of the file.
  void ScanBlock(std::string_view block, uint64_t offset) {
    size_t at = 0;
    bool may_search = !is_damaged_;
    while (at + kPartHeadBytes <= block.size()) {
      const std::optional<Part> part = ParsePart(block.substr(at));
      if (!part.has_value()) {
        is_damaged_ = true;
        given_up_ = offset + block.size();
        records_.Forget();
        // The size of a damaged part is unknown. The rest of the first damaged block is searched byte by byte; after
        // that blocks suffice, because each begins with a part.
        if (!may_search) return;
        at = FindPart(block, at + 1);
        may_search = false;
        continue;
      }
      const size_t end = at + kPartHeadBytes + part->data.size();
      if (records_.Take(*part, offset + at)) EndRecord(offset + end);
      if (!is_damaged_ && records_.is_torn()) is_damaged_ = true;
      at = end;
    }
    if (is_damaged_ || at >= block.size()) return;
    // Zeros fill a block in which no head has room; at the end of the file they are an unfinished head.
    const bool is_filled = block.size() == kBlockBytes && block.find_first_not_of('\0', at) == std::string_view::npos;
    if (!is_filled) {
      is_damaged_ = true;
    } else if (scan_->whole == offset + at) {
      scan_->whole = offset + block.size();
    }
  }

  void Finish() {
    if (!scan_->is_whole()) SkipTo(scan_->size);
  }

 private:
  void EndRecord(uint64_t end) {
    const bool is_behind = is_damaged_ || records_.is_torn();
    if (!is_behind) scan_->whole = end;
    if (is_behind && !scan_->next_record.has_value()) scan_->next_record = records_.record_offset();
    if (records_.record_offset() >= given_up_) {
      if (is_behind) SkipTo(records_.record_offset());
      kept_ = end;
    }
    visit_(records_.data(), is_behind);
  }

  // Counts what lies between the last record that RocksDB keeps and `offset`. Less than a head fills a block.
  void SkipTo(uint64_t offset) {
    if (offset < kept_ + kPartHeadBytes) return;
    scan_->lost_bytes += offset - kept_;
    ++scan_->lost_places;
  }

  // Offset of the first part at or after `at`, or the end of the block.
  static size_t FindPart(std::string_view block, size_t at) {
    while (at < block.size() && !ParsePart(block.substr(at)).has_value()) ++at;
    return at;
  }

  LogScan* const scan_;
  const LogVisitor visit_;
  RecordReader records_;
  bool is_damaged_ = false;
  uint64_t given_up_ = 0;  // RocksDB reads nothing between a damage and this place
  uint64_t kept_ = 0;      // end of the last record that RocksDB keeps
};

}  // namespace

absl::StatusOr<LogScan> ScanLog(Volume* volume, const std::string& path, LogVisitor visit) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<VolumeFile> file, volume->Open(path, Volume::Access::kRead));
  LogScan scan;
  Scanner scanner(&scan, visit);
  std::vector<char> buffer(kReadBytes);
  while (true) {
    ARM_ASSIGN_OR_RETURN(const size_t filled, file->ReadAt(scan.size, buffer.size(), buffer.data()));
    if (filled == 0) break;
    const std::string_view read(buffer.data(), filled);
    for (size_t at = 0; at < filled; at += kBlockBytes) {
      scanner.ScanBlock(read.substr(at, kBlockBytes), scan.size + at);
    }
    scan.size += filled;
  }
  scanner.Finish();
  return scan;
}

absl::StatusOr<uint64_t> ReadRecords(Volume* volume, const std::string& path, uint64_t from, uint64_t to,
                                     absl::FunctionRef<bool(std::string_view record, uint64_t end)> visit) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<VolumeFile> file, volume->Open(path, Volume::Access::kRead));
  RecordReader records;
  std::vector<char> buffer(kReadBytes);
  uint64_t done = from;
  size_t at = from % kBlockBytes;
  for (uint64_t begin = from - at; begin < to; begin += buffer.size()) {
    ARM_ASSIGN_OR_RETURN(const size_t filled, file->ReadAt(begin, buffer.size(), buffer.data()));
    const std::string_view read(buffer.data(), filled);
    for (size_t block_at = 0; block_at < filled; block_at += kBlockBytes) {
      const std::string_view block = read.substr(block_at, kBlockBytes);
      while (at + kPartHeadBytes <= block.size()) {
        const std::optional<Part> part = ParsePart(block.substr(at));
        const uint64_t offset = begin + block_at + at;
        if (!part.has_value() || offset + kPartHeadBytes + part->data.size() > to) return done;
        at += kPartHeadBytes + part->data.size();
        const bool is_complete = records.Take(*part, offset);
        if (records.is_torn()) return done;
        if (!is_complete) continue;
        done = begin + block_at + at;
        if (!visit(records.data(), done)) return done;
      }
      at = 0;
    }
    if (filled < buffer.size()) break;
  }
  return done;
}

void RecordEnds::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const uint64_t block_left = kBlockBytes - size_ % kBlockBytes;
    const bool is_in_data = head_.size() == kPartHeadBytes;
    // The end of a block that has no room for a head is filled up.
    const bool is_filler = head_.empty() && block_left < kPartHeadBytes;
    uint64_t left = is_filler ? block_left : kPartHeadBytes - head_.size();
    if (is_in_data) left = part_end_ - size_;
    const size_t taken = std::min<uint64_t>(left, bytes.size());
    if (!is_in_data && !is_filler) head_ += bytes.substr(0, taken);
    size_ += taken;
    bytes.remove_prefix(taken);
    if (head_.size() < kPartHeadBytes) continue;
    if (!is_in_data) part_end_ = size_ + LittleEndian(std::string_view(head_).substr(4, 2));
    if (size_ < part_end_) continue;
    const auto type = static_cast<PartType>(head_[6]);
    if (type == PartType::kFull || type == PartType::kLast) {
      previous_ = last_;
      last_ = size_;
    }
    head_.clear();
  }
}

}  // namespace armature::store
