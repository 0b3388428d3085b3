package armature

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// field is an attribute of a struct type.
type field struct {
	name      string
	index     []int // of reflect.Value.FieldByIndex
	omitEmpty bool
	form      form
}

// form is a representation that a tag asks for.
type form int

const (
	formDefault  form = iota
	formSet           // "set": a slice or a map as SS, NS or BS
	formNumber        // "number": a text as N
	formUnixTime      // "unixtime": a time.Time as N, in seconds
)

// structPlan is the list of attributes of a struct type.
type structPlan struct {
	fields []field
	byName map[string]*field
	err    error // the tags are wrong
}

// plans has the plan of each struct type that was used. Programs have a bounded number of types.
var plans sync.Map // reflect.Type to *structPlan

func planOf(t reflect.Type) *structPlan {
	if plan, ok := plans.Load(t); ok {
		return plan.(*structPlan)
	}
	plan, _ := plans.LoadOrStore(t, makePlan(t))
	return plan.(*structPlan)
}

func makePlan(t reflect.Type) *structPlan {
	plan := &structPlan{}
	// Embedded structs with a tag of their own are attributes, so that their fields are not attributes of the outer one.
	var closed [][]int
	for _, f := range reflect.VisibleFields(t) {
		if slices.ContainsFunc(closed, func(index []int) bool {
			return len(f.Index) > len(index) && slices.Equal(f.Index[:len(index)], index)
		}) {
			continue
		}
		tag, hasTag := f.Tag.Lookup("armature")
		if tag == "-" {
			closed = append(closed, f.Index)
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if f.Anonymous && name == "" && isStruct(f.Type) {
			continue // its fields follow
		}
		if !f.IsExported() {
			if hasTag && plan.err == nil {
				plan.err = tagError("field %s of %s has a tag, but is not exported", f.Name, t)
			}
			continue
		}
		if f.Anonymous {
			closed = append(closed, f.Index)
		}
		made := field{name: name, index: f.Index}
		if name == "" {
			made.name = f.Name
		}
		if err := made.setOptions(options); err != nil && plan.err == nil {
			plan.err = tagError("field %s of %s: %v", f.Name, t, err)
		}
		plan.fields = append(plan.fields, made)
	}
	plan.byName = make(map[string]*field, len(plan.fields))
	for i := range plan.fields {
		name := plan.fields[i].name
		if plan.byName[name] != nil && plan.err == nil {
			plan.err = tagError("two fields of %s are the attribute %q", t, name)
		}
		plan.byName[name] = &plan.fields[i]
	}
	return plan
}

// tagError is the error of a struct type whose tags are wrong.
func tagError(format string, values ...any) error {
	return &ArgumentError{"tag", fmt.Sprintf(format, values...)}
}

func isStruct(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}

func (f *field) setOptions(options string) error {
	for _, option := range strings.Split(options, ",") {
		switch strings.TrimSpace(option) {
		case "":
		case "omitempty":
			f.omitEmpty = true
		case "set":
			f.form = formSet
		case "number":
			f.form = formNumber
		case "unixtime":
			f.form = formUnixTime
		default:
			return fmt.Errorf("unknown option %q in the tag", option)
		}
	}
	return nil
}

// read returns the field of a struct. False: it is in an embedded struct that is a nil pointer.
func (f *field) read(v reflect.Value) (reflect.Value, bool) {
	if len(f.index) == 1 {
		return v.Field(f.index[0]), true
	}
	for _, i := range f.index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}, false
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, true
}

// place returns the field of an addressable struct, and makes the embedded structs that it is in.
func (f *field) place(v reflect.Value) (reflect.Value, error) {
	for _, i := range f.index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				if !v.CanSet() {
					return reflect.Value{}, fmt.Errorf("the embedded struct %s is not exported", v.Type())
				}
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, nil
}
