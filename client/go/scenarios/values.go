package main

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"reflect"
	"sort"
	"strconv"
	"strings"

	armature "github.com/armaturedb/armature/client/go"
)

// node is a mapping of YAML.
type node = map[string]any

// native returns the Go value of a value in a scenario.
func native(v any) any {
	switch v := v.(type) {
	case node:
		if special, ok := nativeSpecial(v); ok {
			return special
		}
		m := make(map[string]any, len(v))
		for name, value := range v {
			m[name] = native(value)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, value := range v {
			list[i] = native(value)
		}
		return list
	default:
		return v
	}
}

// nativeSpecial returns the value of a map with one key that begins with a dollar sign.
func nativeSpecial(v node) (any, bool) {
	if len(v) != 1 {
		return nil, false
	}
	for key, value := range v {
		switch key {
		case "$n":
			return armature.Number(fmt.Sprint(value)), true
		case "$b":
			return bytesOf(value), true
		case "$s":
			return numbered(v, 0), true
		case "$ss":
			return armature.StringSet(texts(value)), true
		case "$ns":
			set := armature.NumberSet{}
			for _, number := range texts(value) {
				set = append(set, armature.Number(number))
			}
			return set, true
		case "$bs":
			set := armature.BinarySet{}
			for _, element := range value.([]any) {
				set = append(set, bytesOf(element))
			}
			return set, true
		}
	}
	return nil, false
}

func bytesOf(v any) []byte {
	bytes, err := base64.StdEncoding.DecodeString(v.(string))
	if err != nil {
		panic(err)
	}
	return bytes
}

func texts(v any) []string {
	all := []string{}
	list, _ := v.([]any)
	for _, element := range list {
		all = append(all, fmt.Sprint(element))
	}
	return all
}

func itemOf(v any) armature.Item {
	item, _ := native(v).(map[string]any)
	return item
}

// numbered returns the item of this number of put_many.
func numbered(v any, number int) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "{i}", strconv.Itoa(number))
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			list[i] = numbered(element, number)
		}
		return list
	case node:
		if factor, ok := v["$i"]; ok && len(v) == 1 {
			return factor.(int) * number
		}
		if repeated, ok := v["$s"].([]any); ok && len(v) == 1 {
			return strings.Repeat(repeated[0].(string), repeated[1].(int))
		}
		m := node{}
		for name, value := range v {
			m[name] = numbered(value, number)
		}
		return m
	default:
		return v
	}
}

// comparable returns a form in which equal results are deeply equal: numbers by value, sets sorted.
func comparable(v any, unordered bool) any {
	switch v := v.(type) {
	case nil, string, bool:
		return v
	case []byte:
		return "bytes " + base64.StdEncoding.EncodeToString(v)
	case armature.Number:
		rat, err := v.Rat()
		if err != nil {
			return err.Error()
		}
		return "number " + rat.RatString()
	case armature.StringSet:
		return sortedSet("texts", v)
	case armature.NumberSet:
		numbers := make([]string, len(v))
		for i, number := range v {
			numbers[i] = comparable(number, false).(string)
		}
		return sortedSet("numbers", numbers)
	case armature.BinarySet:
		all := make([]string, len(v))
		for i, element := range v {
			all[i] = base64.StdEncoding.EncodeToString(element)
		}
		return sortedSet("bytes", all)
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Int, reflect.Int64:
		return "number " + new(big.Rat).SetInt64(r.Int()).RatString()
	case reflect.Map:
		m := map[string]any{}
		for entries := r.MapRange(); entries.Next(); {
			m[entries.Key().String()] = comparable(entries.Value().Interface(), unordered)
		}
		if r.IsNil() {
			return nil
		}
		return m
	case reflect.Slice:
		list := make([]any, r.Len())
		for i := range list {
			list[i] = comparable(r.Index(i).Interface(), unordered)
		}
		if unordered {
			sort.Slice(list, func(i, j int) bool { return fmt.Sprint(list[i]) < fmt.Sprint(list[j]) })
		}
		return list
	default:
		return fmt.Sprintf("%T %v", v, v)
	}
}

func sortedSet(kind string, elements []string) string {
	elements = append([]string(nil), elements...)
	sort.Strings(elements)
	return fmt.Sprintf("set of %s %q", kind, elements)
}
