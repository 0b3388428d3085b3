package armature;

import java.math.BigDecimal;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbTable;
import software.amazon.awssdk.enhanced.dynamodb.Expression;
import software.amazon.awssdk.enhanced.dynamodb.Key;
import software.amazon.awssdk.enhanced.dynamodb.TableSchema;
import software.amazon.awssdk.enhanced.dynamodb.extensions.annotations.DynamoDbVersionAttribute;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbBean;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbPartitionKey;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbSecondaryPartitionKey;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbSecondarySortKey;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbSortKey;
import software.amazon.awssdk.enhanced.dynamodb.model.Page;
import software.amazon.awssdk.enhanced.dynamodb.model.PutItemEnhancedRequest;
import software.amazon.awssdk.enhanced.dynamodb.model.QueryConditional;
import software.amazon.awssdk.enhanced.dynamodb.model.WriteBatch;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ProjectionType;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/** The Enhanced Client of the AWS SDK for Java v2: beans as items of the daemon at $ENDPOINT. */
public final class Orders {
  private static final String BY_STATUS = "ByStatus";

  /** An item of the table. */
  @DynamoDbBean
  public static final class Order {
    private String customer;
    private Integer number;
    private String status;
    private BigDecimal amount;
    private Set<String> tags;
    private Map<String, List<String>> notes;
    private Long version;

    /** For the client, which sets all members. */
    public Order() {}

    Order(String customer, int number, String status, String amount) {
      this.customer = customer;
      this.number = number;
      this.status = status;
      this.amount = new BigDecimal(amount);
    }

    @DynamoDbPartitionKey public String getCustomer() { return customer; }
    public void setCustomer(String value) { customer = value; }
    @DynamoDbSortKey public Integer getNumber() { return number; }
    public void setNumber(Integer value) { number = value; }
    @DynamoDbSecondaryPartitionKey(indexNames = BY_STATUS) public String getStatus() { return status; }
    public void setStatus(String value) { status = value; }
    @DynamoDbSecondarySortKey(indexNames = BY_STATUS) public BigDecimal getAmount() { return amount; }
    public void setAmount(BigDecimal value) { amount = value; }
    public Set<String> getTags() { return tags; }
    public void setTags(Set<String> value) { tags = value; }
    public Map<String, List<String>> getNotes() { return notes; }
    public void setNotes(Map<String, List<String>> value) { notes = value; }
    @DynamoDbVersionAttribute public Long getVersion() { return version; }
    public void setVersion(Long value) { version = value; }
  }

  private final DynamoDbClient client;
  private final DynamoDbEnhancedClient enhanced;
  private final DynamoDbTable<Order> orders;

  private Orders(String endpoint) {
    client = DynamoDbClient.builder().endpointOverride(URI.create(endpoint)).region(Region.of("local"))
        .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("anyone", "anything")))
        .httpClient(UrlConnectionHttpClient.create()).build();
    enhanced = DynamoDbEnhancedClient.builder().dynamoDbClient(client).build();
    orders = enhanced.table("java_orders", TableSchema.fromBean(Order.class));
  }

  private static void check(boolean holds, Object what) {
    if (!holds) throw new AssertionError(what);
  }

  private static <E extends Exception> E refused(Class<E> kind, Supplier<?> call) {
    try {
      call.get();
    } catch (RuntimeException error) {
      if (kind.isInstance(error)) return kind.cast(error);
      throw error;
    }
    throw new AssertionError("no " + kind.getSimpleName());
  }

  private static Key key(String customer, int number) {
    return Key.builder().partitionValue(customer).sortValue(number).build();
  }

  private void items() {
    var order = new Order("ann", 1, "new", "12345678901234567890.12345");
    order.setTags(Set.of("a", "b"));
    order.setNotes(Map.of("ü\0", List.of("x", "")));
    orders.putItem(order);
    Order got = orders.getItem(get -> get.key(key("ann", 1)).consistentRead(true));
    check(got.getAmount().equals(order.getAmount()) && got.getTags().equals(order.getTags())
        && got.getNotes().equals(order.getNotes()) && got.getVersion() != null, got.getAmount());

    got.setAmount(new BigDecimal("2.5"));
    Order updated = orders.updateItem(got);
    check(updated.getVersion() == got.getVersion() + 1 && updated.getAmount().equals(got.getAmount()), updated.getVersion());
    refused(ConditionalCheckFailedException.class, () -> orders.updateItem(got));  // of an old version

    var absent = Expression.builder().expression("attribute_not_exists(customer)").build();
    var failed = refused(ConditionalCheckFailedException.class, () -> orders.putItemWithResponse(
        PutItemEnhancedRequest.builder(Order.class).item(new Order("ann", 1, "new", "1")).conditionExpression(absent).build()));
    check("ConditionalCheckFailedException".equals(failed.awsErrorDetails().errorCode()), failed);
    check(orders.deleteItem(key("ann", 1)).getNumber() == 1, "the deleted item");
    check(orders.getItem(key("ann", 1)) == null, "deleted");
  }

  private void pages() {
    // Batches have no conditions, so without the extension that counts versions.
    var unversioned = DynamoDbEnhancedClient.builder().dynamoDbClient(client).extensions(List.of()).build();
    var plain = unversioned.table(orders.tableName(), orders.tableSchema());
    var batch = WriteBatch.builder(Order.class).mappedTableResource(plain);
    for (int i = 0; i < 25; ++i) batch.addPutItem(new Order("bob", i, "paid", String.valueOf(i)));
    var written = unversioned.batchWriteItem(write -> write.addWriteBatch(batch.build()));
    check(written.unprocessedPutItemsForTable(plain).isEmpty(), "all written");

    var all = QueryConditional.keyEqualTo(key -> key.partitionValue("bob"));
    List<Integer> counts = new ArrayList<>();
    for (Page<Order> page : orders.query(query -> query.queryConditional(all).limit(10))) counts.add(page.items().size());
    check(counts.equals(List.of(10, 10, 5)), counts);
    var between = QueryConditional.sortBetween(
        key -> key.partitionValue("paid").sortValue(3), key -> key.partitionValue("paid").sortValue(5));
    List<Integer> found = orders.index(BY_STATUS).query(query -> query.queryConditional(between).scanIndexForward(false))
        .stream().flatMap(page -> page.items().stream()).map(Order::getNumber).toList();
    check(found.equals(List.of(5, 4, 3)), found);
    List<Integer> scanned = orders.scan(scan -> scan.limit(7)).items().stream().map(Order::getNumber).sorted().toList();
    check(scanned.equals(IntStream.range(0, 25).boxed().toList()), scanned);
  }

  private void transactions() {
    Runnable move = () -> enhanced.transactWriteItems(write -> write
        .addPutItem(orders, new Order("cid", 1, "new", "1")).addDeleteItem(orders, key("bob", 0)));
    move.run();
    // The put of a new bean expects that there is no item.
    var cancelled = refused(TransactionCanceledException.class, () -> { move.run(); return null; });
    check("ConditionalCheckFailed".equals(cancelled.cancellationReasons().get(0).code()), cancelled.cancellationReasons());
    var read = enhanced.transactGetItems(get -> get.addGetItem(orders, key("cid", 1)).addGetItem(orders, key("bob", 0)));
    check(Objects.equals(read.get(0).getItem(orders).getStatus(), "new") && read.get(1).getItem(orders) == null, read);
  }

  private void run() {
    orders.createTable(create -> create.globalSecondaryIndices(
        index -> index.indexName(BY_STATUS).projection(projection -> projection.projectionType(ProjectionType.ALL))));
    client.waiter().waitUntilTableExists(describe -> describe.tableName(orders.tableName()));
    items();
    pages();
    transactions();
    orders.deleteTable();
    System.out.println("java enhanced client: all passed");
  }

  public static void main(String[] arguments) {
    new Orders(System.getenv("ENDPOINT")).run();
  }
}
