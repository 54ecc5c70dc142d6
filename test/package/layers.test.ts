/**
 * Imports point only to earlier layers. A new folder under src needs a row in MAY_IMPORT; a row may only name folders of
 * lower layers, except where SAME_LAYER says why not. Type-only imports obey the same table.
 */
import { describe, expect, test } from 'vitest';
import type { Finding, SourceFile } from './sources.js';
import { parseSource, report, sources } from './sources.js';

/** From the words any program could use to what only tests need. */
const LAYERS: readonly (readonly string[])[] = [
  ['util'],
  ['meta'],
  ['cel'],
  ['schema'],
  ['merge', 'storage', 'protocol'],
  ['kinds'],
  ['registry', 'auth', 'admission', 'flowcontrol', 'audit', 'metrics'],
  ['server', 'client', 'codec'],
  ['manifests'],
  ['http', 'service-worker', 'indexed-db', 'node', 'controllers'],
  ['testing'],
  ['vitest'],
];

const L2 = ['util', 'meta', 'cel', 'schema'];
const L3 = [...L2, 'merge', 'storage', 'protocol'];
const L4 = [...L3, 'kinds'];
const L5 = [...L4, 'registry', 'auth', 'admission', 'flowcontrol', 'audit', 'metrics'];
const L6 = [...L5, 'server', 'client', 'codec'];

/** For each folder (or file directly in src) the folders and files it may import besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  util: [],
  meta: ['util'],
  cel: ['util', 'meta'],
  schema: ['util', 'meta', 'cel'],
  merge: L2,
  storage: L2,
  protocol: L2,
  kinds: L3,
  registry: L4,
  auth: L4,
  flowcontrol: L4,
  audit: L4,
  metrics: L4,
  admission: L4,
  server: L5,
  // The client works against any server, so nothing of this one comes along with it.
  client: ['util', 'meta', 'schema', 'merge', 'protocol', 'kinds'],
  codec: L5,
  // Texts of many objects, applied through whatever transport is handed over.
  manifests: ['util', 'meta', 'protocol', 'kinds', 'client', 'codec'],
  // HTTP speaks the protocol to whatever cluster it is handed, so it needs no server.
  http: ['util', 'meta', 'schema', 'protocol', 'kinds', 'registry', 'auth', 'flowcontrol', 'audit', 'metrics', 'codec'],
  // A worker is handed its cluster, as a handler is.
  'service-worker': ['util', 'http'],
  // A journal is handed to a cluster, and knows of none.
  'indexed-db': ['util', 'meta', 'storage'],
  // The command line makes clusters and serves them.
  node: [...L6, 'manifests', 'http', 'controllers', 'cluster.ts', 'cluster-options.ts', 'full-cluster.ts'],
  // Loops on the public client only.
  controllers: ['util', 'meta', 'schema', 'merge', 'protocol', 'kinds', 'admission', 'client'],
  // Everything that runs in a browser.
  testing: [
    ...L6,
    'manifests',
    'http',
    'controllers',
    'cluster-contract.ts',
    'cluster.ts',
    'cluster-options.ts',
    'full-cluster.ts',
  ],
  // The same for one test runner.
  vitest: ['util', 'controllers', 'testing'],
  // The composition root, and the guide over it. HTTP, Node and testing are entries of their own.
  'cluster-options.ts': L6,
  'cluster-contract.ts': [...L6, 'cluster-options.ts'],
  'cluster.ts': [...L6, 'cluster-options.ts', 'cluster-contract.ts'],
  'full-cluster.ts': [
    'kinds',
    'auth',
    'admission',
    'server',
    'client',
    'manifests',
    'cluster.ts',
    'cluster-options.ts',
  ],
  'bare-cluster.ts': ['cluster.ts', 'cluster-options.ts'],
  'api.ts': [...L6, 'manifests', 'cluster.ts', 'cluster-options.ts'],
  'index.ts': ['cel', 'kinds', 'admission', 'manifests', 'api.ts', 'full-cluster.ts'],
  'core.ts': ['kinds', 'admission', 'api.ts', 'bare-cluster.ts'],
};

/** Importers that may name these files when the import leaves nothing at run time. */
const MAY_IMPORT_TYPES: Readonly<Record<string, readonly string[]>> = {
  http: ['cluster.ts'],
};

/** The only imports within one layer. */
const SAME_LAYER: Readonly<Record<string, string>> = {
  'service-worker → http': 'a service worker is the fetch handler behind a listener',
  'node → controllers': 'a served cluster may run them',
  'node → http': 'a socket server is the fetch handler behind a listener',
};

describe('layers', () => {
  test('every import goes to the same folder or to one its row allows', () => {
    const findings = sources.flatMap(layerFindings);
    expect(findings, report('Imports point only to earlier layers:', findings)).toEqual([]);
  });

  test('the table allows nothing that the layers forbid', () => {
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
    ['src/cluster.ts', `export { serve } from './node/index.js';`, 'cluster.ts may not import node'],
    ['src/http/a.ts', `import { createCluster } from '../cluster.js';`, 'http may import only types from cluster.ts'],
    ['src/fresh/a.ts', `import { now } from '../util/clock.js';`, 'fresh has no row'],
    ['src/util/a.ts', `import data from '../../package.json';`, 'util may not import files outside src'],
  ])('%s: %s is refused', (path, text, reason) => {
    expect(layerFindings(parseSource(path, text)).map((finding) => finding.what)).toEqual([
      expect.stringContaining(reason),
    ]);
  });

  test.each([
    ['src/http/a.ts', `import type { Cluster } from '../cluster.js';`],
    ['src/http/a.ts', `import { type Cluster } from '../cluster.js';`],
    [
      'src/node/serve.ts',
      `import { createFetchHandler } from '../http/index.js'; import { createServer } from 'node:http';`,
    ],
    ['src/kinds/core/v1/pod.ts', `import { quantity } from '../../../meta/quantity.js'; import * as z from 'zod';`],
  ])('%s: %s is allowed', (path, text) => {
    expect(layerFindings(parseSource(path, text))).toEqual([]);
  });
});

function layerFindings(source: SourceFile): Finding[] {
  return source.imports.flatMap(({ specifier, file, typeOnly, line }) => {
    if (file === undefined) return [];
    const rule = brokenRule(source.folder, file, typeOnly);
    return rule === undefined ? [] : [{ file: source.path, line, what: `imports '${specifier}': ${rule}` }];
  });
}

function brokenRule(importer: string, file: string, typeOnly: boolean): string | undefined {
  const allowed = MAY_IMPORT[importer];
  if (allowed === undefined) return `${importer} has no row in MAY_IMPORT`;
  if (!file.startsWith('src/')) return `${importer} may not import files outside src`;
  const imported = file.split('/')[1] ?? '';
  if (imported === importer || allowed.includes(imported)) return undefined;
  if (MAY_IMPORT_TYPES[importer]?.includes(imported)) {
    return typeOnly ? undefined : `${importer} may import only types from ${imported}`;
  }
  return `${importer} may not import ${imported}; it may import ${allowed.join(', ') || 'nothing'}`;
}
