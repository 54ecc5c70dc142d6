/** Creations and updates of objects; sequences of patches and applies by several managers. */
import { isMap, pathSegment, placesOf, reference } from './values.mjs';

const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};
const MAX_WRITES = 8;

/** A creation of a changed object, and updates of it. */
export function kindScenario(tools) {
  const { random, mutated, collection, request, scenario } = tools;
  const body = mutated(random.pick([0, 1, 1, 1, 2, 3]));
  const name = nameOf(body);
  const steps = [request('POST', collection, { id: 'c', body, query: options(random) })];
  if (name === undefined) return scenario('create', steps);
  const path = `${collection}/${pathSegment(name)}`;
  const updates = random.pick([0, 1, 1, 2, 3]);
  for (let left = updates; left > 0; left--) {
    const changed = mutated(random.pick([0, 1, 1, 2]), structuredClone(random.chance(0.8) ? body : tools.sample()));
    if (isMap(changed.metadata)) {
      changed.metadata.name ??= name;
      if (random.chance(0.9)) changed.metadata.resourceVersion = reference('c.metadata.resourceVersion');
    }
    steps.push(request('PUT', `${path}${subresource(tools, 0.2)}`, { id: 'c', body: changed, query: options(random) }));
  }
  return scenario('create and update', steps);
}

/** Up to eight writes of all kinds to one object. */
export function writeScenario(tools) {
  const { random, sample, mutated, collection, request, scenario } = tools;
  const body = mutated(random.pick([0, 0, 1]));
  const name = nameOf(body) ?? (tools.kind.namespaced ? 'a' : '{ns}');
  const path = `${collection}/${pathSegment(name)}`;
  const isApplied = random.chance(0.4);
  const manager = { fieldManager: 'm1' };
  const steps = [
    isApplied
      ? request('PATCH', path, { body, query: manager, headers: { 'content-type': PATCH_TYPES.apply } })
      : request('POST', collection, { body, query: random.chance(0.5) ? manager : {} }),
  ];
  const type = () =>
    random.weighted([
      [3, 'json'],
      [4, 'merge'],
      [4, 'strategic'],
      [7, 'apply'],
      [2, 'put'],
    ]);
  const count = 1 + random.below(MAX_WRITES - 1);
  for (let left = count; left > 0; left--) {
    const from = structuredClone(random.chance(0.8) ? body : sample());
    if (isMap(from.metadata)) from.metadata.name = name;
    steps.push(write(tools, type(), path, from));
  }
  return scenario('writes', steps);
}

function write(tools, type, path, from) {
  const { random, request, kind, mutate } = tools;
  const target = `${path}${subresource(tools, 0.15)}`;
  const query = {
    ...options(random),
    ...(random.chance(0.8) ? { fieldManager: random.pick(['m1', 'm2', 'm3']) } : {}),
  };
  if (type === 'put') return request('PUT', target, { body: changedOften(tools, from), query });
  const headers = { 'content-type': PATCH_TYPES[type] };
  const body = {
    json: () => jsonPatch(tools, from),
    merge: () => mergePatch(tools, mutate(from, kind.schema)),
    strategic: () => strategicPatch(tools, mutate(from, kind.schema)),
    apply: () => {
      if (random.chance(0.5)) query.force = random.pick(['true', 'true', 'false']);
      return target.endsWith('/scale') ? scaleOf(random, from) : partOf(tools, changedOften(tools, from));
    },
  }[type]();
  return request('PATCH', target, { headers, body, query });
}

function scaleOf(random, { metadata }) {
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: metadata?.name },
    spec: { replicas: random.pick([0, 1, 2, 3, -1]) },
  };
}

function changedOften({ random, mutated }, body) {
  return mutated(random.pick([0, 1, 1, 2]), body);
}

/** The object without some of its optional fields, as a manager applies it that cares for a few fields only. */
function partOf({ random, kind }, body) {
  for (const { parent, key, path } of placesOf(body, kind.schema, kind.resolve)) {
    if (path.length > 1 && !['name', 'key', 'type'].includes(key) && isMap(parent) && random.chance(0.12))
      delete parent[key];
  }
  return body;
}

function jsonPatch({ random, kind, mutate }, from) {
  const operation = () => {
    const places = placesOf(from, kind.schema, kind.resolve).filter(({ path }) => path.length > 0);
    const other = pointer(random.pick(places).path);
    const { path, value } = mutate(structuredClone(from), kind.schema) ?? NO_CHANGE;
    const op =
      value === undefined
        ? 'remove'
        : random.weighted([
            [5, 'add'],
            [4, 'replace'],
            [1, 'test'],
            [1, 'copy'],
            [1, 'move'],
            [0.2, 'odd'],
          ]);
    const at = random.chance(0.1) ? `${pointer(path.slice(0, -1))}/-` : pointer(path);
    return {
      op,
      path: at,
      ...(op === 'copy' || op === 'move' ? { from: other } : {}),
      ...(op === 'remove' ? {} : { value }),
    };
  };
  const operations = Array.from({ length: random.pick([1, 1, 2]) }, operation);
  return random.chance(0.03) ? operations[0] : operations;
}

function pointer(path) {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** For objects without a field that could change. */
const NO_CHANGE = { path: ['metadata', 'labels', 'a'], value: 'b' };

/** A patch with the changed field only; lists are replaced as a whole. */
function mergePatch(_tools, { path, value } = NO_CHANGE) {
  return path.reduceRight((inner, key) => (typeof key === 'number' ? [inner] : { [key]: inner }), value ?? null);
}

function strategicPatch({ random }, { path, value } = NO_CHANGE) {
  const directive = (inner) => {
    if (!isMap(inner) || !random.chance(0.08)) return inner;
    return {
      ...inner,
      ...random.pick([
        { $patch: 'delete' },
        { $patch: 'replace' },
        { $retainKeys: Object.keys(inner) },
        { $patch: 'merge' },
        { $patch: 'odd' },
      ]),
    };
  };
  const item = (inner) =>
    isMap(inner) && random.chance(0.8) ? { name: random.pick(['a', 'b', 'c']), ...inner } : inner;
  return path.reduceRight(
    (inner, key) => (typeof key === 'number' ? [directive(item(inner))] : directive({ [key]: inner })),
    value ?? null,
  );
}

function nameOf(body) {
  const name = body.metadata?.name;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function subresource({ random, kind }, share) {
  const views = kind.subresources.filter((name) =>
    ['status', 'scale', 'approval', 'ephemeralcontainers', 'resize', 'finalize'].includes(name),
  );
  return views.length > 0 && random.chance(share) ? `/${random.pick(views)}` : '';
}

function options(random) {
  const query = {};
  if (random.chance(0.4)) query.fieldValidation = random.pick(['Ignore', 'Warn', 'Strict', 'Strict', 'Odd']);
  if (random.chance(0.1)) query.dryRun = random.pick(['All', 'All', 'Odd']);
  if (random.chance(0.02)) query.fieldManager = random.pick(['x'.repeat(129), 'a\u0001']);
  return query;
}
