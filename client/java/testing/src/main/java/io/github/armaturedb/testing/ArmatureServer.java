package io.github.armaturedb.testing;

import io.github.armaturedb.client.ArmatureClient;
import io.github.armaturedb.client.ClientBuilder;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;

/**
 * A daemon for tests, on a temporary directory and a free port of the loopback address.
 *
 * <pre>{@code
 * try (ArmatureServer server = ArmatureServer.start()) {
 *     ArmatureClient client = server.client();
 *     ...
 * }
 * }</pre>
 *
 * <p>The binary is that of the environment variable or system property {@code ARMATURED}, or armatured on the PATH. The daemon
 * and its directory end with this process, too, however that ends. Not safe for concurrent use.
 */
public final class ArmatureServer implements AutoCloseable {
    /** The environment variable, or system property, with the path of the daemon. */
    public static final String BINARY_VARIABLE = "ARMATURED";

    private static final long START_SECONDS = 30; // also of a stop, before the daemon is killed
    private static final int LOG_LINES = 40;

    private final Options options;
    private final Path temporary; // null: none
    private final Path directory;
    private final List<ArmatureClient> clients = new ArrayList<>();
    private final Guard guard;
    private Process process; // null: not running
    private String address = "127.0.0.1:0"; // kept over restarts

    private ArmatureServer(Options options) throws IOException {
        this.options = options;
        temporary = options.directory == null ? Files.createTempDirectory("armature-") : null;
        directory = temporary == null ? options.directory : temporary.resolve("data");
        guard = new Guard(temporary);
    }

    /** Starts a daemon with the given further arguments, such as "--http_listen=127.0.0.1:0". */
    public static ArmatureServer start(String... args) {
        return options().args(args).start();
    }

    /** Settings of a daemon. */
    public static Options options() {
        return new Options();
    }

    /** True if a daemon is found on this machine, so that tests can be skipped without one. A named one is not replaced by another. */
    public static boolean isAvailable() {
        return find(null) != null;
    }

    /** Settings of a daemon. */
    public static final class Options {
        private Path binary;
        private Path directory;
        private final List<String> args = new ArrayList<>(List.of("--durability=os"));

        private Options() {}

        /** The path of the daemon. */
        public Options binary(Path path) {
            binary = path;
            return this;
        }

        /** The directory of the data, which is kept. Without it, a temporary one. */
        public Options directory(Path path) {
            directory = path;
            return this;
        }

        /** Further arguments. The daemon does without waits for the disk unless "--durability=sync" is one. */
        public Options args(String... more) {
            args.addAll(List.of(more));
            return this;
        }

        /** Starts the daemon. */
        public ArmatureServer start() {
            Path found = find(binary);
            if (found == null) {
                String named = named(binary);
                throw new IllegalStateException(named == null
                        ? "no daemon: set " + BINARY_VARIABLE + " to the path of armatured"
                        : "no daemon: " + named + " is no program that may be run");
            }
            binary = found;
            try {
                ArmatureServer server = new ArmatureServer(this);
                try {
                    server.restartStopped();
                } catch (RuntimeException e) {
                    server.guard.close();
                    throw e;
                }
                return server;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** The path that the program or its environment gives; null: none. */
    private static String named(Path given) {
        String named = given != null ? given.toString() : System.getProperty(BINARY_VARIABLE, System.getenv(BINARY_VARIABLE));
        return named == null || named.isEmpty() ? null : named;
    }

    private static Path find(Path given) {
        String named = named(given);
        if (named != null) {
            return Files.isExecutable(Path.of(named)) ? Path.of(named).toAbsolutePath() : null;
        }
        String path = System.getenv("PATH");
        for (String folder : path == null ? new String[0] : path.split(File.pathSeparator)) {
            Path binary = Path.of(folder, "armatured");
            if (Files.isExecutable(binary)) {
                return binary.toAbsolutePath();
            }
        }
        return null;
    }

    /** The address for a client. It stays the same over restarts. */
    public String address() {
        return address;
    }

    /** The directory of the data. */
    public Path directory() {
        return directory;
    }

    /** A client of the daemon, which {@link #close} closes. */
    public ArmatureClient client() {
        return client(builder -> builder);
    }

    /** A client with settings, which {@link #close} closes. */
    public ArmatureClient client(UnaryOperator<ClientBuilder> settings) {
        ArmatureClient client = settings.apply(ArmatureClient.builder(address)).build();
        clients.add(client);
        return client;
    }

    /** The number of the process. */
    public long pid() {
        return running().pid();
    }

    private Process running() {
        if (process == null) {
            throw new IllegalStateException("the daemon is not running");
        }
        return process;
    }

    /** Starts the daemon again, after a stop or a kill, with the same address and data. */
    public void restartStopped() {
        if (process != null) {
            throw new IllegalStateException("the daemon is running");
        }
        List<String> command = new ArrayList<>(List.of(
                options.binary.toString(), "--data_dir=" + directory, "--grpc_listen=" + address, "--http_listen=off"));
        command.addAll(options.args);
        List<String> log = new ArrayList<>();
        CompletableFuture<String> ready = new CompletableFuture<>();
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
            guard.watch(process.pid());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Process started = process;
        Thread reader = new Thread(() -> read(started, ready, log), "armature-server-log");
        reader.setDaemon(true);
        reader.start();
        try {
            address = ready.get(START_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            kill();
            synchronized (log) {
                throw new IllegalStateException("the daemon was not ready:\n" + String.join("\n", log), e);
            }
        } catch (InterruptedException e) {
            kill();
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** Reads the daemon's output to its end, keeps the last lines, and finds "ready grpc=ADDRESS ...". */
    private static void read(Process process, CompletableFuture<String> ready, List<String> log) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                synchronized (log) {
                    log.add(line);
                    if (log.size() > LOG_LINES) {
                        log.remove(0);
                    }
                }
                if (line.startsWith("ready ")) {
                    for (String word : line.split(" ")) {
                        if (word.startsWith("grpc=")) {
                            ready.complete(word.substring("grpc=".length()));
                        }
                    }
                }
            }
        } catch (IOException e) {
            // The process has ended.
        }
        ready.completeExceptionally(new IllegalStateException("the daemon has ended"));
    }

    /** Ends the daemon by SIGTERM and waits until it has ended. Data and address stay. */
    public void stop() {
        if (process == null) {
            return;
        }
        if (!process.isAlive()) {
            int code = process.exitValue();
            process = null;
            guard.watch(0);
            throw new IllegalStateException("the daemon had ended by itself, with the exit status " + code);
        }
        signal("CONT"); // a test may have stopped the process
        process.destroy();
        if (!await(process)) {
            kill();
            throw new IllegalStateException("the daemon did not stop in time");
        }
        process = null;
        guard.watch(0);
    }

    /** Ends the daemon by SIGKILL, as a crash would. Data and address stay. */
    public void kill() {
        if (process != null) {
            process.destroyForcibly();
            await(process);
            process = null;
            guard.watch(0);
        }
    }

    /** Kills the daemon and starts it again, with the same address and data. */
    public void restart() {
        kill();
        restartStopped();
    }

    /** Sends a signal such as "STOP" or "CONT". */
    public void signal(String name) {
        try {
            Process sender = new ProcessBuilder("kill", "-" + name, Long.toString(pid())).inheritIO().start();
            if (!await(sender) || sender.exitValue() != 0) {
                throw new IllegalStateException("the signal " + name + " cannot be sent");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean await(Process process) {
        try {
            return process.waitFor(START_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /** Closes the clients, stops the daemon, and removes its data if they are temporary. */
    @Override
    public void close() {
        clients.forEach(ArmatureClient::close);
        clients.clear();
        try {
            stop();
        } finally {
            guard.close();
        }
    }
}
