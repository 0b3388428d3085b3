package armature

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// Hints are facts about a refused request that the daemon's text leaves out. docs/develop/clients/README.md lists them.

const (
	schemasMax   = 1000
	itemBytesMax = 409_600
	digitsMax    = 38
)

var (
	reservedWord  = regexp.MustCompile(`reserved keyword: (\w+)`)
	conditionWord = regexp.MustCompile(`[#:]?[A-Za-z_]\w*(\s*\()?`)
)

// schemas are the key attributes of tables and their indexes, as the client has seen them described last.
type schemas struct {
	mu    sync.Mutex
	texts map[string]string // by "table" or "table/index"; such as "user (S), number (N)"
}

func newSchemas() *schemas { return &schemas{texts: map[string]string{}} }

// learn notes the description in a response, if it has one.
func (s *schemas) learn(response any) {
	var table *apiv1.TableDescription
	switch r := response.(type) {
	case interface {
		GetTable() *apiv1.TableDescription
	}:
		table = r.GetTable()
	case interface {
		GetTableDescription() *apiv1.TableDescription
	}:
		table = r.GetTableDescription()
	}
	if table == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.texts) >= schemasMax {
		return
	}
	types := map[string]string{}
	for _, attribute := range table.GetAttributeDefinitions() {
		kind := attribute.GetAttributeType().String()
		types[attribute.GetAttributeName()] = kind[strings.LastIndexByte(kind, '_')+1:]
	}
	note := func(name string, schema []*apiv1.KeySchemaElement) {
		var key []string
		for _, element := range schema {
			key = append(key, fmt.Sprintf("%s (%s)", element.GetAttributeName(), types[element.GetAttributeName()]))
		}
		s.texts[name] = strings.Join(key, ", ")
	}
	name := table.GetTableName()
	note(name, table.GetKeySchema())
	for _, index := range table.GetGlobalSecondaryIndexes() {
		note(name+"/"+index.GetIndexName(), index.GetKeySchema())
	}
	for _, index := range table.GetLocalSecondaryIndexes() {
		note(name+"/"+index.GetIndexName(), index.GetKeySchema())
	}
}

// keyOf returns the hint about the key of a table or an index; empty if it is not known.
func (s *schemas) keyOf(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key := s.texts[name]; key != "" {
		return fmt.Sprintf("the key of %s is %s", name, key)
	}
	return ""
}

// hintOf returns what helps with an error that the daemon has answered.
func (s *schemas) hintOf(e *CallError, request any) string {
	if e.Exception == "" {
		if strings.Contains(e.Message, "over TLS") {
			return "connect with TLS"
		}
		return ""
	}
	var parts []string
	tables := tablesOf(request)
	switch {
	case len(tables) == 1 && !strings.HasSuffix(e.Message, tables[0]):
		parts = append(parts, "table "+tables[0])
	case len(tables) > 1:
		parts = append(parts, "tables "+strings.Join(tables, ", "))
	}
	index := ""
	if r, ok := request.(interface{ GetIndexName() string }); ok && r.GetIndexName() != "" {
		index = "/" + r.GetIndexName()
		parts = append(parts, "index "+r.GetIndexName())
	}
	switch {
	case reservedWord.MatchString(e.Message):
		word := reservedWord.FindStringSubmatch(e.Message)[1]
		parts = append(parts, fmt.Sprintf("in an expression, #%s stands for the attribute %s", word, word))
	case strings.Contains(e.Message, "does not match the schema"):
		parts = append(parts, keyHint(request))
		for _, table := range tables {
			parts = append(parts, s.keyOf(table))
		}
	case strings.Contains(e.Message, "key schema element"), strings.Contains(e.Message, "key condition not supported"):
		parts = append(parts, conditionHint(request))
		for _, table := range tables {
			parts = append(parts, s.keyOf(table+index))
		}
	case strings.Contains(e.Message, "Item size"):
		parts = append(parts, sizeHint(request))
	case strings.Contains(e.Message, "significant digits"):
		parts = append(parts, digitsHint(request))
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "; ")
}

// tablesOf returns the tables that a request names, sorted.
func tablesOf(request any) []string {
	var tables []string
	switch r := request.(type) {
	case interface{ GetTableName() string }:
		tables = []string{r.GetTableName()}
	case *apiv1.BatchGetItemRequest:
		tables = slices.Sorted(maps.Keys(r.GetRequestItems()))
	case *apiv1.BatchWriteItemRequest:
		tables = slices.Sorted(maps.Keys(r.GetRequestItems()))
	case *apiv1.TransactGetItemsRequest:
		for _, item := range r.GetTransactItems() {
			tables = append(tables, item.GetGet().GetTableName())
		}
	case *apiv1.TransactWriteItemsRequest:
		for _, item := range r.GetTransactItems() {
			tables = append(tables, item.GetPut().GetTableName(), item.GetUpdate().GetTableName(),
				item.GetDelete().GetTableName(), item.GetConditionCheck().GetTableName())
		}
	}
	slices.Sort(tables)
	return slices.DeleteFunc(slices.Compact(tables), func(table string) bool { return table == "" })
}

func keyHint(request any) string {
	r, ok := request.(interface{ GetKey() *apiv1.Item })
	if !ok || len(r.GetKey().GetAttributes()) == 0 {
		return ""
	}
	var key []string
	for name, value := range r.GetKey().GetAttributes() {
		message := value.ProtoReflect()
		kind := message.WhichOneof(message.Descriptor().Oneofs().Get(0))
		key = append(key, fmt.Sprintf("%s (%s)", name, strings.ToUpper(string(kind.Name()))))
	}
	slices.Sort(key)
	return "the given key is " + strings.Join(key, ", ")
}

// conditionHint names the attributes of a key condition.
func conditionHint(request any) string {
	r, ok := request.(*apiv1.QueryRequest)
	if !ok {
		return ""
	}
	var names []string
	for _, word := range conditionWord.FindAllString(r.GetKeyConditionExpression(), -1) {
		isAttribute := word[0] != ':' && !strings.HasSuffix(word, "(") &&
			!strings.EqualFold(word, "and") && !strings.EqualFold(word, "between")
		if name, ok := r.GetExpressionAttributeNames()[word]; ok {
			word = name
		}
		if isAttribute && !slices.Contains(names, word) {
			names = append(names, word)
		}
	}
	if names == nil {
		return ""
	}
	return "the key condition names " + strings.Join(names, ", ")
}

func sizeHint(request any) string {
	hint := fmt.Sprintf("an item has at most %d bytes, with the names of its attributes", itemBytesMax)
	largest, bytes := "", 0
	if r, ok := request.(*apiv1.PutItemRequest); ok {
		for name, value := range r.GetItem().GetAttributes() {
			if size := proto.Size(value); size > bytes {
				largest, bytes = name, size
			}
		}
	}
	if bytes > 0 {
		hint += fmt.Sprintf("; the largest attribute is %s with %d bytes", largest, bytes)
	}
	return hint
}

// digitsHint tells the place of a number with too many digits.
func digitsHint(request any) string {
	if r, ok := request.(interface{ GetItem() *apiv1.Item }); ok {
		if place, found := placeIn(r.GetItem().GetAttributes()); found {
			return "the number is in the attribute " + place
		}
	}
	if r, ok := request.(interface {
		GetExpressionAttributeValues() map[string]*apiv1.AttributeValue
	}); ok {
		if place, found := placeIn(r.GetExpressionAttributeValues()); found {
			return "the number is in the value " + place
		}
	}
	return ""
}

func placeIn(values map[string]*apiv1.AttributeValue) (string, bool) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if place, found := placeInValue(values[name]); found {
			return name + place, true
		}
	}
	return "", false
}

// placeInValue returns the path behind the name of an attribute.
func placeInValue(value *apiv1.AttributeValue) (string, bool) {
	if slices.ContainsFunc(append(value.GetNs().GetValues(), value.GetN()), hasManyDigits) {
		return "", true
	}
	if place, found := placeIn(value.GetM().GetEntries()); found {
		return "." + place, true
	}
	for i, element := range value.GetL().GetValues() {
		if place, found := placeInValue(element); found {
			return fmt.Sprintf("[%d]%s", i, place), true
		}
	}
	return "", false
}

func hasManyDigits(number string) bool {
	mantissa, _, _ := strings.Cut(strings.ToLower(number), "e")
	return len(strings.Trim(strings.NewReplacer(".", "", "-", "", "+", "").Replace(mantissa), "0")) > digitsMax
}
