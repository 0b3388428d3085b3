package armature

import (
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// The types of options: an option works for the calls whose type it implements.
type (
	// PutOption is an option of [Table.Put].
	PutOption interface{ applyToPut(*params) }
	// UpdateOption is an option of [Table.Update].
	UpdateOption interface{ applyToUpdate(*params) }
	// DeleteOption is an option of [Table.Delete].
	DeleteOption interface{ applyToDelete(*params) }
	// ActionOption is an option of an action of a [Transaction].
	ActionOption interface{ applyToAction(*params) }
	// GetOption is an option of [Table.Get] and [Table.BatchGet].
	GetOption interface{ applyToGet(*params) }
	// QueryOption is an option of [Table.Query] and its relatives.
	QueryOption interface{ applyToQuery(*params) }
	// ScanOption is an option of [Table.Scan] and its relatives.
	ScanOption interface{ applyToScan(*params) }
	// WatchOption is an option of [Table.Watch].
	WatchOption interface{ applyToWatch(*params) }
)

// params are the options of one call.
type params struct {
	binder
	condition, filter Expression
	projection        Expression
	returns           apiv1.ReturnValues
	returnOnFailure   apiv1.ReturnValuesOnConditionCheckFailure
	consistent        bool
	index             string
	pageSize          int32
	start             Item
	descending        bool
	atLeast           uint64
	segment, segments int32
	capacity          func(*apiv1.ConsumedCapacity)
	call              []grpc.CallOption
	watch             watchParams
}

// reserveAll keeps generated placeholders apart from those of the program.
func (p *params) reserveAll(others ...Expression) {
	for _, e := range append(others, p.condition, p.filter, p.projection) {
		if e != nil {
			p.reserve(e)
		}
	}
}

// capacityLevel asks for the most detailed report if there is a receiver of reports.
func (p *params) capacityLevel() apiv1.ReturnConsumedCapacity {
	if p.capacity == nil {
		return apiv1.ReturnConsumedCapacity_RETURN_CONSUMED_CAPACITY_UNSPECIFIED
	}
	return apiv1.ReturnConsumedCapacity_RETURN_CONSUMED_CAPACITY_INDEXES
}

func (p *params) report(capacity ...*apiv1.ConsumedCapacity) {
	for _, one := range capacity {
		if one != nil && p.capacity != nil {
			p.capacity(one)
		}
	}
}

// optionalBool, optionalInt and optionalString give fields with presence: absent for the zero value.
func optionalBool(b bool) *bool {
	if !b {
		return nil
	}
	return proto.Bool(true)
}

func optionalInt(n int32) *int32 {
	if n == 0 {
		return nil
	}
	return proto.Int32(n)
}

func optionalString(s string) *string {
	if s == "" {
		return nil
	}
	return proto.String(s)
}

// conditionOption is for writes and actions of transactions.
type conditionOption func(*params)

func (o conditionOption) applyToPut(p *params)    { o(p) }
func (o conditionOption) applyToUpdate(p *params) { o(p) }
func (o conditionOption) applyToDelete(p *params) { o(p) }
func (o conditionOption) applyToAction(p *params) { o(p) }

// If makes a write conditional: without the condition it fails with [ConditionFailedError] and changes nothing.
// A later If replaces an earlier one. The error of a nil condition is an [ArgumentError].
func If(condition Expression) interface {
	PutOption
	UpdateOption
	DeleteOption
	ActionOption
} {
	return conditionOption(func(p *params) { p.condition = required("If", condition) })
}

// ReturnItemOnFailure puts the item that fails the condition into the error.
func ReturnItemOnFailure() interface {
	PutOption
	UpdateOption
	DeleteOption
	ActionOption
} {
	return conditionOption(func(p *params) {
		p.returnOnFailure = apiv1.ReturnValuesOnConditionCheckFailure_RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD
	})
}

// writeOption is for writes.
type writeOption func(*params)

func (o writeOption) applyToPut(p *params)    { o(p) }
func (o writeOption) applyToUpdate(p *params) { o(p) }
func (o writeOption) applyToDelete(p *params) { o(p) }

// ReturnOld returns the item from before the write.
func ReturnOld() interface {
	PutOption
	UpdateOption
	DeleteOption
} {
	return writeOption(func(p *params) { p.returns = apiv1.ReturnValues_RETURN_VALUES_ALL_OLD })
}

type updateOption func(*params)

func (o updateOption) applyToUpdate(p *params) { o(p) }

// ReturnNew returns the item from after the update.
func ReturnNew() UpdateOption {
	return updateOption(func(p *params) { p.returns = apiv1.ReturnValues_RETURN_VALUES_ALL_NEW })
}

// ReturnUpdatedOld returns the updated attributes, with their values from before the update.
func ReturnUpdatedOld() UpdateOption {
	return updateOption(func(p *params) { p.returns = apiv1.ReturnValues_RETURN_VALUES_UPDATED_OLD })
}

// ReturnUpdatedNew returns the updated attributes, with their values from after the update.
func ReturnUpdatedNew() UpdateOption {
	return updateOption(func(p *params) { p.returns = apiv1.ReturnValues_RETURN_VALUES_UPDATED_NEW })
}

func (o IdempotentOption) applyToPut(p *params)    { p.call = append(p.call, o) }
func (o IdempotentOption) applyToUpdate(p *params) { p.call = append(p.call, o) }
func (o IdempotentOption) applyToDelete(p *params) { p.call = append(p.call, o) }

// readOption is for all reads.
type readOption func(*params)

func (o readOption) applyToGet(p *params)   { o(p) }
func (o readOption) applyToQuery(p *params) { o(p) }
func (o readOption) applyToScan(p *params)  { o(p) }

// Consistent makes a read see every write that was acknowledged before. Global indexes have no such reads: use
// [Client.Session].
func Consistent() interface {
	GetOption
	QueryOption
	ScanOption
} {
	return readOption(func(p *params) { p.consistent = true })
}

// Project makes a read return the attributes at these document paths only.
func Project(paths ...string) interface {
	GetOption
	QueryOption
	ScanOption
} {
	return readOption(func(p *params) { p.projection = projection(paths) })
}

// ProjectExpr is [Project] with an expression as text.
func ProjectExpr(e Expression) interface {
	GetOption
	QueryOption
	ScanOption
} {
	return readOption(func(p *params) { p.projection = required("ProjectExpr", e) })
}

// pagesOption is for queries and scans.
type pagesOption func(*params)

func (o pagesOption) applyToQuery(p *params) { o(p) }
func (o pagesOption) applyToScan(p *params)  { o(p) }

// Index reads an index of the table.
func Index(name string) interface {
	QueryOption
	ScanOption
} {
	return pagesOption(func(p *params) { p.index = name })
}

// PageSize is the number of items that one call reads, before a filter. It does not end an iteration: a break does.
func PageSize(items int) interface {
	QueryOption
	ScanOption
} {
	return pagesOption(func(p *params) { p.pageSize = int32(items) })
}

// StartAfter begins behind a key: the LastKey of a page, or any other key of the table or index.
func StartAfter(key Key) interface {
	QueryOption
	ScanOption
} {
	return pagesOption(func(p *params) { p.start = key })
}

// AtLeast makes a read of a global index wait until it has the write with this ChangeSequence. A [Client.Session] does
// that by itself.
func AtLeast(changeSequence uint64) interface {
	QueryOption
	ScanOption
} {
	return pagesOption(func(p *params) { p.atLeast = changeSequence })
}

type filterOption struct{ condition Expression }

func (o filterOption) applyToQuery(p *params) { p.filter = o.condition }
func (o filterOption) applyToScan(p *params)  { p.filter = o.condition }
func (o filterOption) applyToWatch(p *params) { p.filter = o.condition }

// Filter drops items after they were read.
func Filter(condition Expression) interface {
	QueryOption
	ScanOption
	WatchOption
} {
	return filterOption{required("Filter", condition)}
}

type queryOption func(*params)

func (o queryOption) applyToQuery(p *params) { o(p) }

// Descending returns the items in the reverse order of the sort key.
func Descending() QueryOption { return queryOption(func(p *params) { p.descending = true }) }

type scanOption func(*params)

func (o scanOption) applyToScan(p *params) { o(p) }

// Segment scans one of count parts of the table. [Table.ParallelScan] scans all.
func Segment(number, count int) ScanOption {
	return scanOption(func(p *params) { p.segment, p.segments = int32(number), int32(count) })
}

type capacityOption func(*apiv1.ConsumedCapacity)

func (o capacityOption) applyToPut(p *params)    { p.capacity = o }
func (o capacityOption) applyToUpdate(p *params) { p.capacity = o }
func (o capacityOption) applyToDelete(p *params) { p.capacity = o }
func (o capacityOption) applyToGet(p *params)    { p.capacity = o }
func (o capacityOption) applyToQuery(p *params)  { p.capacity = o }
func (o capacityOption) applyToScan(p *params)   { p.capacity = o }

// ReportCapacity calls a function with the capacity that each call of an operation has consumed.
func ReportCapacity(receive func(*apiv1.ConsumedCapacity)) interface {
	PutOption
	UpdateOption
	DeleteOption
	GetOption
	QueryOption
	ScanOption
} {
	return capacityOption(receive)
}
