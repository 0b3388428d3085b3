#include "daemon/grpc/stream_service.h"

#include "daemon/grpc/table_calls.h"

namespace armature::daemon {

using Reactor = grpc::ServerUnaryReactor;
using Context = grpc::CallbackServerContext;
namespace v1 = ::armature::api::v1;

Reactor* StreamService::ListStreams(Context* context, const v1::ListStreamsRequest* request,
                                    v1::ListStreamsResponse* /*response*/) {
  return RefuseAudited(*gate_, context, "ListStreams", request->table_name());
}

Reactor* StreamService::DescribeStream(Context* context, const v1::DescribeStreamRequest* request,
                                       v1::DescribeStreamResponse* /*response*/) {
  return RefuseAudited(*gate_, context, "DescribeStream", request->stream_arn());
}

Reactor* StreamService::GetShardIterator(Context* context, const v1::GetShardIteratorRequest* request,
                                         v1::GetShardIteratorResponse* /*response*/) {
  return RefuseAudited(*gate_, context, "GetShardIterator", request->stream_arn());
}

Reactor* StreamService::GetRecords(Context* context, const v1::GetRecordsRequest* /*request*/,
                                   v1::GetRecordsResponse* /*response*/) {
  return RefuseAudited(*gate_, context, "GetRecords", "");
}

}  // namespace armature::daemon
