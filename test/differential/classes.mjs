/** Groups differences into classes: the same change of the same field or message, whatever the values. */

const MAX_PARTS = 3;
const MAX_TEMPLATE = 160;
const CONTEXT = 24;

/** A class of a difference in one step: what differs, without names, numbers and positions. */
export function classOf({ index, found }, { expected, actual }) {
  const [left, right] = [expected[index], actual[index]];
  if (left.status !== right.status) {
    return `status ${left.status} instead of ${right.status}: ${template(messageOf(left))} | ${template(messageOf(right))}`;
  }
  const causes = [left, right].map(({ body }) => body?.details?.causes?.map(causeTemplate));
  if (causes[0] !== undefined && causes[1] !== undefined) {
    const [missing, extra] = [minus(causes[0], causes[1]), minus(causes[1], causes[0])];
    if (missing.length + extra.length > 0) return `causes: ${missing[0] ?? 'none'} instead of ${extra[0] ?? 'none'}`;
  }
  const reported = found.some(({ path }) => path.includes('.causes.'))
    ? found.filter(({ path }) => path !== '.body.message')
    : found;
  const parts = reported.map(({ path, expected: a, actual: b }) => `${pathTemplate(path)}: ${difference(a, b)}`);
  return [...new Set(parts)].sort().slice(0, MAX_PARTS).join('; ');
}

/** The resource, subresource and verb of a step: `PATCH apps/v1 deployments/scale`. */
export function requestKind({ method, path, headers }) {
  const type = headers?.['content-type']?.match(/(json|merge|strategic-merge|apply)-patch/)?.[1];
  const [, prefix, rest] = path.match(/^\/(api\/v1|apis\/[^/]+\/[^/]+)\/?(.*)$/) ?? [undefined, path, ''];
  const [resource = '', , subresource = ''] = rest.replace(/^namespaces\/[^/]+\/(?=.)/, '').split('/');
  return `${type ?? method} ${prefix.replace(/^apis?\//, '')} ${resource}${subresource && `/${subresource}`}`;
}

function causeTemplate({ reason, field, message }) {
  return `${reason} ${template(field).replace(/\[[^\]]*\]/g, '[]')} ${template(message)}`;
}

function minus(all, some) {
  const rest = [...some];
  return all.filter((item) => {
    const at = rest.indexOf(item);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}

function messageOf({ body }) {
  return body?.kind === 'Status' ? (body.message ?? '') : `${body?.kind ?? 'no object'}`;
}

function pathTemplate(path) {
  return path
    .replace(/\.\d+(?=\.|$)/g, '[]')
    .replace(/\.[kv]:.*?(?=\.f:|$)/g, '.k:…')
    .slice(0, MAX_TEMPLATE);
}

/** What differs between two values: for texts the words around the first difference. */
function difference(expected, actual) {
  if (typeof expected !== 'string' || typeof actual !== 'string') {
    return `${valueTemplate(expected)} instead of ${valueTemplate(actual)}`;
  }
  let at = 0;
  while (at < expected.length && expected[at] === actual[at]) at++;
  const start = Math.max(0, at - CONTEXT);
  const [left, right] = [expected, actual].map((text) => template(text.slice(start, at + CONTEXT)));
  return `${left} instead of ${right}`;
}

function valueTemplate(value) {
  if (value === undefined) return 'nothing';
  if (value !== null && typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return template(JSON.stringify(value));
}

function template(text = '') {
  const words = String(text).replace(/\\?"(?:[^"\\]|\\.)*?\\?"/g, '"…"');
  return words.replace(/\d+/g, '0').slice(0, MAX_TEMPLATE);
}
