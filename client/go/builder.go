package armature

import (
	"slices"
	"strings"
)

// Operand is an attribute, a value or a function of them. Its methods make conditions and changes. Arguments are
// operands, or Go values as [Marshal] takes them.
type Operand struct {
	compileWith func(b *binder) (string, error)
}

// Attr is the attribute at a document path, such as "address.lines[0]". Use [Name] for a name with dots.
func Attr(path string) Operand {
	return Operand{func(b *binder) (string, error) { return b.path(path) }}
}

func operandOf(v any) Operand {
	switch v := v.(type) {
	case Operand:
		return v
	case Name:
		return Operand{func(b *binder) (string, error) { return b.name(string(v)), nil }}
	default:
		return Operand{func(b *binder) (string, error) { return b.value("v", v) }}
	}
}

// Size is the size of the attribute: characters, bytes or elements.
func (o Operand) Size() Operand { return function("size", o) }

// Plus is the sum, for a change.
func (o Operand) Plus(v any) Operand { return joined(" + ", o, operandOf(v)) }

// Minus is the difference, for a change.
func (o Operand) Minus(v any) Operand { return joined(" - ", o, operandOf(v)) }

// Or is the attribute, or v if the item does not have it, for a change.
func (o Operand) Or(v any) Operand { return function("if_not_exists", o, operandOf(v)) }

// Append is the list of the attribute with the elements of v at its end, for a change.
func (o Operand) Append(v any) Operand { return function("list_append", o, operandOf(v)) }

// Prepend is the list of the attribute with the elements of v at its beginning, for a change.
func (o Operand) Prepend(v any) Operand { return function("list_append", operandOf(v), o) }

// Condition is true or false for an item: a condition of a write, a filter, or a condition on a key.
type Condition struct {
	text Operand
	// isAtom: needs no parentheses within And, Or and Not.
	isAtom bool
}

func (c Condition) compile(b *binder) (string, error) { return c.text.compileWith(b) }

func compare(operator string, left Operand, right any) Condition {
	return Condition{joined(" "+operator+" ", left, operandOf(right)), true}
}

// Eq is true if both are equal.
func (o Operand) Eq(v any) Condition { return compare("=", o, v) }

// Ne is true if they differ.
func (o Operand) Ne(v any) Condition { return compare("<>", o, v) }

// Lt is true if the operand is less than v.
func (o Operand) Lt(v any) Condition { return compare("<", o, v) }

// Le is true if the operand is at most v.
func (o Operand) Le(v any) Condition { return compare("<=", o, v) }

// Gt is true if the operand is greater than v.
func (o Operand) Gt(v any) Condition { return compare(">", o, v) }

// Ge is true if the operand is at least v.
func (o Operand) Ge(v any) Condition { return compare(">=", o, v) }

// Between is true if the operand is at least low and at most high.
func (o Operand) Between(low, high any) Condition {
	return Condition{joined("", o, literal(" BETWEEN "), operandOf(low), literal(" AND "), operandOf(high)), true}
}

// In is true if the operand equals one of the values: 1 to 100.
func (o Operand) In(values ...any) Condition {
	operands := make([]Operand, len(values))
	for i, v := range values {
		operands[i] = operandOf(v)
	}
	return Condition{joined("", o, literal(" IN ("), joined(", ", operands...), literal(")")), true}
}

// BeginsWith is true if the text or the bytes begin with prefix.
func (o Operand) BeginsWith(prefix any) Condition {
	return Condition{function("begins_with", o, operandOf(prefix)), true}
}

// Contains is true if v is in the text, the set or the list.
func (o Operand) Contains(v any) Condition {
	return Condition{function("contains", o, operandOf(v)), true}
}

// Exists is true if the item has the attribute.
func (o Operand) Exists() Condition { return Condition{function("attribute_exists", o), true} }

// NotExists is true if the item does not have the attribute.
func (o Operand) NotExists() Condition { return Condition{function("attribute_not_exists", o), true} }

// HasType is true if the attribute has the type: "S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L" or "M".
func (o Operand) HasType(name string) Condition {
	return Condition{function("attribute_type", o, operandOf(name)), true}
}

// And is true if both are true.
func (c Condition) And(other Expression) Condition {
	return Condition{joined(" AND ", group(c), group(other)), false}
}

// Or is true if one of both is true.
func (c Condition) Or(other Expression) Condition {
	return Condition{joined(" OR ", group(c), group(other)), false}
}

// Not is true if the condition is false.
func Not(condition Expression) Condition {
	return Condition{joined("", literal("NOT "), group(condition)), true}
}

func group(e Expression) Operand {
	if c, ok := e.(Condition); ok && c.isAtom {
		return c.text
	}
	return Operand{func(b *binder) (string, error) {
		text, err := e.compile(b)
		return "(" + text + ")", err
	}}
}

func literal(text string) Operand {
	return Operand{func(*binder) (string, error) { return text, nil }}
}

func joined(separator string, operands ...Operand) Operand {
	return Operand{func(b *binder) (string, error) {
		parts := make([]string, len(operands))
		for i, operand := range operands {
			if operand.compileWith == nil {
				return "", &ArgumentError{"Operand", "is empty; use Attr"}
			}
			part, err := operand.compileWith(b)
			if err != nil {
				return "", err
			}
			parts[i] = part
		}
		return strings.Join(parts, separator), nil
	}}
}

func function(name string, arguments ...Operand) Operand {
	return joined("", literal(name+"("), joined(", ", arguments...), literal(")"))
}

// Changes is an update: what it sets, removes, adds and deletes. Methods return a longer one and leave the receiver as
// it is.
type Changes struct {
	sets, removes, adds, deletes []Operand
}

// Set is an update that sets the attribute at a path to an operand or a value.
func Set(path string, v any) Changes { return Changes{}.Set(path, v) }

// Remove is an update that removes attributes.
func Remove(paths ...string) Changes { return Changes{}.Remove(paths...) }

// Add is an update that adds a number to a number, or the elements of a set to a set.
func Add(path string, v any) Changes { return Changes{}.Add(path, v) }

// Set also sets the attribute at a path to an operand or a value.
func (c Changes) Set(path string, v any) Changes {
	c.sets = append(slices.Clip(c.sets), joined(" = ", Attr(path), operandOf(v)))
	return c
}

// Remove also removes attributes.
func (c Changes) Remove(paths ...string) Changes {
	for _, path := range paths {
		c.removes = append(slices.Clip(c.removes), Attr(path))
	}
	return c
}

// Add also adds a number to a number, or the elements of a set to a set.
func (c Changes) Add(path string, v any) Changes {
	c.adds = append(slices.Clip(c.adds), joined(" ", Attr(path), operandOf(v)))
	return c
}

// Delete also removes the elements of a set from a set.
func (c Changes) Delete(path string, v any) Changes {
	c.deletes = append(slices.Clip(c.deletes), joined(" ", Attr(path), operandOf(v)))
	return c
}

func (c Changes) compile(b *binder) (string, error) {
	var clauses []string
	for _, clause := range []struct {
		keyword string
		actions []Operand
	}{{"SET ", c.sets}, {"REMOVE ", c.removes}, {"ADD ", c.adds}, {"DELETE ", c.deletes}} {
		if len(clause.actions) == 0 {
			continue
		}
		text, err := joined(", ", clause.actions...).compileWith(b)
		if err != nil {
			return "", err
		}
		clauses = append(clauses, clause.keyword+text)
	}
	return strings.Join(clauses, " "), nil
}

// Fields are the attributes that a read returns, by their document paths.
func Fields(paths ...string) Expression { return projection(paths) }

type projection []string

func (p projection) compile(b *binder) (string, error) {
	paths := make([]Operand, len(p))
	for i, path := range p {
		paths[i] = Attr(path)
	}
	return joined(", ", paths...).compileWith(b)
}
