package armature

import (
	"context"
	"errors"
	"reflect"
	"testing"
)

// compiled returns the text of an expression, and the placeholders of its names and values.
func compiled(t *testing.T, e Expression) (string, map[string]string, map[string]any) {
	t.Helper()
	var b binder
	b.reserve(e)
	text, err := e.compile(&b)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	for placeholder, value := range b.values {
		values[placeholder] = native(value)
	}
	return text, b.names, values
}

func TestTextsGetPlaceholdersForTheirParameters(t *testing.T) {
	text, names, values := compiled(t, Expr("$f = $new AND #status <> $new AND a > :n AND #x = $limit",
		Params{"f": Name("full.name"), "new": "open", ":n": 1, "#x": "x.y", "limit": 2}))
	if want := "#n0 = :new AND #status <> :new AND a > :n AND #x = :limit"; text != want {
		t.Errorf("%s instead of %s", text, want)
	}
	if want := map[string]string{"#n0": "full.name", "#status": "status", "#x": "x.y"}; !reflect.DeepEqual(names, want) {
		t.Errorf("%v", names)
	}
	if want := map[string]any{":new": "open", ":n": Number("1"), ":limit": Number("2")}; !reflect.DeepEqual(values, want) {
		t.Errorf("%v", values)
	}
}

func TestEqualNamesOfParametersMayHaveDifferentValuesInOneRequest(t *testing.T) {
	var b binder
	first, err := Expr("a = $v", Params{"v": 1}).compile(&b)
	second, err2 := Expr("b = $v", Params{"v": 2}).compile(&b)
	third, err3 := Expr("c = $v", Params{"v": 1}).compile(&b)
	if errors.Join(err, err2, err3) != nil || first != "a = :v" || second != "b = :v_1" || third != "c = :v" {
		t.Errorf("%s, %s, %s: %v", first, second, third, errors.Join(err, err2, err3))
	}
}

func TestGeneratedPlaceholdersKeepAwayFromThoseOfTheProgram(t *testing.T) {
	text, names, values := compiled(t, Expr("a = $v AND b = :v AND #n0 = $f",
		Params{"v": 1, ":v": 2, "#n0": "x", "f": Name("y")}))
	if text != "a = :v_1 AND b = :v AND #n0 = #n1" || names["#n1"] != "y" || values[":v"] != Number("2") {
		t.Errorf("%s %v %v", text, names, values)
	}
}

func TestPlaceholdersOfALaterExpressionAreKeptFree(t *testing.T) {
	condition := Expr("b = :v AND #n0 = :v", Params{":v": 2, "#n0": "z"})
	p := params{condition: condition}
	update := Set("a", 1)
	p.reserveAll(update)
	first, err := p.optional(update)
	second, err2 := p.optional(condition)
	if errors.Join(err, err2) != nil || *first != "SET #n1 = :v_1" || *second != "b = :v AND #n0 = :v" {
		t.Errorf("%v, %v: %v", first, second, errors.Join(err, err2))
	}
}

func TestWrongTextsAreRefused(t *testing.T) {
	for name, e := range map[string]Expression{
		"missing":       Expr("a = $b"),
		"missing value": Expr("a = :b"),
		"no name":       Expr("a = $"),
		"no value":      Expr("a = $b", Params{"b": make(chan int)}),
		"two values":    Expr("#a = $b", Params{"#a": 3, "b": 1}),
	} {
		var b binder
		_, err := e.compile(&b)
		var argument *ArgumentError
		if !errors.As(err, &argument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var b binder
	_, _ = Expr("a = $b", Params{"b": 1, "c": 2}).compile(&b)
	if b.unused() == nil {
		t.Error("a parameter that no expression uses is accepted")
	}
	if _, err := Expr("d = $c", Params{"c": 2}).compile(&b); err != nil || b.unused() != nil {
		t.Error("a parameter that another expression uses is refused")
	}
}

func TestNilExpressionsAreRefusedAndNothingIsSent(t *testing.T) {
	client, connection := fakeClient(t, errLost)
	ctx, items, key := context.Background(), client.Table("t"), Key{"id": 1}
	tx := client.Transaction()
	tx.Put("t", key, If(nil))
	for name, call := range map[string]func() error{
		"put":         func() error { _, err := items.Put(ctx, key, If(nil)); return err },
		"update":      func() error { _, err := items.Update(ctx, key, nil); return err },
		"update if":   func() error { _, err := items.Update(ctx, key, Set("a", 1), If(nil)); return err },
		"delete":      func() error { _, err := items.Delete(ctx, key, If(nil)); return err },
		"get":         func() error { _, err := items.Get(ctx, key, ProjectExpr(nil)); return err },
		"query":       func() error { _, err := Collect(items.Query(ctx, nil)); return err },
		"count":       func() error { _, err := items.Count(ctx, nil); return err },
		"filter":      func() error { _, err := Collect(items.Scan(ctx, Filter(nil))); return err },
		"transaction": func() error { return tx.Commit(ctx) },
	} {
		err := call()
		var argument *ArgumentError
		if !errors.As(err, &argument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(connection.requests) != 0 {
		t.Errorf("%d requests", len(connection.requests))
	}
}

func TestConditionsAreBuilt(t *testing.T) {
	for want, e := range map[string]Expression{
		"#n0 = :v":                                Attr("a").Eq(1),
		"#n0.#n1[0][1].#n2 <> :v":                 Attr("a.b[0][1].c").Ne(1),
		"#n0 < #n1":                               Attr("a").Lt(Attr("b")),
		"size(#n0) >= :v":                         Attr("a").Size().Ge(1),
		"#n0 BETWEEN :v AND :v_1":                 Attr("a").Between(1, 2),
		"#n0 IN (:v, :v_1)":                       Attr("a").In(1, 2),
		"begins_with(#n0, :v)":                    Attr("a").BeginsWith("x"),
		"contains(#n0, :v)":                       Attr("a").Contains("x"),
		"attribute_exists(#n0)":                   Attr("a").Exists(),
		"NOT attribute_not_exists(#n0)":           Not(Attr("a").NotExists()),
		"attribute_type(#n0, :v)":                 Attr("a").HasType("SS"),
		"#n0 = :v AND (#n1 = :v OR #n0 = :v_1)":   Attr("a").Eq(1).And(Attr("b").Eq(1).Or(Attr("a").Eq(2))),
		"(#n0 > :v AND #n0 < :v_1) OR (b = :b)":   Attr("a").Gt(1).And(Attr("a").Lt(2)).Or(Expr("b = $b", Params{"b": 3})),
		"SET #n0 = #n0 + :v, #n1 = :v REMOVE #n2": Set("n", Attr("n").Plus(1)).Set("m", 1).Remove("x"),
		"SET #n0 = if_not_exists(#n0, :v)":        Set("a", Attr("a").Or(0)),
		"SET #n0 = list_append(:v, #n0)":          Set("a", Attr("a").Prepend([]int{1})),
		"ADD #n0 :v DELETE #n1 :v_1":              Add("n", 1).Delete("s", StringSet{"x"}),
		"#n0, #n1.#n2":                            Fields("a", "b.c"),
		"#n0 <= :v":                               operandOf(Name("a.b")).Le(1),
	} {
		if text, _, _ := compiled(t, e); text != want {
			t.Errorf("%s instead of %s", text, want)
		}
	}
}

func TestWrongPathsAreRefused(t *testing.T) {
	for _, path := range []string{"", ".", "a..b", "a[", "a[x]", "a[0", "[0]"} {
		var b binder
		if text, err := Attr(path).Exists().compile(&b); err == nil {
			t.Errorf("%q becomes %s", path, text)
		}
	}
}

func TestChangesLeaveTheirReceiverAsItIs(t *testing.T) {
	base := Set("a", 1).Set("x", 1).Set("y", 1)
	one, two := base.Set("b", 1), base.Set("c", 1)
	_, names1, _ := compiled(t, one)
	_, names2, _ := compiled(t, two)
	if names1["#n3"] != "b" || names2["#n3"] != "c" {
		t.Errorf("%v %v", names1, names2)
	}
}
