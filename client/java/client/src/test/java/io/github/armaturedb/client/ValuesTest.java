package io.github.armaturedb.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.armaturedb.client.annotation.AsList;
import io.github.armaturedb.client.annotation.AttributeName;
import io.github.armaturedb.client.annotation.PartitionKey;
import io.github.armaturedb.client.annotation.SortKey;
import io.github.armaturedb.client.annotation.UnixTime;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ValuesTest {
    enum Color {
        RED,
        GREEN {
            @Override
            public String toString() {
                return "not the name";
            }
        }
    }

    record Inner(String street, List<Integer> numbers) {}

    record Everything(
            @PartitionKey String id, @SortKey long at, @AttributeName("full.name") String name, int count, Double score, BigDecimal exact,
            BigInteger big, boolean active, byte[] data, Instant time, @UnixTime Instant expires, LocalDate day, UUID uuid, Color color,
            Optional<String> note, Optional<Integer> rank, List<Inner> places, Set<String> tags, Set<Integer> numbers, Set<Color> colors,
            @AsList Set<Boolean> flags, Map<String, List<String>> groups, Object any, Item item, Inner inner, char letter) {}

    private static Everything full() {
        return new Everything("a", 1, "n", 2, 2.5, new BigDecimal("0.1"), BigInteger.TWO.pow(100), true, new byte[] {1, 2},
                Instant.parse("2024-01-01T00:00:00.123Z"), Instant.ofEpochSecond(1_700_000_000), LocalDate.of(2024, 2, 29), new UUID(1, 2),
                Color.GREEN, Optional.of("x"), Optional.empty(), List.of(new Inner("s", List.of(1, 2)), new Inner(null, null)), Set.of("t"),
                Set.of(1, 2), Set.of(Color.RED), Set.of(true), Map.of("g", List.of("h")), List.of(BigDecimal.ONE, "z"), Item.of("k", 1),
                new Inner("i", List.of()), 'c');
    }

    @Test
    void recordsComeBack() {
        Everything in = full();
        Everything out = Item.from(in).as(Everything.class);
        assertArrayEquals(in.data(), out.data());
        assertEquals(Item.from(in), Item.from(out));
        assertEquals(in.places(), out.places());
        assertEquals(in.any(), out.any());
        assertEquals(in.color(), out.color());
        assertEquals(in.time(), out.time());
        assertEquals("n", Item.from(in).getString("full.name"));
        assertEquals(1_700_000_000, Item.from(in).getLong("expires"));
        assertEquals("GREEN", Item.from(in).getString("color"));
    }

    @Test
    void absentAttributesAreNullOrEmpty() {
        Everything out = Item.of("id", "a", "at", 1, "count", 1, "active", false, "letter", "x").as(Everything.class);
        assertNull(out.name());
        assertNull(out.inner());
        assertEquals(Optional.empty(), out.note());
        assertEquals(Set.of(), out.tags());
        assertFalse(Item.from(out).containsKey("tags"));
        assertFalse(Item.from(out).containsKey("full.name"));
    }

    @Test
    void errorsNameTheAttribute() {
        MappingException absent = assertThrows(MappingException.class, () -> Item.of("id", "a").as(Everything.class));
        assertTrue(absent.getMessage().startsWith("at: is absent") && absent.getMessage().contains("Long"), absent.getMessage());
        Item base = Item.from(full());
        for (String[] wrong : new String[][] {{"count", "does not fit"}, {"day", "LocalDate"}, {"color", "no constant"}}) {
            Object value = wrong[0].equals("count") ? (Object) new BigDecimal("2.5") : "x";
            MappingException e = assertThrows(MappingException.class, () -> base.with(wrong[0], value).as(Everything.class));
            assertTrue(e.getMessage().startsWith(wrong[0] + ": ") && e.getMessage().contains(wrong[1]), e.getMessage());
        }
        MappingException nested = assertThrows(
                MappingException.class, () -> base.with("inner", Map.of("numbers", List.of("x"))).as(Everything.class));
        assertTrue(nested.getMessage().startsWith("inner: numbers[]"), nested.getMessage());
        assertThrows(MappingException.class, () -> base.with("count", 1L << 40).as(Everything.class));
    }

    record Unsupported(Thread thread) {}

    record Twice(String a, @AttributeName("a") String b) {}

    @Test
    void recordsThatCannotBeMappedAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> RecordMapper.of(Unsupported.class));
        assertThrows(IllegalArgumentException.class, () -> RecordMapper.of(Twice.class));
        assertThrows(IllegalArgumentException.class, () -> TableSchema.of("t", Inner.class));
        assertThrows(IllegalArgumentException.class, () -> Requests.key(new Inner("s", null)));
        assertEquals(2, Requests.key(full()).getAttributesCount());
        assertEquals(2, TableSchema.of("t", Everything.class).toRequest().getKeySchemaCount());
    }

    @Test
    void numbersAreEqualByValue() {
        assertEquals(Item.of("n", 10), Item.of("n", new BigDecimal("10.00")));
        assertEquals(Item.of("n", 0), Item.of("n", -0.0));
        assertEquals(Item.of("n", new BigDecimal("1E20")), Item.of("n", new BigDecimal("100000000000000000000")));
        assertEquals(Item.of("n", 10).hashCode(), Item.of("n", 10.0).hashCode());
        assertNotEquals(Item.of("n", 1), Item.of("n", "1"));
        assertEquals(new BigDecimal("0.1"), Item.of("n", 0.1).getDecimal("n"));
        assertEquals(new BigDecimal("0.1"), Item.of("n", 0.1f).getDecimal("n"));
        assertEquals(7, Item.of("n", new AtomicLong(7)).getInt("n"));
        assertEquals(-5, Item.of("n", new BigDecimal("-5E0")).getInt("n"));
        assertEquals(Long.MIN_VALUE, Item.of("n", Long.MIN_VALUE).getLong("n"));
        for (double bad : new double[] {Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThrows(MappingException.class, () -> Item.of("n", bad));
        }
    }

    @Test
    void itemsAreMaps() {
        Map<String, Object> values = new HashMap<>();
        values.put("nothing", null);
        values.put("data", new byte[] {1});
        Item item = Item.from(values);
        assertTrue(item.containsKey("nothing"));
        assertNull(item.get("nothing"));
        assertEquals(ByteBuffer.wrap(new byte[] {1}), item.get("data"));
        assertEquals(Item.from(values), item);
        assertThrows(UnsupportedOperationException.class, () -> item.put("a", 1));
        assertNull(item.getString("absent"));
        assertThrows(MappingException.class, () -> item.getInt("absent"));
        assertThrows(MappingException.class, () -> item.getString("data"));
        assertEquals(Map.of("a", "b"), Item.of("a", "b"));
        assertEquals(Set.of(ByteBuffer.wrap(new byte[0])), Item.of("s", Set.of(new byte[0])).getBinaries("s"));
    }

    @Test
    void wrongValuesAreRefusedWithTheirPath() {
        List<Object> self = new ArrayList<>();
        self.add(self);
        assertThrows(MappingException.class, () -> Item.of("a", self));
        for (Object bad : Arrays.asList(Set.of(), Set.of(1, "a"), new Thread(), Optional.of(1), Collections.singleton(null), Set.of(true))) {
            MappingException e = assertThrows(MappingException.class, () -> Item.of("a", Map.of("b", List.of(0, bad))), () -> String.valueOf(bad));
            assertTrue(e.getMessage().startsWith("a.b[1]: "), e.getMessage());
        }
        assertThrows(IllegalArgumentException.class, () -> Item.of("a", 1, "b"));
        assertThrows(IllegalArgumentException.class, () -> Item.of("a", 1, "a", 2));
    }

    @Test
    void textsOfInstantsSortByTime() {
        Instant second = Instant.parse("2024-01-01T00:00:00Z");
        List<Instant> times = List.of(second, second.plusMillis(500), second.plusNanos(500_000_001), second.plusSeconds(1), second.plusSeconds(60));
        List<String> texts = times.stream().map(t -> Item.of("t", t).toMessage().getAttributesOrThrow("t").getS()).toList();
        assertEquals(texts.stream().sorted().toList(), texts);
        assertEquals("2024-01-01T00:00:00.000000000Z", texts.get(0));
        assertEquals(times, texts.stream().map(Instant::parse).toList());
    }

    record Times(@UnixTime Instant at) {}

    record Floats(float f) {}

    @Test
    void numbersThatDoNotFitAreNotChanged() {
        for (String wrong : List.of("1E30", "1700000000.9")) {
            assertThrows(MappingException.class, () -> RecordMapper.of(Times.class).fromItem(Item.of("at", new BigDecimal(wrong))), wrong);
        }
        assertThrows(MappingException.class, () -> RecordMapper.of(Floats.class).fromItem(Item.of("f", new BigDecimal("1E39"))));
    }
}
