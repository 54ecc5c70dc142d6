/**
 * Custom resources, compared with a loop that checks the same ten conditions in JavaScript on plain objects. The cost of
 * the rules is the difference between a kind with rules and the same kind without.
 */
import { createCluster } from '../../dist/index.js';
import { CustomResourceDefinition } from '../../dist/kinds/index.js';
import { compare, verify } from './measure.mjs';

const RULES = [
  'self.minReplicas <= self.maxReplicas',
  'self.replicas >= self.minReplicas && self.replicas <= self.maxReplicas',
  'self.image.startsWith("registry.example.com/")',
  'self.ports.all(p, p.port > 0 && p.port < 65536)',
  'self.ports.exists(p, p.name == "http")',
  '!has(self.paused) || !self.paused',
  'size(self.labels) <= 10',
  'self.labels.all(k, k.matches("^[a-z]+$"))',
  'self.strategy in ["Rolling", "Recreate"]',
  'self.name.size() > 0 && self.name.size() <= 63',
];

const CONDITIONS = [
  (spec) => spec.minReplicas <= spec.maxReplicas,
  (spec) => spec.replicas >= spec.minReplicas && spec.replicas <= spec.maxReplicas,
  (spec) => spec.image.startsWith('registry.example.com/'),
  (spec) => spec.ports.every(({ port }) => port > 0 && port < 65536),
  (spec) => spec.ports.some(({ name }) => name === 'http'),
  (spec) => spec.paused !== true,
  (spec) => Object.keys(spec.labels).length <= 10,
  (spec) => Object.keys(spec.labels).every((key) => /^[a-z]+$/.test(key)),
  (spec) => ['Rolling', 'Recreate'].includes(spec.strategy),
  (spec) => spec.name.length > 0 && spec.name.length <= 63,
];

const text = { type: 'string', maxLength: 253 };
const count = { type: 'integer', minimum: 0, maximum: 1000 };

function definition(rules) {
  const spec = {
    type: 'object',
    required: ['name', 'image', 'ports'],
    properties: {
      name: text,
      image: text,
      strategy: { type: 'string', enum: ['Rolling', 'Recreate'], default: 'Rolling' },
      replicas: { ...count, default: 1 },
      minReplicas: count,
      maxReplicas: count,
      paused: { type: 'boolean' },
      labels: { type: 'object', maxProperties: 20, additionalProperties: text },
      ports: {
        type: 'array',
        maxItems: 16,
        items: { type: 'object', required: ['port'], properties: { name: text, port: { type: 'integer' } } },
        'x-orch-list-type': 'map',
        'x-orch-list-map-keys': ['port'],
      },
    },
    'x-orch-validations': rules.map((rule) => ({ rule, message: 'is not as it should be' })),
  };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  return {
    metadata: { name: 'apps.bench.example.com' },
    spec: {
      group: 'bench.example.com',
      names: { plural: 'apps', kind: 'App' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

function app(index) {
  return {
    metadata: { name: `app-${index}` },
    spec: {
      name: `app-${index}`,
      image: 'registry.example.com/app:1',
      strategy: 'Rolling',
      replicas: 3,
      minReplicas: 1,
      maxReplicas: 10,
      labels: { app: 'web', tier: 'front' },
      ports: [
        { name: 'http', port: 80 },
        { name: 'metrics', port: 9090 },
      ],
    },
  };
}

export async function customKinds({ scale, ...settings }) {
  const objects = Math.ceil(5_000 * scale);
  const rows = [];
  const add = async (name, goal, rules) => {
    const contenders = { ours: creates(objects, rules), bare: bareChecks(objects) };
    rows.push({ name, unit: 'ops/s', goal, ...(await compare(contenders, settings)) });
  };
  await add('create a custom object without rules', undefined, []);
  await add(`create a custom object with ${RULES.length} rules`, undefined, RULES);
  const [without, having] = rows;
  // 50 µs for all rules of an object.
  rows.push({
    name: `${RULES.length} rules on an object`,
    unit: 'ops/s',
    goal: 20_000,
    ours: difference(having.ours, without.ours),
    bare: having.bare,
  });
  return rows;
}

/** The rate of the additional work of one side. */
function difference(more, less) {
  const figures = Object.keys(more).filter((key) => less[key] !== undefined);
  return Object.fromEntries(figures.map((key) => [key, 1 / Math.max(1e-9, 1 / more[key] - 1 / less[key])]));
}

function creates(objects, rules) {
  return {
    count: objects,
    async prepare() {
      const cluster = createCluster();
      await cluster.api(CustomResourceDefinition).create(definition(rules));
      const served = cluster.kinds().find(({ kind }) => kind.kind === 'App');
      verify(served !== undefined, 'the definition is served');
      return { cluster, api: cluster.api(served.kind) };
    },
    async run({ api }) {
      for (let index = 0; index < objects; index++) await api.create(app(index));
    },
    async check({ api }) {
      const { items } = await api.list();
      verify(items.length === objects, `${objects} objects are there, not ${items.length}`);
    },
  };
}

function bareChecks(objects) {
  return {
    count: objects,
    prepare: () => new Map(),
    run(map) {
      for (let index = 0; index < objects; index++) {
        const made = app(index);
        if (CONDITIONS.every((holds) => holds(made.spec))) map.set(made.metadata.name, Object.freeze(made));
      }
    },
    check: (map) => verify(map.size === objects, 'every object is fine'),
  };
}
