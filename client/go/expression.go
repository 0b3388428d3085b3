package armature

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// Expression is a condition, a filter, an update or a projection of a request. [Expr] makes one from a text; [Attr],
// [Set] and [Remove] build one. Its names and values become placeholders of the request, so that reserved words and
// special characters do no harm.
type Expression interface {
	compile(b *binder) (string, error)
}

// Params are the parameters of an expression: the text names them with a dollar sign. A value of the type [Name] is an
// attribute name; all others are values, as [Marshal] takes them.
//
//	armature.Expr("$field = $new AND visits > $least", armature.Params{
//		"field": armature.Name("full.name"), "new": "open", "least": 10,
//	})
//
// A #name in the text stands for the attribute of that name, so that reserved words need no parameter: "#state = $new".
//
// A parameter whose name begins with ':' or '#' is a placeholder of the documented API and is written as such in the
// text: Params{":new": "open", "#state": "full.state"}.
type Params map[string]any

// Name is the name of an attribute, taken literally: it may have dots, and be a reserved word.
type Name string

// Expr is an expression as text, such as "attribute_not_exists(id) OR version < $version". The language is that of the
// documented API; literals other than parameters are not part of it.
func Expr(text string, params ...Params) Expression {
	return &textExpression{text: text, params: params}
}

type textExpression struct {
	text   string
	params []Params
}

var (
	parameterPattern = regexp.MustCompile(`\$[A-Za-z_][A-Za-z0-9_]*|\$`)
	indexesPattern   = regexp.MustCompile(`^(\[[0-9]+\])+$`)
	// placeholderPattern is that of the documented API.
	placeholderPattern = regexp.MustCompile(`[#:][A-Za-z0-9_]+`)
)

// ArgumentError is a request that the package refuses. Nothing was sent.
type ArgumentError struct {
	Argument string // such as "$least", a parameter
	Reason   string
}

// Error returns argument and reason.
func (e *ArgumentError) Error() string { return "armature: " + e.Argument + ": " + e.Reason }

func (e *textExpression) compile(b *binder) (string, error) {
	var failure error
	b.given = append(b.given, e.params...)
	for _, placeholder := range placeholderPattern.FindAllString(e.text, -1) {
		b.use(placeholder)
		v, isGiven := e.find(placeholder)
		if !isGiven && placeholder[0] == ':' {
			return "", &ArgumentError{placeholder, fmt.Sprintf("the expression %q has no such parameter", e.text)}
		}
		if !isGiven {
			v = placeholder[1:]
		}
		if err := b.define(placeholder, v); err != nil {
			return "", err
		}
	}
	text := parameterPattern.ReplaceAllStringFunc(e.text, func(parameter string) string {
		name := parameter[1:]
		b.use(name)
		value, ok := e.find(name)
		if !ok && failure == nil {
			failure = &ArgumentError{parameter, fmt.Sprintf("the expression %q has no such parameter", e.text)}
		}
		placeholder, err := b.bind(name, value)
		if err != nil && failure == nil {
			failure = &ArgumentError{parameter, err.Error()}
		}
		return placeholder
	})
	return text, failure
}

func (e *textExpression) find(name string) (any, bool) {
	for _, params := range e.params {
		if value, ok := params[name]; ok {
			return value, true
		}
	}
	return nil, false
}

// binder collects the placeholders of all expressions of one request.
type binder struct {
	names     map[string]string // placeholder to attribute
	values    map[string]*apiv1.AttributeValue
	reserved  map[string]bool // placeholders of the program
	used      map[string]bool // parameters that a text uses
	given     []Params
	nameCount int
}

// unused returns an error if a parameter is in no expression of the request: it is probably misspelt.
func (b *binder) unused() error {
	for _, params := range b.given {
		for name := range params {
			if !b.used[name] {
				return &ArgumentError{"parameter " + name, "no expression of the request uses it"}
			}
		}
	}
	return nil
}

func (b *binder) use(name string) {
	if b.used == nil {
		b.used = map[string]bool{}
	}
	b.used[name] = true
}

// reserve keeps generated placeholders apart from those of the program, which may be in a later expression. Texts within
// built conditions are not looked into: their placeholders must not begin like generated ones, ":v" and "#n0".
func (b *binder) reserve(e Expression) {
	text, ok := e.(*textExpression)
	if !ok {
		return
	}
	if b.reserved == nil {
		b.reserved = map[string]bool{}
	}
	for _, placeholder := range placeholderPattern.FindAllString(text.text, -1) {
		b.reserved[placeholder] = true
	}
}

// bind returns the placeholder of a parameter of a text.
func (b *binder) bind(hint string, v any) (string, error) {
	if name, ok := v.(Name); ok {
		return b.name(string(name)), nil
	}
	return b.value(hint, v)
}

// name returns the placeholder of an attribute name.
func (b *binder) name(attribute string) string {
	for placeholder, known := range b.names {
		if known == attribute && !b.reserved[placeholder] {
			return placeholder
		}
	}
	for {
		placeholder := "#n" + strconv.Itoa(b.nameCount)
		b.nameCount++
		if !b.reserved[placeholder] {
			b.setName(placeholder, attribute)
			return placeholder
		}
	}
}

func (b *binder) setName(placeholder, attribute string) {
	if b.names == nil {
		b.names = map[string]string{}
	}
	b.names[placeholder] = attribute
}

func (b *binder) setValue(placeholder string, value *apiv1.AttributeValue) {
	if b.values == nil {
		b.values = map[string]*apiv1.AttributeValue{}
	}
	b.values[placeholder] = value
}

// value returns the placeholder of a value. The hint makes it readable in messages of the daemon.
func (b *binder) value(hint string, v any) (string, error) {
	value, err := Marshal(v)
	if err != nil {
		return "", err
	}
	for n := 0; ; n++ {
		placeholder := ":" + hint
		if n > 0 {
			placeholder += "_" + strconv.Itoa(n)
		}
		known, taken := b.values[placeholder]
		if b.reserved[placeholder] || taken && !proto.Equal(known, value) {
			continue
		}
		b.setValue(placeholder, value)
		return placeholder, nil
	}
}

// define sets a placeholder of the program.
func (b *binder) define(placeholder string, v any) error {
	if placeholder[0] == '#' {
		var attribute string
		switch name := v.(type) {
		case string:
			attribute = name
		case Name:
			attribute = string(name)
		default:
			return &ArgumentError{placeholder, fmt.Sprintf("an attribute name is a text, not %T", v)}
		}
		if known, ok := b.names[placeholder]; ok && known != attribute {
			return &ArgumentError{placeholder, fmt.Sprintf("means both %q and %q in one request", known, attribute)}
		}
		b.setName(placeholder, attribute)
		return nil
	}
	value, err := Marshal(v)
	if err != nil {
		return &ArgumentError{placeholder, err.Error()}
	}
	if known, ok := b.values[placeholder]; ok && !proto.Equal(known, value) {
		return &ArgumentError{placeholder, "has two values in one request"}
	}
	b.setValue(placeholder, value)
	return nil
}

// path returns a document path, such as a.b[0], with placeholders for its names.
func (b *binder) path(path string) (string, error) {
	var out strings.Builder
	for i, part := range strings.Split(path, ".") {
		name, indexes, hasIndexes := strings.Cut(part, "[")
		if name == "" || hasIndexes && !indexesPattern.MatchString("["+indexes) {
			return "", &ArgumentError{fmt.Sprintf("path %q", path), "is not the path of an attribute; use Name for a name with a dot"}
		}
		if i > 0 {
			out.WriteByte('.')
		}
		out.WriteString(b.name(name))
		if indexes != "" {
			out.WriteString("[" + indexes)
		}
	}
	return out.String(), nil
}

// missing is an expression that the program has left nil. To ignore it would make a conditional write unconditional.
type missing string

func (m missing) compile(*binder) (string, error) {
	return "", &ArgumentError{string(m), "is missing"}
}

// required returns the expression, or one that fails for nil.
func required(argument string, e Expression) Expression {
	if e == nil {
		return missing(argument)
	}
	return e
}

// optional returns the text of an expression that may be absent.
func (b *binder) optional(e Expression) (*string, error) {
	if e == nil {
		return nil, nil
	}
	text, err := e.compile(b)
	if err != nil {
		return nil, err
	}
	return &text, nil
}
