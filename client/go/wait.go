package armature

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/armaturedb/armature/client/go/adminv1"
	"github.com/armaturedb/armature/client/go/apiv1"
)

const (
	pollInitial = 5 * time.Millisecond
	pollMax     = 500 * time.Millisecond
)

// poll calls probe, with growing pauses, until it reports that nothing is missing. When the context ends, the error has
// what is missing.
func (c *Client) poll(ctx context.Context, probe func(ctx context.Context) (missing string, err error)) error {
	ctx, cancel := c.contextWithTimeout(ctx)
	defer cancel()
	for pause := pollInitial; ; pause = min(2*pause, pollMax) {
		missing, err := probe(ctx)
		if err != nil || missing == "" {
			return err
		}
		if !wait(ctx, pause) {
			return fmt.Errorf("armature: %s: %w", missing, contextError(ctx))
		}
	}
}

// WaitForTable waits until a table and all its global indexes are ACTIVE. A table that does not exist is waited for.
func (c *Client) WaitForTable(ctx context.Context, name string) error {
	return c.poll(ctx, func(ctx context.Context) (string, error) {
		response, err := c.Tables().DescribeTable(ctx, &apiv1.DescribeTableRequest{TableName: name})
		if errors.Is(err, ErrResourceNotFound) {
			return fmt.Sprintf("table %s does not exist", name), nil
		}
		if err != nil {
			return "", err
		}
		if status := response.GetTable().GetTableStatus(); status != apiv1.TableStatus_TABLE_STATUS_ACTIVE {
			return fmt.Sprintf("table %s is %s", name, status), nil
		}
		for _, index := range response.GetTable().GetGlobalSecondaryIndexes() {
			if status := index.GetIndexStatus(); status != apiv1.IndexStatus_INDEX_STATUS_ACTIVE {
				return fmt.Sprintf("index %s/%s is %s", name, index.GetIndexName(), status), nil
			}
		}
		return "", nil
	})
}

// WaitForTableGone waits until a table does not exist.
func (c *Client) WaitForTableGone(ctx context.Context, name string) error {
	return c.poll(ctx, func(ctx context.Context) (string, error) {
		response, err := c.Tables().DescribeTable(ctx, &apiv1.DescribeTableRequest{TableName: name})
		if errors.Is(err, ErrResourceNotFound) {
			return "", nil
		}
		return fmt.Sprintf("table %s is still %s", name, response.GetTable().GetTableStatus()), err
	})
}

// WaitForIndexes waits until all global indexes of a table are ACTIVE and have applied the changes up to a
// ChangeSequence. 0: the changes so far.
func (c *Client) WaitForIndexes(ctx context.Context, name string, changeSequence uint64) error {
	wanted := map[string]uint64{}
	return c.poll(ctx, func(ctx context.Context) (string, error) {
		response, err := c.Admin().ListIndexStatus(ctx, &adminv1.ListIndexStatusRequest{TableName: &name})
		if err != nil {
			return "", err
		}
		for _, index := range response.GetIndexes() {
			if index.GetKind() != adminv1.IndexKind_INDEX_KIND_GLOBAL {
				continue
			}
			sequence := changeSequence
			if sequence == 0 {
				if _, isKnown := wanted[index.GetIndexName()]; !isKnown {
					wanted[index.GetIndexName()] = index.GetLogSequence()
				}
				sequence = wanted[index.GetIndexName()]
			}
			if index.GetState() != adminv1.IndexState_INDEX_STATE_ACTIVE {
				return fmt.Sprintf("index %s/%s is %s", name, index.GetIndexName(), index.GetState()), nil
			}
			if index.GetAppliedSequence() < sequence {
				return fmt.Sprintf("index %s/%s is at sequence %d of %d", name, index.GetIndexName(),
					index.GetAppliedSequence(), sequence), nil
			}
		}
		return "", nil
	})
}

// WaitForBackup waits until the backup of a table is AVAILABLE.
func (c *Client) WaitForBackup(ctx context.Context, arn string) error {
	return c.poll(ctx, func(ctx context.Context) (string, error) {
		response, err := c.Tables().DescribeBackup(ctx, &apiv1.DescribeBackupRequest{BackupArn: arn})
		if err != nil {
			return "", err
		}
		status := response.GetBackupDescription().GetBackupDetails().GetBackupStatus()
		if status != apiv1.BackupStatus_BACKUP_STATUS_AVAILABLE {
			return fmt.Sprintf("backup %s is %s", arn, status), nil
		}
		return "", nil
	})
}
