/** Sends the requests of a scenario and reads the responses, watches included. */

const USERS = ['admin', 'alice', 'bob', 'carol'];
/** A response that takes longer counts as missing. */
const RESPONSE_TIMEOUT_MS = 10_000;
/** How long a watch stays open for further events after those of the recording. */
const FURTHER_EVENTS_MS = 100;
/** The part of a body that is not JSON which recordings keep. */
const MAX_TEXT = 4000;

/**
 * Sends one step. A watch ends early when it has as many events as the recording, because recordings of few events waited
 * for the whole timeout. `names` has the scenario's namespace as `ns` and the bodies of earlier responses by the
 * id of their step.
 */
export async function sendStep(send, step, names, recorded) {
  const request = requestOf(step, names);
  let timer;
  const timeout = new Promise((resolve) => {
    timer = setTimeout(() => resolve(failure(-2, 'no response in time')), RESPONSE_TIMEOUT_MS);
  });
  const response =
    step.watch === undefined ? exchange(send, request) : watch(send, request, step.watch, recorded?.body.length);
  try {
    return await Promise.race([response, timeout]);
  } catch (error) {
    return failure(-1, String(error));
  } finally {
    clearTimeout(timer);
  }
}

/** The headers that identify a user. */
export function credentialsOf(user = 'admin') {
  return USERS.includes(user) ? { authorization: `Bearer ${user}-token` } : {};
}

function failure(status, error) {
  return { status, body: { error } };
}

function requestOf(step, names) {
  const headers = new Headers({ accept: 'application/json', 'user-agent': 'oracle', ...credentialsOf(step.as) });
  for (const [name, value] of Object.entries(fillIn(step.headers ?? {}, names))) headers.set(name, value);
  const body = fillIn(step.rawBody, names) ?? JSON.stringify(fillIn(step.body, names));
  if (body !== undefined && !headers.get('content-type')) headers.set('content-type', 'application/json');
  const query = new URLSearchParams();
  for (const [name, values] of Object.entries(fillIn(step.query ?? {}, names))) {
    for (const value of [values].flat()) query.append(name, value);
  }
  const search = query.size === 0 ? '' : `?${query}`;
  return { path: `${fillIn(step.path, names)}${search}`, method: step.method, headers, body };
}

/** Replaces `{ns}` and `${id.path}` in every text of the value, keys included. */
function fillIn(value, names) {
  if (typeof value === 'string') {
    const reference = /\$\{([\w-]+)\.([^}]+)\}/g;
    return value.replace(reference, (_, id, path) => valueAt(names[id], path)).replaceAll('{ns}', names.ns);
  }
  if (Array.isArray(value)) return value.map((item) => fillIn(item, names));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [fillIn(key, names), fillIn(inner, names)]));
}

function valueAt(body, path) {
  const value = path.split('.').reduce((inner, key) => inner?.[key], body);
  if (value === undefined) return '<undefined>';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

async function exchange(send, { path, ...init }) {
  const response = await send(path, init);
  const warning = response.headers.get('warning') ?? undefined;
  return { ...headOf(response), warning, body: bodyOf(await response.text()) };
}

async function watch(send, { path, headers }, { events: wanted = 1, timeoutMs = 1500 }, recorded = wanted) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeoutMs);
  try {
    const response = await send(path, { method: 'GET', headers, signal: abort.signal });
    if (response.status !== 200) return { ...headOf(response), body: bodyOf(await response.text()) };
    const endSoon = () => setTimeout(() => abort.abort(), FURTHER_EVENTS_MS);
    const events = [];
    if (recorded === 0) endSoon();
    try {
      for await (const event of eventsOf(response)) {
        events.push(event);
        if (events.length === recorded) endSoon();
        if (events.length >= Math.max(wanted, recorded)) break;
      }
    } catch (error) {
      if (!abort.signal.aborted) throw error;
    }
    return { ...headOf(response), body: events };
  } catch (error) {
    return failure(0, error.name);
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

async function* eventsOf(response) {
  let rest = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop();
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line);
  }
}

function headOf({ status, headers }) {
  const [contentType] = (headers.get('content-type') ?? '').split(';');
  return { status, contentType };
}

function bodyOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { text: text.slice(0, MAX_TEXT) };
  }
}
