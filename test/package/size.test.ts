/**
 * The size of each entry: the built file with its dependencies, minified and gzipped. zod is a peer dependency and not
 * counted. Bundling for a browser fails on a Node built-in, which proves that only `orchplane/node` and
 * `orchplane/etcd` use one.
 */
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Entry } from './manifest.js';
import { entries, manifest, requireBuild, root } from './manifest.js';

/** The maximum size of each entry in kB (1000 bytes). Raise a number only together with the change that needs it. */
const BUDGET_KB: Readonly<Record<string, number>> = {
  // All built-in kinds; `core` is the same without them. A quarter of it is for custom resources: CEL and schemas. Limits against
  // expensive requests and the owners of fields in other versions take 4 kB of it, less in the other entries.
  index: 500.6,
  // Includes journals, initial states and time travel, about 4 kB.
  core: 147.6,
  // Includes the schema-based copying of stored specs.
  kinds: 312.8,
  admission: 152.1,
  // Two thirds of it are the kinds that controllers use. Node lifecycle, taints, tokens and topology hints take 8 kB.
  controllers: 404.1,
  // A third of it are the kinds that controllers use, a fifth the scheduler with the expressions of devices.
  // Limits for variables and files of ConfigMaps take 0.3 kB.
  runtime: 261.2,
  // A third of it is the field descriptions of the built-in kinds, for `kubectl explain`. Connections to aggregated APIs take 4 kB.
  http: 119.6,
  'codec/protobuf': 40,
  'codec/cbor': 9,
  'service-worker': 113.3,
  'indexed-db': 4,
  // HTTP/2, WebSockets, the HTTP thread, the flags of kube-apiserver and the stand-ins for envtest take 25 kB;
  // process images 5 kB, sockets and streams of pods 2 kB; lines of parse errors, UTF-16 and drafts that signals remove 0.5 kB.
  node: 334,
  // All built-in kinds with their message types; snapshots take 8 kB, the client of etcd and its failures 3 kB.
  etcd: 403.5,
  // Faults, request logs, seeded runs, matchers, captures and diffs over everything in `index`.
  testing: 490.9,
  vitest: 491.1,
  jest: 491.7,
  'node-test': 491.6,
  opentelemetry: 4,
  zod: 2,
};

interface Size {
  readonly entry: string;
  readonly minified: number;
  readonly gzipped: number;
}

const platformOf = ({ name }: Entry) => (['node', 'etcd', 'node-test'].includes(name) ? 'node' : 'browser');

/** The sizes by name; an error for an entry that cannot be bundled. */
const sizes = new Map<string, Size | Error>();

beforeAll(async () => {
  requireBuild();
  for (const entry of entries) {
    sizes.set(entry.name, await measure(entry).catch((error: Error) => error));
  }
  console.log(table([...sizes.values()].filter((size): size is Size => !(size instanceof Error))));
}, 120_000);

describe.each(entries)('the size of $specifier', (entry) => {
  // A Node built-in in a browser bundle is an error that names the import.
  test(`bundles for platform ${platformOf(entry)}`, () => {
    expect(sizes.get(entry.name)).toMatchObject({ entry: entry.name, gzipped: expect.any(Number) });
  });

  test('stays within its budget', () => {
    const size = sizes.get(entry.name);
    if (size === undefined || size instanceof Error) throw new Error('it was not measured', { cause: size });
    expect(BUDGET_KB).toHaveProperty([entry.name]);
    expect(size.gzipped).toBeLessThanOrEqual(BUDGET_KB[entry.name] ?? 0);
  });
});

/** Pages that use parts of the library, with their maximum size in kB. */
const PAGES: readonly {
  readonly name: string;
  readonly code: string;
  readonly budget: number;
  readonly without?: RegExp;
}[] = [
  {
    name: 'ConfigMap alone',
    code: "import { createCluster } from 'orchplane/core'; import { ConfigMap } from 'orchplane/kinds'; console.log(createCluster({ kinds: [ConfigMap] }));",
    budget: 132.8,
    // A text of the pod code, which must not be in the bundle.
    without: /terminationGracePeriodSeconds|unhealthyPodEvictionPolicy|undeclared reference to/,
  },
  {
    name: 'three kinds',
    code: "import { createCluster } from 'orchplane/core'; import { ConfigMap, Lease, Role } from 'orchplane/kinds'; console.log(createCluster({ kinds: [ConfigMap, Lease, Role] }));",
    budget: 136.5,
    without: /terminationGracePeriodSeconds|unhealthyPodEvictionPolicy/,
  },
  {
    name: 'a client of a cluster elsewhere',
    code: "import { createClient } from 'orchplane/core'; import { httpTransport } from 'orchplane/http'; console.log(createClient({ transport: httpTransport({ baseUrl: 'http://localhost' }) }));",
    budget: 45,
    without: /terminationGracePeriodSeconds|unhealthyPodEvictionPolicy/,
  },
  {
    name: 'all kinds',
    code: "import { createCluster } from 'orchplane'; console.log(createCluster());",
    budget: 471.1,
  },
];

describe('the size of a page', () => {
  for (const { name, code, budget, without } of PAGES) {
    test(`keeps a page with ${name} within its size budget`, async () => {
      const bytes = await bundle({ stdin: { contents: code, resolveDir: root } }, 'browser');
      const size = { minified: kb(bytes.byteLength), gzipped: kb(gzipSync(bytes, { level: 9 }).byteLength) };
      console.log(`${name}: ${size.minified} kB minified, ${size.gzipped} kB gzipped`);
      expect(size.gzipped).toBeLessThanOrEqual(budget);
      if (without !== undefined) expect(new TextDecoder().decode(bytes)).not.toMatch(without);
    });
  }
});

async function measure(entry: Entry): Promise<Size> {
  const bytes = await bundle({ entryPoints: [entry.file] }, platformOf(entry));
  return { entry: entry.name, minified: kb(bytes.byteLength), gzipped: kb(gzipSync(bytes, { level: 9 }).byteLength) };
}

async function bundle(from: BuildOptions, platform: 'browser' | 'node'): Promise<Uint8Array> {
  const { outputFiles } = await build({
    ...from,
    bundle: true,
    format: 'esm',
    platform,
    minify: true,
    write: false,
    // Resolves by the exports of package.json, as for a user, and not by the path mappings of the sources.
    tsconfigRaw: '{}',
    external: Object.keys(manifest.peerDependencies ?? {}),
    logLevel: 'silent',
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
}

function kb(bytes: number): number {
  return Math.round(bytes / 100) / 10;
}

function table(rows: readonly Size[]): string {
  const line = (cells: readonly unknown[]): string =>
    cells.map((cell, index) => (index === 0 ? String(cell).padEnd(16) : String(cell).padStart(10))).join('');
  return [
    line(['entry', 'min kB', 'gzip kB', 'budget']),
    ...rows.map(({ entry, minified, gzipped }) => line([entry, minified, gzipped, BUDGET_KB[entry]])),
  ].join('\n');
}
