package io.github.armaturedb.client;

import io.github.armaturedb.api.v1.ItemServiceGrpc;
import io.github.armaturedb.api.v1.PipelineRequest;
import io.github.armaturedb.api.v1.PipelineResponse;
import io.github.armaturedb.client.exception.Failure;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** The transport over the stream of a pipeline, which is opened by an operation and again after it was lost. */
final class PipelineTransport implements Transport {
    /** Between two looks at the deadlines of outstanding operations. */
    private static final long SWEEP_MILLIS = 10;

    /** Answers that gRPC may read before the program has taken the last ones: fewer if they are large. */
    private static final int ANSWERS_AHEAD_MAX = 128;

    private static final int ANSWER_BYTES_AHEAD = 16 << 20;
    private static final int ANSWERS_AHEAD_INITIAL = 4;

    private static final int FRAMING_BYTES_MAX = 32; // around a request in the message of the stream

    /** True in a thread that gives answers to the program: waiting for room there would keep the answers that make room. */
    private static final ThreadLocal<Boolean> ANSWERING = ThreadLocal.withInitial(() -> false);

    private final Transport calls;
    private final Settings settings;
    private final Budget budget;
    private PipelineStream current; // null: none; guarded by this
    private boolean isClosed; // guarded by this

    PipelineTransport(Transport calls, Settings settings, int inFlight, long inFlightBytes) {
        this.calls = calls;
        this.settings = settings;
        budget = new Budget(inFlight, inFlightBytes);
    }

    @Override
    public boolean isInStream(Object request, CallSettings settings) {
        return !settings.isOfStub() && PipelineMessages.request(request) != null;
    }

    @Override
    public boolean isNeverSent(GrpcTransport.Sent sent) {
        return calls.isNeverSent(sent);
    }

    @Override
    public Channel channel() {
        return calls.channel();
    }

    @Override
    public void connectSoon() {
        calls.connectSoon();
    }

    @Override
    public <Q, R> Runnable attempt(MethodDescriptor<Q, R> method, Q request, Attempt how, Receiver<R> receiver) {
        PipelineRequest.Builder message = how.settings().isOfStub() ? null : PipelineMessages.request(request);
        if (message == null) {
            return calls.attempt(method, request, how, receiver);
        }
        String name = method.getBareMethodName();
        Deadline deadline = how.deadline();
        int bytes = ((com.google.protobuf.Message) request).getSerializedSize();
        if (bytes + FRAMING_BYTES_MAX > Caller.REQUEST_BYTES_MAX) { // would end the stream
            receiver.failed(Failure.local(name, Status.RESOURCE_EXHAUSTED.withDescription("the request is too large for a pipeline")));
            return () -> {};
        }
        try {
            // A repeat had room before, and must not keep a thread that gives the answers that make room.
            if (!budget.acquire(bytes, !how.isRepeat() && !ANSWERING.get(), deadline.timeRemaining(TimeUnit.NANOSECONDS))) {
                receiver.failed(Failure.local(name, Status.DEADLINE_EXCEEDED.withDescription("too many operations are outstanding")));
                return () -> {};
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            receiver.failed(Failure.local(name, Status.CANCELLED.withDescription("the thread was interrupted")));
            return () -> {};
        }
        Operation<R> operation = new Operation<>(name, deadline, how.executor(), receiver, bytes);
        PipelineStream stream;
        try {
            stream = open();
        } catch (RuntimeException | Error e) { // of an interceptor of the program
            budget.release(bytes);
            throw e;
        }
        if (stream == null) {
            operation.fail(Failure.local(name, Status.CANCELLED.withDescription("the pipeline is closed")));
        } else {
            stream.send(message, operation);
        }
        return () -> operation.fail(Failure.of(name, Status.CANCELLED.withDescription("cancelled by the program"), null, false));
    }

    private synchronized PipelineStream open() {
        if (isClosed) {
            return null;
        }
        if (current == null || current.hasEnded()) {
            PipelineStream stream = new PipelineStream();
            stream.begin(calls.channel());
            current = stream;
        }
        return current;
    }

    /** Ends the stream. Operations without an answer fail, and so do later ones. */
    void close() {
        PipelineStream open;
        synchronized (this) {
            isClosed = true;
            open = current;
        }
        if (open != null) {
            open.cancel();
        }
    }

    /** An operation without an answer. */
    private final class Operation<R> {
        private final String name;
        private final Deadline deadline;
        private final Executor executor; // null: the thread that receives the answer
        private final Receiver<R> receiver;
        private final int bytes;
        private final AtomicBoolean hasEnded = new AtomicBoolean();

        Operation(String name, Deadline deadline, Executor executor, Receiver<R> receiver, int bytes) {
            this.name = name;
            this.deadline = deadline;
            this.executor = executor;
            this.receiver = receiver;
            this.bytes = bytes;
        }

        private void end(Runnable tell) {
            if (!hasEnded.compareAndSet(false, true)) {
                return;
            }
            budget.release(bytes);
            if (executor != null) {
                executor.execute(tell);
                return;
            }
            boolean outer = ANSWERING.get();
            ANSWERING.set(true);
            try {
                tell.run();
            } finally {
                ANSWERING.set(outer);
            }
        }

        void fail(Failure failure) {
            end(() -> receiver.failed(failure));
        }

        @SuppressWarnings("unchecked")
        void answer(PipelineResponse response) {
            if (response.hasError()) {
                fail(Failure.of(name, response.getError()));
                return;
            }
            Object result = PipelineMessages.response(response, name);
            if (result == null) {
                fail(Failure.of(name, Status.INTERNAL.withDescription("the daemon has answered another operation"), null, false));
                return;
            }
            end(() -> receiver.succeeded((R) result));
        }
    }

    /** One stream. */
    private final class PipelineStream extends ClientCall.Listener<PipelineResponse> {
        private final GrpcTransport.Sent sent = new GrpcTransport.Sent();
        private ClientCall<PipelineRequest, PipelineResponse> call;

        // Guarded by this.
        private final Map<Long, Operation<?>> outstanding = new HashMap<>();
        private long lastId;
        private Status end; // null: it goes on
        private boolean isSwept;

        // Of the thread that receives.
        private int ahead = ANSWERS_AHEAD_INITIAL; // answers that are asked for
        private int typicalBytes = ANSWER_BYTES_AHEAD / ANSWERS_AHEAD_INITIAL; // that of the largest of the last answers

        void begin(Channel channel) {
            // The stream is of all users of the pipeline: it must not end with the gRPC context of the one that opens it.
            Context previous = Context.ROOT.attach();
            try {
                call = channel.newCall(ItemServiceGrpc.getPipelineMethod(), CallOptions.DEFAULT.withStreamTracerFactory(sent));
                call.start(this, new Metadata());
            } finally {
                Context.ROOT.detach(previous);
            }
            call.request(ahead);
        }

        synchronized boolean hasEnded() {
            return end != null;
        }

        void cancel() {
            call.cancel("the pipeline is closed", null);
        }

        void send(PipelineRequest.Builder message, Operation<?> operation) {
            Status ended;
            synchronized (this) {
                ended = end;
                if (ended == null) {
                    outstanding.put(++lastId, operation);
                    if (!isSwept) {
                        scheduleSweep();
                    }
                    // Calls of gRPC are not safe for concurrent use. The bytes that wait in it are bounded by the budget.
                    try {
                        call.sendMessage(message.setId(lastId).build());
                    } catch (RuntimeException | Error e) { // the pipeline is being closed
                        outstanding.remove(lastId);
                        ended = Status.CANCELLED.withDescription("the pipeline is closed").withCause(e);
                    }
                }
            }
            if (ended != null) {
                operation.fail(Failure.local(operation.name, ended));
            }
        }

        /** Guarded by this. */
        private void scheduleSweep() {
            try {
                settings.timers().schedule(this::sweep, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
                isSwept = true;
            } catch (RejectedExecutionException e) {
                isSwept = false; // the client is closed, which ends the stream
            }
        }

        /** Ends operations whose deadline has passed. */
        private void sweep() {
            List<Operation<?>> late = new ArrayList<>();
            synchronized (this) {
                outstanding.values().removeIf(operation -> operation.hasEnded.get()); // cancelled by the program
                outstanding.values().removeIf(operation -> operation.deadline.isExpired() && late.add(operation));
                isSwept = false;
                if (!outstanding.isEmpty()) {
                    scheduleSweep();
                }
            }
            Status status = Status.DEADLINE_EXCEEDED.withDescription("no answer came in time");
            // In the executor: the program may take its time.
            late.forEach(o -> settings.executor().execute(() -> o.fail(Failure.of(o.name, status, null, isNeverSent(sent)))));
        }

        @Override
        public void onMessage(PipelineResponse response) {
            Operation<?> operation;
            synchronized (this) {
                operation = outstanding.remove(response.getId());
            }
            if (operation != null) {
                operation.answer(response);
            }
            askForMore(response.getSerializedSize());
        }

        private void askForMore(int bytes) {
            typicalBytes = Math.max(bytes, typicalBytes - typicalBytes / 8);
            int wanted = Math.max(1, Math.min(ANSWERS_AHEAD_MAX, ANSWER_BYTES_AHEAD / Math.max(typicalBytes, 1)));
            --ahead;
            if (ahead <= wanted / 2) { // one by one would be a task for the connection's thread each time
                call.request(wanted - ahead);
                ahead = wanted;
            }
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            Status failed = switch (status.getCode()) {
                // The connection broke, or the daemon has ended the stream: another one will do.
                case UNKNOWN, INTERNAL, CANCELLED, OK ->
                    Status.UNAVAILABLE.withDescription("the stream to the daemon has ended: " + status.getDescription());
                default -> status;
            };
            Collection<Operation<?>> lost;
            synchronized (this) {
                end = failed;
                lost = List.copyOf(outstanding.values());
                outstanding.clear();
            }
            lost.forEach(o -> o.fail(Failure.ofStream(o.name, failed, trailers, isNeverSent(sent))));
        }
    }
}
