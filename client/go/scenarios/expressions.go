package main

import (
	"fmt"
	"strings"

	armature "github.com/armaturedb/armature/client/go"
)

// expression returns the condition, filter or projection in a member of an operation; nil if it is absent.
func expression(given node, member string) armature.Expression {
	switch e := given[member].(type) {
	case nil:
		return nil
	case string:
		return armature.Expr(e, params(given))
	case []any:
		return tree(e)
	default:
		panic(fmt.Sprintf("the expression %v", e))
	}
}

// update returns the update in an operation.
func update(given node) armature.Expression {
	if list, ok := given["update"].([]any); ok {
		return changes(armature.Changes{}, list)
	}
	return expression(given, "update")
}

// params returns the parameters, values and names of an operation.
func params(given node) armature.Params {
	all := armature.Params{}
	for _, member := range []string{"params", "values", "names"} {
		values, _ := given[member].(node)
		for name, value := range values {
			all[name] = native(value)
		}
	}
	return all
}

func operand(v any) any {
	if path, ok := v.(node); ok && path["$path"] != nil {
		return armature.Attr(path["$path"].(string))
	}
	return native(v)
}

func tree(list []any) armature.Expression {
	name, rest := list[0].(string), list[1:]
	switch name {
	case "fields":
		return armature.Fields(texts(rest)...)
	case "text":
		more, _ := rest[1].(node)
		return armature.Expr(rest[0].(string), params(node{"params": more}))
	case "not":
		return armature.Not(tree(rest[0].([]any)))
	case "and", "or":
		result := tree(rest[0].([]any))
		for _, part := range rest[1:] {
			condition, ok := result.(armature.Condition)
			if !ok {
				condition = armature.Not(armature.Not(result))
			}
			if name == "and" {
				result = condition.And(tree(part.([]any)))
			} else {
				result = condition.Or(tree(part.([]any)))
			}
		}
		return result
	default:
		return comparison(name, rest)
	}
}

func comparison(name string, rest []any) armature.Expression {
	path := armature.Attr(rest[0].(string))
	if sized, ok := strings.CutPrefix(name, "size_"); ok {
		name, path = sized, path.Size()
	}
	operands := make([]any, len(rest)-1)
	for i, v := range rest[1:] {
		operands[i] = operand(v)
	}
	switch name {
	case "exists":
		return path.Exists()
	case "not_exists":
		return path.NotExists()
	case "in":
		return path.In(operands...)
	case "between":
		return path.Between(operands[0], operands[1])
	case "begins_with":
		return path.BeginsWith(operands[0])
	case "contains":
		return path.Contains(operands[0])
	case "type":
		return path.HasType(operands[0].(string))
	}
	compare := map[string]func(any) armature.Condition{
		"eq": path.Eq, "ne": path.Ne, "lt": path.Lt, "le": path.Le, "gt": path.Gt, "ge": path.Ge,
	}[name]
	if compare == nil {
		panic("the operator " + name)
	}
	return compare(operands[0])
}

func changes(c armature.Changes, list []any) armature.Changes {
	name, rest := list[0].(string), list[1:]
	if name == "all" {
		for _, part := range rest {
			c = changes(c, part.([]any))
		}
		return c
	}
	path := rest[0].(string)
	if name == "remove" {
		return c.Remove(path)
	}
	v := operand(rest[1])
	switch name {
	case "set":
		return c.Set(path, v)
	case "set_if_missing":
		return c.Set(path, armature.Attr(path).Or(v))
	case "increment":
		return c.Set(path, armature.Attr(path).Plus(v))
	case "append":
		return c.Set(path, armature.Attr(path).Append(v))
	case "add":
		return c.Add(path, v)
	case "delete":
		return c.Delete(path, v)
	default:
		panic("the action " + name)
	}
}
