/** Several objects of one kind: lists, pages, tables, watches with selectors, deletions of collections, other versions. */
import { isMap, pathSegment, placesOf, reference, WORDS } from './values.mjs';

const { accept: ACCEPT, listOptions: LIST } = WORDS;
const SELECTORS = ['a=b', 'a!=b', 'a', '!a', 'a in (b,c)', 'a notin (b)'];
const PATCH = { 'content-type': 'application/merge-patch+json' };

/** Creates some objects, and then reads and changes them as a collection. */
export function collectionScenario(tools) {
  const { random, sample, mutated, collection, request, scenario, kind } = tools;
  const names = ['a', 'b', 'c'].slice(0, 2 + random.below(2));
  const bodies = names.map((name) => {
    const body = mutated(random.pick([0, 0, 1]), sample());
    if (!isMap(body.metadata)) body.metadata = {};
    if (kind.namespaced) body.metadata.name = name;
    if (random.chance(0.6)) body.metadata.labels = { a: random.pick(['b', 'c']) };
    return body;
  });
  const steps = bodies.map((body) => request('POST', collection, { id: 'c', body }));
  const pathOf = (body) => `${collection}/${pathSegment(String(body.metadata.name))}`;
  const change = () => {
    const body = random.pick(bodies);
    const labels = { a: random.pick(['b', 'c', null]) };
    return request('PATCH', pathOf(body), { headers: PATCH, body: { metadata: { labels } } });
  };
  const actions = [
    [4, () => readList(tools, bodies)],
    [3, change],
    [1, () => request('DELETE', pathOf(random.pick(bodies)), {})],
    [1, () => (kind.namespaced ? removal(tools, bodies) : change())],
  ];
  for (let left = 2 + random.below(4); left > 0; left--) steps.push(random.weighted(actions)());
  return scenario('collection', [...steps, history(tools, bodies)]);
}

/** A field of one of the objects, or one that the kind may select. */
function fieldSelector({ random, kind }, bodies) {
  if (!kind.namespaced) return 'metadata.name={ns}';
  if (random.chance(0.5)) return random.pick(['metadata.name=a', 'metadata.name!=a', 'metadata.namespace={ns}']);
  const places = placesOf(random.pick(bodies), kind.schema, kind.resolve).filter(({ value }) => !isMap(value));
  const { path, value } = random.pick(places) ?? { path: ['type'], value: 'a' };
  return `${path.join('.')}${random.pick(['=', '==', '!='])}${String(value)}`;
}

function selection(tools, bodies, share) {
  const { random, kind } = tools;
  return {
    ...(random.chance(share) ? { labelSelector: random.pick(SELECTORS) } : {}),
    ...(random.chance(share) || !kind.namespaced ? { fieldSelector: fieldSelector(tools, bodies) } : {}),
  };
}

function readList(tools, bodies) {
  const { random, collection, request, kind } = tools;
  const query = selection(tools, bodies, 0.3);
  if (random.chance(0.4)) query.limit = random.pick(['1', '2']);
  if (random.chance(0.3)) query.continue = reference('l.metadata.continue');
  if (random.chance(0.1)) query.resourceVersion = random.pick(LIST.resourceVersion);
  const accept = random.chance(0.5) ? 'application/json' : random.pick(ACCEPT);
  const isPage = kind.namespaced && accept === 'application/json';
  return request('GET', collection, { ...(isPage ? { id: 'l' } : {}), headers: { accept }, query });
}

function removal(tools, bodies) {
  const { random, collection, request } = tools;
  const query = selection(tools, bodies, 0.4);
  if (random.chance(0.2)) query.dryRun = 'All';
  if (random.chance(0.2)) query.limit = '1';
  return request('DELETE', collection, { query });
}

/** A watch from the last creation, which has the changes since then. */
function history(tools, bodies) {
  const { random, collection, request } = tools;
  const query = {
    ...selection(tools, bodies, 0.4),
    watch: '1',
    timeoutSeconds: '1',
    resourceVersion: reference('c.metadata.resourceVersion'),
  };
  const accept = random.pick([
    'application/json',
    'application/json',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  ]);
  return request('GET', collection, { headers: { accept }, query, watch: { events: 20, timeoutMs: 700 } });
}

/** Writes one object in several versions of its kind; `others` are the kinds with the same group and plural. */
export function versionsScenario(tools, others) {
  const { random, mutated, request, scenario } = tools;
  const body = mutated(random.pick([0, 0, 1]));
  const name = typeof body.metadata?.name === 'string' ? body.metadata.name : 'a';
  const all = [tools, ...others];
  const steps = [request('POST', tools.collection, { id: 'c', body })];
  for (let left = 2 + random.below(5); left > 0; left--) {
    const other = random.pick(all);
    steps.push(writeInVersion(other, `${other.collection}/${pathSegment(name)}`, name));
  }
  const reads = all.map(({ collection }) => request('GET', `${collection}/${pathSegment(name)}`));
  return scenario('versions', [...steps, ...reads]);
}

function writeInVersion({ random, mutated, request, kind }, path, name) {
  const body = mutated(random.pick([0, 0, 1, 2]));
  if (!isMap(body.metadata)) body.metadata = {};
  body.metadata.name = name;
  const query = { fieldManager: random.pick(['m1', 'm2']) };
  const hasStatus = kind.subresources.includes('status') && random.chance(0.2);
  const target = hasStatus ? `${path}/status` : path;
  const [type] = [random.pick(['put', 'apply', 'apply', 'merge', 'merge', 'json'])];
  if (type === 'put') {
    if (random.chance(0.8)) body.metadata.resourceVersion = reference('c.metadata.resourceVersion');
    return request('PUT', target, { id: 'c', body, query });
  }
  if (type === 'apply') {
    if (random.chance(0.5)) query.force = 'true';
    return request('PATCH', target, { body, query, headers: { 'content-type': 'application/apply-patch+yaml' } });
  }
  if (type === 'merge') return request('PATCH', target, { body, query, headers: PATCH });
  const operation = { op: 'add', path: '/metadata/labels', value: { a: random.pick(['b', 'c']) } };
  return request('PATCH', target, {
    body: [operation],
    query,
    headers: { 'content-type': 'application/json-patch+json' },
  });
}
