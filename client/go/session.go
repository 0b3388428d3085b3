package armature

import (
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// session keeps the highest change sequence of the writes to each table, and sets it in each read of an index.
type session struct {
	mu        sync.Mutex
	sequences map[string]uint64 // by table name
	floor     uint64            // of all tables: of statements, which do not tell their table, and of other sessions
}

// tableName returns the name in a name or an ARN.
func tableName(nameOrARN string) string {
	if strings.HasPrefix(nameOrARN, "arn:") {
		if _, rest, ok := strings.Cut(nameOrARN, ":table/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			return name
		}
	}
	return nameOrARN
}

func (s *session) sequenceOf(table string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.sequences[tableName(table)], s.floor)
}

// highest returns the highest sequence of all tables.
func (s *session) highest() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	highest := s.floor
	for _, sequence := range s.sequences {
		highest = max(highest, sequence)
	}
	return highest
}

func (s *session) raise(table string, sequence uint64) {
	if sequence == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := tableName(table)
	s.sequences[name] = max(s.sequences[name], sequence)
}

// forget drops a deleted table. Writes to a new table of that name have higher sequences than `before`.
func (s *session) forget(table string, before uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name := tableName(table); s.sequences[name] <= before {
		delete(s.sequences, name)
	}
}

// prepare returns the request with the sequence that it must see. The program's request is not changed.
func (s *session) prepare(request any) any {
	switch r := request.(type) {
	case *apiv1.QueryRequest:
		if sequence := s.sequenceOf(r.GetTableName()); r.IndexName != nil && sequence > r.GetAtLeastSequence() {
			raised := shallowClone(r)
			raised.AtLeastSequence = sequence
			return raised
		}
	case *apiv1.ScanRequest:
		if sequence := s.sequenceOf(r.GetTableName()); r.IndexName != nil && sequence > r.GetAtLeastSequence() {
			raised := shallowClone(r)
			raised.AtLeastSequence = sequence
			return raised
		}
	case *apiv1.ExecuteStatementRequest:
		if sequence := s.highest(); isSelect(r.GetStatement()) && sequence > r.GetAtLeastSequence() {
			raised := shallowClone(r)
			raised.AtLeastSequence = sequence
			return raised
		}
	}
	return request
}

func isSelect(statement string) bool {
	const word = "select"
	statement = strings.TrimSpace(statement)
	return len(statement) > len(word) && strings.EqualFold(statement[:len(word)], word)
}

// learn remembers the sequence of a successful write.
func (s *session) learn(request, response any, before uint64) {
	if r, ok := request.(*apiv1.DeleteTableRequest); ok {
		s.forget(r.GetTableName(), before)
		return
	}
	written, ok := response.(interface{ GetChangeSequence() uint64 })
	if !ok {
		return
	}
	switch r := request.(type) {
	case *apiv1.ExecuteStatementRequest, *apiv1.BatchExecuteStatementRequest, *apiv1.ExecuteTransactionRequest:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.floor = max(s.floor, written.GetChangeSequence())
	case *apiv1.BatchWriteItemRequest:
		for table := range r.GetRequestItems() {
			s.raise(table, written.GetChangeSequence())
		}
	case *apiv1.TransactWriteItemsRequest:
		for _, action := range r.GetTransactItems() {
			for _, table := range []string{
				action.GetPut().GetTableName(), action.GetUpdate().GetTableName(), action.GetDelete().GetTableName(),
			} {
				if table != "" {
					s.raise(table, written.GetChangeSequence())
				}
			}
		}
	case interface{ GetTableName() string }:
		s.raise(r.GetTableName(), written.GetChangeSequence())
	}
}

// shallowClone returns a message whose fields are those of another one: maps, lists and messages are shared.
func shallowClone[M proto.Message](message M) M {
	clone := message.ProtoReflect().New()
	shallowCopy(clone.Interface(), message)
	return clone.Interface().(M)
}
