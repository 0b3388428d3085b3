#include "tools/armature/copy/batch_writer.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "armature/client/errors.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/copy/workers.h"
#include "tools/armature/session.h"

namespace armature::cli::copy {
namespace {

constexpr size_t kBatchItemsMax = 25;
// The protocol permits 16 MB; a smaller batch is repeated sooner.
constexpr size_t kBatchBytesMax = 4 << 20;
constexpr size_t kShownItemBytes = 200;

}  // namespace

WriteText PutText(const Wire& item) { return Cat(R"({"PutRequest":{"Item":)", WireText(item), "}}"); }

WriteText DeleteText(const Wire& key) { return Cat(R"({"DeleteRequest":{"Key":)", WireText(key), "}}"); }

std::vector<BatchWriter::Batch> BatchWriter::BatchesOf(const std::vector<WriteText>& requests) {
  std::vector<Batch> batches;
  size_t bytes = 0;
  for (const WriteText& request : requests) {
    const bool is_full =
        !batches.empty() && (batches.back().size() == kBatchItemsMax || bytes + request.size() > kBatchBytesMax);
    if (batches.empty() || is_full) {
      batches.emplace_back();
      bytes = 0;
    }
    batches.back().push_back(request);
    bytes += request.size();
  }
  return batches;
}

absl::Status BatchWriter::Write(const std::string& table, const std::vector<WriteText>& requests) {
  for (Batch& batch : BatchesOf(requests)) ARM_RETURN_IF_ERROR(WriteBatch(table, std::move(batch)));
  return absl::OkStatus();
}

absl::Status BatchWriter::WriteWide(const std::string& table, const std::vector<WriteText>& requests, size_t threads) {
  std::vector<Batch> batches = BatchesOf(requests);
  if (batches.size() < 2) return Write(table, requests);
  return RunParts(
      batches.size(), threads, &stop_, [&](size_t i) { return WriteBatch(table, std::move(batches[i])); },
      [] { return absl::OkStatus(); });
}

absl::Status BatchWriter::WriteBatch(const std::string& table, Batch batch) {
  ARM_RETURN_IF_ERROR(stop_.Wait(rate_.Take(static_cast<double>(batch.size()), absl::Now())));
  absl::Time end = absl::Now() + target_.patience();
  for (int attempts = 1; !batch.empty(); ++attempts) {
    absl::StatusOr<Batch> left = Send(table, batch);
    if (client::ErrorName(left.status()) == "ValidationException") return BlameOne(table, batch, left.status());
    ARM_RETURN_IF_ERROR(left.status());
    if (left->size() < batch.size()) {
      attempts = 1;
      end = absl::Now() + target_.patience();
    }
    batch = *std::move(left);
    if (batch.empty()) break;
    const absl::Duration pause = PauseAfter(attempts);
    if (absl::Now() + pause > end) {
      return UnreachableError(Cat("the target ", target_.address(), " has processed no item of ", table, " for ",
                                  absl::FormatDuration(target_.patience()), ": it is throttled"));
    }
    ARM_RETURN_IF_ERROR(stop_.Wait(pause));
  }
  return absl::OkStatus();
}

absl::Status BatchWriter::BlameOne(const std::string& table, const Batch& batch, const absl::Status& why) {
  if (batch.size() == 1) {
    return WithContext(why, Cat("the item ", batch.front().substr(0, kShownItemBytes), " of ", table));
  }
  for (const WriteText& request : batch) {
    const absl::Status alone = Send(table, {request}).status();
    if (!alone.ok()) return WithContext(alone, Cat("the item ", request.substr(0, kShownItemBytes), " of ", table));
  }
  return why;
}

absl::StatusOr<BatchWriter::Batch> BatchWriter::Send(const std::string& table, const Batch& batch) {
  const std::string body = Cat(R"({"RequestItems":{)", WireText(Wire(table)), ":[", absl::StrJoin(batch, ","), "]}}");
  ARM_ASSIGN_OR_RETURN(const Wire answer, target_.CallText("BatchWriteItem", body));
  Batch left;
  const Wire* const unprocessed = Find(answer, "UnprocessedItems");
  if (unprocessed == nullptr) return left;
  // A list of one table at most, as only that one was written to.
  if (!unprocessed->is_object() || (!unprocessed->empty() && !HasList(*unprocessed, table))) {
    return DataLossError("the target answered unprocessed items that are none");
  }
  for (const Wire& request : ListIn(*unprocessed, table)) left.push_back(WireText(request));
  if (left.size() > batch.size()) return DataLossError("the target left more items unprocessed than it was sent");
  return left;
}

}  // namespace armature::cli::copy
