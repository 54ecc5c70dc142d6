/**
 * Server-side apply and ownership, compared with a loop that merges the same configuration into a plain object without
 * types, owners and validation.
 */
import { createCluster } from '../../dist/index.js';
import { ConfigMap, Deployment, Pod } from '../../dist/kinds/index.js';
import { deploymentInput as deployment } from './fixtures.mjs';
import { compare, verify } from './measure.mjs';

const CONTAINERS = 20;
const MANAGERS = 10;

export async function applies({ scale, ...settings }) {
  const count = Math.ceil(3_000 * scale);
  const pods = Math.ceil(500 * scale);
  const rows = [];
  const add = async (name, goal, contenders) => {
    rows.push({ name, unit: 'ops/s', goal, ...(await compare(contenders, settings)) });
  };
  await add('apply a Deployment: create', undefined, created(count));
  await add('apply a Deployment: change', 10_000, changed(count, { kind: Deployment, input: deployment }));
  await add('apply a Deployment: no change', undefined, unchanged(count));
  await add(`apply a Pod of ${CONTAINERS} containers: change`, undefined, changed(pods, { kind: Pod, input: pod }));
  await add(`apply with ${MANAGERS} managers: change`, undefined, contested(count));
  await add('update (PUT) a Deployment, owned', undefined, updated(count));
  return rows;
}

function pod(name, revision) {
  const containers = Array.from({ length: CONTAINERS }, (_, index) => ({
    name: `c${index}`,
    image: 'registry.example.com/web:1',
    ports: [{ containerPort: 8000 + index }],
    env: [{ name: 'LEVEL', value: 'info' }],
  }));
  return { metadata: { name, labels: { revision: `r${revision}` } }, spec: { containers } };
}

function as(cluster, fieldManager, kind) {
  return cluster.with({ fieldManager }).api(kind);
}

/** Checks that every write has its own resourceVersion. */
function verifyWrites({ cluster, before }, count) {
  const writes = Number(cluster.resourceVersion) - Number(before);
  verify(writes === count, `${count} writes make ${count} versions, not ${writes}`);
}

async function cluster(kind, prepare) {
  const made = createCluster();
  const api = as(made, 'ci', kind);
  await prepare?.(api, made);
  return { cluster: made, api, before: made.resourceVersion };
}

function bareApplies(count, input, name) {
  return {
    count,
    prepare: () => new Map(),
    run(map) {
      for (let i = 0; i < count; i++) {
        const key = name(i);
        const over = input(key, i);
        map.set(key, lay(map.get(key), over));
      }
    },
    check: (map) =>
      verify(map.get(name(count - 1)).metadata.labels.revision === `r${count - 1}`, 'the last one is there'),
  };
}

/** Merges maps deeply into a copy; lists are replaced. */
function lay(under, over) {
  if (typeof over !== 'object' || over === null || Array.isArray(over)) return structuredClone(over);
  const out = { ...under };
  for (const key of Object.keys(over)) out[key] = lay(out[key], over[key]);
  return out;
}

function created(count) {
  const inputs = Array.from({ length: count }, (_, index) => deployment(`web-${index}`, index));
  return {
    ours: {
      count,
      prepare: () => cluster(Deployment),
      async run({ api }) {
        for (const input of inputs) await api.apply(input);
      },
      check: (state) => verifyWrites(state, count),
    },
    bare: bareApplies(count, deployment, (index) => `web-${index}`),
  };
}

function changed(count, { kind, input }) {
  return {
    ours: {
      count,
      prepare: () => cluster(kind, (api) => api.apply(input('web', 'first'))),
      async run({ api }) {
        for (let i = 0; i < count; i++) await api.apply(input('web', i));
      },
      check: (state) => verifyWrites(state, count),
    },
    bare: bareApplies(count, input, () => 'web'),
  };
}

function unchanged(count) {
  return {
    ours: {
      count,
      prepare: () => cluster(Deployment, (api) => api.apply(deployment('web', 0))),
      async run({ api }) {
        for (let i = 0; i < count; i++) await api.apply(deployment('web', 0));
      },
      check: (state) => verifyWrites(state, 0),
    },
    bare: {
      ...bareApplies(
        count,
        (key) => deployment(key, 0),
        () => 'web',
      ),
      check: (map) => verify(map.size === 1, 'one object'),
    },
  };
}

function contested(count) {
  const part = (index, value) => ({ metadata: { name: 'shared' }, data: { [`key-${index}`]: value } });
  return {
    ours: {
      count,
      prepare: () =>
        cluster(ConfigMap, async (_api, made) => {
          for (let i = 0; i < MANAGERS; i++) await as(made, `manager-${i}`, ConfigMap).apply(part(i, 'first'));
        }),
      async run({ cluster: made }) {
        const api = as(made, 'manager-0', ConfigMap);
        for (let i = 0; i < count; i++) await api.apply(part(0, `v${i}`));
      },
      async check(state) {
        verifyWrites(state, count);
        const { metadata, data } = await state.api.get('shared');
        verify(
          metadata.managedFields.length === MANAGERS && Object.keys(data).length === MANAGERS,
          'each manager owns its part',
        );
      },
    },
    bare: {
      count,
      prepare: () => new Map(),
      run(map) {
        for (let i = 0; i < count; i++) map.set('shared', lay(map.get('shared'), part(0, `v${i}`)));
      },
      check: (map) => verify(map.size === 1, 'one object'),
    },
  };
}

function updated(count) {
  return {
    ours: {
      count,
      prepare: () => cluster(Deployment, (api) => api.create(deployment('web', 'first'))),
      async run({ api }) {
        for (let i = 0; i < count; i++) await api.update(deployment('web', i));
      },
      check: (state) => verifyWrites(state, count),
    },
    bare: bareApplies(count, deployment, () => 'web'),
  };
}
