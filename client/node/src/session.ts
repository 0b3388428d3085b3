// Reads of own writes on global indexes.

import { InvalidArgumentError } from './errors';

// Stands for the table of a statement, which names its table in its text.
const ANY_TABLE = '*';

type Request = Record<string, unknown>;

function tableNamePart(table: string): string {
  const arn = /^arn:[^/]*:table\/([^/]+)/.exec(table);
  return arn?.[1] ?? table;
}

/** The tables that a request names, each as often as it names it. */
export function tablesOf(request: Request): string[] {
  if (typeof request['tableName'] === 'string') return [request['tableName']];
  if (typeof request['requestItems'] === 'object' && request['requestItems'] !== null) return Object.keys(request['requestItems']);
  if (!Array.isArray(request['transactItems'])) return [];
  return (request['transactItems'] as Record<string, { tableName?: string } | undefined>[]).flatMap((action) => {
    const part = action['put'] ?? action['update'] ?? action['delete'] ?? action['get'] ?? action['conditionCheck'];
    return part?.tableName === undefined ? [] : [part.tableName];
  });
}

/** Operations whose statements name their tables themselves. */
const STATEMENTS = new Set(['ExecuteStatement', 'BatchExecuteStatement', 'ExecuteTransaction']);

/**
 * Keeps the highest change sequence of the writes to each table, and sets it in each query and scan of an index, which
 * then waits until the index holds these writes.
 */
export class WriteSession {
  private readonly sequences = new Map<string, bigint>();

  /** `token`: that of another session, whose writes are read too. */
  constructor(token?: string) {
    if (token === undefined || token === '') return;
    try {
      const entries = JSON.parse(Buffer.from(token, 'base64url').toString()) as Record<string, string>;
      for (const [table, sequence] of Object.entries(entries)) this.sequences.set(table, BigInt(sequence));
    } catch {
      throw new InvalidArgumentError('the token is not one of a session');
    }
  }

  /** The state of the session as text, for a session in another process. */
  get token(): string {
    const entries = Object.fromEntries([...this.sequences].map(([table, sequence]) => [table, String(sequence)]));
    return Buffer.from(JSON.stringify(entries)).toString('base64url');
  }

  private sequenceOf(table: unknown): bigint {
    const own = this.sequences.get(tableNamePart(String(table))) ?? 0n;
    const any = this.sequences.get(ANY_TABLE) ?? 0n;
    return own > any ? own : any;
  }

  private highest(): bigint {
    return [...this.sequences.values()].reduce((a, b) => (a > b ? a : b), 0n);
  }

  /** The request, with the sequence that its index must have reached. */
  prepare(method: string, request: Request): Request {
    const isStatement = method === 'ExecuteStatement';
    const isIndexRead = (method === 'Query' || method === 'Scan') && Boolean(request['indexName']);
    if (!isStatement && !isIndexRead) return request;
    const sequence = isStatement ? this.highest() : this.sequenceOf(request['tableName']);
    const given = BigInt((request['atLeastSequence'] as bigint | number | undefined) ?? 0);
    return sequence > given ? { ...request, atLeastSequence: sequence } : request;
  }

  /** Notes a successful call. `before`: the state before it, of `mark`. */
  note(method: string, request: Request, response: unknown, before: bigint): void {
    if (method === 'DeleteTable') {
      // The table may have been created again and written to before the answer arrived.
      if (this.sequenceOf(request['tableName']) <= before) this.sequences.delete(tableNamePart(String(request['tableName'])));
      return;
    }
    const sequence = (response as { changeSequence?: bigint }).changeSequence;
    if (sequence === undefined || sequence === 0n) return;
    const tables = STATEMENTS.has(method) ? [ANY_TABLE] : tablesOf(request).map(tableNamePart);
    for (const table of tables) {
      if (sequence > this.sequenceOf(table)) this.sequences.set(table, sequence);
    }
  }

  mark(request: Request): bigint {
    return this.sequenceOf(request['tableName']);
  }
}
