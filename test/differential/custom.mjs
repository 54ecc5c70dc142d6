/** Installs CRDs on both sides and waits until both serve them: those of the fixtures, and generated ones. */
import { customKinds, readCustomKinds } from './catalogue.mjs';
import { sendAsAdmin } from './sides.mjs';

const GENERATED = 16;
const WAIT_MS = 100;
const ATTEMPTS = 100;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** `group` is the API group of generated kinds, which no earlier run used. */
export async function installCustomKinds(sides, random, group) {
  const { definitions, kinds } = await readCustomKinds();
  const generated = Array.from({ length: GENERATED }, (_, index) => generatedDefinition(random, index, group));
  const accepted = [];
  for (const definition of [...definitions, ...generated]) {
    const results = [];
    for (const send of [sides.library, sides.reference])
      results.push(await sendAsAdmin(send, 'POST', DEFINITIONS, definition));
    const isAccepted = results.map(({ kind, reason }) => kind !== 'Status' || reason === 'AlreadyExists');
    if (isAccepted[0] !== isAccepted[1])
      throw new Error(`only one side accepts a definition: ${JSON.stringify([definition, results])}`);
    if (isAccepted[0]) accepted.push(definition);
  }
  const all = [
    ...kinds,
    ...generated.filter((each) => accepted.includes(each)).flatMap((definition) => customKinds(definition, [])),
  ];
  for (const kind of all) await served(sides.reference, kind);
  // The reference server publishes the schemas that apply uses a moment after it serves a kind.
  await new Promise((resolve) => setTimeout(resolve, 20 * WAIT_MS));
  return all;
}

async function served(send, { path, plural }) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { code } = await sendAsAdmin(send, 'GET', `${path}/${plural}?limit=1`);
    if (code !== 404) return;
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
  throw new Error(`${path}/${plural} is not served`);
}

const RULES = [
  { rule: '!has(self.s) || self.s.size() < 5', message: 'too long' },
  { rule: '!has(self.n) || self.n >= 0', messageExpression: '"n is " + string(self.n)', reason: 'FieldValueForbidden' },
  { rule: '!has(self.n) || !has(oldSelf.n) || self.n >= oldSelf.n', fieldPath: '.n' },
];

/** A CRD whose schema has random fields of every form that structural schemas allow. */
function generatedDefinition(random, index, group) {
  const kind = `Random${index}`;
  const plural = `random${index}s`;
  const scope = index % 4 === 3 ? 'Cluster' : 'Namespaced';
  const version = (name, storage) => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: rootSchema(random) },
    subresources:
      index % 2 === 0 ? { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } } : {},
  });
  const versions = index % 3 === 0 ? [version('v1', true), version('v1beta1', false)] : [version('v1', true)];
  const names = { plural, singular: plural.slice(0, -1), kind, listKind: `${kind}List` };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope, names, versions },
  };
}

function rootSchema(random) {
  const part = () => ({
    ...objectSchema(random, 0),
    'x-kubernetes-validations': random.chance(0.6) ? [random.pick(RULES)] : undefined,
  });
  const spec = part();
  const status = part();
  for (const each of [spec, status])
    Object.assign(each.properties, { n: { type: 'integer', format: 'int32' }, s: { type: 'string' } });
  return { type: 'object', properties: { spec, status } };
}

function objectSchema(random, depth) {
  const names = ['a', 'b', 'c', 'd', 'name', 'value', 'key'].filter(() => random.chance(0.6));
  const properties = Object.fromEntries(names.map((name) => [name, fieldSchema(random, depth + 1)]));
  const required = names.filter(() => random.chance(0.15));
  return {
    type: 'object',
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(random.chance(0.15) ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
  };
}

function fieldSchema(random, depth) {
  const leaf = () =>
    random.pick([
      { type: 'string' },
      { type: 'string', default: 'x' },
      { type: 'string', enum: ['A', 'B', 'x'], default: 'A' },
      { type: 'string', nullable: true },
      { type: 'string', minLength: 1, maxLength: 5, pattern: '^[a-z]*$' },
      { type: 'string', format: 'date-time' },
      { type: 'string', format: 'ipv4' },
      { type: 'integer', minimum: 1, maximum: 100 },
      { type: 'integer', format: 'int64', default: 3 },
      { type: 'number', multipleOf: 0.5, exclusiveMinimum: true, minimum: 0 },
      { type: 'boolean', default: true },
      { 'x-kubernetes-int-or-string': true },
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], pattern: '^[0-9]+%?$' },
    ]);
  if (depth > 3 || random.chance(0.4)) return leaf();
  return random.pick([
    () => objectSchema(random, depth),
    () => ({ ...objectSchema(random, depth), required: undefined, default: {} }),
    () => ({ ...objectSchema(random, depth), nullable: true }),
    () => ({ ...objectSchema(random, depth), 'x-kubernetes-map-type': 'atomic' }),
    () => ({ type: 'object', additionalProperties: fieldSchema(random, depth + 1) }),
    () => ({ type: 'object', additionalProperties: { type: 'string', nullable: true }, maxProperties: 2 }),
    () => ({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
    () => ({ type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }),
    () => ({ type: 'array', items: fieldSchema(random, depth + 1), maxItems: 3 }),
    () => ({ type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set', default: ['p'] }),
    () => ({ type: 'array', items: leaf(), 'x-kubernetes-list-type': 'atomic', minItems: 1 }),
    () => keyedList(random, depth),
  ])();
}

function keyedList(random, depth) {
  const item = objectSchema(random, depth + 1);
  Object.assign(item.properties, { name: { type: 'string' }, port: { type: 'integer', default: 80 } });
  item.required = ['name'];
  const keys = random.chance(0.5) ? ['name'] : ['name', 'port'];
  return { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys };
}

/** Removes the generated definitions from the reference server. */
export async function removeGenerated(send, group) {
  const { items } = await sendAsAdmin(send, 'GET', DEFINITIONS);
  for (const { metadata, spec } of items) {
    if (spec.group === group) await sendAsAdmin(send, 'DELETE', `${DEFINITIONS}/${metadata.name}`);
  }
}
