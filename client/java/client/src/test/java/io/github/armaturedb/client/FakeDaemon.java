package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.BatchWriteItemRequest;
import io.github.armaturedb.api.v1.BatchWriteItemResponse;
import io.github.armaturedb.api.v1.DescribeTableRequest;
import io.github.armaturedb.api.v1.DescribeTableResponse;
import io.github.armaturedb.api.v1.ErrorDetail;
import io.github.armaturedb.api.v1.GetItemRequest;
import io.github.armaturedb.api.v1.GetItemResponse;
import io.github.armaturedb.api.v1.ItemServiceGrpc;
import io.github.armaturedb.api.v1.KeySchemaElement;
import io.github.armaturedb.api.v1.KeyType;
import io.github.armaturedb.api.v1.PipelineRequest;
import io.github.armaturedb.api.v1.PipelineResponse;
import io.github.armaturedb.api.v1.PutItemRequest;
import io.github.armaturedb.api.v1.PutItemResponse;
import io.github.armaturedb.api.v1.RpcStatus;
import io.github.armaturedb.api.v1.StreamServiceGrpc;
import io.github.armaturedb.api.v1.TableServiceGrpc;
import io.github.armaturedb.api.v1.WatchRequest;
import io.github.armaturedb.api.v1.WatchResponse;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Function;

/** A daemon whose answers the test decides, in this process. */
final class FakeDaemon implements AutoCloseable {
    final List<PutItemRequest> puts = new CopyOnWriteArrayList<>();
    final List<BatchWriteItemRequest> batches = new CopyOnWriteArrayList<>();
    final List<WatchRequest> watches = new CopyOnWriteArrayList<>();
    volatile Function<PutItemRequest, Object> put = r -> PutItemResponse.getDefaultInstance();
    volatile Function<GetItemRequest, Object> get = r -> GetItemResponse.getDefaultInstance();
    volatile Function<BatchWriteItemRequest, Object> batch = r -> BatchWriteItemResponse.getDefaultInstance();
    volatile BiConsumer<WatchRequest, StreamObserver<WatchResponse>> watch = (r, o) -> o.onCompleted();
    final AtomicInteger pipelines = new AtomicInteger();
    private final Server server;
    private final ManagedChannel channel;

    FakeDaemon() {
        String name = InProcessServerBuilder.generateName();
        try {
            server = InProcessServerBuilder.forName(name)
                    .addService(new Items()).addService(new Tables()).addService(new Streams()).build().start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        channel = InProcessChannelBuilder.forName(name).build();
    }

    ClientBuilder client() {
        return ArmatureClient.builder(channel);
    }

    static StatusRuntimeException error(Status.Code code, String exception) {
        ErrorDetail detail = ErrorDetail.newBuilder().setException(exception).setMessage("refused").setRequestId("r1").build();
        RpcStatus status = RpcStatus.newBuilder().setCode(code.value()).setMessage("refused")
                .addDetails(com.google.protobuf.Any.pack(detail)).build();
        Metadata trailers = new Metadata();
        trailers.put(Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER), status.toByteArray());
        return code.toStatus().withDescription("refused").asRuntimeException(trailers);
    }

    @SuppressWarnings("unchecked")
    private static <R> void answer(StreamObserver<R> observer, Object answer) {
        if (answer instanceof Throwable failure) {
            observer.onError(failure);
        } else if (answer != null) {
            observer.onNext((R) answer);
            observer.onCompleted();
        } // else no answer
    }

    @Override
    public void close() {
        channel.shutdownNow();
        server.shutdownNow();
    }

    private final class Items extends ItemServiceGrpc.ItemServiceImplBase {
        @Override
        public void putItem(PutItemRequest request, StreamObserver<PutItemResponse> observer) {
            puts.add(request);
            answer(observer, put.apply(request));
        }

        @Override
        public void getItem(GetItemRequest request, StreamObserver<GetItemResponse> observer) {
            answer(observer, get.apply(request));
        }

        @Override
        public StreamObserver<PipelineRequest> pipeline(StreamObserver<PipelineResponse> observer) {
            pipelines.incrementAndGet();
            return new StreamObserver<>() {
                @Override
                public void onNext(PipelineRequest request) {
                    if (get.apply(request.getGetItem()) instanceof GetItemResponse answer) {
                        observer.onNext(PipelineResponse.newBuilder().setId(request.getId()).setGetItem(answer).build());
                    }
                }

                @Override
                public void onError(Throwable failure) {}

                @Override
                public void onCompleted() {
                    observer.onCompleted();
                }
            };
        }

        @Override
        public void batchWriteItem(BatchWriteItemRequest request, StreamObserver<BatchWriteItemResponse> observer) {
            batches.add(request);
            answer(observer, batch.apply(request));
        }
    }

    private static final class Tables extends TableServiceGrpc.TableServiceImplBase {
        @Override
        public void describeTable(DescribeTableRequest request, StreamObserver<DescribeTableResponse> observer) {
            DescribeTableResponse.Builder response = DescribeTableResponse.newBuilder();
            response.getTableBuilder().setTableName(request.getTableName())
                    .addKeySchema(KeySchemaElement.newBuilder().setAttributeName("id").setKeyType(KeyType.KEY_TYPE_HASH));
            answer(observer, response.build());
        }
    }

    private final class Streams extends StreamServiceGrpc.StreamServiceImplBase {
        @Override
        public void watch(WatchRequest request, StreamObserver<WatchResponse> observer) {
            watches.add(request);
            watch.accept(request, observer);
        }
    }
}
