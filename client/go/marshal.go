package armature

import (
	"encoding"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// ValueMarshaler is implemented by types with a form of their own.
type ValueMarshaler interface {
	MarshalArmature() (*apiv1.AttributeValue, error)
}

// depthMax bounds the nesting of encoded values. The daemon takes 32 levels; the bound ends pointer cycles.
const depthMax = 64

var (
	timeType           = reflect.TypeFor[time.Time]()
	numberType         = reflect.TypeFor[Number]()
	valueType          = reflect.TypeFor[*apiv1.AttributeValue]()
	valueMarshalerType = reflect.TypeFor[ValueMarshaler]()
	textMarshalerType  = reflect.TypeFor[encoding.TextMarshaler]()
	emptyStructType    = reflect.TypeFor[struct{}]()
)

// Marshal returns the attribute value of a Go value:
//
//	string, encoding.TextMarshaler, time.Time (RFC 3339)   S
//	integers, floats, Number, big.Int, big.Rat             N
//	[]byte, arrays of bytes                                B
//	bool                                                   BOOL
//	nil, nil pointers, slices and maps                     NULL
//	StringSet, NumberSet, BinarySet                        SS, NS, BS
//	map[K]struct{}: K a text, a number or an array of bytes    SS, NS, BS
//	other slices and arrays                                L
//	maps with text keys, structs                           M
//
// Fields of structs have the tag `armature:"name,options"`; "-" leaves a field out. Without a name the attribute has the
// name of the field. Fields of embedded structs belong to the outer struct, unless the embedded field has a name. Options:
//
//	omitempty   leaves the attribute out if it is the zero value, or an empty slice or map
//	set         a slice or an array as SS, NS or BS; no attribute if it is empty
//	number      a text as N, such as a type for decimal numbers with MarshalText
//	unixtime    a time.Time as N, in seconds since 1970, as the time to live needs it
//
// Nothing is rounded: NaN, infinities and fractions without a finite decimal form are errors.
func Marshal(v any) (*apiv1.AttributeValue, error) {
	return marshalAny(v, 0)
}

// marshalAny has short ways for the types that most items consist of.
func marshalAny(v any, depth int) (*apiv1.AttributeValue, error) {
	switch v := v.(type) {
	case nil:
		return nullValue(), nil
	case string:
		return marshalString(v)
	case Number:
		return marshalNumber(v)
	case int:
		return numberValue(strconv.Itoa(v)), nil
	case int64:
		return numberValue(strconv.FormatInt(v, 10)), nil
	case bool:
		return boolValue(v), nil
	case []byte:
		if v == nil {
			return nullValue(), nil
		}
		return &apiv1.AttributeValue{Value: &apiv1.AttributeValue_B{B: v}}, nil
	case *apiv1.AttributeValue:
		if v == nil {
			return nullValue(), nil
		}
		return v, nil
	}
	return marshalValue(reflect.ValueOf(v), formDefault, depth)
}

func nullValue() *apiv1.AttributeValue {
	return &apiv1.AttributeValue{Value: &apiv1.AttributeValue_Null{Null: true}}
}

func boolValue(b bool) *apiv1.AttributeValue {
	return &apiv1.AttributeValue{Value: &apiv1.AttributeValue_Bool{Bool: b}}
}

func numberValue(text string) *apiv1.AttributeValue {
	return &apiv1.AttributeValue{Value: &apiv1.AttributeValue_N{N: text}}
}

func listValue(values []*apiv1.AttributeValue) *apiv1.AttributeValue {
	return &apiv1.AttributeValue{Value: &apiv1.AttributeValue_L{L: &apiv1.ListValue{Values: values}}}
}

func mapValue(entries map[string]*apiv1.AttributeValue) *apiv1.AttributeValue {
	return &apiv1.AttributeValue{Value: &apiv1.AttributeValue_M{M: &apiv1.MapValue{Entries: entries}}}
}

func marshalString(s string) (*apiv1.AttributeValue, error) {
	if !utf8.ValidString(s) {
		return nil, &MarshalError{Reason: "the text is not UTF-8; use []byte for bytes"}
	}
	return &apiv1.AttributeValue{Value: &apiv1.AttributeValue_S{S: s}}, nil
}

func marshalNumber(n Number) (*apiv1.AttributeValue, error) {
	if !isDecimal(string(n)) {
		return nil, &MarshalError{Reason: fmt.Sprintf("%q is not a decimal number", string(n))}
	}
	return numberValue(string(n)), nil
}

func marshalFloat(f float64, bits int) (*apiv1.AttributeValue, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, &MarshalError{Reason: fmt.Sprintf("%v is not a decimal number", f)}
	}
	return numberValue(strconv.FormatFloat(f, 'g', -1, bits)), nil
}

func marshalRat(rat *big.Rat) (*apiv1.AttributeValue, error) {
	digits, exact := rat.FloatPrec()
	if !exact || digits > 150 {
		return nil, &MarshalError{Reason: rat.String() + " has no finite decimal form within range"}
	}
	return numberValue(rat.FloatString(digits)), nil
}

func marshalMap(m map[string]any) (map[string]*apiv1.AttributeValue, error) {
	attributes := make(map[string]*apiv1.AttributeValue, len(m))
	for name, v := range m {
		value, err := marshalAny(v, 1)
		if err != nil {
			return nil, below(name, err)
		}
		attributes[name] = value
	}
	return attributes, nil
}

// below names the place of an error in the value that contains it.
func below(place string, err error) error {
	failed, ok := err.(*MarshalError)
	if !ok {
		return &MarshalError{Path: place, Reason: err.Error()}
	}
	return &MarshalError{Path: joinPath(place, failed.Path), Reason: failed.Reason}
}

func joinPath(outer, inner string) string {
	if inner == "" || inner[0] == '[' {
		return outer + inner
	}
	return outer + "." + inner
}

// marshalValue encodes any value, by reflection.
func marshalValue(v reflect.Value, f form, depth int) (*apiv1.AttributeValue, error) {
	if depth > depthMax {
		return nil, &MarshalError{Reason: "values are nested too deeply"}
	}
	if !v.IsValid() {
		return nullValue(), nil
	}
	if value, isSpecial, err := marshalSpecial(v, f); isSpecial {
		return value, err
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nullValue(), nil
		}
		return marshalValue(v.Elem(), f, depth+1)
	case reflect.String:
		if f == formNumber || v.Type() == numberType {
			return marshalNumber(Number(v.String()))
		}
		return marshalString(v.String())
	case reflect.Bool:
		return boolValue(v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return numberValue(strconv.FormatInt(v.Int(), 10)), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return numberValue(strconv.FormatUint(v.Uint(), 10)), nil
	case reflect.Float32:
		return marshalFloat(v.Float(), 32)
	case reflect.Float64:
		return marshalFloat(v.Float(), 64)
	case reflect.Slice, reflect.Array:
		return marshalSlice(v, f, depth)
	case reflect.Map:
		return marshalReflectedMap(v, depth)
	case reflect.Struct:
		return marshalStruct(v, depth)
	default:
		return nil, &MarshalError{Reason: fmt.Sprintf("the type %s has no form in an item", v.Type())}
	}
}

// marshalSpecial encodes values of types that do not follow their kind.
func marshalSpecial(v reflect.Value, f form) (value *apiv1.AttributeValue, isSpecial bool, err error) {
	t := v.Type()
	if isBasic := t.Kind() <= reflect.Complex128 || t.Kind() == reflect.String; isBasic && t.PkgPath() == "" {
		return nil, false, nil
	}
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return nullValue(), true, nil
	}
	if t == valueType {
		return v.Interface().(*apiv1.AttributeValue), true, nil
	}
	if t == timeType && f == formUnixTime {
		return numberValue(strconv.FormatInt(v.Interface().(time.Time).Unix(), 10)), true, nil
	}
	if v.CanInterface() {
		switch n := v.Interface().(type) {
		case big.Int:
			return numberValue(n.String()), true, nil
		case *big.Int:
			return numberValue(n.String()), true, nil
		case big.Rat:
			value, err = marshalRat(&n)
			return value, true, err
		case *big.Rat:
			value, err = marshalRat(n)
			return value, true, err
		}
	}
	if marshaler, ok := implementationOf[ValueMarshaler](v, valueMarshalerType); ok {
		value, err = marshaler.MarshalArmature()
		return value, true, err
	}
	if t.Kind() == reflect.Interface || (t.Kind() == reflect.Pointer && t.Elem() == timeType) {
		return nil, false, nil
	}
	if marshaler, ok := implementationOf[encoding.TextMarshaler](v, textMarshalerType); ok {
		text, err := marshaler.MarshalText()
		if err != nil {
			return nil, true, err
		}
		if f == formNumber {
			value, err = marshalNumber(Number(text))
		} else {
			value, err = marshalString(string(text))
		}
		return value, true, err
	}
	return nil, false, nil
}

// implementationOf returns v, or its address, as I. Interfaces are looked into by the caller.
func implementationOf[I any](v reflect.Value, i reflect.Type) (I, bool) {
	var none I
	switch {
	case v.Kind() == reflect.Interface || !v.CanInterface():
		return none, false
	case v.Type().Implements(i):
		return v.Interface().(I), true
	case v.CanAddr() && reflect.PointerTo(v.Type()).Implements(i):
		return v.Addr().Interface().(I), true
	default:
		return none, false
	}
}

func marshalSlice(v reflect.Value, f form, depth int) (*apiv1.AttributeValue, error) {
	switch set := v.Interface().(type) {
	case StringSet:
		return marshalSet(reflect.ValueOf([]string(set)))
	case NumberSet:
		return marshalSet(reflect.ValueOf([]Number(set)))
	case BinarySet:
		return marshalSet(reflect.ValueOf([][]byte(set)))
	}
	if f == formSet {
		return marshalSet(v)
	}
	if v.Kind() == reflect.Slice && v.IsNil() {
		return nullValue(), nil
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return &apiv1.AttributeValue{Value: &apiv1.AttributeValue_B{B: bytesOf(v)}}, nil
	}
	values := make([]*apiv1.AttributeValue, v.Len())
	for i := range values {
		value, err := marshalValue(v.Index(i), formDefault, depth+1)
		if err != nil {
			return nil, below(fmt.Sprintf("[%d]", i), err)
		}
		values[i] = value
	}
	return listValue(values), nil
}

// bytesOf returns the bytes of a slice or an array of bytes.
func bytesOf(v reflect.Value) []byte {
	if v.Kind() == reflect.Slice || v.CanAddr() {
		return v.Bytes()
	}
	bytes := make([]byte, v.Len())
	reflect.Copy(reflect.ValueOf(bytes), v)
	return bytes
}

// marshalSet encodes the elements of a slice or an array as a set.
func marshalSet(v reflect.Value) (*apiv1.AttributeValue, error) {
	set := setBuilder{}
	for i := range v.Len() {
		if err := set.add(v.Index(i)); err != nil {
			return nil, below(fmt.Sprintf("[%d]", i), err)
		}
	}
	if v.Len() == 0 {
		return nil, &MarshalError{Reason: "a set must not be empty; leave the attribute out instead"}
	}
	return set.value()
}

// setBuilder collects the elements of a set, which have one type.
type setBuilder struct {
	strings, numbers []string
	binaries         [][]byte
}

func (s *setBuilder) add(v reflect.Value) error {
	element, err := marshalValue(v, formDefault, depthMax)
	if err != nil {
		return err
	}
	switch value := element.GetValue().(type) {
	case *apiv1.AttributeValue_S:
		s.strings = append(s.strings, value.S)
	case *apiv1.AttributeValue_N:
		s.numbers = append(s.numbers, value.N)
	case *apiv1.AttributeValue_B:
		s.binaries = append(s.binaries, value.B)
	default:
		return &MarshalError{Reason: fmt.Sprintf("%s cannot be in a set: texts, numbers and bytes can", v.Type())}
	}
	return nil
}

func (s *setBuilder) value() (*apiv1.AttributeValue, error) {
	switch {
	case len(s.numbers) == 0 && len(s.binaries) == 0:
		return &apiv1.AttributeValue{Value: &apiv1.AttributeValue_Ss{Ss: &apiv1.StringSet{Values: s.strings}}}, nil
	case len(s.strings) == 0 && len(s.binaries) == 0:
		return &apiv1.AttributeValue{Value: &apiv1.AttributeValue_Ns{Ns: &apiv1.NumberSet{Values: s.numbers}}}, nil
	case len(s.strings) == 0 && len(s.numbers) == 0:
		return &apiv1.AttributeValue{Value: &apiv1.AttributeValue_Bs{Bs: &apiv1.BinarySet{Values: s.binaries}}}, nil
	default:
		return nil, &MarshalError{Reason: "the elements of a set must have one type"}
	}
}

func marshalReflectedMap(v reflect.Value, depth int) (*apiv1.AttributeValue, error) {
	if v.IsNil() {
		return nullValue(), nil
	}
	if v.Type().Elem() == emptyStructType {
		if v.Len() == 0 {
			return nil, &MarshalError{Reason: "a set must not be empty; leave the attribute out instead"}
		}
		set := setBuilder{}
		for entries := v.MapRange(); entries.Next(); {
			if err := set.add(entries.Key()); err != nil {
				return nil, err
			}
		}
		return set.value()
	}
	if v.Type().Key().Kind() != reflect.String {
		return nil, &MarshalError{Reason: fmt.Sprintf("%s: the keys of a map must be texts", v.Type())}
	}
	attributes := make(map[string]*apiv1.AttributeValue, v.Len())
	for entries := v.MapRange(); entries.Next(); {
		name := entries.Key().String()
		value, err := marshalValue(entries.Value(), formDefault, depth+1)
		if err != nil {
			return nil, below(name, err)
		}
		attributes[name] = value
	}
	return mapValue(attributes), nil
}

func marshalStruct(v reflect.Value, depth int) (*apiv1.AttributeValue, error) {
	plan := planOf(v.Type())
	if plan.err != nil {
		return nil, plan.err
	}
	attributes := make(map[string]*apiv1.AttributeValue, len(plan.fields))
	for i := range plan.fields {
		f := &plan.fields[i]
		member, ok := f.read(v)
		if !ok || f.isLeftOut(member) {
			continue
		}
		value, err := marshalValue(member, f.form, depth+1)
		if err != nil {
			return nil, below(f.name, err)
		}
		attributes[f.name] = value
	}
	return mapValue(attributes), nil
}

// isLeftOut reports whether a field has no attribute, because it is empty. Empty sets have none: the daemon refuses them.
func (f *field) isLeftOut(v reflect.Value) bool {
	isCollection := v.Kind() == reflect.Slice || v.Kind() == reflect.Map
	if isCollection && v.Len() == 0 {
		return f.omitEmpty || f.form == formSet || isSetType(v.Type())
	}
	if !f.omitEmpty {
		return false
	}
	if zeroer, ok := v.Interface().(interface{ IsZero() bool }); ok {
		return v.Kind() == reflect.Pointer && v.IsNil() || zeroer.IsZero()
	}
	return v.IsZero()
}

func isSetType(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[StringSet](), reflect.TypeFor[NumberSet](), reflect.TypeFor[BinarySet]():
		return true
	}
	return t.Kind() == reflect.Map && t.Elem() == emptyStructType
}
