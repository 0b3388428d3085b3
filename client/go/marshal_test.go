package armature

import (
	"errors"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/armaturedb/armature/client/go/apiv1"
)

type address struct {
	City  string   `armature:"city"`
	Lines []string `armature:"lines"`
}

type audit struct {
	Author string `armature:"author"`
}

// decimal is like the types for decimal numbers of other packages: a text.
type decimal struct{ text string }

func (d decimal) MarshalText() ([]byte, error) { return []byte(d.text), nil }
func (d *decimal) UnmarshalText(b []byte) error {
	d.text = string(b)
	return nil
}

// celsius has a form of its own.
type celsius float64

func (c celsius) MarshalArmature() (*apiv1.AttributeValue, error) {
	return Marshal(int(c * 10))
}

func (c *celsius) UnmarshalArmature(value *apiv1.AttributeValue) error {
	var tenths int
	err := Unmarshal(value, &tenths)
	*c = celsius(tenths) / 10
	return err
}

type everything struct {
	audit
	ID      string              `armature:"id"`
	Count   int64               `armature:"count"`
	Small   uint8               `armature:"small"`
	Ratio   float64             `armature:"ratio"`
	Exact   Number              `armature:"exact"`
	Big     *big.Int            `armature:"big"`
	Price   decimal             `armature:"price,number"`
	Digits  string              `armature:"digits,number"`
	Data    []byte              `armature:"data"`
	Hash    [2]byte             `armature:"hash"`
	On      bool                `armature:"on"`
	Missing *string             `armature:"missing"`
	Tags    []string            `armature:"tags,set"`
	Scores  NumberSet           `armature:"scores"`
	Members map[string]struct{} `armature:"members"`
	Where   address             `armature:"where"`
	Past    []address           `armature:"past"`
	Extra   map[string]any      `armature:"extra"`
	At      time.Time           `armature:"at"`
	Expires time.Time           `armature:"expires,unixtime"`
	Heat    celsius             `armature:"heat"`
	Skipped string              `armature:"-"`
	Plain   string
}

func TestStructsComeBackFromTheirItems(t *testing.T) {
	before := everything{
		audit: audit{Author: "eve"}, ID: "ann", Count: math.MinInt64, Small: 255, Ratio: 0.1,
		Exact: "12345678901234567890123456789012345678", Big: new(big.Int).Lsh(big.NewInt(1), 100),
		Price: decimal{"12.50"}, Digits: "007", Data: []byte{0, 255}, Hash: [2]byte{1, 2}, On: true,
		Tags: []string{"a", "b"}, Scores: NumberSet{"1", "2.5"}, Members: map[string]struct{}{"x": {}},
		Where: address{City: "Bonn", Lines: []string{"1", "2"}}, Past: []address{{City: "Kiel", Lines: []string{}}},
		Extra: map[string]any{
			"n": Number("1"), "s": "text", "b": []byte{1}, "yes": true, "no": nil, "l": []any{"x", Number("2")},
			"m": map[string]any{"deep": StringSet{"z"}},
		},
		At: time.Date(2024, 10, 1, 12, 0, 0, 5, time.UTC), Expires: time.Unix(1_700_000_000, 0), Heat: 36.6, Plain: "p",
	}
	item, err := MarshalItem(before)
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]string{
		"id": "S", "count": "N", "exact": "N", "price": "N", "digits": "N", "data": "B", "hash": "B", "missing": "NULL",
		"tags": "SS", "scores": "NS", "members": "SS", "where": "M", "past": "L", "at": "S", "expires": "N", "heat": "N",
		"author": "S", "Plain": "S", "Skipped": "no value",
	} {
		if got := kindOf(item.Attributes[name]); got != kind {
			t.Errorf("%s is %s instead of %s", name, got, kind)
		}
	}
	var after everything
	if err := UnmarshalItem(item, &after); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before, after) {
		t.Errorf("%+v instead of %+v", after, before)
	}
}

func TestItemsComeBackAsNativeValues(t *testing.T) {
	before := Item{
		"s": "x", "n": Number("-1.50"), "b": []byte{1}, "yes": true, "null": nil, "ss": StringSet{"a"},
		"ns": NumberSet{"1"}, "bs": BinarySet{{1}}, "l": []any{}, "m": map[string]any{},
	}
	item, err := MarshalItem(before)
	if err != nil {
		t.Fatal(err)
	}
	var after Item
	if err := UnmarshalItem(item, &after); err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("%v (%v) instead of %v", after, err, before)
	}
}

func TestEmptyAttributesAreLeftOutIfTheTagSaysSo(t *testing.T) {
	item, err := MarshalItem(struct {
		Text   string         `armature:"text,omitempty"`
		Number int            `armature:"number,omitempty"`
		List   []int          `armature:"list,omitempty"`
		Time   time.Time      `armature:"time,omitempty"`
		Set    []string       `armature:"set,set"`
		Scores NumberSet      `armature:"scores"`
		Map    map[string]int `armature:"map"`
		Kept   string         `armature:"kept"`
	}{})
	if err != nil {
		t.Fatal(err)
	}
	if len(item.Attributes) != 2 || kindOf(item.Attributes["map"]) != "NULL" || kindOf(item.Attributes["kept"]) != "S" {
		t.Errorf("%v", item)
	}
}

func TestNumbersAreNeverRoundedOnTheWayIn(t *testing.T) {
	for v, want := range map[any]string{
		0.1: "0.1", float32(0.1): "0.1", 1e300: "1e+300", uint64(math.MaxUint64): "18446744073709551615",
		Number("1E-130"): "1E-130", int8(-128): "-128",
	} {
		value, err := Marshal(v)
		if err != nil || value.GetN() != want {
			t.Errorf("%v becomes %v (%v) instead of %s", v, value, err, want)
		}
	}
	for _, v := range []any{math.NaN(), math.Inf(1), Number("x"), Number(""), Number("1e99999999"), big.NewRat(1, 3)} {
		if value, err := Marshal(v); err == nil {
			t.Errorf("%v becomes %v", v, value)
		}
	}
	if value, err := Marshal(big.NewRat(5, 4)); err != nil || value.GetN() != "1.25" {
		t.Errorf("5/4 becomes %v (%v)", value, err)
	}
}

func TestValuesWithoutAFormAreRefusedWithTheirPlace(t *testing.T) {
	type cycle struct{ Next *cycle }
	loop := &cycle{}
	loop.Next = loop
	for place, v := range map[string]any{
		"a.b[1]": map[string]any{"a": map[string]any{"b": []any{1, make(chan int)}}},
		"text":   map[string]any{"text": "\xff"},
		"set":    map[string]any{"set": StringSet{}},
		"mixed":  map[string]any{"mixed": map[any]struct{}{"a": {}, 1: {}}},
		"loop":   map[string]any{"loop": loop},
		"keys":   map[string]any{"keys": map[int]string{1: "x"}},
	} {
		_, err := MarshalItem(v)
		var failed *MarshalError
		if !errors.As(err, &failed) || !strings.HasPrefix(failed.Path, place) {
			t.Errorf("%s: %v", place, err)
		}
	}
	if _, err := MarshalItem("text"); err == nil {
		t.Error("a text is an item")
	}
}

func TestWrongTagsAreErrors(t *testing.T) {
	for _, v := range []any{
		struct {
			A int `armature:"a,nonsense"`
		}{},
		struct {
			A int `armature:"x"`
			B int `armature:"x"`
		}{},
		struct {
			a int `armature:"a"`
		}{a: 1},
	} {
		_, err := MarshalItem(v)
		var argument *ArgumentError
		if !errors.As(err, &argument) {
			t.Errorf("%T: %v", v, err)
		}
	}
}

func TestANilItemIsSaidToBeNil(t *testing.T) {
	var none *struct{ A int }
	_, err := MarshalItem(none)
	var failed *MarshalError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "is nil") {
		t.Error(err)
	}
}

func TestEmbeddedStructsBelongToTheOuterOneUnlessNamed(t *testing.T) {
	type inner struct {
		X int `armature:"x"`
	}
	type Named struct {
		Y int `armature:"y"`
	}
	type outer struct {
		*inner
		Named `armature:"named"`
		Z     int `armature:"z"`
	}
	item, err := MarshalItem(outer{inner: &inner{1}, Named: Named{2}, Z: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := &apiv1.Item{Attributes: map[string]*apiv1.AttributeValue{
		"x": numberValue("1"), "z": numberValue("3"),
		"named": mapValue(map[string]*apiv1.AttributeValue{"y": numberValue("2")}),
	}}
	if !proto.Equal(item, want) {
		t.Errorf("%v instead of %v", item, want)
	}
	if item, err = MarshalItem(outer{}); err != nil || item.Attributes["x"] != nil {
		t.Errorf("%v (%v): a nil embedded struct has attributes", item, err)
	}
	var into struct {
		*audit
		ID string `armature:"id"`
	}
	author, _ := MarshalItem(Item{"author": "eve"})
	if err := UnmarshalItem(author, &into); err == nil {
		t.Error("an embedded struct that is not exported cannot be made")
	}
}

func TestNumbersThatDoNotFitAreErrors(t *testing.T) {
	var small int8
	var unsigned uint
	var boolean bool
	var float float32
	for destination, number := range map[any]string{
		&small: "128", &unsigned: "-1", &boolean: "1", &float: "1e39",
	} {
		if err := Unmarshal(numberValue(number), destination); err == nil {
			t.Errorf("%s goes into %T", number, destination)
		}
	}
	if err := Unmarshal(numberValue("1.5"), &small); err == nil || small != 0 {
		t.Errorf("1.5 becomes %d (%v)", small, err)
	}
	var rat big.Rat
	if err := Unmarshal(numberValue("0.1"), &rat); err != nil || rat.Cmp(big.NewRat(1, 10)) != 0 {
		t.Errorf("0.1 becomes %v (%v)", &rat, err)
	}
}

func TestWrongTypesNameTheAttribute(t *testing.T) {
	item, err := MarshalItem(Item{"where": Item{"lines": []any{"a", 1}}})
	if err != nil {
		t.Fatal(err)
	}
	var to struct {
		Where address `armature:"where"`
	}
	err = UnmarshalItem(item, &to)
	var failed *UnmarshalError
	if !errors.As(err, &failed) || failed.Path != "where.lines[1]" {
		t.Errorf("%v", err)
	}
	if err := UnmarshalItem(item, to); err == nil {
		t.Error("a destination that is no pointer")
	}
}

func TestNullStoresTheZeroValue(t *testing.T) {
	text, list := "x", []int{1}
	pointer := &text
	if err := Unmarshal(nullValue(), &text); err != nil || text != "" {
		t.Errorf("%q %v", text, err)
	}
	if err := Unmarshal(nullValue(), &list); err != nil || list != nil {
		t.Errorf("%v %v", list, err)
	}
	if err := Unmarshal(nullValue(), &pointer); err != nil || pointer != nil {
		t.Errorf("%v %v", pointer, err)
	}
}

func TestNumbersAreOrderedByValue(t *testing.T) {
	ordered := []string{"-100", "-12.5", "-12", "-0.5", "-0.05", "0", "0.05", "0.5", "1", "1.25", "1.3", "9", "10", "100.1"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got, want := sign(compareNumbers(a, b)), sign(i-j); got != want {
				t.Errorf("%s and %s: %d instead of %d", a, b, got, want)
			}
		}
	}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	default:
		return 0
	}
}

func FuzzValuesOfTheWireDecodeWithoutPanic(f *testing.F) {
	item, _ := MarshalItem(everything{ID: "x"})
	seed, _ := proto.Marshal(item)
	f.Add(seed)
	f.Fuzz(func(t *testing.T, wire []byte) {
		var item apiv1.Item
		if proto.Unmarshal(wire, &item) != nil {
			return
		}
		var typed everything
		_ = UnmarshalItem(&item, &typed)
		if _, err := MarshalItem(ItemOf(&item)); err != nil {
			t.Skip() // such as numbers that are no numbers, and empty sets
		}
	})
}
