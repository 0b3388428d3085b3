package armature

import (
	"encoding"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// ValueUnmarshaler is implemented by types with a form of their own.
type ValueUnmarshaler interface {
	UnmarshalArmature(value *apiv1.AttributeValue) error
}

// Unmarshal stores an attribute value in the Go value that `destination` points to. It is the reverse of [Marshal]:
//
//   - An attribute without a field is ignored, and a field without an attribute keeps its value.
//   - NULL stores the zero value.
//   - A number that does not fit exactly into an integer is an error. A float gets the nearest value.
//   - Sets go into slices, arrays of them, and maps to struct{} or bool.
//   - An empty interface gets the types of [Item].
//
// After an error the destination may have been changed in part.
func Unmarshal(value *apiv1.AttributeValue, destination any) error {
	v := reflect.ValueOf(destination)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return &UnmarshalError{Reason: fmt.Sprintf("the destination %T is not a pointer", destination)}
	}
	return unmarshalValue(value, v.Elem(), formDefault)
}

func unmarshalAttributes(attributes map[string]*apiv1.AttributeValue, destination any) error {
	v := reflect.ValueOf(destination)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return &UnmarshalError{Reason: fmt.Sprintf("the destination %T is not a pointer", destination)}
	}
	v = v.Elem()
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct && !implementsUnmarshaler(v) {
		return unmarshalStruct(attributes, v)
	}
	return unmarshalValue(mapValue(attributes), v, formDefault)
}

func implementsUnmarshaler(v reflect.Value) bool {
	_, ok := v.Addr().Interface().(ValueUnmarshaler)
	return ok
}

// inside names the place of an error in the value that contains it.
func inside(place string, err error) error {
	failed, ok := err.(*UnmarshalError)
	if !ok {
		return &UnmarshalError{Path: place, Reason: err.Error()}
	}
	return &UnmarshalError{Path: joinPath(place, failed.Path), Reason: failed.Reason}
}

// kindOf returns the name of the type of a value, as in the documented API.
func kindOf(value *apiv1.AttributeValue) string {
	switch value.GetValue().(type) {
	case *apiv1.AttributeValue_S:
		return "S"
	case *apiv1.AttributeValue_N:
		return "N"
	case *apiv1.AttributeValue_B:
		return "B"
	case *apiv1.AttributeValue_Bool:
		return "BOOL"
	case *apiv1.AttributeValue_Null:
		return "NULL"
	case *apiv1.AttributeValue_Ss:
		return "SS"
	case *apiv1.AttributeValue_Ns:
		return "NS"
	case *apiv1.AttributeValue_Bs:
		return "BS"
	case *apiv1.AttributeValue_L:
		return "L"
	case *apiv1.AttributeValue_M:
		return "M"
	default:
		return "no value"
	}
}

func mismatch(value *apiv1.AttributeValue, v reflect.Value) error {
	return &UnmarshalError{Reason: fmt.Sprintf("%s does not go into %s", kindOf(value), v.Type())}
}

// unmarshalValue stores a value in an addressable Go value.
func unmarshalValue(value *apiv1.AttributeValue, v reflect.Value, f form) error {
	if v.Type() == valueType {
		v.Set(reflect.ValueOf(value))
		return nil
	}
	if v.CanAddr() && v.Addr().CanInterface() {
		if unmarshaler, ok := v.Addr().Interface().(ValueUnmarshaler); ok {
			return unmarshaler.UnmarshalArmature(value)
		}
	}
	if _, isNull := value.GetValue().(*apiv1.AttributeValue_Null); isNull {
		v.SetZero()
		return nil
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return unmarshalValue(value, v.Elem(), f)
	}
	if v.Kind() == reflect.Interface {
		if v.NumMethod() != 0 {
			return mismatch(value, v)
		}
		v.Set(reflect.ValueOf(native(value)))
		return nil
	}
	switch attribute := value.GetValue().(type) {
	case *apiv1.AttributeValue_S:
		return unmarshalText(value, attribute.S, v, f)
	case *apiv1.AttributeValue_N:
		return unmarshalNumber(value, attribute.N, v, f)
	case *apiv1.AttributeValue_Bool:
		if v.Kind() != reflect.Bool {
			return mismatch(value, v)
		}
		v.SetBool(attribute.Bool)
		return nil
	case *apiv1.AttributeValue_B:
		return unmarshalBytes(value, attribute.B, v)
	case *apiv1.AttributeValue_M:
		return unmarshalMap(value, attribute.M.GetEntries(), v)
	case *apiv1.AttributeValue_L:
		return unmarshalList(value, attribute.L.GetValues(), v)
	default:
		return unmarshalSet(value, v)
	}
}

func unmarshalText(value *apiv1.AttributeValue, text string, v reflect.Value, f form) error {
	if unmarshaler, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return unmarshaler.UnmarshalText([]byte(text))
	}
	if v.Kind() != reflect.String || v.Type() == numberType || f == formNumber {
		return mismatch(value, v)
	}
	v.SetString(text)
	return nil
}

func unmarshalNumber(value *apiv1.AttributeValue, number string, v reflect.Value, f form) error {
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(number, 10, v.Type().Bits())
		if err != nil {
			return &UnmarshalError{Reason: fmt.Sprintf("%s does not fit into %s", number, v.Type())}
		}
		v.SetInt(n)
		return nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		n, err := strconv.ParseUint(number, 10, v.Type().Bits())
		if err != nil {
			return &UnmarshalError{Reason: fmt.Sprintf("%s does not fit into %s", number, v.Type())}
		}
		v.SetUint(n)
		return nil
	case reflect.Float32, reflect.Float64:
		n, err := strconv.ParseFloat(number, v.Type().Bits())
		if err != nil {
			return &UnmarshalError{Reason: fmt.Sprintf("%s does not fit into %s", number, v.Type())}
		}
		v.SetFloat(n)
		return nil
	}
	return unmarshalWideNumber(value, number, v, f)
}

// unmarshalWideNumber stores a number in a type that is not a number of Go.
func unmarshalWideNumber(value *apiv1.AttributeValue, number string, v reflect.Value, f form) error {
	switch to := v.Addr().Interface().(type) {
	case *Number:
		*to = Number(number)
		return nil
	case *big.Int:
		if _, ok := to.SetString(number, 10); !ok {
			return &UnmarshalError{Reason: number + " is not an integer"}
		}
		return nil
	case *big.Rat:
		rat, err := Number(number).Rat()
		if err != nil {
			return err
		}
		to.Set(rat)
		return nil
	case *time.Time:
		if f != formUnixTime {
			return mismatch(value, v)
		}
		return unmarshalUnixTime(number, to)
	case encoding.TextUnmarshaler:
		if f != formNumber {
			return mismatch(value, v)
		}
		return to.UnmarshalText([]byte(number))
	}
	if v.Kind() != reflect.String || f != formNumber {
		return mismatch(value, v)
	}
	v.SetString(number)
	return nil
}

func unmarshalUnixTime(number string, to *time.Time) error {
	whole, _, _ := strings.Cut(number, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return &UnmarshalError{Reason: number + " is not a time in seconds"}
	}
	*to = time.Unix(seconds, 0)
	return nil
}

func unmarshalBytes(value *apiv1.AttributeValue, bytes []byte, v reflect.Value) error {
	switch {
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		if bytes == nil {
			bytes = []byte{}
		}
		v.SetBytes(bytes)
		return nil
	case v.Kind() == reflect.Array && v.Type().Elem().Kind() == reflect.Uint8:
		if len(bytes) != v.Len() {
			return &UnmarshalError{Reason: fmt.Sprintf("%d bytes do not fit into %s", len(bytes), v.Type())}
		}
		reflect.Copy(v, reflect.ValueOf(bytes))
		return nil
	default:
		return mismatch(value, v)
	}
}

func unmarshalStruct(attributes map[string]*apiv1.AttributeValue, v reflect.Value) error {
	plan := planOf(v.Type())
	if plan.err != nil {
		return plan.err
	}
	for name, value := range attributes {
		f := plan.byName[name]
		if f == nil {
			continue
		}
		member, err := f.place(v)
		if err == nil {
			err = unmarshalValue(value, member, f.form)
		}
		if err != nil {
			return inside(name, err)
		}
	}
	return nil
}

func unmarshalMap(value *apiv1.AttributeValue, entries map[string]*apiv1.AttributeValue, v reflect.Value) error {
	if v.Kind() == reflect.Struct {
		return unmarshalStruct(entries, v)
	}
	if v.Kind() != reflect.Map || v.Type().Key().Kind() != reflect.String || v.Type().Elem() == emptyStructType {
		return mismatch(value, v)
	}
	made := reflect.MakeMapWithSize(v.Type(), len(entries))
	for name, entry := range entries {
		element := reflect.New(v.Type().Elem()).Elem()
		if err := unmarshalValue(entry, element, formDefault); err != nil {
			return inside(name, err)
		}
		made.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), element)
	}
	v.Set(made)
	return nil
}

func unmarshalList(value *apiv1.AttributeValue, values []*apiv1.AttributeValue, v reflect.Value) error {
	switch {
	case isSetType(v.Type()):
		return mismatch(value, v)
	case v.Kind() == reflect.Slice:
		made := reflect.MakeSlice(v.Type(), len(values), len(values))
		for i, element := range values {
			if err := unmarshalValue(element, made.Index(i), formDefault); err != nil {
				return inside(fmt.Sprintf("[%d]", i), err)
			}
		}
		v.Set(made)
		return nil
	case v.Kind() == reflect.Array:
		if len(values) != v.Len() {
			return &UnmarshalError{Reason: fmt.Sprintf("%d elements do not fit into %s", len(values), v.Type())}
		}
		for i, element := range values {
			if err := unmarshalValue(element, v.Index(i), formDefault); err != nil {
				return inside(fmt.Sprintf("[%d]", i), err)
			}
		}
		return nil
	default:
		return mismatch(value, v)
	}
}

// elementsOf returns the elements of a set.
func elementsOf(value *apiv1.AttributeValue) []*apiv1.AttributeValue {
	var elements []*apiv1.AttributeValue
	switch set := value.GetValue().(type) {
	case *apiv1.AttributeValue_Ss:
		for _, s := range set.Ss.GetValues() {
			elements = append(elements, &apiv1.AttributeValue{Value: &apiv1.AttributeValue_S{S: s}})
		}
	case *apiv1.AttributeValue_Ns:
		for _, n := range set.Ns.GetValues() {
			elements = append(elements, numberValue(n))
		}
	case *apiv1.AttributeValue_Bs:
		for _, b := range set.Bs.GetValues() {
			elements = append(elements, &apiv1.AttributeValue{Value: &apiv1.AttributeValue_B{B: b}})
		}
	}
	return elements
}

func unmarshalSet(value *apiv1.AttributeValue, v reflect.Value) error {
	elements := elementsOf(value)
	isMapSet := v.Kind() == reflect.Map && (v.Type().Elem() == emptyStructType || v.Type().Elem().Kind() == reflect.Bool)
	switch {
	case len(elements) == 0:
		return mismatch(value, v)
	case isMapSet:
		made := reflect.MakeMapWithSize(v.Type(), len(elements))
		member := reflect.New(v.Type().Elem()).Elem()
		if member.Kind() == reflect.Bool {
			member.SetBool(true)
		}
		for _, element := range elements {
			key := reflect.New(v.Type().Key()).Elem()
			if err := unmarshalValue(element, key, formDefault); err != nil {
				return err
			}
			made.SetMapIndex(key, member)
		}
		v.Set(made)
		return nil
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		made := reflect.MakeSlice(v.Type(), len(elements), len(elements))
		for i, element := range elements {
			if err := unmarshalValue(element, made.Index(i), formDefault); err != nil {
				return err
			}
		}
		v.Set(made)
		return nil
	default:
		return mismatch(value, v)
	}
}
