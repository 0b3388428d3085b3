// The definition of a table, from the names and types of its key attributes.

import { InvalidArgumentError } from './errors';
import type { CreateTableRequest, Projection, StreamViewType } from './generated/types';
import { checkMembers, Names } from './known';

/** The type of a key attribute: a text, a number or bytes. */
export type KeyType = 'S' | 'N' | 'B';

/** An index of a new table. */
export interface IndexDefinition<N extends string = string> {
  /** Up to 4 attributes. Absent: a local index, with the partition key of the table. */
  partition?: readonly N[];
  /** Up to 4 attributes; one of a local index. */
  sort?: readonly N[];
  /** 'all' (default), 'keys', or the names of further attributes. */
  projection?: 'all' | 'keys' | readonly string[];
}

/** A new table. */
export interface TableDefinition<N extends string = string> {
  /** Types of key attributes. A table with a schema knows those of its fields. */
  types?: { readonly [name: string]: KeyType };
  /** By name. */
  indexes?: { readonly [name: string]: IndexDefinition<N> };
  /** Records changes for watches. */
  stream?: StreamViewType;
  /** Provisioned units a second, of the table and of each global index. Absent: as many as there are. */
  capacity?: { read: number; write: number };
}

export const DEFINITION_NAMES: Names<TableDefinition> = { types: true, indexes: true, stream: true, capacity: true };
const INDEX_NAMES: Names<IndexDefinition> = { partition: true, sort: true, projection: true };

function projectionOf(projection: IndexDefinition['projection'] = 'all'): Projection {
  if (typeof projection !== 'string') return { projectionType: 'INCLUDE', nonKeyAttributes: [...projection] };
  return { projectionType: projection === 'all' ? 'ALL' : 'KEYS_ONLY' };
}

/** The request for a table with a partition key and perhaps a sort key. @throws InvalidArgumentError */
export function createRequest(
  tableName: string,
  [partition, ...sort]: readonly string[],
  { indexes = {}, stream, capacity, types = {} }: TableDefinition,
): CreateTableRequest {
  const used = new Set<string>();
  const keySchema = (hash: readonly string[], range: readonly string[] = []): CreateTableRequest['keySchema'] =>
    [...hash, ...range].map((attributeName, place) => {
      used.add(attributeName);
      return { attributeName, keyType: place < hash.length ? 'HASH' : 'RANGE' };
    });
  const throughput = capacity && { readCapacityUnits: capacity.read, writeCapacityUnits: capacity.write };
  const provisioned = throughput === undefined ? {} : { provisionedThroughput: throughput };
  const request: CreateTableRequest = {
    tableName,
    keySchema: keySchema([partition!], sort),
    attributeDefinitions: [],
    billingMode: throughput === undefined ? 'PAY_PER_REQUEST' : 'PROVISIONED',
    ...provisioned,
    globalSecondaryIndexes: [],
    localSecondaryIndexes: [],
    ...(stream === undefined ? {} : { streamSpecification: { streamEnabled: true, streamViewType: stream } }),
  };
  for (const [indexName, index] of Object.entries(indexes)) {
    checkMembers(`the members of the index ${indexName}`, index, INDEX_NAMES);
    const part = {
      indexName,
      keySchema: keySchema(index.partition ?? [partition!], index.sort),
      projection: projectionOf(index.projection),
    };
    if (index.partition === undefined) request.localSecondaryIndexes!.push(part);
    else request.globalSecondaryIndexes!.push({ ...part, ...provisioned });
  }
  request.attributeDefinitions = [...used].map((attributeName) => {
    const attributeType = types[attributeName];
    if (attributeType === undefined) {
      throw new InvalidArgumentError(`the key attribute ${attributeName} needs a type: { types: { ${attributeName}: 'S' } }, or 'N' or 'B'`);
    }
    return { attributeName, attributeType };
  });
  return request;
}
