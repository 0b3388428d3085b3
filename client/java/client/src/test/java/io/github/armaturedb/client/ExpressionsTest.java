package io.github.armaturedb.client;

import static io.github.armaturedb.client.Expressions.attr;
import static io.github.armaturedb.client.Expressions.fields;
import static io.github.armaturedb.client.Expressions.name;
import static io.github.armaturedb.client.Expressions.not;
import static io.github.armaturedb.client.Expressions.set;
import static io.github.armaturedb.client.Expressions.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.armaturedb.api.v1.UpdateItemRequest;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ExpressionsTest {
    private static String compiled(Expression expression) {
        Binder binder = new Binder(Map.of());
        binder.reserve(expression);
        String text = expression.compile(binder);
        binder.finish();
        return text + " " + binder.names() + " " + Item.of("v", "").with("v", "").without("v") + new Item(binder.values());
    }

    @Test
    void textsHaveParameters() {
        assertEquals("a = :x AND #b < :y {#b=b} {}{:x=1, :y=t}", compiled(Expression.text("a = $x AND #b < $y", "x", 1, "y", "t")));
        assertEquals("#s = :s {#s=full.state} {}{:s=1}", compiled(Expression.text("#s = :s", "#s", "full.state", ":s", 1)));
        assertThrows(IllegalArgumentException.class, () -> compiled(Expression.text("a = $x")));
        assertThrows(IllegalArgumentException.class, () -> compiled(Expression.text("a = :x")));
        assertThrows(IllegalArgumentException.class, () -> compiled(Expression.text("a = $")));
        assertThrows(IllegalArgumentException.class, () -> compiled(Expression.text("a = $x", "x", 1, "y", 2)));
        assertThrows(IllegalArgumentException.class, () -> compiled(Expression.text("#a = b", "#a", 1)));
    }

    @Test
    void builtConditionsKeepTheirStructure() {
        assertEquals("#n0 = :v AND (#n1 < :v_1 OR NOT attribute_exists(#n2.#n3[0])) {#n0=a, #n1=b, #n2=c, #n3=d} {}{:v=1, :v_1=2}",
                compiled(attr("a").eq(1).and(attr("b").lt(2).or(not(attr("c.d[0]").exists())))));
        assertEquals("(a > :x) AND #n0 = :v {#n0=a.b} {}{:x=1, :v=2}", compiled(text("a > $x", "x", 1).and(name("a.b").eq(2))));
        for (String wrong : List.of("", "a[", "a..b", "a[x]", "a[0]b", ".a")) {
            assertThrows(IllegalArgumentException.class, () -> compiled(attr(wrong).eq(1)), wrong);
        }
        assertEquals("#n0, #n1.#n2 {#n0=a, #n1=b, #n2=c} {}{}", compiled(fields("a", "b.c")));
    }

    @Test
    void updatesHaveTheirClausesInOrder() {
        assertEquals("SET #n0 = #n0 + :v, #n1 = if_not_exists(#n1, :v) REMOVE #n2 ADD #n3 :v {#n0=a, #n1=b, #n2=c, #n3=d} {}{:v=1}",
                compiled(set("a", attr("a").plus(1)).add("d", 1).remove("c").set("b", attr("b").orElse(1))));
    }

    @Test
    void aRequestSharesItsParametersAndPlaceholders() {
        Requests<Item> table = new Requests<>("t", Mappers.ITEMS);
        UpdateItemRequest request = table.update(Map.of("id", 1), set("x", 1), o -> o.condition("#n0 = :v AND y = $p").param(":v", 2).param("p", 3)).request();
        assertEquals("SET #n1 = :v_1", request.getUpdateExpression());
        assertEquals("#n0 = :v AND y = :p", request.getConditionExpression());
        assertEquals("n0", request.getExpressionAttributeNamesOrThrow("#n0"));
        assertEquals("2", request.getExpressionAttributeValuesOrThrow(":v").getN());
        assertThrows(IllegalArgumentException.class, () -> table.update(Map.of("id", 1), set("x", 1), o -> o.param("unused", 3)));
        assertThrows(IllegalArgumentException.class, () -> table.get(Map.of("id", 1), o -> o.param("unused", 3)));
    }
}
