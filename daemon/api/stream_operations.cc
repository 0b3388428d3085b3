// The operations on streams of changes, on their messages.

#include <string>
#include <string_view>
#include <vector>

#include "armature/api/v1/streams.pb.h"
#include "daemon/api/stream_messages.h"
#include "daemon/api/table_messages.h"
#include "daemon/api/unary_operation.h"
#include "daemon/message_json/given_fields.h"
#include "engine/streams/stream_ops.h"
#include "storage/model/table_name.h"
#include "storage/store/stream/stream_log.h"

namespace armature::daemon {
namespace {

namespace v1 = ::armature::api::v1;

std::string ArnOf(const model::StreamDescriptor& stream) { return model::StreamArn(stream.table_name, stream.label); }

void FillStream(const engine::ListStreamsResult& result, v1::ListStreamsResponse* to) {
  for (const auto& [table_name, label] : result.streams) {
    v1::StreamSummary* const summary = to->add_streams();
    summary->set_stream_arn(model::StreamArn(table_name, label));
    summary->set_table_name(table_name);
    summary->set_stream_label(label);
  }
  if (result.last_evaluated_stream_arn.has_value())
    to->set_last_evaluated_stream_arn(*result.last_evaluated_stream_arn);
}

void FillShard(const engine::ShardRange& shard, v1::Shard* to) {
  to->set_shard_id(engine::ShardIdText(shard.key));
  v1::SequenceNumberRange* const range = to->mutable_sequence_number_range();
  range->set_starting_sequence_number(engine::SequenceText(shard.first));
  if (shard.last.has_value()) range->set_ending_sequence_number(engine::SequenceText(*shard.last));
  if (shard.parent.has_value()) to->set_parent_shard_id(engine::ShardIdText(*shard.parent));
}

void FillStream(const engine::DescribeStreamResult& result, v1::DescribeStreamResponse* response) {
  const model::StreamDescriptor& stream = result.stream;
  v1::StreamDescription* const to = response->mutable_stream_description();
  to->set_stream_arn(ArnOf(stream));
  to->set_stream_label(stream.label);
  to->set_stream_status(stream.is_enabled() ? v1::STREAM_STATUS_ENABLED : v1::STREAM_STATUS_DISABLED);
  to->set_stream_view_type(ViewTypeOf(stream.view));
  to->set_creation_request_date_time_ms(stream.creation_time_ms);
  to->set_table_name(stream.table_name);
  FillKeySchema(stream.key, to->mutable_key_schema());
  for (const engine::ShardRange& shard : result.shards) FillShard(shard, to->add_shards());
  if (result.last_evaluated_shard.has_value()) {
    to->set_last_evaluated_shard_id(engine::ShardIdText(*result.last_evaluated_shard));
  }
}

void FillStream(const std::string& iterator, v1::GetShardIteratorResponse* to) { to->set_shard_iterator(iterator); }

void FillStream(const engine::GetRecordsResult& result, v1::GetRecordsResponse* to) {
  for (const engine::ChangeOfItem& change : result.records) Fill(change, result.view, to->add_records());
  if (result.next_shard_iterator.has_value()) to->set_next_shard_iterator(*result.next_shard_iterator);
}

void ListStreams(const OperationContext& context, const v1::ListStreamsRequest& request,
                 v1::ListStreamsResponse* response, Finished done) {
  engine::ListStreamsRequest from{GivenText(request, request.kTableNameFieldNumber),
                                  GivenInteger(request, request.kLimitFieldNumber),
                                  GivenText(request, request.kExclusiveStartStreamArnFieldNumber)};
  context.engine->RunOnDatabase(AnswerIn<engine::ListStreamsResult>(response, std::move(done), FillStream),
                                engine::ListStreams, std::move(from));
}

void DescribeStream(const OperationContext& context, const v1::DescribeStreamRequest& request,
                    v1::DescribeStreamResponse* response, Finished done) {
  engine::DescribeStreamRequest from{GivenText(request, request.kStreamArnFieldNumber),
                                     GivenInteger(request, request.kLimitFieldNumber),
                                     GivenText(request, request.kExclusiveStartShardIdFieldNumber),
                                     {}};
  if (request.has_shard_filter()) {
    const v1::ShardFilter& filter = request.shard_filter();
    from.shard_filter = {GivenEnum(filter, filter.kTypeFieldNumber), GivenText(filter, filter.kShardIdFieldNumber)};
  }
  AnswerIn<engine::DescribeStreamResult>(response, std::move(done),
                                         FillStream)(engine::DescribeStream(*context.engine->database(), from));
}

void GetShardIterator(const OperationContext& context, const v1::GetShardIteratorRequest& request,
                      v1::GetShardIteratorResponse* response, Finished done) {
  const engine::GetShardIteratorRequest from{
      GivenText(request, request.kStreamArnFieldNumber), GivenText(request, request.kShardIdFieldNumber),
      GivenEnum(request, request.kShardIteratorTypeFieldNumber), GivenText(request, request.kSequenceNumberFieldNumber),
      GivenInteger(request, request.kTimestampMsFieldNumber)};
  AnswerIn<std::string>(response, std::move(done),
                        FillStream)(engine::GetShardIterator(*context.engine->database(), from));
}

void GetRecords(const OperationContext& context, const v1::GetRecordsRequest& request, v1::GetRecordsResponse* response,
                Finished done) {
  context.engine->GetRecords({GivenText(request, request.kShardIteratorFieldNumber),
                              GivenInteger(request, request.kLimitFieldNumber), context.memory},
                             AnswerIn<engine::GetRecordsResult>(response, std::move(done), FillStream));
}

}  // namespace

void AddStreamOperations(std::vector<UnaryOperation>* operations) {
  AddOperations(operations, ListStreams, DescribeStream, GetShardIterator, GetRecords);
}

}  // namespace armature::daemon
