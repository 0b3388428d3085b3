// Short ways to write transactions.

import { randomUUID } from 'node:crypto';

import type { Client } from './client';
import type { Expression, Params } from './expressions';
import type { Put, TransactWriteItem, TransactWriteItemsResponse } from './generated/types';
import { checkMembers, Names } from './known';
import type { CallOptions } from './options';
import type { ItemInput } from './values';

/** Members that the actions have in common. */
export interface ActionOptions {
  condition?: string | Expression;
  /** Values of the `$name` parameters. */
  params?: Params;
  /** True: if the condition fails, the reason has the item. */
  itemOnFailure?: boolean;
  /** Attribute names of `#name` placeholders that are not the attribute itself. */
  names?: { [placeholder: string]: string };
  /** Values of `:name` placeholders. */
  values?: { [placeholder: string]: unknown };
}

export const ACTION_NAMES: Names<ActionOptions> = { condition: true, params: true, itemOnFailure: true, names: true, values: true };

type Condition = Omit<Put, 'tableName' | 'item'>;

/** The members of the API for these options. */
export function conditionOf(options: ActionOptions): Condition {
  return {
    ...(options.condition === undefined ? {} : { conditionExpression: options.condition }),
    ...(options.params === undefined ? {} : { params: options.params }),
    ...(options.names === undefined ? {} : { expressionAttributeNames: options.names }),
    ...(options.values === undefined ? {} : { expressionAttributeValues: options.values as Condition['expressionAttributeValues'] }),
    ...(options.itemOnFailure === true ? { returnValuesOnConditionCheckFailure: 'ALL_OLD' as const } : {}),
  };
}

function actionOf(options: ActionOptions): Condition {
  checkMembers('the options of an action', options, ACTION_NAMES);
  return conditionOf(options);
}

/**
 * Actions that are done all or not at all.
 *
 *     await client.transaction()
 *       .update('accounts', { id: 'ann' }, 'SET balance = balance - $sum', { condition: 'balance >= $sum', params: { sum: 10 } })
 *       .update('accounts', { id: 'bob' }, 'SET balance = balance + $sum', { params: { sum: 10 } })
 *       .commit();
 *
 * It has a token from the beginning: `commit` may be called again within ten minutes of a success and does nothing then.
 * Doing the same actions twice needs two transactions. A failure is a TransactionCanceledException with the reasons.
 */
export class Transaction {
  readonly actions: TransactWriteItem[] = [];

  constructor(
    private readonly client: Client,
    /** 1 to 36 characters. */
    public token: string = randomUUID(),
  ) {}

  put(tableName: string, item: ItemInput, options: ActionOptions = {}): this {
    this.actions.push({ put: { tableName, item, ...actionOf(options) } });
    return this;
  }

  update(tableName: string, key: ItemInput, updateExpression: string | Expression, options: ActionOptions = {}): this {
    this.actions.push({ update: { tableName, key, updateExpression, ...actionOf(options) } });
    return this;
  }

  delete(tableName: string, key: ItemInput, options: ActionOptions = {}): this {
    this.actions.push({ delete: { tableName, key, ...actionOf(options) } });
    return this;
  }

  /** Requires a condition of an item that the transaction does not write. */
  check(tableName: string, key: ItemInput, condition: string | Expression, options: ActionOptions = {}): this {
    this.actions.push({ conditionCheck: { tableName, key, ...actionOf(options), conditionExpression: condition } });
    return this;
  }

  commit(options?: CallOptions): Promise<TransactWriteItemsResponse> {
    return this.client.transactWriteItems({ transactItems: this.actions, clientRequestToken: this.token }, options);
  }
}
