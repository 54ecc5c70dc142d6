/** Paths, methods, query options, encodings and content types. */
import { pathSegment, WORDS } from './values.mjs';

const {
  accept: ACCEPT,
  contentTypes: CONTENT_TYPES,
  rawBodies: RAW_BODIES,
  listOptions: LIST,
  methods: METHODS,
} = WORDS;

export function httpScenario(tools) {
  const { random, sample, collection, request, scenario } = tools;
  const body = sample();
  if (random.chance(0.5)) body.metadata.labels = { a: 'b' };
  const path = `${collection}/${pathSegment(body.metadata.name)}`;
  const steps = [request('POST', collection, { id: 'c', body })];
  const count = 2 + random.below(4);
  for (let left = count; left > 0; left--) {
    steps.push(
      random.weighted([
        [6, () => readList(tools)],
        [
          3,
          () =>
            request('GET', `${path}${anySubresource(tools)}`, {
              headers: { accept: random.pick(ACCEPT) },
              query: choose(random, ['resourceVersion', 'pretty', 'includeObject'], 0.2),
            }),
        ],
        [3, () => oddWrite(tools, path)],
        [2, () => oddPath(tools, path)],
        [0.4, () => watch(tools)],
      ])(),
    );
  }
  return scenario('http', steps);
}

/** Lists of cluster-scoped kinds select the scenario's own object. */
function readList({ random, collection, request, kind }) {
  const query = choose(
    random,
    Object.keys(LIST).filter((name) => name !== 'sendInitialEvents'),
    0.15,
  );
  if (!kind.namespaced) query.fieldSelector = 'metadata.name={ns}';
  return request('GET', collection, { id: 'l', headers: { accept: random.pick(ACCEPT) }, query });
}

function watch({ random, collection, request, kind }) {
  const query = {
    ...choose(
      random,
      ['labelSelector', 'resourceVersion', 'allowWatchBookmarks', 'sendInitialEvents', 'resourceVersionMatch'],
      0.3,
    ),
    watch: '1',
    timeoutSeconds: '1',
  };
  query.fieldSelector = kind.namespaced ? 'metadata.namespace={ns}' : 'metadata.name={ns}';
  return request('GET', collection, { query, watch: { events: 20, timeoutMs: 1500 } });
}

function oddWrite({ random, collection, request, mutated }, path) {
  const isCreate = random.chance(0.5);
  const method = isCreate ? 'POST' : random.pick(['PUT', 'PATCH', 'DELETE']);
  const headers = { accept: random.pick(ACCEPT), 'content-type': random.pick(CONTENT_TYPES) };
  const content = random.chance(0.5) ? { rawBody: random.pick(RAW_BODIES) } : { body: mutated(1) };
  return request(method, isCreate ? collection : path, { headers, ...content, query: choose(random, ['pretty'], 0.1) });
}

function oddPath({ random, collection, request, kind }, path) {
  const paths = [
    `${path}/odd`,
    `${path}/status/odd`,
    `${collection}/`,
    `${path}/`,
    `${kind.path}/odd`,
    `${kind.path}`,
    `${kind.path}/`,
    `${collection}/missing`,
    `${collection}/A b`,
    `${kind.path}/watch/${kind.plural}x`,
    `//${collection}`,
    `${collection}/..`,
    `${kind.path}/namespaces/{ns}`,
    `${path}${anySubresource({ random, kind })}`,
  ];
  const target = random.pick(paths);
  const chosen = random.pick(METHODS);
  // A cluster-scoped collection holds objects of other scenarios and of the servers.
  const method = chosen === 'DELETE' && !kind.namespaced ? 'GET' : chosen;
  const isRead = method === 'GET' || method === 'HEAD';
  return request(method, target, {
    headers: { accept: random.pick(ACCEPT) },
    query: kind.namespaced ? {} : { fieldSelector: 'metadata.name={ns}' },
    ...(isRead || random.chance(0.5) ? {} : { rawBody: random.pick(RAW_BODIES) }),
  });
}

function anySubresource({ random, kind }) {
  const usable = kind.subresources.filter(
    (name) => !['proxy', 'exec', 'attach', 'portforward', 'log', 'token'].includes(name),
  );
  return usable.length > 0 && random.chance(0.3) ? `/${random.pick(usable)}` : '';
}

function choose(random, names, share) {
  return Object.fromEntries(names.filter(() => random.chance(share)).map((name) => [name, random.pick(LIST[name])]));
}
