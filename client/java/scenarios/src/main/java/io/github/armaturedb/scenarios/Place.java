package io.github.armaturedb.scenarios;

import io.github.armaturedb.client.ArmatureClient;
import io.github.armaturedb.client.ClientBuilder;
import io.github.armaturedb.client.RetryPolicy;
import io.github.armaturedb.client.Tls;
import io.github.armaturedb.testing.ArmatureServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A daemon with its proxy. */
final class Place implements AutoCloseable {
    private final Path scenarios;
    private final Path certificates;
    private final Map<String, Object> options;
    private final ArmatureServer server;
    private Process proxy; // null: none
    private BufferedReader proxyAnswers;
    private String proxyAddress;
    private Socket dead; // bound, and nobody listens; null: none

    Place(Path scenarios, Path certificates, Map<String, Object> options) {
        this.scenarios = scenarios;
        this.certificates = certificates;
        this.options = options;
        List<String> args = new ArrayList<>(Nodes.texts(options.get("flags")));
        if (Nodes.is(options, "tls")) {
            args.add("--tls_cert=" + certificates.resolve("server.pem"));
            args.add("--tls_key=" + certificates.resolve("server.key"));
        }
        if (Nodes.is(options, "client_certificates")) {
            args.add("--tls_client_ca=" + certificates.resolve("ca.pem"));
        }
        if (Nodes.is(options, "credentials")) {
            args.add("--credentials_file=" + certificates.resolve("credentials.json"));
        }
        server = ArmatureServer.start(args.toArray(String[]::new));
    }

    /** Options of the client that makes the tables. */
    Map<String, Object> ownerOptions() {
        Map<String, Object> owner = new LinkedHashMap<>();
        owner.put("tls", Nodes.is(options, "tls"));
        if (Nodes.is(options, "credentials")) {
            owner.put("access_key", List.of("writer", "secret-of-the-writer"));
        }
        return owner;
    }

    ArmatureClient open(Map<String, Object> given) {
        ClientBuilder builder = ArmatureClient.builder(addresses(given));
        if (given.containsKey("timeout")) {
            builder.timeout(seconds(given.get("timeout")));
        }
        if (Boolean.FALSE.equals(given.get("retries"))) {
            builder.retry(RetryPolicy.NONE);
        }
        if (given.containsKey("access_key")) {
            List<String> key = Nodes.texts(given.get("access_key"));
            builder.accessKey(key.get(0), key.get(1));
        }
        if (Nodes.is(given, "session")) {
            builder.readYourWrites();
        }
        if ("system".equals(given.get("tls"))) {
            builder.tls(Tls.ofSystem());
        } else if (Nodes.is(given, "tls")) {
            Tls tls = Tls.ofAuthorities(certificates.resolve("ca.pem"));
            builder.tls(Nodes.is(given, "certificate")
                    ? tls.withCertificate(certificates.resolve("client.pem"), certificates.resolve("client.key"))
                    : tls);
        }
        return builder.build();
    }

    static Duration seconds(Object number) {
        return Duration.ofMillis((long) (((Number) number).doubleValue() * 1000));
    }

    private String[] addresses(Map<String, Object> given) {
        if (Nodes.is(given, "proxy")) {
            startProxy();
            return new String[] {proxyAddress};
        }
        if (!given.containsKey("addresses")) {
            return new String[] {server.address()};
        }
        return Nodes.texts(given.get("addresses")).stream().map(name -> switch (name) {
            case "dead" -> deadAddress();
            case "unresolved" -> "nothing.invalid:7700";
            default -> server.address();
        }).toArray(String[]::new);
    }

    /** The port stays bound, so that nobody else takes it. */
    private String deadAddress() {
        try {
            if (dead == null) {
                dead = new Socket();
                dead.bind(new InetSocketAddress("127.0.0.1", 0));
            }
            return "127.0.0.1:" + dead.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void startProxy() {
        if (proxy != null) {
            return;
        }
        try {
            proxy = new ProcessBuilder("python3", scenarios.resolve("proxy.py").toString(), server.address())
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            proxyAnswers = new BufferedReader(new InputStreamReader(proxy.getInputStream(), StandardCharsets.UTF_8));
            proxyAddress = proxyAnswers.readLine().substring("ready ".length());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void proxyStep(Object given) {
        String text = given instanceof String command ? command : "lose_answer_to " + Nodes.map(given).get("lose_answer_to");
        try {
            OutputStream input = proxy.getOutputStream();
            input.write((text + "\n").getBytes(StandardCharsets.UTF_8));
            input.flush();
            String answer = proxyAnswers.readLine();
            if (!"ok".equals(answer)) {
                throw new IllegalStateException("the proxy answers " + answer);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void daemonStep(String command) {
        switch (command) {
            case "kill" -> server.kill();
            case "stop" -> server.stop();
            case "start" -> server.restartStopped();
            case "restart" -> server.restart();
            case "pause" -> {
                server.signal("STOP");
                awaitStopped();
            }
            case "continue" -> server.signal("CONT");
            default -> throw new IllegalStateException("unknown step of the daemon: " + command);
        }
    }

    /** The signal may take a moment. */
    private void awaitStopped() {
        long end = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        try {
            while (System.nanoTime() < end) {
                String state = Files.readString(Path.of("/proc/" + server.pid() + "/stat"));
                if (state.substring(state.lastIndexOf(')') + 2).startsWith("T")) {
                    return;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new IllegalStateException("the daemon does not stop");
    }

    @Override
    public void close() {
        try {
            if (dead != null) {
                dead.close();
            }
            if (proxy != null) {
                proxy.getOutputStream().close();
                proxy.waitFor();
            }
        } catch (IOException | InterruptedException e) {
            proxy.destroy();
        }
        server.close();
    }
}
