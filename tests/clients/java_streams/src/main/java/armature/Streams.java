package armature;

import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.GetRecordsResponse;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.Record;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.Shard;
import software.amazon.awssdk.services.dynamodb.model.ShardIteratorType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

/** A stream of the daemon at $ENDPOINT whose shards roll over while it is read. */
public final class Streams {
  private static final String TABLE = "java_changes";

  private final DynamoDbClient items;
  private final DynamoDbStreamsClient streams;
  private int written = 0;

  private Streams(String endpoint) {
    var credentials = StaticCredentialsProvider.create(AwsBasicCredentials.create("anyone", "anything"));
    items = DynamoDbClient.builder().endpointOverride(URI.create(endpoint)).region(Region.of("local"))
        .credentialsProvider(credentials).httpClient(UrlConnectionHttpClient.create()).build();
    streams = DynamoDbStreamsClient.builder().endpointOverride(URI.create(endpoint)).region(Region.of("local"))
        .credentialsProvider(credentials).httpClient(UrlConnectionHttpClient.create()).build();
  }

  private static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }

  private void write() {
    ++written;
    int number = written;
    items.putItem(put -> put.tableName(TABLE).item(Map.of(
        "pk", AttributeValue.fromS("p" + number % 7), "n", AttributeValue.fromN(String.valueOf(number)),
        "v", AttributeValue.fromS("x".repeat(20_000)))));
  }

  private List<Shard> shards(String arn) {
    List<Shard> all = new ArrayList<>();
    String after = null;
    do {
      String from = after;
      var part = streams.describeStream(request -> request.streamArn(arn).limit(5).exclusiveStartShardId(from))
          .streamDescription();
      all.addAll(part.shards());
      after = part.lastEvaluatedShardId();
    } while (after != null);
    return all;
  }

  /** Reads a shard to its present end. Returns true if the shard ends there. */
  private boolean read(String arn, String shard, Map<String, List<Integer>> seen) {
    String iterator = streams.getShardIterator(request -> request.streamArn(arn).shardId(shard)
        .shardIteratorType(ShardIteratorType.TRIM_HORIZON)).shardIterator();
    while (iterator != null) {
      String from = iterator;
      GetRecordsResponse page = streams.getRecords(request -> request.shardIterator(from).limit(100));
      for (Record record : page.records()) {
        Map<String, AttributeValue> image = record.dynamodb().newImage();
        seen.computeIfAbsent(image.get("pk").s(), key -> new ArrayList<>()).add(Integer.valueOf(image.get("n").n()));
      }
      if (page.nextShardIterator() != null && page.records().isEmpty()) return false;
      iterator = page.nextShardIterator();
    }
    return true;
  }

  private void run() {
    items.createTable(create -> create.tableName(TABLE).billingMode(BillingMode.PAY_PER_REQUEST)
        .attributeDefinitions(AttributeDefinition.builder().attributeName("pk").attributeType(ScalarAttributeType.S).build())
        .keySchema(KeySchemaElement.builder().attributeName("pk").keyType(KeyType.HASH).build())
        .streamSpecification(stream -> stream.streamEnabled(true).streamViewType(StreamViewType.NEW_IMAGE)));
    items.waiter().waitUntilTableExists(describe -> describe.tableName(TABLE));
    String arn = streams.listStreams(list -> list.tableName(TABLE)).streams().get(0).streamArn();
    Set<String> first = shards(arn).stream().map(Shard::shardId).collect(Collectors.toSet());
    while (shards(arn).stream().noneMatch(shard -> first.contains(shard.parentShardId()))) {
      for (int i = 0; i < 10; ++i) write();
    }
    write();
    Map<String, List<Integer>> seen = new HashMap<>();
    Set<String> ended = new HashSet<>();
    for (Shard shard : shards(arn)) {  // parents before children
      check(shard.parentShardId() == null || ended.contains(shard.parentShardId()), shard.toString());
      if (read(arn, shard.shardId(), seen)) ended.add(shard.shardId());
    }
    check(ended.containsAll(first), "the first shards have ends");
    List<Integer> all = seen.values().stream().flatMap(List::stream).sorted().toList();
    check(all.equals(IntStream.rangeClosed(1, written).boxed().toList()), "each record once");
    seen.values().forEach(numbers -> check(numbers.equals(numbers.stream().sorted().toList()), "in order"));
    System.out.println("java streams: all passed, " + written + " records");
  }

  public static void main(String[] arguments) {
    new Streams(System.getenv("ENDPOINT")).run();
  }
}
