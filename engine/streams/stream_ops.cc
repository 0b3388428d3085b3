#include "engine/streams/stream_ops.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/items/message_memory.h"
#include "storage/base/api_error.h"
#include "storage/base/status_macros.h"
#include "storage/base/strings.h"
#include "storage/base/unix_time.h"
#include "storage/model/constraint_list.h"
#include "storage/model/limits.h"
#include "storage/model/plain_item.h"
#include "storage/model/table_name.h"
#include "storage/store/stream/stream_keeper.h"

namespace armature::engine {

using model::StreamDescriptor;

namespace {

constexpr int64_t kStreamsLimitMax = 100;
constexpr int64_t kRecordsLimitMax = 1000;
constexpr size_t kArnMinChars = 37;
constexpr size_t kArnMaxChars = 1024;
constexpr size_t kShardIdMinChars = 28;
constexpr size_t kShardIdMaxChars = 65;
constexpr size_t kSequenceMinChars = 21;
constexpr size_t kSequenceMaxChars = 40;
constexpr size_t kIteratorMaxChars = 2048;
constexpr int64_t kIteratorLifeMs = int64_t{15} * 60 * 1000;
// Records that a page passes over because they are older than the retention or the time that the reader has asked for.
constexpr size_t kOldRecordsMax = 10'000;
constexpr size_t kOldBytesMax = size_t{16} << 20;
constexpr std::string_view kChildShards[] = {"CHILD_SHARDS"};
constexpr std::string_view kIteratorTypes[] = {"TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER",
                                               "AT_TIMESTAMP"};

std::string ArnOf(const StreamDescriptor& stream) { return model::StreamArn(stream.table_name, stream.label); }

void CheckLength(const std::string& text, std::string_view path, size_t min, size_t max,
                 model::ConstraintList* constraints) {
  const std::string printed = model::PrintedValue(model::Shown(text));
  constraints->CheckLengthMin(printed, model::CharacterCount(text), path, min);
  constraints->CheckLengthMax(printed, model::CharacterCount(text), path, max);
}

void CheckRequired(const std::optional<std::string>& text, std::string_view path, size_t min, size_t max,
                   model::ConstraintList* constraints) {
  if (!text.has_value()) return constraints->AddNull(path);
  CheckLength(*text, path, min, max, constraints);
}

void CheckOptional(const std::optional<std::string>& text, std::string_view path, size_t min, size_t max,
                   model::ConstraintList* constraints) {
  if (text.has_value()) CheckLength(*text, path, min, max, constraints);
}

void CheckLimit(int64_t limit, int64_t max, model::ConstraintList* constraints) {
  constraints->CheckMinimum(limit, "limit", 1);
  constraints->CheckMaximum(limit, "limit", max);
}

// OK for the ARN of a stream of any daemon.
absl::Status CheckStreamArn(std::string_view arn) {
  const absl::Status invalid = ValidationError("Invalid StreamArn");
  model::Arn parts;
  if (!model::ParseArn(arn, &parts).ok() || !parts.resource.starts_with("table/")) return invalid;
  constexpr std::string_view kInfix = "/stream/";
  const size_t infix = parts.resource.find(kInfix);
  if (infix == std::string_view::npos || parts.resource.size() == infix + kInfix.size()) return invalid;
  const std::string_view table_arn = arn.substr(0, arn.find(kInfix));
  if (!model::IsTableArn(table_arn)) return invalid;
  absl::Time time;
  const std::string label(parts.resource.substr(infix + kInfix.size()));
  return absl::ParseTime("%Y-%m-%dT%H:%M:%E*S", label, absl::UTCTimeZone(), &time, nullptr) ? absl::OkStatus()
                                                                                            : invalid;
}

absl::StatusOr<store::StreamState> FindStream(const store::Database& database, const std::string& arn) {
  ARM_RETURN_IF_ERROR(CheckStreamArn(arn));
  if (const std::optional<StreamName> name = ParseStreamArn(arn); name.has_value()) {
    std::optional<store::StreamState> stream = database.streams().StateOf(name->table, name->label);
    if (stream.has_value()) return *std::move(stream);
  }
  return NoSuchStreamError(arn);
}

absl::Status NoSuchShardError() { return ResourceNotFoundError("Requested resource not found: Shard does not exist"); }

absl::Status TrimmedError() {
  return TrimmedDataAccessError(
      "The operation attempted to read past the oldest stream record in a shard; the records are no longer kept");
}

// A position in records that the database does not have: others may have got their sequences.
absl::Status OtherHistoryError() {
  return TrimmedDataAccessError(
      "The position is of another history of the database, which was restored, copied or made anew since: records may "
      "lie between it and those that are kept. Read the stream from TRIM_HORIZON");
}

absl::StatusOr<ShardKey> FindShard(const store::StreamState& state, const std::string& id) {
  const std::optional<ShardKey> shard = ParseShardId(id);
  if (!shard.has_value() || !IsShardOf(state, *shard)) return NoSuchShardError();
  return *shard;
}

const ShardRange* FindRange(const std::vector<ShardRange>& shards, ShardKey key) {
  const auto found =
      std::find_if(shards.begin(), shards.end(), [&](const ShardRange& each) { return each.key == key; });
  return found == shards.end() ? nullptr : &*found;
}

// The position for a sequence number that the client has given: the records behind it are read.
absl::StatusOr<ChangeSequence> PositionAt(const store::Database& database, const ShardRange& range,
                                          const std::string& text, bool is_after) {
  const std::optional<ChangeSequence> given = ParseSequenceText(text);
  if (!given.has_value()) return ValidationError("Invalid SequenceNumber");
  // The begin of a shard is a safe position in every history.
  const bool is_begin = !is_after && *given == range.first;
  if (!is_begin && *given < database.streams().epoch_base()) return OtherHistoryError();
  if (*given < range.first) return TrimmedError();
  if (*given > range.last.value_or(std::max(database.streams().watermark(), range.first))) {
    return ValidationError("Invalid SequenceNumber: it is none of the shard's");
  }
  return is_after ? *given : ChangeSequence(given->value() - 1);
}

absl::Status CheckIteratorShape(const GetShardIteratorRequest& request) {
  model::ConstraintList constraints;
  CheckRequired(request.stream_arn, "streamArn", kArnMinChars, kArnMaxChars, &constraints);
  CheckRequired(request.shard_id, "shardId", kShardIdMinChars, kShardIdMaxChars, &constraints);
  if (request.type.has_value()) {
    constraints.CheckEnum(*request.type, "shardIteratorType", kIteratorTypes);
  } else {
    constraints.AddNull("shardIteratorType");
  }
  CheckOptional(request.sequence_number, "sequenceNumber", kSequenceMinChars, kSequenceMaxChars, &constraints);
  return constraints.ToStatus();
}

// Checks which members the type of the iterator has. Errors: ValidationException.
absl::Status CheckIteratorMembers(const GetShardIteratorRequest& request) {
  const std::string_view type = *request.type;
  const bool needs_sequence = type.ends_with("_SEQUENCE_NUMBER");
  if (needs_sequence != request.sequence_number.has_value()) {
    return ValidationError(needs_sequence ? "SequenceNumber is required for this ShardIteratorType"
                                          : "SequenceNumber must not be specified for this ShardIteratorType");
  }
  if (needs_sequence && !ParseSequenceText(*request.sequence_number).has_value()) {
    return ValidationError("Invalid SequenceNumber");
  }
  const bool needs_time = type == "AT_TIMESTAMP";
  if (needs_time != request.timestamp_ms.has_value()) {
    return ValidationError(needs_time ? "Timestamp is required for this ShardIteratorType"
                                      : "Timestamp must not be specified for this ShardIteratorType");
  }
  if (needs_time && *request.timestamp_ms > UnixNowMs()) return ValidationError("Timestamp must not be in the future");
  return absl::OkStatus();
}

struct Image {
  std::string plain;
  size_t api_size = 0;
  codec::StoredItemView stored;
};

absl::StatusOr<std::optional<Image>> ReadImage(const std::optional<std::string_view>& bytes) {
  if (!bytes.has_value()) return std::nullopt;
  Image image;
  ARM_ASSIGN_OR_RETURN(image.stored, codec::ParseStoredItem(*bytes));
  image.api_size = image.stored.api_size;
  const std::string_view item = image.stored.item.bytes();
  image.plain = image.stored.compact_numbers ? model::PlainItem(item) : std::string(item);
  return std::optional<Image>(std::move(image));
}

// Memory of a change as bytes and as a message.
size_t MemoryOf(const ChangeOfItem& change) {
  size_t bytes = MessageMemory(change.keys);
  for (const auto* const image : {&change.new_image, &change.old_image}) {
    if (image->has_value()) bytes += MessageMemory(**image);
  }
  return bytes;
}

}  // namespace

absl::Status NoSuchStreamError(std::string_view arn) {
  return ResourceNotFoundError(Cat("Requested resource not found: Stream: ", arn, " not found"));
}

absl::StatusOr<ListStreamsResult> ListStreams(const store::Database* database, const ListStreamsRequest& request) {
  const int64_t limit = request.limit.value_or(kStreamsLimitMax);
  model::ConstraintList constraints;
  if (request.table_name.has_value()) model::CheckTableReferenceShape(request.table_name, &constraints);
  CheckLimit(limit, kStreamsLimitMax, &constraints);
  CheckOptional(request.exclusive_start_stream_arn, "exclusiveStartStreamArn", kArnMinChars, kArnMaxChars,
                &constraints);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  if (request.table_name.has_value()) ARM_RETURN_IF_ERROR(model::CheckTableReference(*request.table_name));
  store::StreamName after;
  if (request.exclusive_start_stream_arn.has_value()) {
    ARM_RETURN_IF_ERROR(CheckStreamArn(*request.exclusive_start_stream_arn));
    const std::optional<StreamName> name = ParseStreamArn(*request.exclusive_start_stream_arn);
    if (!name.has_value()) return NoSuchStreamError(*request.exclusive_start_stream_arn);
    after = {std::string(name->table), std::string(name->label)};
  }
  std::optional<std::string_view> table;
  if (request.table_name.has_value()) table = model::LocalTableName(*request.table_name);
  ListStreamsResult result;
  result.streams = database->streams().Names(table, after, static_cast<size_t>(limit) + 1);
  if (result.streams.size() <= static_cast<size_t>(limit)) return result;
  result.streams.pop_back();
  const auto& [table_name, label] = result.streams.back();
  result.last_evaluated_stream_arn = model::StreamArn(table_name, label);
  return result;
}

absl::StatusOr<DescribeStreamResult> DescribeStream(const store::Database& database,
                                                    const DescribeStreamRequest& request) {
  const int64_t limit = request.limit.value_or(kStreamsLimitMax);
  model::ConstraintList constraints;
  CheckRequired(request.stream_arn, "streamArn", kArnMinChars, kArnMaxChars, &constraints);
  CheckLimit(limit, kStreamsLimitMax, &constraints);
  CheckOptional(request.exclusive_start_shard_id, "exclusiveStartShardId", kShardIdMinChars, kShardIdMaxChars,
                &constraints);
  if (request.shard_filter.has_value()) {
    const ShardFilter& filter = *request.shard_filter;
    if (filter.type.has_value()) {
      constraints.CheckEnum(*filter.type, "shardFilter.type", kChildShards);
    } else {
      constraints.AddNull("shardFilter.type");
    }
    CheckRequired(filter.shard_id, "shardFilter.shardId", kShardIdMinChars, kShardIdMaxChars, &constraints);
  }
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  DescribeStreamResult result;
  ARM_ASSIGN_OR_RETURN(const store::StreamState state, FindStream(database, *request.stream_arn));
  result.stream = state.stream;
  std::optional<ShardKey> parent;
  if (request.shard_filter.has_value()) {
    ARM_ASSIGN_OR_RETURN(parent, FindShard(state, *request.shard_filter->shard_id));
  }
  for (const ShardRange& shard : ShardsOf(state)) {
    // The texts of shards are ordered as the shards are. The shard of the request may not exist.
    if (ShardIdText(shard.key) <= request.exclusive_start_shard_id.value_or("")) continue;
    if (parent.has_value() && shard.parent != parent) continue;
    if (static_cast<int64_t>(result.shards.size()) == limit) {
      result.last_evaluated_shard = result.shards.back().key;
      break;
    }
    result.shards.push_back(shard);
  }
  return result;
}

absl::StatusOr<std::string> GetShardIterator(const store::Database& database, const GetShardIteratorRequest& request) {
  ARM_RETURN_IF_ERROR(CheckIteratorShape(request));
  ARM_RETURN_IF_ERROR(CheckIteratorMembers(request));
  const std::string_view type = *request.type;
  ARM_ASSIGN_OR_RETURN(const store::StreamState state, FindStream(database, *request.stream_arn));
  ShardIterator iterator{ArnOf(state.stream),
                         {},
                         {},
                         UnixNowMs(),
                         database.streams().epoch_base(),
                         std::max<int64_t>(request.timestamp_ms.value_or(0), 0)};
  ARM_ASSIGN_OR_RETURN(iterator.shard, FindShard(state, *request.shard_id));
  const std::vector<ShardRange> shards = ShardsOf(state);
  const ShardRange* const range = FindRange(shards, iterator.shard);
  if (range == nullptr) return request.sequence_number.has_value() ? TrimmedError() : NoSuchShardError();
  if (request.sequence_number.has_value()) {
    ARM_ASSIGN_OR_RETURN(iterator.after, PositionAt(database, *range, *request.sequence_number,
                                                    /*is_after=*/type == "AFTER_SEQUENCE_NUMBER"));
  } else if (type == "LATEST") {
    iterator.after = range->last.value_or(database.streams().watermark());
  } else {
    iterator.after = ChangeSequence(range->first.value() - 1);
  }
  return EncodeIterator(iterator);
}

absl::StatusOr<ChangeOfItem> ReadChange(const model::KeySchema& key, ChangeSequence sequence, std::string_view record,
                                        model::StreamView view) {
  ARM_ASSIGN_OR_RETURN(const codec::StreamRecord parsed, codec::ParseStreamRecord(record));
  ARM_ASSIGN_OR_RETURN(std::optional<Image> keys, ReadImage(parsed.keys));
  ARM_ASSIGN_OR_RETURN(std::optional<Image> new_image, ReadImage(parsed.new_image));
  ARM_ASSIGN_OR_RETURN(std::optional<Image> old_image, ReadImage(parsed.old_image));
  ChangeOfItem change{sequence, parsed.event, parsed.is_expiry, parsed.time_ms, {}, {}, {}, 0};
  if (keys.has_value()) {
    change.keys = std::move(keys->plain);
    change.api_size += static_cast<int64_t>(keys->api_size);
  } else {
    const codec::StoredItemView& item = new_image.has_value() ? new_image->stored : old_image->stored;
    change.keys = model::PickAttributes(item.item, model::UnionOfKeyNames(key, {}));
    change.api_size += static_cast<int64_t>(model::ApiSize(model::ItemView(change.keys)));
    if (item.compact_numbers) change.keys = model::PlainItem(change.keys);
  }
  const bool has_new = new_image.has_value() && model::HasNewImages(view);
  const bool has_old = old_image.has_value() && model::HasOldImages(view);
  for (const auto& [is_wanted, image, to] :
       {std::tuple{has_new, &new_image, &change.new_image}, std::tuple{has_old, &old_image, &change.old_image}}) {
    if (!is_wanted) continue;
    change.api_size += static_cast<int64_t>((*image)->api_size);
    *to = std::move((*image)->plain);
  }
  return change;
}

absl::StatusOr<GetRecordsResult> GetRecords(const store::Database& database, const GetRecordsRequest& request) {
  const int64_t limit = request.limit.value_or(kRecordsLimitMax);
  model::ConstraintList constraints;
  CheckRequired(request.shard_iterator, "shardIterator", 1, kIteratorMaxChars, &constraints);
  CheckLimit(limit, kRecordsLimitMax, &constraints);
  ARM_RETURN_IF_ERROR(constraints.ToStatus());
  std::optional<ShardIterator> iterator = ParseIterator(*request.shard_iterator);
  if (!iterator.has_value()) return ValidationError("Invalid ShardIterator");
  const int64_t now_ms = UnixNowMs();
  if (now_ms - iterator->issued_ms > kIteratorLifeMs) {
    return ExpiredIteratorError("The shard iterator has expired: it was created more than 15 minutes ago");
  }
  ARM_ASSIGN_OR_RETURN(const store::StreamState state, FindStream(database, iterator->stream_arn));
  const StreamDescriptor& stream = state.stream;
  const store::StreamLog& log = database.streams();
  if (iterator->epoch_base != log.epoch_base()) return OtherHistoryError();
  // The end of the shard is known before it is read: a shard that is closed then gets no more records.
  const std::vector<ShardRange> shards = ShardsOf(state);
  const ShardRange* const range = FindRange(shards, iterator->shard);
  if (range == nullptr) return TrimmedError();
  GetRecordsResult result;
  result.view = stream.view;
  result.memory = HeldMemory(request.memory);
  size_t bytes = 0;
  size_t memory = 0;
  size_t passed_over = 0;
  size_t passed_bytes = 0;
  const int64_t oldest_ms = now_ms - database.stream_keeper().options().retention_ms;
  ARM_ASSIGN_OR_RETURN(
      const bool is_drained,
      log.Read(iterator->shard.segment, stream.id, iterator->shard.slot, iterator->after,
               [&](ChangeSequence sequence, std::string_view record) -> absl::StatusOr<bool> {
                 if (passed_over == kOldRecordsMax || passed_bytes >= kOldBytesMax) return false;
                 ARM_ASSIGN_OR_RETURN(const codec::StreamRecord parsed, codec::ParseStreamRecord(record));
                 if (parsed.time_ms < std::max(oldest_ms, iterator->not_before_ms)) {
                   iterator->after = sequence;
                   ++passed_over;
                   passed_bytes += record.size();
                   return true;
                 }
                 ARM_ASSIGN_OR_RETURN(ChangeOfItem change, ReadChange(stream.key, sequence, record, stream.view));
                 const size_t size =
                     change.keys.size() + change.new_image.value_or("").size() + change.old_image.value_or("").size();
                 const bool is_full = static_cast<int64_t>(result.records.size()) == limit ||
                                      (!result.records.empty() && bytes + size > model::kPageMaxBytes);
                 if (is_full) return false;
                 memory += MemoryOf(change);
                 if (!result.memory.TrySet(memory)) {
                   if (result.records.empty()) return NoMemoryForAnswerError();
                   return false;
                 }
                 iterator->after = sequence;
                 iterator->not_before_ms = 0;  // later records are wanted, whatever the clock said
                 bytes += size;
                 result.records.push_back(std::move(change));
                 return true;
               }));
  // A segment that was trimmed meanwhile may have been read in part.
  if (const std::vector<store::StreamSegment> left = log.segments();
      left.empty() || left.front().id > iterator->shard.segment) {
    return TrimmedError();
  }
  iterator->issued_ms = now_ms;
  if (!is_drained || !range->last.has_value()) result.next_shard_iterator = EncodeIterator(*iterator);
  return result;
}

}  // namespace armature::engine
