/** Generates scenarios, in the form of recordings: one after another from all areas. */
import { deleteScenario } from './area-delete.mjs';
import { httpScenario } from './area-http.mjs';
import { collectionScenario, versionsScenario } from './area-objects.mjs';
import { kindScenario, writeScenario } from './area-writes.mjs';
import { isMap, mutator, pathSegment } from './values.mjs';

/** How often an area is used. */
const SHARES = { kinds: 8, writes: 8, http: 3, custom: 6, delete: 2, lists: 2, versions: 2 };
/** Kinds that change how the server handles requests to others. */
const EXCLUSIVE = ['PriorityClass', 'StorageClass', 'IngressClass', 'ClusterTrustBundle'];
/** Kinds whose objects cannot be removed, or that the server itself changes at any time. They are never stored. */
const DRY_RUN_ONLY = [
  'ServiceCIDR',
  'IPAddress',
  'CustomResourceDefinition',
  'APIService',
  'FlowSchema',
  'PriorityLevelConfiguration',
];

/** Returns a function that generates the next scenario. */
export function generators({ random, areas, builtIn, custom, dictionary }) {
  const makers = {
    kinds: () => kindScenario(toolsFor(random.pick(builtIn))),
    writes: () => writeScenario(toolsFor(random.pick(builtIn))),
    http: () => httpScenario(toolsFor(random.pick([...builtIn, ...custom]))),
    custom: () => random.pick([kindScenario, writeScenario])(toolsFor(random.pick(custom))),
    delete: () => deleteScenario(toolsFor(random.pick([...builtIn, ...custom]))),
    lists: () => collectionScenario(toolsFor(random.pick([...builtIn, ...custom]))),
    versions: () => {
      const [kind, ...others] = random.pick(inVersions);
      return versionsScenario(toolsFor(kind), others.map(toolsFor));
    },
  };
  const inVersions = kindsInVersions([...builtIn, ...custom]);
  const toolsFor = (kind) => ({ kind, ...toolsOf(random, kind, dictionary) });
  const shares = areas.map((area) => [SHARES[area], area]);
  return () => {
    const scenario = makers[random.weighted(shares)]();
    return { ...scenario, steps: scenario.steps.map(harmless) };
  };
}

/** Kinds that are served in several versions: lists of them, each version once at the front. */
function kindsInVersions(kinds) {
  const groupOf = ({ apiVersion }) => apiVersion.replace(/\/?[^/]*$/, '');
  const others = (kind) =>
    kinds.filter((each) => each !== kind && each.plural === kind.plural && groupOf(each) === groupOf(kind));
  return kinds.map((kind) => [kind, ...others(kind)]).filter(({ length }) => length > 1);
}

/** What all generators use: requests and bodies of one kind. */
function toolsOf(random, kind, dictionary) {
  const mutate = mutator(random, kind.resolve, dictionary);
  const isDryRunOnly = DRY_RUN_ONLY.includes(kind.kind);
  const collection = kind.namespaced ? `${kind.path}/namespaces/{ns}/${kind.plural}` : `${kind.path}/${kind.plural}`;
  const sample = () => {
    const body = structuredClone(random.pick(kind.samples));
    if (!kind.namespaced) body.metadata.name = clusterName(kind, body.metadata.name);
    return body;
  };
  const mutated = (times, body = sample()) => {
    for (let left = times; left > 0; left--) mutate(body, kind.schema);
    return body;
  };
  const request = (method, path, rest) => {
    const query = isDryRunOnly && method !== 'GET' ? { dryRun: 'All', ...rest?.query } : rest?.query;
    return { method, path, ...rest, ...(query === undefined ? {} : { query }) };
  };
  /** Removes an object of a cluster-scoped kind, whatever its finalizers. */
  const cleanup = (name) => {
    // Ports of nodes are shared by all Services. Without a name the path is that of the collection.
    if ((kind.namespaced && kind.kind !== 'Service') || name === '') return [];
    const path = `${collection}/${pathSegment(name)}`;
    const headers = { 'content-type': 'application/merge-patch+json' };
    return [
      { method: 'PATCH', path, headers, body: { metadata: { finalizers: null } } },
      { method: 'DELETE', path, body: { gracePeriodSeconds: 0 } },
    ];
  };
  const scenario = (name, steps) => ({
    name: `${kind.kind} ${name}`,
    isExclusive: EXCLUSIVE.includes(kind.kind) || kind.apiVersion.startsWith('admissionregistration'),
    steps,
    cleanup: cleanup(
      steps.find(({ method, body }) => method === 'POST' && isMap(body?.metadata))?.body.metadata.name ??
        clusterName(kind, 'a'),
    ),
  });
  return { random, mutate, sample, mutated, collection, request, scenario };
}

/** A name that no other scenario uses. Names of some kinds have a form. */
function clusterName(kind, name) {
  if (kind.kind === 'APIService' || kind.kind === 'CustomResourceDefinition' || kind.kind === 'IPAddress') return name;
  if (kind.kind === 'ClusterTrustBundle' && name.includes(':')) return name.replace(/[^:]*$/, '{ns}');
  return kind.kind === 'StorageVersion' ? '{ns}.a' : '{ns}';
}

/** The rules of webhooks and policies match no request, so that no other scenario meets them. */
function harmless(step) {
  if (!step.path.includes('admissionregistration')) return step;
  const visit = (value, key) => {
    if (Array.isArray(value)) return key === 'apiGroups' ? ['none.example.com'] : value.map((item) => visit(item, key));
    if (!isMap(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, visit(inner, name)]));
  };
  return { ...step, body: visit(step.body) };
}
