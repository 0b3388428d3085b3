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

// Returns the answer of an operation. `signer`: another one than the session's. Throws ApiError.
export async function call(operation, members, options = {}) {
  const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `DynamoDB_20120810.${operation}` };
  const answer = await send('POST', '/', headers, JSON.stringify(members), options);
  if (!answer.ok) throw await refusal(answer);
  return parseAnswer(await answer.text());
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
