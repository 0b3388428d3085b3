// The CreateTable request of what the user has filled in.

let lastId = 0;

export const newTable = () => ({
  name: '', partition: [{ name: '', type: 'S' }], sort: [], indexes: [], stream: '', isProtected: false,
});

// `kind`: 'global' or 'local'.
export function newIndex(kind) {
  lastId += 1;
  return {
    id: lastId, kind, name: '', partition: kind === 'global' ? [{ name: '', type: 'S' }] : [],
    sort: kind === 'global' ? [] : [{ name: '', type: 'S' }], projection: 'ALL', included: '',
  };
}

// The KeySchema. Notes the types of its attributes in `types`. `place`: of the key, for errors.
export function schemaOf(partition, sort, types, place) {
  const element = (keyType) => ({ name, type }) => {
    const attribute = name.trim();
    if (attribute === '') throw new Error(`An attribute of the key of ${place} has no name yet.`);
    if ((types.get(attribute) ?? type) !== type) throw new Error(`The attribute ${attribute} has two types.`);
    types.set(attribute, type);
    return { AttributeName: attribute, KeyType: keyType };
  };
  return [...partition.map(element('HASH')), ...sort.map(element('RANGE'))];
}

export function projectionOf({ projection, included }) {
  if (projection !== 'INCLUDE') return { ProjectionType: projection };
  const names = included.split(',').map((each) => each.trim()).filter(Boolean);
  return { ProjectionType: projection, NonKeyAttributes: names };
}

// Throws an Error with a text for the user.
export function creationRequest(table) {
  const types = new Map();
  const name = table.name.trim();
  if (name === '') throw new Error('The table has no name yet.');
  const request = {
    TableName: name, AttributeDefinitions: [], KeySchema: schemaOf(table.partition, table.sort, types, 'the table'),
  };
  for (const index of table.indexes) {
    if (index.name.trim() === '') throw new Error('An index has no name yet.');
    const list = index.kind === 'global' ? 'GlobalSecondaryIndexes' : 'LocalSecondaryIndexes';
    const partition = index.kind === 'global' ? index.partition : table.partition;
    request[list] = [...(request[list] ?? []), {
      IndexName: index.name.trim(), KeySchema: schemaOf(partition, index.sort, types, index.name.trim()),
      Projection: projectionOf(index),
    }];
  }
  request.AttributeDefinitions = [...types].map(([attribute, type]) => (
    { AttributeName: attribute, AttributeType: type }));
  request.BillingMode = 'PAY_PER_REQUEST';
  if (table.stream !== '') request.StreamSpecification = { StreamEnabled: true, StreamViewType: table.stream };
  if (table.isProtected) request.DeletionProtectionEnabled = true;
  return request;
}
