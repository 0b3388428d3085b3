package io.github.armaturedb.scenarios;

import io.github.armaturedb.client.ArmatureClient;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.yaml.snakeyaml.Yaml;

/**
 * Runs tests/clients/scenarios by the Java client.
 *
 * <p>Arguments: the directory of the scenarios; "sync", "async" or "both"; perhaps a text in the names of those to run. The variable ARMATURED has the path
 * of the daemon.
 */
public final class Main {
    private static final long UNTIL_NANOS = Duration.ofSeconds(20).toNanos();
    private static final Set<String> STEP_MEMBERS = Set.of("with", "timeout", "expect", "unordered", "error", "repeat", "until");

    private final Path directory;
    private final Path certificates;
    private final boolean isAsync;
    private Map<String, Object> tables;
    private Place shared; // of one thread
    private int passed; // guarded by this
    private final List<String> failed = new ArrayList<>(); // guarded by this

    private Main(Path directory, Path certificates, boolean isAsync) {
        this.directory = directory;
        this.certificates = certificates;
        this.isAsync = isAsync;
    }

    /** Runs the scenarios. The status is 1 if one failed. */
    public static void main(String[] args) throws IOException, InterruptedException {
        Path directory = Path.of(args[0]);
        Path certificates = Files.createTempDirectory("armature-certificates-");
        int failures = 0;
        try {
            int status = new ProcessBuilder(directory.resolve("certificates").toString(), certificates.toString()).inheritIO().start().waitFor();
            if (status != 0) {
                throw new IllegalStateException("the certificates cannot be made");
            }
            for (boolean isAsync : new boolean[] {false, true}) {
                if (args[1].equals("both") || args[1].equals(isAsync ? "async" : "sync")) {
                    failures += new Main(directory, certificates, isAsync).runAll(args.length > 2 ? args[2] : "");
                }
            }
        } finally {
            try (Stream<Path> files = Files.list(certificates)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
            Files.delete(certificates);
        }
        System.exit(failures > 0 ? 1 : 0);
    }

    private int runAll(String selected) throws IOException, InterruptedException {
        Queue<Map<String, Object>> sharing = new ConcurrentLinkedQueue<>();
        Queue<Map<String, Object>> own = new ConcurrentLinkedQueue<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".yaml")).sorted().toList()) {
                try (InputStream text = Files.newInputStream(file)) {
                    Object all = new Yaml().load(text);
                    if (file.endsWith("tables.yaml")) {
                        tables = Nodes.map(all);
                        continue;
                    }
                    Nodes.list(all).stream().map(Nodes::map).filter(s -> ((String) s.get("name")).contains(selected))
                            .forEach(s -> (s.containsKey("daemon") ? own : sharing).add(s));
                }
            }
        }
        // Those with daemons of their own run beside the others: they mostly wait.
        List<Thread> threads = new ArrayList<>();
        for (Queue<Map<String, Object>> queue : List.of(sharing, own, own)) {
            Thread thread = new Thread(() -> {
                for (Map<String, Object> scenario = queue.poll(); scenario != null; scenario = queue.poll()) {
                    run(scenario);
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (shared != null) {
            shared.close();
        }
        failed.forEach(System.out::println);
        System.out.println((isAsync ? "async: " : "sync: ") + passed + " passed, " + failed.size() + " failed");
        return passed == 0 ? 1 : failed.size();
    }

    private void run(Map<String, Object> scenario) {
        String difference;
        try {
            difference = runOn(scenario);
        } catch (RuntimeException | AssertionError e) {
            java.io.StringWriter trace = new java.io.StringWriter();
            e.printStackTrace(new java.io.PrintWriter(trace));
            difference = trace.toString();
        }
        synchronized (this) {
            if (difference.isEmpty()) {
                passed++;
            } else {
                failed.add("failed: " + scenario.get("name") + ": " + difference);
            }
        }
    }

    private String runOn(Map<String, Object> scenario) {
        boolean isShared = !scenario.containsKey("daemon");
        Place place = isShared && shared != null ? shared : new Place(directory, certificates, Nodes.map(scenario.get("daemon")));
        shared = isShared ? place : shared;
        boolean isClean = false;
        Map<String, ArmatureClient> clients = new LinkedHashMap<>();
        try (Operations operations = new Operations(tables, isAsync)) {
            Map<String, Object> options = new LinkedHashMap<>(Map.of("default", Map.of()));
            options.putAll(Nodes.map(scenario.get("clients")));
            options.put("(owner)", place.ownerOptions());
            options.forEach((name, given) -> clients.put(name, place.open(Nodes.map(given))));
            ArmatureClient owner = clients.get("(owner)");
            for (String table : Nodes.texts(scenario.get("tables"))) {
                owner.createTable(Operations.schema(table, Nodes.map(tables.get(table))));
            }
            int number = 0;
            for (Object step : Nodes.list(scenario.get("steps"))) {
                String difference = step(place, clients, operations, Nodes.map(step));
                ++number;
                if (!difference.isEmpty()) {
                    return "step " + number + ": " + difference;
                }
            }
            operations.endWatches();
            if (isShared) {
                owner.listTables().forEach(owner::deleteTable);
                isClean = true;
            }
            return "";
        } finally {
            clients.values().forEach(ArmatureClient::close);
            if (!isClean) {
                place.close(); // tables are left
                shared = isShared ? null : shared;
            }
        }
    }

    private static String step(Place place, Map<String, ArmatureClient> clients, Operations operations, Map<String, Object> step) {
        int times = step.get("repeat") instanceof Integer count ? count : 1;
        String kind = step.keySet().stream().filter(member -> !STEP_MEMBERS.contains(member)).findFirst().orElseThrow();
        Object given = step.get(kind);
        ArmatureClient client = clients.get(step.getOrDefault("with", "default"));
        Duration timeout = step.containsKey("timeout") ? Place.seconds(step.get("timeout")) : null;
        for (int i = 0; i < times; ++i) {
            String difference = "";
            switch (kind) {
                case "daemon" -> place.daemonStep((String) given);
                case "proxy" -> place.proxyStep(given);
                case "connect" -> difference = call(() -> {
                    place.open(Nodes.map(given)).close();
                    return null;
                }, kind, step);
                default -> difference = call(() -> operations.call(client, kind, given, timeout), kind, step);
            }
            if (!difference.isEmpty()) {
                return difference;
            }
        }
        return "";
    }

    /** Makes a call, perhaps several times, and gives the difference of its result. */
    private static String call(java.util.function.Supplier<Object> operation, String kind, Map<String, Object> step) {
        long end = System.nanoTime() + UNTIL_NANOS;
        while (true) {
            String difference = callOnce(operation, kind, step);
            if (difference.isEmpty() || !Nodes.is(step, "until") || System.nanoTime() > end) {
                return difference;
            }
        }
    }

    private static String callOnce(java.util.function.Supplier<Object> operation, String kind, Map<String, Object> step) {
        boolean unordered = Nodes.is(step, "unordered");
        Object result;
        try {
            result = operation.get();
        } catch (IllegalStateException e) {
            throw e; // of the runner
        } catch (RuntimeException e) {
            if (!step.containsKey("error")) {
                java.io.StringWriter trace = new java.io.StringWriter();
                e.printStackTrace(new java.io.PrintWriter(trace));
                return trace.toString();
            }
            return Failures.difference(e, Nodes.map(step.get("error")));
        }
        if (step.containsKey("error")) {
            return kind + " gives " + result + " instead of an error " + step.get("error");
        }
        if (!step.containsKey("expect") || Nodes.same(result, Nodes.value(step.get("expect")), unordered)) {
            return "";
        }
        return kind + " gives " + Nodes.canonical(result, unordered) + " instead of " + Nodes.canonical(Nodes.value(step.get("expect")), unordered);
    }
}
