#include "storage/archive/segment.h"

#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "storage/archive/text_record.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/files/decoder.h"
#include "storage/files/encoder.h"

namespace armature::archive {
namespace {

constexpr std::string_view kSegmentTitle = "armature segment";
constexpr size_t kBatchHeadBytes = 8 + 8 + 4;
// More than any segment has: a batch is at most some commits. Bounds the memory that a damaged file can ask for.
constexpr uint64_t kPlainBytesMax = uint64_t{1} << 30;

void AppendBigEndian(uint64_t value, size_t bytes, std::string* to) {
  for (size_t i = bytes; i > 0; --i) to->push_back(static_cast<char>(value >> (8 * (i - 1))));
}

uint64_t BigEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

// The two parts of a value, divided by its first blank.
absl::StatusOr<std::pair<std::string, std::string>> PartsOf(std::string_view value) {
  const size_t blank = value.find(' ');
  if (blank == std::string_view::npos) return DataLossError(Cat("has the value \"", value, "\""));
  return std::pair(std::string(value.substr(0, blank)), std::string(value.substr(blank + 1)));
}

std::string PositionText(store::LogPosition position) { return Cat(position.file, " ", position.offset); }

absl::StatusOr<store::LogPosition> PositionOf(const TextRecord& head, std::string_view name) {
  ARM_ASSIGN_OR_RETURN(const std::string value, head.Text(name));
  ARM_ASSIGN_OR_RETURN(const auto parts, PartsOf(value));
  const std::optional<uint64_t> file = ParseNumber(parts.first);
  const std::optional<uint64_t> offset = ParseNumber(parts.second);
  if (!file.has_value() || !offset.has_value()) return DataLossError(Cat("has no place in the line \"", name, "\""));
  return store::LogPosition{*file, *offset};
}

absl::StatusOr<store::FamilyNamesById> FamiliesOf(const TextRecord& head) {
  store::FamilyNamesById families;
  for (const std::string& value : head.All("family")) {
    ARM_ASSIGN_OR_RETURN(const auto parts, PartsOf(value));
    const std::optional<uint64_t> id = ParseNumber(parts.first);
    if (!id.has_value() || *id > std::numeric_limits<uint32_t>::max() || parts.second.empty()) {
      return DataLossError(Cat("has the family \"", value, "\""));
    }
    families[static_cast<uint32_t>(*id)] = parts.second;
  }
  return families;
}

absl::StatusOr<SegmentFacts> FactsOf(const TextRecord& head) {
  SegmentFacts facts;
  ARM_ASSIGN_OR_RETURN(facts.chain, head.Text("chain"));
  ARM_ASSIGN_OR_RETURN(facts.index, head.Number("index"));
  ARM_ASSIGN_OR_RETURN(facts.previous, head.Text("previous"));
  ARM_ASSIGN_OR_RETURN(facts.start, PositionOf(head, "start"));
  ARM_ASSIGN_OR_RETURN(facts.end, PositionOf(head, "end"));
  ARM_ASSIGN_OR_RETURN(facts.first_sequence, head.Number("first_sequence"));
  ARM_ASSIGN_OR_RETURN(facts.last_sequence, head.Number("last_sequence"));
  ARM_ASSIGN_OR_RETURN(facts.first_ms, head.Time("first_ms"));
  ARM_ASSIGN_OR_RETURN(facts.last_ms, head.Time("last_ms"));
  ARM_ASSIGN_OR_RETURN(facts.until_ms, head.Time("until_ms"));
  ARM_ASSIGN_OR_RETURN(facts.batches, head.Number("batches"));
  ARM_ASSIGN_OR_RETURN(facts.plain_bytes, head.Number("plain_bytes"));
  ARM_ASSIGN_OR_RETURN(facts.families, FamiliesOf(head));
  if (facts.plain_bytes > kPlainBytesMax) return DataLossError(Cat("has ", facts.plain_bytes, " bytes of batches"));
  facts.checksum = head.checksum();
  return facts;
}

absl::StatusOr<std::string> Compress(std::string_view plain) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<files::Encoder> encoder, files::MakeEncoder(files::Compression::kZstd));
  std::string body;
  ARM_RETURN_IF_ERROR(encoder->Encode(plain, /*is_last=*/true, [&body](std::string_view bytes) {
    body += bytes;
    return absl::OkStatus();
  }));
  return body;
}

absl::StatusOr<std::string> Decompress(std::string_view body, uint64_t plain_bytes) {
  ARM_ASSIGN_OR_RETURN(const std::unique_ptr<files::Decoder> decoder, files::MakeDecoder(files::Compression::kZstd));
  // One byte more shows that there are more.
  std::string plain(plain_bytes + 1, '\0');
  ARM_ASSIGN_OR_RETURN(const size_t got, decoder->Decode(&body, plain.data(), plain.size()));
  ARM_RETURN_IF_ERROR(decoder->CheckEnd());
  if (got != plain_bytes) return DataLossError(Cat("has other than ", plain_bytes, " bytes of batches"));
  plain.resize(plain_bytes);
  return plain;
}

}  // namespace

void SegmentWriter::Add(const store::LogBatch& batch, int64_t time_ms) {
  if (facts_.batches == 0) {
    facts_.first_sequence = batch.sequence;
    facts_.first_ms = time_ms;
  }
  ++facts_.batches;
  facts_.last_sequence = batch.sequence + batch.writes - 1;
  facts_.last_ms = time_ms;
  AppendBigEndian(batch.sequence, 8, &plain_);
  AppendBigEndian(static_cast<uint64_t>(time_ms), 8, &plain_);
  AppendBigEndian(batch.bytes.size(), 4, &plain_);
  plain_ += batch.bytes;
}

absl::StatusOr<std::string> SegmentWriter::Finish(store::LogPosition end, int64_t until_ms) {
  facts_.end = end;
  facts_.until_ms = until_ms;
  facts_.plain_bytes = plain_.size();
  ARM_ASSIGN_OR_RETURN(const std::string body, Compress(plain_));
  TextRecord head{std::string(kSegmentTitle)};
  head.Add("format", kArchiveFormat);
  head.Add("chain", facts_.chain);
  head.Add("index", facts_.index);
  head.Add("previous", facts_.previous);
  head.Add("start", PositionText(facts_.start));
  head.Add("end", PositionText(facts_.end));
  head.Add("first_sequence", facts_.first_sequence);
  head.Add("last_sequence", facts_.last_sequence);
  head.Add("first_ms", static_cast<uint64_t>(facts_.first_ms));
  head.Add("last_ms", static_cast<uint64_t>(facts_.last_ms));
  head.Add("until_ms", static_cast<uint64_t>(facts_.until_ms));
  head.Add("batches", facts_.batches);
  head.Add("plain_bytes", facts_.plain_bytes);
  head.Add("body", Cat(body.size(), " ", ChecksumOf(body)));
  for (const auto& [id, name] : facts_.families) head.Add("family", Cat(id, " ", name));
  const std::string text = head.Encode();
  ARM_ASSIGN_OR_RETURN(const SegmentFacts parsed, ParseSegmentHead(text));
  facts_.checksum = parsed.checksum;
  return text + body;
}

absl::StatusOr<SegmentFacts> ParseSegmentHead(std::string_view bytes) {
  size_t head_bytes = 0;
  ARM_ASSIGN_OR_RETURN(const TextRecord head,
                       TextRecord::ParseFront(bytes, kSegmentTitle, kArchiveFormat, &head_bytes));
  return FactsOf(head);
}

absl::StatusOr<Segment> ParseSegment(std::string_view bytes) {
  size_t head_bytes = 0;
  ARM_ASSIGN_OR_RETURN(const TextRecord head,
                       TextRecord::ParseFront(bytes, kSegmentTitle, kArchiveFormat, &head_bytes));
  Segment segment;
  ARM_ASSIGN_OR_RETURN(segment.facts, FactsOf(head));
  ARM_ASSIGN_OR_RETURN(const std::string value, head.Text("body"));
  ARM_ASSIGN_OR_RETURN(const auto parts, PartsOf(value));
  const std::string_view body = bytes.substr(head_bytes);
  if (Cat(body.size()) != parts.first)
    return DataLossError(Cat("has a body of ", body.size(), " bytes, not ", parts.first));
  if (ChecksumOf(body) != parts.second) return DataLossError("is damaged: the checksum of its body is another one");
  ARM_ASSIGN_OR_RETURN(segment.plain, Decompress(body, segment.facts.plain_bytes));
  return segment;
}

absl::Status ForEachBatch(const Segment& segment, absl::FunctionRef<absl::Status(const ArchivedBatch& batch)> visit) {
  std::string_view left = segment.plain;
  while (!left.empty()) {
    if (left.size() < kBatchHeadBytes) return DataLossError("has an unfinished batch");
    const uint64_t size = BigEndian(left.substr(16, 4));
    if (size > left.size() - kBatchHeadBytes) return DataLossError("has an unfinished batch");
    const ArchivedBatch batch{.sequence = BigEndian(left.substr(0, 8)),
                              .time_ms = static_cast<int64_t>(BigEndian(left.substr(8, 8))),
                              .bytes = left.substr(kBatchHeadBytes, size)};
    ARM_RETURN_IF_ERROR(visit(batch));
    left.remove_prefix(kBatchHeadBytes + size);
  }
  return absl::OkStatus();
}

}  // namespace armature::archive
