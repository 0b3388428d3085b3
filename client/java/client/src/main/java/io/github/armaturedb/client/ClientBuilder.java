package io.github.armaturedb.client;

import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.stub.MetadataUtils;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Settings of a client. Not safe for concurrent use. */
public final class ClientBuilder {
    /** gRPC warns of things that the errors of this package tell. A program that wants its lines sets the level before. */
    private static final Logger LIBRARY = Logger.getLogger("io.grpc");

    static {
        if (LIBRARY.getLevel() == null) {
            LIBRARY.setLevel(Level.OFF);
        }
    }

    /** Bounds a response. One of BatchGetItem has up to 16 MB of items. */
    private static final int RECEIVE_BYTES_MAX = 64 << 20;

    private static final int CONNECTIONS_MAX = 64;
    private static final long THREAD_IDLE_SECONDS = 30;

    private final List<String> addresses;
    private Duration timeout = Duration.ofSeconds(10);
    private RetryPolicy retry = RetryPolicy.DEFAULT;
    private CallObserver observer;
    private Tls tls;
    private String authorization;
    private Executor executor;
    private int connections = 1;
    private boolean hasSession;
    private Channel channel; // of the program
    private final List<ClientInterceptor> interceptors = new ArrayList<>();

    ClientBuilder(List<String> addresses) {
        this.addresses = addresses;
    }

    static ClientBuilder of(String... addresses) {
        List<String> all = Arrays.stream(addresses).flatMap(a -> Arrays.stream(a.split(","))).map(String::strip).toList();
        if (all.isEmpty() || all.stream().anyMatch(String::isEmpty)) {
            throw new IllegalArgumentException("an address is empty");
        }
        all.forEach(Addresses::check);
        return new ClientBuilder(all);
    }

    /** The time that a call may take with all its attempts, unless it has its own. Ten seconds by default. */
    public ClientBuilder timeout(Duration value) {
        timeout = CallSettings.checkTimeout(value);
        return this;
    }

    /** Repeats of failed calls: {@link RetryPolicy#DEFAULT} by default. */
    public ClientBuilder retry(RetryPolicy policy) {
        retry = Objects.requireNonNull(policy);
        return this;
    }

    /** Reads of indexes see the writes of this client: see {@link ArmatureClient#session}. */
    public ClientBuilder readYourWrites() {
        hasSession = true;
        return this;
    }

    /** Told of each call, for traces and metrics. */
    public ClientBuilder observer(CallObserver told) {
        observer = told;
        return this;
    }

    /** Encrypts the connections. */
    public ClientBuilder tls(Tls settings) {
        tls = settings;
        return this;
    }

    /** Authenticates by an access key of the daemon's credentials file. It needs TLS, or a Unix socket. */
    public ClientBuilder accessKey(String id, String secret) {
        if (id.isEmpty() || secret.isEmpty()) {
            throw new IllegalArgumentException("an access key has an id and a secret");
        }
        authorization = "Basic " + Base64.getEncoder().encodeToString((id + ":" + secret).getBytes(StandardCharsets.UTF_8));
        return this;
    }

    /**
     * Runs what follows on the futures of the asynchronous client. By default threads that are made as they are needed, so
     * that they may block. It must not run tasks in the thread that gives them; tasks that it rejects run in such threads.
     */
    public ClientBuilder executor(Executor value) {
        Objects.requireNonNull(value);
        Executor own = threads(); // has no threads until then
        executor = task -> {
            try {
                value.execute(task);
            } catch (java.util.concurrent.RejectedExecutionException e) {
                own.execute(task); // else a call would never end
            }
        };
        return this;
    }

    /** Number of connections that calls use in turns: 1 by default, at most 64. More help programs with many busy threads. */
    public ClientBuilder connections(int count) {
        if (count < 1 || count > CONNECTIONS_MAX) {
            throw new IllegalArgumentException("a client has 1 to 64 connections");
        }
        connections = count;
        return this;
    }

    /** Adds an interceptor of gRPC, which sees each attempt. */
    public ClientBuilder interceptor(ClientInterceptor interceptor) {
        interceptors.add(interceptor);
        return this;
    }

    /** Calls through a channel of the program: a fake, or one with other settings of gRPC, which the client does not close. */
    ClientBuilder channel(Channel value) {
        channel = value;
        return this;
    }

    /** The client. It does not connect before the first call. */
    public ArmatureClient build() {
        boolean isSocket = channel == null && addresses.stream().allMatch(a -> a.startsWith("unix:"));
        if (authorization != null && tls == null && !isSocket) {
            throw new IllegalArgumentException("the secret of an access key would be sent in clear text: use tls(...)");
        }
        List<ClientInterceptor> all = new ArrayList<>(interceptors); // the first one is next to the connection
        if (authorization != null) {
            Metadata headers = new Metadata();
            // Added behind the interceptors of the program, which might log it.
            headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), authorization);
            all.add(0, MetadataUtils.newAttachHeadersInterceptor(headers));
        }
        Executor used = executor == null ? threads() : executor;
        List<ManagedChannel> managed = new ArrayList<>();
        for (int i = 0; channel == null && i < connections; ++i) {
            managed.add(connection(used));
        }
        List<Channel> channels = new ArrayList<>(channel == null ? managed : List.of(channel));
        channels.replaceAll(c -> ClientInterceptors.intercept(c, all));
        Settings settings = new Settings(timeout, retry, observer, used, timers(), new Hints(String.join(", ", addresses)));
        GrpcTransport transport = new GrpcTransport(channels, managed);
        Caller caller = new Caller(transport, settings, hasSession ? new SessionState() : null);
        return new ArmatureClient(caller, () -> {
            transport.close();
            settings.timers().shutdown(); // what is paused goes on, and fails
        });
    }

    private ManagedChannel connection(Executor used) {
        ChannelCredentials credentials;
        try {
            credentials = tls == null ? InsecureChannelCredentials.create() : tls.credentials().build();
        } catch (java.io.UncheckedIOException e) {
            throw new IllegalArgumentException("a file of the TLS settings cannot be read: " + e.getMessage(), e);
        }
        String target = addresses.size() == 1 ? addresses.get(0) : Addresses.target(addresses);
        ManagedChannelBuilder<?> builder;
        try {
            builder = Grpc.newChannelBuilder(target, credentials); // finds the transport of a Unix socket, too
        } catch (RuntimeException e) {
            // Also a class of gRPC's innards, and without the names of the files.
            throw new IllegalArgumentException(tls == null ? e.getMessage() : "the TLS settings (" + tls + ") are not valid: " + e.getMessage(), e);
        }
        return builder.executor(used)
                .maxInboundMessageSize(RECEIVE_BYTES_MAX)
                .disableRetry() // this package repeats calls, because it knows which ones may be repeated
                .build();
    }

    private static ThreadFactory daemonThreads(String name) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /** They end by themselves. */
    private static Executor threads() {
        return new ThreadPoolExecutor(
                0, Integer.MAX_VALUE, THREAD_IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), daemonThreads("armature-client"));
    }

    private static ScheduledThreadPoolExecutor timers() {
        ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1, daemonThreads("armature-timer"));
        timers.setRemoveOnCancelPolicy(true);
        return timers;
    }
}
