// Follows the shards of a stream by polling.

const AT_ONCE = 4;
const SHARDS_MAX = 2000;
const PAGE = 500;

const isOpen = (shard) => shard.SequenceNumberRange?.EndingSequenceNumber === undefined;

async function describeShards(call, arn, signal) {
  const shards = [];
  let last;
  do {
    const request = { StreamArn: arn, ...(last === undefined ? {} : { ExclusiveStartShardId: last }) };
    const { StreamDescription: found } = await call('DescribeStream', request, { signal });
    shards.push(...found.Shards);
    last = found.LastEvaluatedShardId;
  } while (last !== undefined && shards.length < SHARDS_MAX);
  return shards;
}

// Sequence numbers are decimal texts of different lengths.
const before = (a, b) => (a.length === b.length ? a < b : a.length < b.length);
const order = (a, b) => {
  const [x, y] = [a.dynamodb, b.dynamodb];
  if (x.ApproximateCreationDateTime !== y.ApproximateCreationDateTime) {
    return x.ApproximateCreationDateTime - y.ApproximateCreationDateTime;
  }
  return before(x.SequenceNumber, y.SequenceNumber) ? -1 : 1;
};

export class StreamTail {
  // `start`: 'LATEST' or 'TRIM_HORIZON'. `call`: of api.mjs.
  constructor(call, arn, start) {
    this.call = call;
    this.arn = arn;
    this.start = start;
    this.shards = null;  // id -> {parent, iterator, last: sequence number, isDone}
    this.hasGap = false;  // records may have been missed
  }

  // A page of every shard that has one: the new records in order. Call it again after its end.
  async round(signal) {
    if (this.shards === null) await this.discover(signal, this.start);
    const ready = [...this.shards.values()].filter((shard) => !shard.isDone && this.isParentRead(shard));
    const records = [];
    for (let i = 0; i < ready.length; i += AT_ONCE) {
      const pages = await Promise.all(ready.slice(i, i + AT_ONCE).map((shard) => this.read(shard, signal)));
      for (const page of pages) records.push(...page);
    }
    if (ready.some((shard) => shard.isDone)) await this.discover(signal, 'TRIM_HORIZON');
    return records.sort(order);
  }

  // True if all shards are closed and read: the stream was turned off.
  get isOver() {
    return this.shards !== null && this.shards.size > 0 && [...this.shards.values()].every((shard) => shard.isDone);
  }

  isParentRead(shard) {
    const parent = this.shards.get(shard.parent);
    return parent === undefined || parent.isDone;
  }

  async discover(signal, start) {
    const found = await describeShards(this.call, this.arn, signal);
    const isFirst = this.shards === null;
    const known = this.shards ?? new Map();
    for (const shard of found) {
      // Closed shards have nothing that is later than now.
      const isPast = isFirst && start === 'LATEST' && !isOpen(shard);
      if (!known.has(shard.ShardId)) {
        known.set(shard.ShardId, { id: shard.ShardId, parent: shard.ParentShardId, start, iterator: null, last: null, isDone: isPast });
      }
    }
    const ids = new Set(found.map((shard) => shard.ShardId));
    for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    // Taken at once, so that nothing between now and the first reading is missed.
    if (isFirst && start === 'LATEST') {
      for (const shard of known.values()) if (!shard.isDone) shard.iterator = await this.iteratorOf(shard, signal);
    }
    this.shards = known;
  }

  async iteratorOf(shard, signal) {
    const place = shard.last === null ? { ShardIteratorType: shard.start }
      : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: shard.last };
    const request = { StreamArn: this.arn, ShardId: shard.id, ...place };
    return (await this.call('GetShardIterator', request, { signal })).ShardIterator;
  }

  async read(shard, signal) {
    try {
      shard.iterator ??= await this.iteratorOf(shard, signal);
      const answer = await this.call('GetRecords', { ShardIterator: shard.iterator, Limit: PAGE }, { signal });
      const records = answer.Records ?? [];
      shard.iterator = answer.NextShardIterator ?? null;
      shard.isDone = shard.iterator === null;
      if (records.length > 0) shard.last = records.at(-1).dynamodb.SequenceNumber;
      return records;
    } catch (error) {
      if (error.name !== 'ExpiredIteratorException' && error.name !== 'TrimmedDataAccessException') throw error;
      // After a long rest. Without a record of its own, the shard begins where it is now.
      shard.iterator = null;
      this.hasGap ||= error.name === 'TrimmedDataAccessException' || shard.last === null;
      if (error.name === 'TrimmedDataAccessException') {
        shard.last = null;
        shard.start = 'TRIM_HORIZON';
      }
      return [];
    }
  }
}

const ROWS_MAX = 500;
const BYTES_MAX = 16 << 20;

// The rows with new records at the front, the newest first, without the oldest ones beyond the bounds.
export function withRecords(rows, records) {
  const next = [...records].reverse().concat(rows).slice(0, ROWS_MAX);
  let bytes = 0;
  const end = next.findIndex((record, i) => {
    bytes += record.dynamodb.SizeBytes ?? 0;
    return i > 0 && bytes > BYTES_MAX;
  });
  return end === -1 ? next : next.slice(0, end);
}
