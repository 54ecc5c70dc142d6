/**
 * Compares the versions of objects that two servers stored. Names, uids, times and addresses that differ between runs are
 * replaced first. Objects whose names differ only in generated parts are compared as a set.
 *
 * How often a controller writes a status is a matter of timing. So versions are not paired. Each field has a history: the
 * values it had, without repetitions. Histories are equal, or at least their ends where the value is a number in a status.
 * The writers of an object have a history too.
 */
const UID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
/** Addresses of pods in the scenarios. Which of several equal pods is deleted is random. */
const POD_ADDRESS = /\b10\.[19]\.0\.\d+\b/g;
const GENERATED_LENGTH = 5;
/** Names of objects that were rejected occur only in messages. */
const GENERATED_IN_TEXT = /-[bcdfghjklmnpqrstvwxz2456789]{5}(?=")/g;
/** Fields that differ in every run. */
const VOLATILE = ['resourceVersion', 'time', 'clusterIP', 'clusterIPs', 'nodePort', 'healthCheckNodePort'];
/** Keys that identify an item of a list. */
const KEYS = ['type', 'name', 'uid', 'ip', 'conditionType'];

/** The differences of two runs of a scenario, and the number of objects on the first side. */
export function compareStreams(expected, actual, ns) {
  const sides = [expected, actual].map(({ events }) => objectsOf(events, ns));
  const differences = [];
  const add = (title, key, a, b) => differences.push({ title, key, expected: text(a), actual: text(b) });
  if (text(expected.codes) !== text(actual.codes)) add('status codes', ns, expected.codes, actual.codes);
  for (const key of new Set(sides.flatMap((side) => [...side.objects.keys()]))) {
    compareSets(key, ...sides.map((side) => side.objects.get(key) ?? []), add);
  }
  for (const owner of new Set(sides.flatMap((side) => [...side.children.keys()]))) {
    const [a, b] = sides.map((side) => inGroups(owner, side.children.get(owner) ?? []));
    if (text(a) !== text(b) && text(a.toSorted()) === text(b.toSorted()))
      add(`order: children of ${kindOf(owner)}`, owner, a, b);
  }
  for (const about of new Set(sides.flatMap((side) => [...side.reports.keys()]))) {
    const [a, b] = sides.map((side) => side.reports.get(about) ?? []);
    if (text(a) !== text(b) && text(a.toSorted()) === text(b.toSorted()))
      add(`order: events about ${kindOf(about)}`, about, a, b);
  }
  return { differences, objects: [...sides[0].objects.values()].reduce((sum, set) => sum + set.length, 0) };
}

function kindOf(key) {
  return key.split('/')[0];
}

/** Objects by kind and name, the children of each owner in the order of creation and deletion, and events by object. */
function objectsOf(events, ns) {
  const normalized = normalizer(events, ns);
  const byUid = new Map();
  const [children, reports] = [new Map(), new Map()];
  // What is left of a deleted owner is deleted in any order.
  const deleted = new Set();
  const ordered = events.toSorted((a, b) => a.object.metadata.resourceVersion - b.object.metadata.resourceVersion);
  for (const { type, object } of ordered) {
    const value = normalized(object);
    const key = keyOf(value);
    const one = byUid.get(object.metadata.uid) ?? { key, versions: [] };
    byUid.set(object.metadata.uid, one);
    one.versions.push({ type, value });
    if (type === 'DELETED' || value.metadata.deletionTimestamp !== undefined) deleted.add(key);
    for (const owner of type === 'MODIFIED' ? [] : (value.metadata.ownerReferences ?? [])) {
      if (!deleted.has(`${owner.kind}/${owner.name}`)) push(children, `${owner.kind}/${owner.name}`, `${type} ${key}`);
    }
    if (value.kind === 'Event' && type === 'ADDED') push(reports, aboutOf(value), value.reason);
  }
  const objects = new Map();
  for (const { key, versions } of byUid.values()) push(objects, key, profileOf(versions));
  return { objects, children, reports };
}

/** Only a StatefulSet has an order; other owners create and delete several children at the same time. */
function inGroups(owner, changes) {
  if (kindOf(owner) === 'StatefulSet') return changes;
  const groups = [];
  for (const change of changes) {
    const [type] = change.split(' ');
    if (groups.at(-1)?.[0].startsWith(type)) groups.at(-1).push(change);
    else groups.push([change]);
  }
  return groups.flatMap((group) => group.sort());
}

function push(map, key, item) {
  map.set(key, [...(map.get(key) ?? []), item]);
}

function aboutOf({ involvedObject: { kind, name } }) {
  return `${kind}/${name}`;
}

function keyOf(value) {
  if (value.kind !== 'Event') return `${value.kind}/${value.metadata.name}`;
  return `Event/${aboutOf(value)}/${value.reason}: ${value.message}`;
}

function normalizer(events, ns) {
  const replaced = new Map([[ns, '{ns}']]);
  for (const { object } of events) {
    const { name, generateName } = object.metadata;
    if (generateName !== undefined) replaced.set(name, `${name.slice(0, -GENERATED_LENGTH)}*`);
    if (object.kind === 'Event') replaced.set(name, `${object.involvedObject.name}.*`);
    for (const address of object.kind === 'Service' ? (object.spec.clusterIPs ?? []) : []) {
      if (address !== 'None') replaced.set(address, '<address>');
    }
  }
  const longestFirst = [...replaced].sort(([a], [b]) => b.length - a.length);
  const normalizeText = (value) => {
    let result = value;
    for (const [name, mark] of longestFirst) if (result.includes(name)) result = result.replaceAll(name, mark);
    return result
      .replace(UID, '<uid>')
      .replace(TIME, '<time>')
      .replace(GENERATED_IN_TEXT, '-*')
      .replace(POD_ADDRESS, '<pod>');
  };
  const normalize = (value, isData) => {
    if (typeof value === 'string') return isData ? '<data>' : normalizeText(value);
    if (Array.isArray(value)) return value.map((item) => normalize(item, isData));
    if (value === null || typeof value !== 'object') return value;
    const isSecret = value.kind === 'Secret' || value.metadata?.name === 'kube-root-ca.crt';
    const entries = Object.entries(value).filter(([key]) => !VOLATILE.includes(key));
    return Object.fromEntries(
      entries.map(([key, inner]) => [normalizeText(key), normalize(inner, isData || (isSecret && key === 'data'))]),
    );
  };
  return (object) => normalize(object, false);
}

/** The histories of an object: of its writers and of each field. */
function profileOf(versions) {
  const fields = new Map();
  const writers = [];
  let previous = {};
  for (const { type, value } of versions) {
    const { managedFields = [], ...metadata } = value.metadata;
    const entries = entriesOf(managedFields);
    const writer = Object.keys(entries).filter((key) => entries[key] !== previous[key]);
    previous = entries;
    const event = type === 'DELETED' ? type : writer.length === 0 ? undefined : `${type} ${writer.join(' + ')}`;
    if (event !== undefined && event !== writers.at(-1)) writers.push(event);
    const leaves = new Map();
    collectLeaves({ ...value, metadata }, '', leaves);
    for (const [key, entry] of Object.entries(entries)) leaves.set(`.managedFields ${key}`, entry);
    for (const path of new Set([...fields.keys(), ...leaves.keys()])) {
      const history = fields.get(path) ?? (versions[0].value === value ? [] : [undefined]);
      const now = leaves.get(path);
      if (history.length === 0 || history.at(-1) !== now) history.push(now);
      fields.set(path, history);
    }
  }
  return { writers, fields: Object.fromEntries([...fields].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

function entriesOf(managedFields) {
  return Object.fromEntries(
    managedFields.map(({ manager, operation, subresource = '', apiVersion, fieldsV1 }) => {
      const leaves = new Map();
      collectLeaves(fieldsV1, '', leaves);
      return [`${manager} ${operation} ${subresource}`, `${apiVersion} ${[...leaves.keys()].sort().join(' ')}`];
    }),
  );
}

function collectLeaves(value, path, leaves) {
  if (value === null || typeof value !== 'object' || Object.keys(value).length === 0) {
    leaves.set(path, typeof value === 'object' ? text(value) : value);
    return;
  }
  for (const [key, inner] of Object.entries(value)) {
    const name = Array.isArray(value)
      ? (KEYS.map((each) => inner?.[each]).find((each) => each !== undefined) ?? key)
      : key;
    collectLeaves(inner, `${path}.${name}`, leaves);
  }
}

/** Pairs objects with equal histories, then each other one with the nearest. */
function compareSets(key, expected, actual, add) {
  const kind = key.startsWith('Event/') ? `Event of ${key.split('/')[1]}` : kindOf(key);
  const left = [];
  const right = [...actual];
  for (const profile of expected) {
    const at = right.findIndex((other) => compareProfiles(profile, other).length === 0);
    if (at < 0) left.push(profile);
    else right.splice(at, 1);
  }
  if (expected.length !== actual.length) {
    const reason = kind.startsWith('Event') ? ` ${key.split('/')[3].split(':')[0]}` : '';
    add(`number of objects: ${kind}${reason}`, key, expected.length, actual.length);
  }
  for (const profile of left) {
    const candidates = right.map((other) => ({ other, found: compareProfiles(profile, other) }));
    const [nearest] = candidates.sort((a, b) => a.found.length - b.found.length);
    if (nearest === undefined) break;
    right.splice(right.indexOf(nearest.other), 1);
    for (const { path, a, b } of nearest.found) add(`${kind} ${path}`, key, a, b);
  }
}

function compareProfiles(expected, actual) {
  const result = [];
  if (text(expected.writers) !== text(actual.writers))
    result.push({ path: 'writers', a: expected.writers, b: actual.writers });
  for (const path of new Set([...Object.keys(expected.fields), ...Object.keys(actual.fields)])) {
    const [a, b] = [expected.fields[path] ?? [], actual.fields[path] ?? []];
    if (text(a) === text(b)) continue;
    const isCount = [...a, ...b].every((value) => ['number', 'undefined'].includes(typeof value));
    const onlyEnd =
      path.startsWith('.managedFields') || path.startsWith('.status.used') || (path.startsWith('.status') && isCount);
    if (onlyEnd && a.at(-1) === b.at(-1)) continue;
    result.push(onlyEnd ? { path, ...apart(a.at(-1), b.at(-1)) } : { path, a, b });
  }
  return result;
}

/** The words of managed fields that only one of them has; other values as they are. */
function apart(a, b) {
  if (typeof a !== 'string' || typeof b !== 'string') return { a, b };
  const [left, right] = [a.split(' '), b.split(' ')];
  return { a: left.filter((word) => !right.includes(word)), b: right.filter((word) => !left.includes(word)) };
}

function text(value) {
  return JSON.stringify(value, (_, inner) => (inner === undefined ? '<absent>' : inner));
}
