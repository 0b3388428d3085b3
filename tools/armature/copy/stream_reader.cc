#include "tools/armature/copy/stream_reader.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "armature/client/errors.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "tools/armature/copy/item_digest.h"

namespace armature::cli::copy {
namespace {

constexpr absl::Duration kListEvery = absl::Seconds(10);
constexpr size_t kShardPagesMax = 10'000;
// Pages of a shard that Begin reads at most. Where it stops, the copy begins.
constexpr size_t kBeginPagesMax = 1'000'000;

absl::StatusOr<std::vector<Wire>> ListShards(Remote* source, const std::string& arn) {
  std::vector<Wire> shards;
  Wire request = {{"StreamArn", arn}};
  for (size_t pages = 0; pages < kShardPagesMax; ++pages) {
    ARM_ASSIGN_OR_RETURN(const Wire answer, source->CallStreams("DescribeStream", request));
    const Wire* const stream = Find(answer, "StreamDescription");
    if (stream == nullptr) break;
    for (const Wire& shard : ListIn(*stream, "Shards")) shards.push_back(shard);
    const std::string last = TextIn(*stream, "LastEvaluatedShardId");
    if (last.empty()) return shards;
    if (last == TextIn(request, "ExclusiveStartShardId")) break;
    request["ExclusiveStartShardId"] = last;
  }
  return DataLossError(Cat("the description of the stream ", arn, " does not end"));
}

bool IsClosed(const Wire& shard) {
  const Wire* const range = Find(shard, "SequenceNumberRange");
  return range != nullptr && !TextIn(*range, "EndingSequenceNumber").empty();
}

// A shard's first or next iterator.
absl::StatusOr<std::string> MakeIterator(Remote* source, const std::string& arn, const std::string& shard,
                                         const std::string& after) {
  Wire request = {{"StreamArn", arn}, {"ShardId", shard}, {"ShardIteratorType", "TRIM_HORIZON"}};
  if (!after.empty()) {
    request["ShardIteratorType"] = "AFTER_SEQUENCE_NUMBER";
    request["SequenceNumber"] = after;
  }
  ARM_ASSIGN_OR_RETURN(const Wire answer, source->CallStreams("GetShardIterator", request));
  const std::string iterator = TextIn(answer, "ShardIterator");
  if (iterator.empty()) return DataLossError(Cat("the source answered no iterator of the shard ", shard));
  return iterator;
}

// The sequence number of the last record that the shard has now; empty if it has none. A page without records ends the
// walk: where it ends too early, changes are applied again.
absl::StatusOr<std::string> LastSequence(Remote* source, const std::string& arn, const std::string& shard) {
  std::string last;
  ARM_ASSIGN_OR_RETURN(std::string iterator, MakeIterator(source, arn, shard, ""));
  for (size_t pages = 0; pages < kBeginPagesMax && !iterator.empty(); ++pages) {
    ARM_ASSIGN_OR_RETURN(const Wire page, source->CallStreams("GetRecords", Wire{{"ShardIterator", iterator}}));
    const Wire& records = ListIn(page, "Records");
    if (records.empty()) break;
    const Wire* const change = Find(records.back(), "dynamodb");
    const std::string sequence = change == nullptr ? "" : TextIn(*change, "SequenceNumber");
    if (sequence.empty() || sequence == last)
      return DataLossError("a record of the stream without a sequence number of its own");
    last = sequence;
    iterator = TextIn(page, "NextShardIterator");
  }
  return last;
}

}  // namespace

absl::StatusOr<std::vector<Change>> LastChanges(const Wire& records) {
  std::map<std::string, Change> last;  // by the text of the key
  for (const Wire& record : records) {
    const Wire* const change = Find(record, "dynamodb");
    const Wire* const key = change == nullptr ? nullptr : Find(*change, "Keys");
    if (key == nullptr || !key->is_object()) return DataLossError("a record of the stream without a key");
    const Wire* const image = Find(*change, "NewImage");
    const bool is_removed = TextIn(record, "eventName") == "REMOVE";
    if (!is_removed && (image == nullptr || !image->is_object())) {
      return DataLossError(Cat("a record of the stream without the new item, of the key ", WireText(*key)));
    }
    last[CanonicalText(*key)] = {.key = *key, .image = is_removed ? Wire(nullptr) : *image};
  }
  std::vector<Change> changes;
  changes.reserve(last.size());
  for (auto& [text, change] : last) changes.push_back(std::move(change));
  return changes;
}

absl::Status MergeShards(const std::vector<Wire>& shards, absl::Time now, StreamState* state) {
  std::set<std::string> present;
  for (const Wire& shard : shards) present.insert(TextIn(shard, "ShardId"));
  for (const auto& [id, known] : state->shards) {
    if (known.is_done || present.contains(id)) continue;
    return DataLossError(Cat("the shard ", id,
                             " of the stream is gone before it was read to its end. Lost are its changes ",
                             known.after.empty() ? "" : Cat("after the sequence number ", known.after, " "), "since ",
                             absl::FormatTime(absl::FromUnixMillis(state->began_ms), absl::UTCTimeZone())));
  }
  for (const Wire& shard : shards) {
    const std::string id = TextIn(shard, "ShardId");
    if (state->shards.contains(id)) continue;
    const std::string parent = TextIn(shard, "ParentShardId");
    if (!parent.empty() && !present.contains(parent) && !state->shards.contains(parent)) {
      return DataLossError(Cat("the shard ", id, " of the stream continues the shard ", parent,
                               ", which is gone before it was read. Lost are all its changes"));
    }
    // The shard was not there when the list was read before.
    state->shards[id] = {.after = "", .parent = parent, .is_done = false, .clear_ms = state->listed_ms};
  }
  // Shards that are read to their end and are listed no more are parents of nothing new.
  std::set<std::string> parents;
  for (const auto& [id, known] : state->shards) {
    if (!known.is_done) parents.insert(known.parent);
  }
  for (auto each = state->shards.begin(); each != state->shards.end();) {
    const bool is_forgotten = each->second.is_done && !present.contains(each->first) && !parents.contains(each->first);
    each = is_forgotten ? state->shards.erase(each) : std::next(each);
  }
  state->listed_ms = absl::ToUnixMillis(now);
  return absl::OkStatus();
}

std::vector<std::string> ReadableShards(const StreamState& state) {
  std::vector<std::string> ids;
  for (const auto& [id, shard] : state.shards) {
    const auto parent = state.shards.find(shard.parent);
    if (!shard.is_done && (parent == state.shards.end() || parent->second.is_done)) ids.push_back(id);
  }
  return ids;
}

absl::StatusOr<StreamState> StreamReader::Begin(Remote* source, const std::string& arn, absl::Time now) {
  const int64_t now_ms = absl::ToUnixMillis(now);
  StreamState state{.arn = arn, .began_ms = now_ms, .listed_ms = now_ms, .shards = {}};
  ARM_ASSIGN_OR_RETURN(const std::vector<Wire> shards, ListShards(source, arn));
  for (const Wire& shard : shards) {
    const std::string id = TextIn(shard, "ShardId");
    // All changes of a shard that has ended already are older than the copy.
    ShardState& begun = state.shards[id] = {
        .after = "", .parent = TextIn(shard, "ParentShardId"), .is_done = IsClosed(shard), .clear_ms = now_ms};
    if (!begun.is_done) {
      ARM_ASSIGN_OR_RETURN(begun.after, LastSequence(source, arn, id));
    }
  }
  return state;
}

absl::Status StreamReader::LostError(const std::string& id, std::string_view what) const {
  const ShardState& shard = state_.shards.at(id);
  return DataLossError(Cat(what, " of the stream of ", table_, ", shard ", id, ". Lost are changes ",
                           shard.after.empty() ? "" : Cat("after the sequence number ", shard.after, ", "),
                           "made after ", absl::FormatTime(absl::FromUnixMillis(state_.began_ms), absl::UTCTimeZone()),
                           ". Compare and mend with --verify --mend, or remove the state file and copy anew"));
}

absl::StatusOr<std::string> StreamReader::IteratorOf(const std::string& id, absl::Time now) {
  if (const auto found = iterators_.find(id); found != iterators_.end()) return found->second;
  const ShardState& shard = state_.shards.at(id);
  // A shard of which no record is known is read from its begin: no error tells that its first records are gone.
  if (shard.after.empty() && now - absl::FromUnixMillis(shard.clear_ms) > kStreamRetention) {
    return LostError(id, "records older than 24 hours may have been trimmed");
  }
  const absl::StatusOr<std::string> made = MakeIterator(&source_, state_.arn, id, shard.after);
  if (client::ErrorName(made.status()) == "TrimmedDataAccessException") {
    return LostError(id, "records were trimmed before they were read");
  }
  ARM_RETURN_IF_ERROR(made.status());
  iterators_[id] = *made;
  return *made;
}

absl::Status StreamReader::ReadShard(const std::string& id, Apply apply, absl::Time now, Round* round) {
  ARM_ASSIGN_OR_RETURN(const std::string iterator, IteratorOf(id, now));
  const absl::StatusOr<Wire> page = source_.CallStreams("GetRecords", Wire{{"ShardIterator", iterator}});
  const std::string error = client::ErrorName(page.status());
  if (error == "ExpiredIteratorException") {
    iterators_.erase(id);  // the next round makes one
    round->is_empty = false;
    return absl::OkStatus();
  }
  if (error == "TrimmedDataAccessException") return LostError(id, "records were trimmed before they were read");
  ARM_RETURN_IF_ERROR(page.status());
  if (!HasList(*page, "Records")) return DataLossError(Cat("the source answered no records of the shard ", id));
  const Wire& records = ListIn(*page, "Records");
  ShardState& shard = state_.shards.at(id);
  if (!records.empty()) {
    ARM_ASSIGN_OR_RETURN(const std::vector<Change> changes, LastChanges(records));
    ARM_RETURN_IF_ERROR(apply(changes));
    const Wire& last = *Find(records.back(), "dynamodb");
    shard.after = TextIn(last, "SequenceNumber");
    if (shard.after.empty()) return DataLossError("a record of the stream without a sequence number");
    round->records += static_cast<int64_t>(records.size());
    round->newest_seconds = std::max(round->newest_seconds, RealIn(last, "ApproximateCreationDateTime"));
    round->is_empty = false;
  }
  shard.clear_ms = absl::ToUnixMillis(now);
  const std::string next = TextIn(*page, "NextShardIterator");
  if (!next.empty()) {
    iterators_[id] = next;
    return absl::OkStatus();
  }
  shard.is_done = true;
  iterators_.erase(id);
  round->is_empty = false;
  must_list_ = true;
  return absl::OkStatus();
}

absl::Status StreamReader::CheckEnabled() {
  ARM_ASSIGN_OR_RETURN(const Wire answer, source_.CallStreams("DescribeStream", Wire{{"StreamArn", state_.arn}}));
  const Wire* const stream = Find(answer, "StreamDescription");
  const std::string status = stream == nullptr ? "" : TextIn(*stream, "StreamStatus");
  if (status == "ENABLED" || status == "ENABLING") return absl::OkStatus();
  return DataLossError(Cat("the stream of ", table_, " is ", status.empty() ? "not described" : status,
                           ": changes since it was turned off are lost. Compare and mend with --verify --mend"));
}

absl::StatusOr<StreamReader::Round> StreamReader::ReadOnce(Apply apply, absl::Time now) {
  if (must_list_ || now - listed_ > kListEvery) {
    ARM_ASSIGN_OR_RETURN(const std::vector<Wire> shards, ListShards(&source_, state_.arn));
    ARM_RETURN_IF_ERROR(MergeShards(shards, now, &state_));
    ARM_RETURN_IF_ERROR(CheckEnabled());
    listed_ = now;
    must_list_ = false;
  }
  Round round;
  for (const std::string& id : ReadableShards(state_)) {
    ARM_RETURN_IF_ERROR(ReadShard(id, apply, now, &round));
  }
  return round;
}

}  // namespace armature::cli::copy
