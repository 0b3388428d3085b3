#ifndef ARMATURE_ENGINE_STREAMS_STREAM_OPS_H_
#define ARMATURE_ENGINE_STREAMS_STREAM_OPS_H_

// ListStreams, DescribeStream, GetShardIterator, GetRecords. Members of requests are present or absent as in the
// client's request.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/streams/stream_shards.h"
#include "storage/base/held_memory.h"
#include "storage/codec/stream_codec.h"
#include "storage/model/stream_descriptor.h"
#include "storage/store/database.h"

namespace armature::engine {

struct ListStreamsRequest {
  std::optional<std::string> table_name;  // a name or an ARN
  std::optional<int64_t> limit;
  std::optional<std::string> exclusive_start_stream_arn;
};

struct ListStreamsResult {
  std::vector<store::StreamName> streams;
  std::optional<std::string> last_evaluated_stream_arn;
};

// The streams in the order of tables and labels. A table that does not exist has none. Errors: ValidationException.
absl::StatusOr<ListStreamsResult> ListStreams(const store::Database* database, const ListStreamsRequest& request);

struct ShardFilter {
  std::optional<std::string> type;
  std::optional<std::string> shard_id;
};

struct DescribeStreamRequest {
  std::optional<std::string> stream_arn;
  std::optional<int64_t> limit;
  std::optional<std::string> exclusive_start_shard_id;
  std::optional<ShardFilter> shard_filter;
};

struct DescribeStreamResult {
  model::StreamDescriptor stream;
  std::vector<ShardRange> shards;
  std::optional<ShardKey> last_evaluated_shard;
};

// Errors: ValidationException, ResourceNotFoundException.
absl::StatusOr<DescribeStreamResult> DescribeStream(const store::Database& database,
                                                    const DescribeStreamRequest& request);

struct GetShardIteratorRequest {
  std::optional<std::string> stream_arn;
  std::optional<std::string> shard_id;
  std::optional<std::string> type;
  std::optional<std::string> sequence_number;
  std::optional<int64_t> timestamp_ms = std::nullopt;  // since the epoch
};

// Errors: ValidationException, ResourceNotFoundException, TrimmedDataAccessException.
absl::StatusOr<std::string> GetShardIterator(const store::Database& database, const GetShardIteratorRequest& request);

struct GetRecordsRequest {
  std::optional<std::string> shard_iterator;
  std::optional<int64_t> limit;
  MemorySource memory = {};  // of the answer
};

// The change of an item. Items are in wire form, as answers show them.
struct ChangeOfItem {
  ChangeSequence sequence;
  codec::StreamEvent event = codec::StreamEvent::kInsert;
  bool is_expiry = false;
  int64_t time_ms = 0;  // since the epoch
  std::string keys;
  std::optional<std::string> new_image;
  std::optional<std::string> old_image;
  int64_t api_size = 0;  // of keys and images
};

// The change in a record of a stream of a table with `key`, with those of its images that `view` contains. Errors:
// DataLoss.
absl::StatusOr<ChangeOfItem> ReadChange(const model::KeySchema& key, ChangeSequence sequence, std::string_view record,
                                        model::StreamView view);

struct GetRecordsResult {
  std::vector<ChangeOfItem> records;
  model::StreamView view = model::StreamView::kKeysOnly;
  std::optional<std::string> next_shard_iterator;  // nullopt: a closed shard was read to its end
  HeldMemory memory = {};                          // for the records, as bytes and as a message
};

// A page of at most 1 MB, or one record. Blocks: it reads from disk. Errors: ValidationException,
// ResourceNotFoundException, ExpiredIteratorException, TrimmedDataAccessException,
// ServiceUnavailable without memory for a record; if there is some, the page is shorter.
absl::StatusOr<GetRecordsResult> GetRecords(const store::Database& database, const GetRecordsRequest& request);

// ResourceNotFoundException for a stream that does not exist.
absl::Status NoSuchStreamError(std::string_view arn);

}  // namespace armature::engine

#endif  // ARMATURE_ENGINE_STREAMS_STREAM_OPS_H_
