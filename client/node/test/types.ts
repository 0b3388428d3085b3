// Uses of the package's types: the compiler checks them. `@ts-expect-error` marks what must be refused.

import { attr, Client, expr, field, Infer, Item, NumberValue, schema, Table, Value } from '@armaturedb/client';
import { openTelemetry } from '@armaturedb/client/opentelemetry';
import { start } from '@armaturedb/client/testing';

interface User {
  id: string;
  visits: number;
  city?: string;
}

export async function uses(): Promise<void> {
  const daemon = await start({ flags: ['--durability=os'] });
  const client: Client = daemon.client({ observers: [openTelemetry()], tls: false, retry: { attempts: 3 } });

  const users: Table<User, 'id'> = client.table<User, 'id'>('users', { key: ['id'] });
  const ann: User | undefined = await users.get({ id: 'ann' });
  await users.put({ id: 'ann', visits: 1 });
  await users.update({ id: 'ann' }, expr`SET visits = ${1}`, { condition: attr('visits').lt(5), returned: 'new' });
  for await (const user of users.query('id = $id', { params: { id: 'ann' } })) user.visits.toFixed();

  // @ts-expect-error: not the key
  await users.get({ visits: 1 });
  // @ts-expect-error: a member is missing
  await users.put({ id: 'ann' });
  // @ts-expect-error: no attribute of the record
  client.table<User, 'id'>('users', { key: ['name'] });

  const Order = schema({ id: field.text(), at: field.date(), total: field.decimal(), note: field.text().optional() });
  type Order = Infer<typeof Order>;
  const order: Order = { id: 'o', at: new Date(), total: NumberValue.from('1.10') };
  const orders = client.table('orders', { key: ['id'], schema: Order });
  const total: NumberValue | undefined = (await orders.get({ id: 'o' }))?.total;
  await orders.put(order);
  // @ts-expect-error: a date is no text
  await orders.put({ ...order, at: '2024-10-01' });

  // Interfaces are items.
  await client.putItem({ tableName: 'users', item: ann ?? { id: 'x' }, returnValues: 'ALL_OLD' });
  const { item }: { item?: Item } = await client.getItem({ tableName: 'users', key: { id: 'ann' } });
  const value: Value | undefined = item?.['visits'];
  // @ts-expect-error: an item has a key
  await client.getItem({ tableName: 'users' });
  // @ts-expect-error: no such value
  await client.putItem({ tableName: 'users', item: {}, returnValues: 'OLD' });
  const names: string[] = (await client.listTables()).tableNames;
  const sequence: bigint = (await client.putItem({ tableName: 'users', item: { id: 'b' } })).changeSequence;
  void [total, value, names, sequence];
}
