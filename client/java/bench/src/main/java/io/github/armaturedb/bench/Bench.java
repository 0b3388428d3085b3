package io.github.armaturedb.bench;

import com.sun.management.OperatingSystemMXBean;
import io.github.armaturedb.api.v1.AttributeValue;
import io.github.armaturedb.api.v1.GetItemRequest;
import io.github.armaturedb.api.v1.ItemServiceGrpc;
import io.github.armaturedb.api.v1.PutItemRequest;
import io.github.armaturedb.api.v1.QueryRequest;
import io.github.armaturedb.client.ArmatureClient;
import io.github.armaturedb.client.AsyncTable;
import io.github.armaturedb.client.BatchWriter;
import io.github.armaturedb.client.Item;
import io.github.armaturedb.client.Pipeline;
import io.github.armaturedb.client.Table;
import io.github.armaturedb.client.TableSchema;
import io.github.armaturedb.client.annotation.PartitionKey;
import io.github.armaturedb.client.annotation.SortKey;
import io.github.armaturedb.testing.ArmatureServer;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntConsumer;

/**
 * Compares the processor time of the client with that of the raw stub, whose program converts the items by hand or leaves them as
 * they come. All run in turns in one process, against one daemon; the figures are medians.
 *
 * <pre>
 * (cd client/java &amp;&amp; mvn install) &amp;&amp; cd client/java/bench &amp;&amp; ARMATURED=path/to/armatured mvn compile exec:java -Dexec.args=1
 * </pre>
 *
 * The argument is the factor of the number of calls.
 */
public final class Bench {
    private static final int PAGE_ITEMS = 100;
    private static final int ROUNDS = 15;
    private static final int WARM_UP_ROUNDS = 5;
    private static final OperatingSystemMXBean PROCESS = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private static volatile Object sink;

    private record Sample(@PartitionKey String id, @SortKey int at, String name, String text, boolean active, double score, int count, byte[] data) {
        static Sample of(int at) {
            return new Sample("partition", at, "name of " + at, "x".repeat(120), at % 2 == 0, at * 1.5, at * 7, new byte[32]);
        }
    }

    private Bench() {}

    /** Prints the tables of figures. */
    public static void main(String[] args) {
        double scale = args.length > 0 ? Double.parseDouble(args[0]) : 1;
        try (ArmatureServer server = ArmatureServer.start()) {
            ArmatureClient client = server.client();
            client.createTable(TableSchema.of("records", Sample.class));
            try (BatchWriter writer = client.batchWriter()) {
                for (int i = 0; i < PAGE_ITEMS; ++i) {
                    writer.put("records", Sample.of(i));
                }
            }
            ManagedChannel channel = ManagedChannelBuilder.forTarget(server.address()).usePlaintext().build();
            compare(ItemServiceGrpc.newBlockingStub(channel), client.table("records", Sample.class), client.table("records"), scale);
            channel.shutdownNow();
            many(client, scale);
        }
    }

    private static void compare(ItemServiceGrpc.ItemServiceBlockingStub stub, Table<Sample> records, Table<Item> items, double scale) {
        GetItemRequest.Builder get = GetItemRequest.newBuilder().setTableName("records");
        QueryRequest page = QueryRequest.newBuilder().setTableName("records").setKeyConditionExpression("id = :id")
                .putExpressionAttributeValues(":id", text("partition")).build();
        System.out.println("| Operation | stub, us | by hand, us | items, us | records, us | items / stub | records / by hand |");
        System.out.println("| --- | --- | --- | --- | --- | --- | --- |");
        row("get", (int) (1500 * scale),
                i -> sink = stub.getItem(get.setKey(keyOf(i % PAGE_ITEMS)).build()),
                i -> sink = byHand(stub.getItem(get.setKey(keyOf(i % PAGE_ITEMS)).build()).getItem()),
                i -> sink = items.get(Map.of("id", "partition", "at", i % PAGE_ITEMS)),
                i -> sink = records.get(Map.of("id", "partition", "at", i % PAGE_ITEMS)));
        io.github.armaturedb.api.v1.Item made = itemOf(Sample.of(1));
        Item given = Item.from(Sample.of(1));
        row("put", (int) (1500 * scale),
                i -> sink = stub.putItem(PutItemRequest.newBuilder().setTableName("records").setItem(made).build()),
                i -> sink = stub.putItem(PutItemRequest.newBuilder().setTableName("records").setItem(itemOf(Sample.of(i % PAGE_ITEMS))).build()),
                i -> sink = items.put(given),
                i -> sink = records.put(Sample.of(i % PAGE_ITEMS)));
        row("page of 100", (int) (300 * scale),
                i -> sink = stub.query(page),
                i -> sink = stub.query(page).getItemsList().stream().map(Bench::byHand).toList(),
                i -> sink = items.query("id = $id", o -> o.param("id", "partition")).toList(),
                i -> sink = records.query("id = $id", o -> o.param("id", "partition")).toList());
    }

    private static void row(String name, int calls, IntConsumer... forms) {
        double[][] micros = new double[forms.length][ROUNDS];
        for (int round = -WARM_UP_ROUNDS; round < ROUNDS; ++round) {
            for (int form = 0; form < forms.length; ++form) {
                long begin = PROCESS.getProcessCpuTime();
                for (int i = 0; i < calls; ++i) {
                    forms[form].accept(i);
                }
                if (round >= 0) {
                    micros[form][round] = (PROCESS.getProcessCpuTime() - begin) / 1000.0 / calls;
                }
            }
        }
        double[] medians = Arrays.stream(micros).mapToDouble(values -> {
            Arrays.sort(values);
            return values[ROUNDS / 2];
        }).toArray();
        System.out.printf("| %s | %.1f | %.1f | %.1f | %.1f | %.2f | %.2f |%n", name, medians[0], medians[1], medians[2], medians[3],
                medians[2] / medians[0], medians[3] / medians[1]);
    }

    private static void many(ArmatureClient client, double scale) {
        int count = (int) (50_000 * scale);
        System.out.println("\n| Puts | client CPU, us each | puts a second |\n| --- | --- | --- |");
        for (int round = 0; round < 2; ++round) { // the first one warms up
            boolean isPrinted = round > 0;
            measure("batch writer", count, isPrinted, () -> {
                try (BatchWriter writer = client.batchWriter()) {
                    for (int i = 0; i < count; ++i) {
                        writer.put("records", Sample.of(1000 + i));
                    }
                }
            });
            measure("pipeline", count, isPrinted, () -> {
                try (Pipeline pipeline = client.pipeline()) {
                    AsyncTable<Sample> records = pipeline.client().table("records", Sample.class);
                    List<CompletableFuture<?>> writes = new ArrayList<>(count);
                    for (int i = 0; i < count; ++i) {
                        writes.add(records.put(Sample.of(1000 + i)));
                    }
                    writes.forEach(CompletableFuture::join);
                }
            });
        }
    }

    private static void measure(String name, int count, boolean isPrinted, Runnable puts) {
        long begin = PROCESS.getProcessCpuTime();
        long clock = System.nanoTime();
        puts.run();
        double seconds = (System.nanoTime() - clock) / 1e9;
        double micros = (PROCESS.getProcessCpuTime() - begin) / 1000.0 / count;
        if (isPrinted) {
            System.out.printf("| %s | %.1f | %.0f |%n", name, micros, count / seconds);
        }
    }

    private static AttributeValue text(String value) {
        return AttributeValue.newBuilder().setS(value).build();
    }

    private static AttributeValue number(Object value) {
        return AttributeValue.newBuilder().setN(String.valueOf(value)).build();
    }

    private static io.github.armaturedb.api.v1.Item keyOf(int at) {
        return io.github.armaturedb.api.v1.Item.newBuilder().putAttributes("id", text("partition")).putAttributes("at", number(at)).build();
    }

    private static io.github.armaturedb.api.v1.Item itemOf(Sample sample) {
        return io.github.armaturedb.api.v1.Item.newBuilder()
                .putAttributes("id", text(sample.id))
                .putAttributes("at", number(sample.at))
                .putAttributes("name", text(sample.name))
                .putAttributes("text", text(sample.text))
                .putAttributes("active", AttributeValue.newBuilder().setBool(sample.active).build())
                .putAttributes("score", number(sample.score))
                .putAttributes("count", number(sample.count))
                .putAttributes("data", AttributeValue.newBuilder().setB(com.google.protobuf.ByteString.copyFrom(sample.data)).build())
                .build();
    }

    private static Sample byHand(io.github.armaturedb.api.v1.Item item) {
        Map<String, AttributeValue> a = item.getAttributesMap();
        return new Sample(a.get("id").getS(), Integer.parseInt(a.get("at").getN()), a.get("name").getS(), a.get("text").getS(),
                a.get("active").getBool(), Double.parseDouble(a.get("score").getN()), Integer.parseInt(a.get("count").getN()),
                a.get("data").getB().toByteArray());
    }
}
