package armature

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/armaturedb/armature/client/go/apiv1"
)

// KeyAttribute is an attribute of a key: [StringKey], [NumberKey] or [BinaryKey].
type KeyAttribute struct {
	Name string
	Type apiv1.ScalarAttributeType
}

// StringKey is a key attribute of type S.
func StringKey(name string) KeyAttribute {
	return KeyAttribute{name, apiv1.ScalarAttributeType_SCALAR_ATTRIBUTE_TYPE_S}
}

// NumberKey is a key attribute of type N.
func NumberKey(name string) KeyAttribute {
	return KeyAttribute{name, apiv1.ScalarAttributeType_SCALAR_ATTRIBUTE_TYPE_N}
}

// BinaryKey is a key attribute of type B.
func BinaryKey(name string) KeyAttribute {
	return KeyAttribute{name, apiv1.ScalarAttributeType_SCALAR_ATTRIBUTE_TYPE_B}
}

// TableSchema is the definition of a table. [Client.Tables] has the rest of the API.
type TableSchema struct {
	Name      string
	Partition KeyAttribute
	Sort      KeyAttribute // zero: no sort key
	Global    []GlobalIndex
	Local     []LocalIndex
	// Stream enables the stream, which watches need. Unspecified: none.
	Stream apiv1.StreamViewType
	// TimeToLive is the attribute with the time of expiry, in seconds since 1970. Empty: items do not expire.
	TimeToLive string
	// Read and Write are the provisioned capacity units per second of the table and of each global index. 0: the table
	// is paid per request, and not throttled.
	Read, Write int64
}

// GlobalIndex is an index with any key: 1 to 4 partition attributes and up to 4 sort attributes.
type GlobalIndex struct {
	Name      string
	Partition []KeyAttribute
	Sort      []KeyAttribute
	Project   Projection
}

// LocalIndex is an index with the partition key of the table and another sort key.
type LocalIndex struct {
	Name    string
	Sort    KeyAttribute
	Project Projection
}

// Projection is the list of the attributes in an index. The zero value is all.
type Projection struct {
	KeysOnly bool
	Include  []string // these and the key attributes
}

func (p Projection) message() *apiv1.Projection {
	switch {
	case p.KeysOnly:
		return &apiv1.Projection{ProjectionType: apiv1.ProjectionType_PROJECTION_TYPE_KEYS_ONLY}
	case len(p.Include) > 0:
		return &apiv1.Projection{
			ProjectionType: apiv1.ProjectionType_PROJECTION_TYPE_INCLUDE, NonKeyAttributes: p.Include,
		}
	default:
		return &apiv1.Projection{ProjectionType: apiv1.ProjectionType_PROJECTION_TYPE_ALL}
	}
}

// CreateTable creates a table and waits until it and its indexes are ACTIVE. [ErrResourceInUse]: the name is in use.
func (c *Client) CreateTable(ctx context.Context, schema TableSchema) error {
	ctx, cancel := c.contextWithTimeout(ctx)
	defer cancel()
	if _, err := c.Tables().CreateTable(ctx, schema.request()); err != nil {
		return err
	}
	if err := c.WaitForTable(ctx, schema.Name); err != nil || schema.TimeToLive == "" {
		return err
	}
	_, err := c.Tables().UpdateTimeToLive(ctx, &apiv1.UpdateTimeToLiveRequest{
		TableName: schema.Name,
		TimeToLiveSpecification: &apiv1.TimeToLiveSpecification{
			Enabled: proto.Bool(true), AttributeName: schema.TimeToLive,
		},
	})
	return err
}

// DeleteTable deletes a table and waits until it is gone.
func (c *Client) DeleteTable(ctx context.Context, name string) error {
	ctx, cancel := c.contextWithTimeout(ctx)
	defer cancel()
	if _, err := c.Tables().DeleteTable(ctx, &apiv1.DeleteTableRequest{TableName: name}); err != nil {
		return err
	}
	return c.WaitForTableGone(ctx, name)
}

// ListTables returns the names of all tables, in the order of their bytes.
func (c *Client) ListTables(ctx context.Context) ([]string, error) {
	request := &apiv1.ListTablesRequest{}
	var names []string
	for {
		response, err := c.Tables().ListTables(ctx, request)
		if err != nil {
			return nil, err
		}
		names = append(names, response.GetTableNames()...)
		if response.LastEvaluatedTableName == nil {
			return names, nil
		}
		request.ExclusiveStartTableName = response.LastEvaluatedTableName
	}
}

func (s *TableSchema) request() *apiv1.CreateTableRequest {
	request := &apiv1.CreateTableRequest{
		TableName: s.Name, BillingMode: apiv1.BillingMode_BILLING_MODE_PAY_PER_REQUEST,
	}
	if s.Read > 0 || s.Write > 0 {
		request.BillingMode = apiv1.BillingMode_BILLING_MODE_PROVISIONED
		request.ProvisionedThroughput = &apiv1.ProvisionedThroughput{
			ReadCapacityUnits: proto.Int64(s.Read), WriteCapacityUnits: proto.Int64(s.Write),
		}
	}
	key := func(partition, sort []KeyAttribute) []*apiv1.KeySchemaElement {
		var elements []*apiv1.KeySchemaElement
		for i, attribute := range append(slices.Clip(partition), sort...) {
			element := &apiv1.KeySchemaElement{AttributeName: attribute.Name, KeyType: apiv1.KeyType_KEY_TYPE_HASH}
			if i >= len(partition) {
				element.KeyType = apiv1.KeyType_KEY_TYPE_RANGE
			}
			elements = append(elements, element)
			isDefined := slices.ContainsFunc(request.AttributeDefinitions, func(known *apiv1.AttributeDefinition) bool {
				return known.GetAttributeName() == attribute.Name
			})
			if !isDefined {
				request.AttributeDefinitions = append(request.AttributeDefinitions,
					&apiv1.AttributeDefinition{AttributeName: attribute.Name, AttributeType: attribute.Type})
			}
		}
		return elements
	}
	var sort []KeyAttribute
	if s.Sort.Name != "" {
		sort = []KeyAttribute{s.Sort}
	}
	partition := []KeyAttribute{s.Partition}
	request.KeySchema = key(partition, sort)
	for _, index := range s.Global {
		request.GlobalSecondaryIndexes = append(request.GlobalSecondaryIndexes, &apiv1.GlobalSecondaryIndex{
			IndexName: index.Name, KeySchema: key(index.Partition, index.Sort), Projection: index.Project.message(),
			ProvisionedThroughput: request.ProvisionedThroughput,
		})
	}
	for _, index := range s.Local {
		request.LocalSecondaryIndexes = append(request.LocalSecondaryIndexes, &apiv1.LocalSecondaryIndex{
			IndexName: index.Name, KeySchema: key(partition, []KeyAttribute{index.Sort}), Projection: index.Project.message(),
		})
	}
	if s.Stream != apiv1.StreamViewType_STREAM_VIEW_TYPE_UNSPECIFIED {
		request.StreamSpecification = &apiv1.StreamSpecification{
			StreamEnabled: proto.Bool(true), StreamViewType: s.Stream,
		}
	}
	return request
}
