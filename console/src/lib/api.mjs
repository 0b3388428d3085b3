// Calls of the daemon's operations.

import { daemonTime, noteDown, session, signOut } from './session.mjs';

const UNKNOWN_KEY = ['UnrecognizedClientException', 'InvalidSignatureException', 'MissingAuthenticationTokenException',
  'MissingAuthenticationToken', 'IncompleteSignatureException'];

// A refusal of the daemon, or no answer at all (name 'NoAnswer').
export class ApiError extends Error {
  constructor({ name, message, requestId = '', document = {} }) {
    super(message);
    this.name = name;
    this.requestId = requestId;
    this.document = document;
  }
}

async function send(method, path, headers, body, { signal, signer = session.value.signer }) {
  const signed = signer === null
    ? {}
    : await signer.sign({ method, path, host: location.host, headers, body, now: daemonTime() });
  try {
    return await fetch(path, {
      method, signal, cache: 'no-store', credentials: 'omit', headers: { ...headers, ...signed },
      ...(method === 'POST' ? { body } : {}),
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    noteDown();
    throw new ApiError({ name: 'NoAnswer', message: 'The daemon does not answer.' });
  }
}

// Attributes may be called toString, so objects inherit nothing.
const withoutPrototype = (name, value) =>
  (value !== null && typeof value === 'object' && !Array.isArray(value) ? Object.setPrototypeOf(value, null) : value);
const parseAnswer = (text) => JSON.parse(text, withoutPrototype);

async function refusal(answer) {
  const text = await answer.text();
  let document = {};
  try {
    document = parseAnswer(text);
  } catch {
    // A text of a proxy, perhaps.
  }
  const name = String(document.__type ?? `HTTP ${answer.status}`).replace(/^.*#/, '');
  if (UNKNOWN_KEY.includes(name) && session.value.signer !== null) signOut();
  const message = document.message ?? document.Message ?? text.slice(0, 500);
  return new ApiError({ name, message, requestId: answer.headers.get('x-amzn-requestid') ?? '', document });
}

const STREAM_OPERATIONS = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'];

// Returns the answer of an operation. `signer`: another one than the session's. Throws ApiError.
export async function call(operation, members, options = {}) {
  const service = STREAM_OPERATIONS.includes(operation) ? 'DynamoDBStreams_20120810' : 'DynamoDB_20120810';
  const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `${service}.${operation}` };
  const answer = await send('POST', '/', headers, JSON.stringify(members), options);
  if (!answer.ok) throw await refusal(answer);
  const text = await answer.text();
  return text === '' ? {} : parseAnswer(text);
}

async function fetchText(path, options) {
  const answer = await send('GET', path, {}, '', options);
  if (!answer.ok) throw await refusal(answer);
  return answer.text();
}

// The text of the daemon's metrics. Throws ApiError.
export const fetchMetrics = (options = {}) => fetchText('/console/metrics', options);

// The requests that run, and the slow ones: {running, slow}, both {Requests, ...}. Throws ApiError.
export const fetchRequests = async (options = {}) => JSON.parse(await fetchText('/console/requests', options));

// The daemon's load of the last hour, as a list of samples (metrics.mjs). Throws ApiError.
export const fetchHistory = async (options = {}) => JSON.parse(await fetchText('/console/history', options));

const fetchJson = async (path, options) => parseAnswer(await fetchText(path, options));

// The operations that the user may do on a table: {Operations}. tableName '': those about no single table.
export const fetchRights = (tableName, options = {}) => fetchJson(`/console/rights/${tableName}`, options);

// The state of a table's indexes: {Indexes} as the command line has them.
export const fetchIndexes = (tableName, options = {}) => fetchJson(`/console/indexes/${tableName}`, options);

// A page of the items that an index leaves out: {Violations, ItemsRead, NextPosition}.
export function fetchViolations(tableName, indexName, position, options = {}) {
  const place = (position ?? '').replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return fetchJson(`/console/violations/${tableName}/${indexName}${place === '' ? '' : `/${place}`}`, options);
}

// The daemon's flags with their sources, and its place.
export const fetchSettings = (options = {}) => fetchJson('/console/settings', options);
