package armature

import (
	"fmt"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// Item is an item without a schema: attribute names and values. Values are of the types that [Marshal] takes; items that
// the daemon returns have values of the types of [Unmarshal] into an empty interface:
//
//	S      string
//	N      Number
//	B      []byte
//	BOOL   bool
//	NULL   nil
//	SS     StringSet
//	NS     NumberSet
//	BS     BinarySet
//	L      []any
//	M      map[string]any
type Item map[string]any

// Key has the key attributes of an item.
type Key = Item

// StringSet is a set of texts, without order and duplicates. The daemon refuses an empty one.
type StringSet []string

// NumberSet is a set of numbers, without order and duplicates. The daemon refuses an empty one.
type NumberSet []Number

// BinarySet is a set of byte strings, without order and duplicates. The daemon refuses an empty one.
type BinarySet [][]byte

// MarshalError is the error of a Go value that has no form in an item.
type MarshalError struct {
	Path   string // attribute, such as "address.lines[2]"; empty for the value itself
	Reason string
}

func (e *MarshalError) Error() string {
	if e.Path == "" {
		return "armature: cannot encode: " + e.Reason
	}
	return fmt.Sprintf("armature: cannot encode %s: %s", e.Path, e.Reason)
}

// UnmarshalError is the error of an attribute that does not fit into its Go destination.
type UnmarshalError struct {
	Path   string // attribute, such as "address.lines[2]"; empty for the value itself
	Reason string
}

func (e *UnmarshalError) Error() string {
	if e.Path == "" {
		return "armature: cannot decode: " + e.Reason
	}
	return fmt.Sprintf("armature: cannot decode %s: %s", e.Path, e.Reason)
}

// MarshalItem returns the item of a struct, a map with text keys, or a pointer to one. See [Marshal].
func MarshalItem(v any) (*apiv1.Item, error) {
	switch item := v.(type) {
	case *apiv1.Item:
		return item, nil
	case Item:
		attributes, err := marshalMap(item)
		if err != nil {
			return nil, err
		}
		return &apiv1.Item{Attributes: attributes}, nil
	}
	value, err := Marshal(v)
	if err != nil {
		return nil, err
	}
	m, ok := value.GetValue().(*apiv1.AttributeValue_M)
	if !ok {
		if _, isNull := value.GetValue().(*apiv1.AttributeValue_Null); isNull {
			return nil, &MarshalError{Reason: fmt.Sprintf("the item, a %T, is nil", v)}
		}
		return nil, &MarshalError{Reason: fmt.Sprintf("%T is not an item: a struct or a map with text keys is needed", v)}
	}
	return &apiv1.Item{Attributes: m.M.GetEntries()}, nil
}

// UnmarshalItem stores an item in the struct or map that `destination` points to. See [Unmarshal].
func UnmarshalItem(item *apiv1.Item, destination any) error {
	if to, ok := destination.(*Item); ok {
		*to = nativeMap(item.GetAttributes())
		return nil
	}
	return unmarshalAttributes(item.GetAttributes(), destination)
}

// ItemOf returns the attributes of a message as Go values; nil for no item.
func ItemOf(item *apiv1.Item) Item {
	if item == nil {
		return nil
	}
	return nativeMap(item.GetAttributes())
}

func nativeMap(attributes map[string]*apiv1.AttributeValue) map[string]any {
	values := make(map[string]any, len(attributes))
	for name, value := range attributes {
		values[name] = native(value)
	}
	return values
}

// native returns the value as Go type, by the table of Item.
func native(value *apiv1.AttributeValue) any {
	switch v := value.GetValue().(type) {
	case *apiv1.AttributeValue_S:
		return v.S
	case *apiv1.AttributeValue_N:
		return Number(v.N)
	case *apiv1.AttributeValue_B:
		return v.B
	case *apiv1.AttributeValue_Bool:
		return v.Bool
	case *apiv1.AttributeValue_Ss:
		return StringSet(v.Ss.GetValues())
	case *apiv1.AttributeValue_Ns:
		set := make(NumberSet, len(v.Ns.GetValues()))
		for i, number := range v.Ns.GetValues() {
			set[i] = Number(number)
		}
		return set
	case *apiv1.AttributeValue_Bs:
		return BinarySet(v.Bs.GetValues())
	case *apiv1.AttributeValue_L:
		list := make([]any, len(v.L.GetValues()))
		for i, element := range v.L.GetValues() {
			list[i] = native(element)
		}
		return list
	case *apiv1.AttributeValue_M:
		return nativeMap(v.M.GetEntries())
	default:
		return nil // NULL
	}
}
