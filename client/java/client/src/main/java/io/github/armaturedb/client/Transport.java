package io.github.armaturedb.client;

import io.github.armaturedb.client.exception.Failure;
import io.grpc.Channel;
import io.grpc.Deadline;
import io.grpc.MethodDescriptor;
import java.util.concurrent.Executor;

/** Carries one attempt of a call. */
interface Transport {
    /** Gets the result of an attempt: exactly one call, in the executor of the attempt. */
    interface Receiver<R> {
        void succeeded(R response);

        void failed(Failure failure);
    }

    /**
     * How an attempt is made.
     *
     * @param executor null: that of the client
     * @param isRepeat it is not the first one of its call
     */
    record Attempt(CallSettings settings, Deadline deadline, Executor executor, boolean isRepeat) {}

    /**
     * Begins an attempt. It ends at the deadline.
     *
     * @return cancels the attempt
     */
    <Q, R> Runnable attempt(MethodDescriptor<Q, R> method, Q request, Attempt how, Receiver<R> receiver);

    /** True: a call that failed has certainly not reached the daemon. */
    boolean isNeverSent(GrpcTransport.Sent sent);

    /** Makes calls with no deadline and no repeats of their own: for streams. */
    Channel channel();

    /** The last attempt found no connection: the next one should not wait for a pause of gRPC. */
    default void connectSoon() {}

    /** True: this operation may depend on others of a stream, so that it is not repeated after a lost answer. */
    default boolean isInStream(Object request, CallSettings settings) {
        return false;
    }
}
