/**
 * The kinds that requests are generated for: what the reference server's discovery lists, with the schemas that it
 * publishes and valid objects from the unit tests and the recordings.
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { RECORDINGS, readRecordings } from '../conformance/recordings.mjs';
import { isMap } from './values.mjs';

const SAMPLES = fileURLToPath(new URL('../unit/kinds/samples', import.meta.url));
const CRDS = fileURLToPath(new URL('../fixtures/crds', import.meta.url));
const YAML = fileURLToPath(new URL('../../src/codec/yaml.ts', import.meta.url));
const MAX_WORDS = 40;

/** `getJson(path)` reads from the reference server. */
export async function readCatalogue(getJson) {
  const { paths } = await getJson('/openapi/v3');
  const samples = await readSamples();
  const kinds = [];
  for (const path of Object.keys(paths).filter((each) => /^(api\/v1|apis\/[^/]+\/[^/]+)$/.test(each))) {
    const [{ resources = [] }, document] = [await getJson(`/${path}`), await getJson(paths[path].serverRelativeURL)];
    kinds.push(...kindsOf(path, resources, document, samples));
  }
  return kinds;
}

/** The values of all fields in valid requests, by the name of the field. */
export function dictionaryOf(kinds) {
  const dictionary = new Map();
  const visit = (value, name) => {
    if (Array.isArray(value)) for (const item of value) visit(item, name);
    else if (isMap(value)) for (const [key, inner] of Object.entries(value)) visit(inner, key);
    const words = dictionary.get(name) ?? dictionary.set(name, []).get(name);
    if (words.length < MAX_WORDS && !words.some((word) => JSON.stringify(word) === JSON.stringify(value)))
      words.push(value);
  };
  for (const { samples } of kinds) for (const sample of samples) visit(sample, '');
  return dictionary;
}

function kindsOf(path, resources, { components }, samples) {
  const schemas = components.schemas;
  const resolve = (schema) => {
    const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
    return reference === undefined ? schema : resolve(schemas[reference.split('/').at(-1)] ?? {});
  };
  const apiVersion = path.replace(/^apis?\//, '');
  return resources.flatMap(({ name, kind, namespaced, verbs }) => {
    if (name.includes('/') || !verbs.includes('create') || !verbs.includes('update')) return [];
    const subresources = resources.flatMap((each) =>
      each.name.startsWith(`${name}/`) ? [each.name.split('/')[1]] : [],
    );
    const found = Object.entries(schemas).find(([, schema]) =>
      schema['x-kubernetes-group-version-kind']?.some(
        (gvk) => [gvk.group, gvk.version].filter(Boolean).join('/') === apiVersion && gvk.kind === kind,
      ),
    );
    const own = samples.get(`${apiVersion} ${kind}`) ?? [];
    if (found === undefined || own.length === 0) return [];
    return [
      {
        apiVersion,
        kind,
        plural: name,
        namespaced,
        subresources,
        schema: found[1],
        resolve,
        samples: own,
        path: `/${path}`,
      },
    ];
  });
}

async function readSamples() {
  const samples = new Map();
  const add = (object) => {
    const { metadata, apiVersion, kind } = object;
    const key = `${apiVersion} ${kind}`;
    const list = samples.get(key) ?? samples.set(key, []).get(key);
    const { namespace: _, name: __, generateName: ___, ...rest } = metadata ?? {};
    list.push({
      apiVersion,
      kind,
      metadata: { name: 'a', ...rest },
      ...without(object, ['apiVersion', 'kind', 'metadata']),
    });
  };
  for (const file of readdirSync(SAMPLES)) {
    const { module } = await runnerImport(`${SAMPLES}/${file}`, { logLevel: 'error' });
    for (const { kind, names = ['a'], body, change } of module.samples ?? []) {
      const apiVersion = [kind.group.replace('orch.io', 'k8s.io'), kind.version].filter(Boolean).join('/');
      for (const fields of [body, change]) add({ apiVersion, kind: kind.kind, ...structuredClone(fields) });
      const stored = samples.get(`${apiVersion} ${kind.kind}`);
      stored.forEach((sample) => {
        sample.metadata.name = names[0];
      });
    }
  }
  for (const { steps, expect } of readRecordings(RECORDINGS)) {
    steps.forEach(({ method, body }, index) => {
      const isPlain = isMap(body?.metadata) && !JSON.stringify(body).includes('${');
      if (method === 'POST' && expect[index].status === 201 && isPlain && body.kind && body.apiVersion) add(body);
    });
  }
  return samples;
}

/** CRDs with objects of their kinds: `{ definitions, kinds }`. */
export async function readCustomKinds() {
  const { module } = await runnerImport(YAML, { logLevel: 'error' });
  const { readFileSync } = await import('node:fs');
  const documents = (file) =>
    readFileSync(`${CRDS}/${file}`, 'utf8')
      .split(/^---$/m)
      .map((text) => module.yamlDocumentBody(text).read().value)
      .filter(isMap);
  const files = readdirSync(CRDS);
  const definitions = files.filter((file) => !file.includes('samples')).flatMap(documents);
  const objects = files.filter((file) => file.includes('samples')).flatMap((file) => documents(file)[0].good);
  return { definitions, kinds: definitions.flatMap((definition) => customKinds(definition, objects)) };
}

/** The kinds that a CRD defines, one for each version; `objects` are valid ones of any kind. */
export function customKinds({ spec }, objects) {
  return spec.versions
    .filter(({ served }) => served)
    .flatMap(({ name, schema, subresources = {} }) => {
      const apiVersion = `${spec.group}/${name}`;
      const kind = spec.names.kind;
      const samples = objects.filter((object) => object.apiVersion === apiVersion && object.kind === kind);
      const { openAPIV3Schema: root } = schema;
      const typed = { ...root, properties: { ...METADATA, ...root.properties } };
      const first = samples.length > 0 ? samples : [{ apiVersion, kind, metadata: { name: 'a' }, spec: {} }];
      const path = `/apis/${apiVersion}`;
      return [
        {
          apiVersion,
          kind,
          plural: spec.names.plural,
          namespaced: spec.scope === 'Namespaced',
          subresources: Object.keys(subresources),
          schema: typed,
          resolve: (each) => each,
          samples: first,
          path,
        },
      ];
    });
}

const STRING = { type: 'string' };
const STRING_MAP = { type: 'object', additionalProperties: STRING };
const OWNER = {
  type: 'object',
  properties: { apiVersion: STRING, kind: STRING, name: STRING, uid: STRING, controller: { type: 'boolean' } },
};
const METADATA = {
  apiVersion: STRING,
  kind: STRING,
  metadata: {
    type: 'object',
    properties: {
      name: STRING,
      generateName: STRING,
      namespace: STRING,
      labels: STRING_MAP,
      annotations: STRING_MAP,
      finalizers: { type: 'array', items: STRING },
      ownerReferences: { type: 'array', items: OWNER },
    },
  },
};

function without(object, keys) {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}
