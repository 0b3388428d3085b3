package io.github.armaturedb.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.armaturedb.api.v1.GetItemResponse;
import io.github.armaturedb.api.v1.ItemServiceGrpc;
import io.github.armaturedb.api.v1.PutItemRequest;
import io.github.armaturedb.api.v1.PutItemResponse;
import io.github.armaturedb.client.exception.ArmatureException;
import io.github.armaturedb.client.exception.CallCancelledException;
import io.github.armaturedb.client.exception.ConditionalCheckFailedException;
import io.github.armaturedb.client.exception.DeadlineExceededException;
import io.github.armaturedb.client.exception.Failure;
import io.github.armaturedb.client.exception.MessageTooLargeException;
import io.github.armaturedb.client.exception.OutcomeUnknownException;
import io.github.armaturedb.client.exception.ResourceNotFoundException;
import io.github.armaturedb.client.exception.ThrottlingException;
import io.github.armaturedb.client.exception.UnavailableException;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class CallsTest {
    private static final Map<String, Object> ANN = Map.of("id", "ann");

    @Test
    void aThrottledWriteIsRepeatedWhateverItDoes() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().build()) {
            daemon.put = r -> daemon.puts.size() < 3
                    ? FakeDaemon.error(Status.Code.RESOURCE_EXHAUSTED, "ThrottlingException")
                    : PutItemResponse.getDefaultInstance();
            client.table("users").put(Item.from(ANN), o -> o.condition("attribute_not_exists(id)"));
            assertEquals(3, daemon.puts.size());
        }
    }

    @Test
    void aConditionalWriteOfUnknownOutcomeIsNotRepeated() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().build()) {
            daemon.put = r -> Status.UNAVAILABLE.asRuntimeException();
            OutcomeUnknownException e = assertThrows(OutcomeUnknownException.class,
                    () -> client.table("users").put(Item.from(ANN), o -> o.condition("attribute_not_exists(id)")));
            assertEquals(1, daemon.puts.size());
            assertFalse(e.isNotApplied());
        }
    }

    @Test
    void aRefusalAfterALostAnswerLeavesTheOutcomeUnknown() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().build()) {
            daemon.put = r -> daemon.puts.size() == 1
                    ? Status.UNAVAILABLE.asRuntimeException() : FakeDaemon.error(Status.Code.NOT_FOUND, "ResourceNotFoundException");
            OutcomeUnknownException e = assertThrows(OutcomeUnknownException.class, () -> client.table("users").put(Item.from(ANN)));
            assertInstanceOf(ResourceNotFoundException.class, e.getCause());
            assertEquals(2, daemon.puts.size());
        }
    }

    @Test
    void attemptsAreBounded() {
        RetryPolicy policy = new RetryPolicy(3, Duration.ofMillis(1), Duration.ofMillis(2));
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().retry(policy).build()) {
            daemon.put = r -> FakeDaemon.error(Status.Code.RESOURCE_EXHAUSTED, "ThrottlingException");
            ThrottlingException e = assertThrows(ThrottlingException.class, () -> client.table("users").put(Item.from(ANN)));
            assertEquals(3, daemon.puts.size());
            assertTrue(e.isNotApplied());
            assertEquals("r1", e.requestId());
        }
    }

    @Test
    void aFailureOfTheConnectionTellsItsReason() {
        RetryPolicy endless = new RetryPolicy(1000, Duration.ofMillis(1), Duration.ofMillis(1));
        try (ArmatureClient client = ArmatureClient.builder("127.0.0.1:1").retry(RetryPolicy.NONE).build();
                ArmatureClient patient = ArmatureClient.builder("127.0.0.1:1").retry(endless).timeout(Duration.ofMillis(300)).build()) {
            UnavailableException e = assertThrows(UnavailableException.class, () -> client.table("users").get(ANN));
            assertEquals("GetItem: UNAVAILABLE: 127.0.0.1:1 refuses the connection: no daemon listens there", e.getMessage());
            assertInstanceOf(IOException.class, e.getCause());
            ArmatureException late = assertThrows(ArmatureException.class, () -> patient.table("users").get(ANN));
            assertTrue(late.getMessage().contains("127.0.0.1:1 refuses the connection"), late.getMessage());
        }
        Status refused = Status.UNAVAILABLE.withDescription("io exception\nChannel Pipeline: [A, B]")
                .withCause(new IOException("engine problem", new IOException("validation", new IOException("unknown authority"))));
        assertEquals("GetItem: UNAVAILABLE: io exception: engine problem: unknown authority",
                Failure.of("GetItem", refused, null, true).toException().getMessage());
    }

    private static void assertReason(String reason, boolean isTransient, Throwable cause) {
        Status status = Status.UNAVAILABLE.withDescription("io exception\nChannel Pipeline: [A, B]").withCause(cause);
        Failure failure = Failure.of("GetItem", status, null, true).at("db:1");
        assertEquals(reason, failure.message());
        assertEquals(isTransient, failure.isTransient(), reason);
    }

    @Test
    void errorsOfConnectionsHaveNoTextOfALibrary() {
        IOException ssl = new javax.net.ssl.SSLHandshakeException("Received fatal alert: handshake_failure");
        IOException path = new IOException("General OpenSslEngine problem", new java.security.cert.CertificateException("no subject names matching db"));
        assertReason("db:1 refuses the connection: no daemon listens there", true, new java.net.ConnectException("Connection refused"));
        assertReason("no daemon listens at db:1: there is no such socket", true, new IOException("connect(..) failed: No such file or directory"));
        assertReason("the name in db:1 cannot be resolved", true, new RuntimeException(new java.net.UnknownHostException("db")));
        assertReason("db:1 does not answer a connection in time", true, new java.net.ConnectException("connection timed out: db/10.0.0.1:1"));
        assertReason("db:1 does not speak TLS", false, ssl);
        for (String alert : List.of("protocol_version", "no_application_protocol")) {
            assertReason("db:1 does not speak TLS", false, new javax.net.ssl.SSLHandshakeException("Received fatal alert: " + alert));
        }
        assertReason("the TLS handshake with db:1 failed", true, new javax.net.ssl.SSLHandshakeException("Connection closed while SSL/TLS handshake was in progress"));
        assertReason("db:1 wants a certificate of the client that it trusts", false, new javax.net.ssl.SSLException("Received fatal alert: certificate_required"));
        assertReason("the certificate of db:1 is not trusted: no subject names matching db", false, path);
        assertReason("db:1 speaks HTTP/1, and not gRPC", false, new RuntimeException("First received frame was not SETTINGS. Hex dump: 48545450"));
    }

    @Test
    void theTextOfTheDaemonStaysAsItIs() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().build()) {
            daemon.get = r -> FakeDaemon.error(Status.Code.NOT_FOUND, "ResourceNotFoundException");
            ArmatureException e = assertThrows(ArmatureException.class, () -> client.table("users").get(ANN));
            assertEquals("table users", e.hint());
            assertTrue(e.getMessage().contains(e.failure().message() + " (table users)"), e.getMessage());
        }
    }

    @Test
    void objectsPrintTheirNameAndAddress() {
        try (ArmatureClient client = ArmatureClient.connect("db:1")) {
            assertEquals("ArmatureClient(db:1) Table(users, db:1)", client + " " + client.table("users"));
            assertEquals("ArmatureAsyncClient(db:1) AsyncTable(users, db:1)", client.async() + " " + client.async().table("users"));
        }
    }

    @Test
    void aDeadlineAfterOtherFailuresTellsTheLastOne() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().timeout(Duration.ofMillis(500)).build()) {
            AtomicInteger gets = new AtomicInteger();
            daemon.get = r -> gets.incrementAndGet() == 1 ? Status.UNAVAILABLE.withDescription("why").asRuntimeException() : null;
            DeadlineExceededException e = assertThrows(DeadlineExceededException.class, () -> client.table("users").get(ANN));
            assertTrue(e.getMessage().contains("UNAVAILABLE: why"), e.getMessage());
        }
    }

    @Test
    void theIdOfACallIsThatOfTheTrailerIfTheErrorHasNone() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().build()) {
            Metadata trailers = new Metadata();
            trailers.put(Metadata.Key.of("x-armature-request-id", Metadata.ASCII_STRING_MARSHALLER), "r2");
            daemon.get = r -> Status.INVALID_ARGUMENT.asRuntimeException(trailers);
            assertEquals("r2", assertThrows(ArmatureException.class, () -> client.table("users").get(ANN)).requestId());
        }
    }

    @Test
    void theAdviceOfTheDaemonIsWaitedForInAdditionToThePause() {
        long pause = RetryPolicy.DEFAULT.pauseNanos(1, Duration.ofSeconds(3));
        assertTrue(pause >= Duration.ofSeconds(3).toNanos() + Duration.ofMillis(12).toNanos() && pause <= Duration.ofMillis(3026).toNanos(),
                () -> Long.toString(pause));
        assertTrue(RetryPolicy.DEFAULT.pauseNanos(1000, Duration.ZERO) <= Duration.ofSeconds(2).toNanos());
        assertEquals(0, RetryPolicy.NONE.pauseNanos(5, Duration.ZERO));
    }

    @Test
    void aDeadlineEndsReadsAndWrites() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().timeout(Duration.ofMillis(200)).build()) {
            daemon.get = r -> null;
            daemon.put = r -> null;
            assertThrows(DeadlineExceededException.class, () -> client.table("users").get(ANN));
            assertThrows(OutcomeUnknownException.class, () -> client.table("users").put(Item.from(ANN)));
            assertThrows(IllegalArgumentException.class, () -> client.table("users").get(ANN, o -> o.timeout(Duration.ZERO)));
        }
    }

    @Test
    void anInterruptEndsACall() throws InterruptedException {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().timeout(Duration.ofSeconds(30)).build()) {
            CountDownLatch arrived = new CountDownLatch(1);
            daemon.put = r -> {
                arrived.countDown();
                return null;
            };
            AtomicReference<RuntimeException> thrown = new AtomicReference<>();
            Thread thread = new Thread(() -> {
                RuntimeException e = assertThrows(RuntimeException.class, () -> client.table("users").put(Item.from(ANN)));
                thrown.set(Thread.interrupted() ? e : new IllegalStateException("the flag of the thread is lost", e));
            });
            thread.start();
            arrived.await();
            thread.interrupt();
            thread.join();
            assertInstanceOf(OutcomeUnknownException.class, thrown.get());
        }
    }

    @Test
    void aClosedClientFailsCallsThatArePaused() {
        try (FakeDaemon daemon = new FakeDaemon()) {
            ArmatureClient client = daemon.client().retry(new RetryPolicy(1000, Duration.ofMillis(50), Duration.ofMillis(50))).build();
            daemon.put = r -> FakeDaemon.error(Status.Code.RESOURCE_EXHAUSTED, "ThrottlingException");
            CompletableFuture<?> put = client.async().table("users").put(Item.from(ANN));
            client.close();
            ExecutionException e = assertThrows(ExecutionException.class, () -> put.get(30, TimeUnit.SECONDS));
            assertInstanceOf(ArmatureException.class, e.getCause());
        }
    }

    @Test
    void aTooLargeRequestIsNotSent() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().build()) {
            Item large = Item.of("id", "ann", "text", "x".repeat(17 << 20));
            MessageTooLargeException e = assertThrows(MessageTooLargeException.class, () -> client.table("users").put(large));
            assertTrue(e.isNotApplied());
            assertEquals(0, daemon.puts.size());
        }
    }

    @Test
    void aFalseConditionIsTyped() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().build()) {
            daemon.put = r -> FakeDaemon.error(Status.Code.FAILED_PRECONDITION, "ConditionalCheckFailedException");
            ConditionalCheckFailedException e = assertThrows(ConditionalCheckFailedException.class, () -> client.table("users").put(Item.from(ANN)));
            assertTrue(e.item().isEmpty());
        }
    }

    @Test
    void stubsOverTheChannelHaveRepeatsAndErrors() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().build()) {
            ItemServiceGrpc.ItemServiceBlockingStub stub = ItemServiceGrpc.newBlockingStub(client.channel());
            daemon.put = r -> daemon.puts.size() < 2 ? Status.UNAVAILABLE.asRuntimeException() : PutItemResponse.getDefaultInstance();
            stub.putItem(PutItemRequest.newBuilder().setTableName("users").build());
            assertEquals(2, daemon.puts.size());
            daemon.put = r -> FakeDaemon.error(Status.Code.NOT_FOUND, "ResourceNotFoundException");
            StatusRuntimeException e = assertThrows(
                    StatusRuntimeException.class, () -> stub.putItem(PutItemRequest.newBuilder().setTableName("users").build()));
            assertInstanceOf(ResourceNotFoundException.class, e.getCause());
        }
    }

    @Test
    void cancellingAFutureEndsItsCall() throws InterruptedException {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().build()) {
            CountDownLatch arrived = new CountDownLatch(1);
            daemon.get = r -> {
                arrived.countDown();
                return null;
            };
            CompletableFuture<?> get = client.async().table("users").get(ANN);
            arrived.await();
            assertTrue(get.cancel(true));
        }
    }

    @Test
    void aSessionTakesTheSequenceOfAWrite() {
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().readYourWrites().build()) {
            daemon.put = r -> PutItemResponse.newBuilder().setChangeSequence(-2).build(); // 2^64 - 2
            client.table("users").put(Item.from(ANN));
            daemon.put = r -> PutItemResponse.newBuilder().setChangeSequence(7).build();
            client.table("users").put(Item.from(ANN));
            assertEquals(-2, client.position());
        }
    }

    @Test
    void observersSeeEachCallOnce() {
        List<String> seen = new ArrayList<>();
        CallObserver observer = (operation, table) -> (attempts, failure) -> seen.add(operation + " " + table + " " + attempts + " " + failure);
        try (FakeDaemon daemon = new FakeDaemon(); ArmatureClient client = daemon.client().observer(observer).build()) {
            AtomicInteger calls = new AtomicInteger();
            daemon.get = r -> calls.incrementAndGet() < 3 ? Status.UNAVAILABLE.asRuntimeException() : GetItemResponse.getDefaultInstance();
            client.table("users").get(ANN);
        }
        assertEquals(List.of("GetItem users 3 null"), seen);
    }

    @Test
    void aSecretIsNotSentInClearText() {
        assertThrows(IllegalArgumentException.class, () -> ArmatureClient.builder("localhost:1").accessKey("id", "secret").build());
    }

    @Test
    void mistakenAddressesAreRefused() {
        for (String address : List.of("", "localhost", "localhost:", "localhost:0", "a:65536", "[::1]", "not an address", "http://a:7701", "a:1,b")) {
            assertThrows(IllegalArgumentException.class, () -> ArmatureClient.connect(address), address);
        }
        for (String address : List.of("localhost:1", "[::1]:1", "unix:/nowhere", "unix:nowhere", "dns:///localhost:1", "a:1, b:2")) {
            ArmatureClient.connect(address).close();
        }
    }

    @Test
    void aFaultyFileOfTlsIsNamed(@TempDir Path folder) throws IOException {
        Path faulty = Files.writeString(folder.resolve("ca.pem"), "no certificate");
        for (Tls tls : List.of(Tls.ofAuthorities(faulty), Tls.ofSystem().withCertificate(faulty, faulty), Tls.ofAuthorities(folder.resolve("absent")))) {
            ClientBuilder builder = ArmatureClient.builder("localhost:1").tls(tls);
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class, builder::build);
            assertTrue(e.getMessage().contains(folder.toString()), e.getMessage());
        }
    }

    @Test
    void aReadOfAClosedClientFails() {
        ArmatureClient client = ArmatureClient.connect("127.0.0.1:1");
        client.close();
        CallCancelledException e = assertThrows(CallCancelledException.class, () -> client.table("users").get(ANN));
        assertTrue(e.getMessage().contains("the client is closed"), e.getMessage());
    }
}
