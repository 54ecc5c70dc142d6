/**
 * Imports point only to earlier layers. A new folder under src needs a row in MAY_IMPORT. A row may name only folders of
 * lower layers; SAME_LAYER lists the exceptions with their reasons. Type-only imports follow the same table.
 */
import { describe, expect, test } from 'vitest';
import type { Finding, SourceFile } from './sources.js';
import { parseSource, report, sources } from './sources.js';

/** From general-purpose code to code that only tests need. */
const LAYERS: readonly (readonly string[])[] = [
  ['util'],
  ['text'],
  ['meta'],
  ['cel'],
  ['schema'],
  ['merge', 'storage', 'protocol'],
  ['kinds'],
  ['webhook'],
  ['crd'],
  ['registry', 'auth', 'admission', 'flowcontrol', 'audit', 'metrics'],
  ['server', 'client', 'codec'],
  ['manifests'],
  ['cluster'],
  ['http', 'service-worker', 'indexed-db', 'etcd', 'controllers', 'zod'],
  ['runtime', 'opentelemetry'],
  ['node'],
  ['testing'],
  ['vitest', 'jest', 'node-test'],
];

const SCHEMA = ['util', 'text', 'meta', 'cel', 'schema'];
const STORAGE = [...SCHEMA, 'merge', 'storage', 'protocol'];
const KINDS = [...STORAGE, 'kinds'];
const CRD = [...KINDS, 'webhook', 'crd'];
const POLICY = [...CRD, 'registry', 'auth', 'admission', 'flowcontrol', 'audit', 'metrics'];
const SERVER = [...POLICY, 'server', 'client', 'codec'];

/** For each folder, entry file or file directly in src: the folders it may import besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  util: [],
  text: ['util'],
  meta: ['util', 'text'],
  cel: ['util', 'text', 'meta'],
  schema: ['util', 'text', 'meta', 'cel'],
  merge: SCHEMA,
  storage: SCHEMA,
  protocol: SCHEMA,
  kinds: STORAGE,
  webhook: KINDS,
  crd: [...KINDS, 'webhook'],
  registry: CRD,
  auth: CRD,
  flowcontrol: CRD,
  audit: CRD,
  metrics: CRD,
  admission: CRD,
  server: POLICY,
  // The client works with any server, so it does not import this one.
  client: ['util', 'text', 'meta', 'schema', 'merge', 'protocol', 'kinds'],
  codec: POLICY,
  // Manifests are applied through whatever transport the caller passes. Captures contain the state of a store.
  manifests: ['util', 'text', 'meta', 'storage', 'protocol', 'kinds', 'client', 'codec'],
  // The composition root.
  cluster: [...SERVER, 'manifests', 'kinds/index.ts'],
  // HTTP passes requests to the cluster that it is given, so it needs no server.
  http: [
    'util',
    'text',
    'meta',
    'schema',
    'protocol',
    'kinds',
    'webhook',
    'registry',
    'auth',
    'flowcontrol',
    'audit',
    'metrics',
    'codec',
  ],
  // A service worker is given its cluster, as a handler is.
  'service-worker': ['util', 'http'],
  // A journal is passed to a cluster and does not import one.
  'indexed-db': ['util', 'meta', 'storage'],
  // The command line creates clusters and serves them.
  node: [...SERVER, 'manifests', 'cluster', 'http', 'controllers', 'runtime', 'etcd', 'zod', 'kinds/index.ts'],
  // Keys and values of kube-apiserver's etcd, for all built-in kinds.
  etcd: [...SERVER, 'cluster', 'kinds/index.ts'],
  // Controllers use the public client only.
  controllers: [
    'util',
    'text',
    'meta',
    'schema',
    'merge',
    'protocol',
    'kinds',
    'webhook',
    'crd',
    'admission',
    'client',
  ],
  // The runtime is a set of controllers, and answers HTTP requests for containers. Its scheduler adds up pods as quotas do,
  // and evaluates expressions that select devices.
  runtime: [
    'util',
    'text',
    'meta',
    'cel',
    'protocol',
    'kinds',
    'webhook',
    'admission',
    'client',
    'http',
    'controllers',
  ],
  // Everything that runs in a browser.
  testing: [...SERVER, 'manifests', 'cluster', 'http', 'controllers', 'kinds/index.ts'],
  // The same for one test runner.
  vitest: ['testing'],
  jest: ['testing'],
  'node-test': ['testing'],
  // Wraps plugins, controllers and handlers that it is given.
  opentelemetry: ['util', 'meta', 'protocol', 'admission', 'server', 'controllers'],
  // Types of kinds as zod schemas, and zod kinds for CRDs; no other folder imports zod at run time.
  zod: ['util', 'meta', 'kinds', 'schema', 'crd'],
  // The entry `orchplane/kinds`: all built-in kinds, CustomResourceDefinition included.
  'kinds/index.ts': [...KINDS, 'crd'],
  'index.ts': ['cel', 'crd', 'kinds', 'auth', 'admission', 'manifests', 'cluster'],
  'core.ts': ['kinds', 'admission', 'cluster'],
};

/** Importers that may name these folders when the import has no effect at run time. */
const MAY_IMPORT_TYPES: Readonly<Record<string, readonly string[]>> = {
  http: ['cluster'],
};

/** The only imports within one layer. */
const SAME_LAYER: Readonly<Record<string, string>> = {
  'service-worker → http': 'a service worker is the fetch handler behind a listener',
  'node → controllers': 'a served cluster may run them',
  'node → etcd': 'the command line opens and writes snapshots',
  'node → http': 'a socket server is the fetch handler behind a listener',
};

describe('the layers of src', () => {
  test('imports in src only from the same folder or from folders in its row', () => {
    const findings = sources.flatMap(layerFindings);
    expect(findings, report('Imports point only to earlier layers:', findings)).toEqual([]);
  });

  test('allows in the table no import that the layers forbid', () => {
    const layerOf = (folder: string): number => LAYERS.findIndex((layer) => layer.includes(folder));
    const wrong = LAYERS.flat().flatMap((folder) =>
      (MAY_IMPORT[folder] ?? ['(no row)'])
        .filter((other) => !other.endsWith('.ts') && layerOf(other) >= layerOf(folder))
        .map((other) => `${folder} → ${other}`)
        .filter((pair) => !(pair in SAME_LAYER)),
    );
    expect(wrong).toEqual([]);
  });

  test.each([
    ['src/client/api.ts', `import { write } from '../server/write.js';`, 'client may not import server'],
    ['src/meta/a.ts', `import type { Kind } from '../kinds/kind.js';`, 'meta may not import kinds'],
    ['src/meta/a.ts', `type K = import('../kinds/kind.js').Kind;`, 'meta may not import kinds'],
    ['src/cluster/a.ts', `export { serve } from '../node/index.js';`, 'cluster may not import node'],
    [
      'src/http/a.ts',
      `import { createCluster } from '../cluster/cluster.js';`,
      'http may import only types from cluster',
    ],
    ['src/server/a.ts', `import { Pod } from '../kinds/index.js';`, 'server may not import kinds/index.ts'],
    ['src/fresh/a.ts', `import { now } from '../util/clock.js';`, 'fresh has no row'],
    ['src/util/a.ts', `import data from '../../package.json';`, 'util may not import files outside src'],
  ])('rejects the import in %s: %s', (path, text, reason) => {
    expect(layerFindings(parseSource(path, text)).map((finding) => finding.what)).toEqual([
      expect.stringContaining(reason),
    ]);
  });

  test.each([
    ['src/http/a.ts', `import type { Cluster } from '../cluster/cluster.js';`],
    ['src/http/a.ts', `import { type Cluster } from '../cluster/cluster.js';`],
    [
      'src/node/serve.ts',
      `import { createFetchHandler } from '../http/index.js'; import { createServer } from 'node:http';`,
    ],
    [
      'src/kinds/core/v1/pod.ts',
      `import { quantity } from '../../../meta/quantity.js'; import type * as z from 'zod';`,
    ],
  ])('allows the import in %s: %s', (path, text) => {
    expect(layerFindings(parseSource(path, text))).toEqual([]);
  });
});

function layerFindings(source: SourceFile): Finding[] {
  return source.imports.flatMap(({ specifier, file, typeOnly, line }) => {
    if (file === undefined) return [];
    const rule = brokenRule(rowOf(source.path), file, typeOnly);
    return rule === undefined ? [] : [{ file: source.path, line, what: `imports '${specifier}': ${rule}` }];
  });
}

function brokenRule(importer: string, file: string, typeOnly: boolean): string | undefined {
  const allowed = MAY_IMPORT[importer];
  if (allowed === undefined) return `${importer} has no row in MAY_IMPORT`;
  if (!file.startsWith('src/')) return `${importer} may not import files outside src`;
  const imported = rowOf(file);
  if (imported === importer || allowed.includes(imported)) return undefined;
  if (MAY_IMPORT_TYPES[importer]?.includes(imported)) {
    return typeOnly ? undefined : `${importer} may import only types from ${imported}`;
  }
  return `${importer} may not import ${imported}; it may import ${allowed.join(', ') || 'nothing'}`;
}

/** The row of a file: its first folder under src, or the file itself when it has a row of its own. */
function rowOf(path: string): string {
  const file = path.replace(/^src\//, '');
  return file in MAY_IMPORT ? file : (file.split('/')[0] ?? '');
}

/** Folders that the rest of src imports only through one file. */
const ENTRY_POINTS: Readonly<Record<string, string>> = {
  'src/cel/': 'src/cel/index.ts',
  'src/text/re2/': 'src/text/re2/index.ts',
  'src/text/yaml/': 'src/text/yaml/index.ts',
};

describe('entry points', () => {
  test('files outside a folder with an entry point import only its entry point', () => {
    const findings = sources.flatMap(entryPointFindings);
    expect(findings, report('Import the entry point of the folder:', findings)).toEqual([]);
  });

  test.each([
    ['src/crd/a.ts', `import { BOOL } from '../cel/types.js';`, 'import src/cel/index.ts instead'],
    ['src/cel/a.ts', `import { parseRe2 } from '../text/re2/syntax.js';`, 'import src/text/re2/index.ts instead'],
  ])('rejects an import that bypasses the entry point: %s: %s', (path, text, reason) => {
    expect(entryPointFindings(parseSource(path, text)).map((finding) => finding.what)).toEqual([
      expect.stringContaining(reason),
    ]);
  });

  test.each([
    ['src/crd/a.ts', `import { BOOL } from '../cel/index.js';`],
    ['src/cel/check/a.ts', `import { BOOL } from '../types.js';`],
  ])('allows an import of the entry point or within the folder: %s: %s', (path, text) => {
    expect(entryPointFindings(parseSource(path, text))).toEqual([]);
  });
});

function entryPointFindings(source: SourceFile): Finding[] {
  return source.imports.flatMap(({ specifier, file, line }) => {
    const found = Object.entries(ENTRY_POINTS).find(([folder]) => file?.startsWith(folder));
    if (found === undefined) return [];
    const [folder, entry] = found;
    if (file === entry || source.path.startsWith(folder)) return [];
    return [{ file: source.path, line, what: `imports '${specifier}': import ${entry} instead` }];
  });
}
