// Requests that restore a table, from a backup or from a moment of the past.

import { keysOf, projectionText } from './table_model.mjs';

// The indexes of a backup's or a table's description: {name, kind: 'global' | 'local', definition}. `features`: the
// SourceTableFeatureDetails of a backup, or a table.
export function indexesOf(features) {
  const list = (members, kind) => (members ?? []).map((each) => ({
    name: each.IndexName, kind,
    definition: { IndexName: each.IndexName, KeySchema: each.KeySchema, Projection: each.Projection },
    units: each.ProvisionedThroughput,
  }));
  return [...list(features.GlobalSecondaryIndexes, 'global'), ...list(features.LocalSecondaryIndexes, 'local')];
}

export const indexLabel = ({ name, kind, definition }) =>
  `${name}: ${kind}, by ${keysOf(definition.KeySchema, {}).map((key) => key.name).join(', ')}, `
  + projectionText(definition.Projection);

// The members of a restore that choose indexes. `chosen`: Set of names. Without a choice, all come.
function overridesOf(indexes, chosen, isProvisioned) {
  if (indexes.every(({ name }) => chosen.has(name))) return {};
  const of = (kind) => indexes.filter((each) => each.kind === kind && chosen.has(each.name)).map((each) => ({
    ...each.definition,
    ...(kind === 'global' && isProvisioned ? { ProvisionedThroughput: {
      ReadCapacityUnits: each.units?.ReadCapacityUnits || 1, WriteCapacityUnits: each.units?.WriteCapacityUnits || 1,
    } } : {}),
  }));
  return { GlobalSecondaryIndexOverride: of('global'), LocalSecondaryIndexOverride: of('local') };
}

const nameOf = (target) => {
  const name = target.trim();
  if (!/^[a-zA-Z0-9_.-]{3,255}$/.test(name)) {
    throw Object.assign(new Error('3 to 255 letters, digits, dots, hyphens and underscores.'), { field: 'target' });
  }
  return name;
};

// `choice`: {target, chosen: Set}.
export function backupRestore(arn, indexes, isProvisioned, choice) {
  return {
    TargetTableName: nameOf(choice.target), BackupArn: arn, ...overridesOf(indexes, choice.chosen, isProvisioned),
  };
}

// `choice`: {target, chosen, isLatest, time: text of the browser's field for local times}.
export function momentRestore(source, indexes, isProvisioned, choice) {
  const request = { SourceTableName: source, TargetTableName: nameOf(choice.target) };
  if (choice.isLatest) {
    request.UseLatestRestorableTime = true;
  } else {
    const time = Date.parse(choice.time) / 1000;
    if (Number.isNaN(time)) throw Object.assign(new Error('Give a date and a time.'), { field: 'time' });
    request.RestoreDateTime = time;
  }
  return { ...request, ...overridesOf(indexes, choice.chosen, isProvisioned) };
}

// The field of the form that an error of the daemon is about: 'target', 'time', or null.
export function restoreField(error) {
  if (error === null) return null;
  if (error.field !== undefined) return error.field;
  if (error.name === 'TableAlreadyExistsException' || /targettablename/i.test(error.message)) return 'target';
  return error.name === 'InvalidRestoreTimeException' ? 'time' : null;
}

// A moment as the browser's field for local times has it: "2026-11-30T13:05:00".
export function localText(seconds) {
  const date = new Date(seconds * 1000);
  const two = (number) => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
    + `T${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
