/**
 * What an entry costs a page: the built file with our dependencies, minified and gzipped. zod is a peer, so a user has it
 * anyway and it is not counted. Bundling for a browser fails on a Node built-in, which is the proof that only
 * `orchplane/node` touches one.
 */
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Entry } from './manifest.js';
import { entries, manifest, requireBuild, root } from './manifest.js';

/** Most kB (1000 bytes) each entry may weigh. Raise a number only together with what made it necessary. */
const BUDGET_KB: Readonly<Record<string, number>> = {
  // With every built-in kind; `core` is the same without them. A quarter of it is for custom kinds: expressions, schemas.
  // Answers of single kinds that a comparison with a real server brought: eight more, most of them in `kinds`.
  index: 475,
  // Since it can keep a journal, start from a state and go back in time: four more. Short ways for the usual writes and readers that stay: four.
  core: 134,
  // Stored specs are copied by their schema.
  kinds: 307,
  admission: 150,
  // Two thirds of it are the kinds that controllers are about.
  controllers: 385,
  // A third of it describes the fields of the built-in kinds, for `kubectl explain`.
  http: 106,
  'codec/protobuf': 40,
  'codec/cbor': 9,
  'service-worker': 100,
  'indexed-db': 4,
  node: 280,
  // Faults, request logs, seeded runs, matchers, captures and diffs over everything in `index`.
  testing: 476,
  vitest: 483,
};

interface Size {
  readonly entry: string;
  readonly minified: number;
  readonly gzipped: number;
}

const platformOf = ({ name }: Entry) => (name === 'node' ? 'node' : 'browser');

/** By name; of an entry that cannot be bundled, why. */
const sizes = new Map<string, Size | Error>();

beforeAll(async () => {
  requireBuild();
  for (const entry of entries) {
    sizes.set(entry.name, await measure(entry).catch((error: Error) => error));
  }
  console.log(table([...sizes.values()].filter((size): size is Size => !(size instanceof Error))));
}, 120_000);

describe.each(entries)('$specifier', (entry) => {
  // A built-in in a browser's bundle is an error that says which import pulls it in.
  test(`bundles for platform ${platformOf(entry)}`, () => {
    expect(sizes.get(entry.name)).toMatchObject({ entry: entry.name, gzipped: expect.any(Number) });
  });

  test('keeps to its budget', () => {
    const size = sizes.get(entry.name);
    if (size === undefined || size instanceof Error) throw new Error('it was not measured', { cause: size });
    expect(BUDGET_KB).toHaveProperty([entry.name]);
    expect(size.gzipped).toBeLessThanOrEqual(BUDGET_KB[entry.name] ?? 0);
  });
});

/** What pages that use parts of the library carry, most kB each. */
const PAGES: readonly {
  readonly name: string;
  readonly code: string;
  readonly budget: number;
  readonly without?: RegExp;
}[] = [
  {
    name: 'ConfigMap alone',
    code: "import { createCluster } from 'orchplane/core'; import { ConfigMap } from 'orchplane/kinds'; console.log(createCluster({ kinds: [ConfigMap] }));",
    budget: 122,
    // The words of pods: none of their code came along.
    without: /terminationGracePeriodSeconds|unhealthyPodEvictionPolicy|undeclared reference to/,
  },
  {
    name: 'three kinds',
    code: "import { createCluster } from 'orchplane/core'; import { ConfigMap, Lease, Role } from 'orchplane/kinds'; console.log(createCluster({ kinds: [ConfigMap, Lease, Role] }));",
    budget: 129,
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
    budget: 458,
  },
];

describe('a page', () => {
  for (const { name, code, budget, without } of PAGES) {
    test(`with ${name} carries what it uses`, async () => {
      const bytes = await bundle({ stdin: { contents: code, resolveDir: root } }, 'browser');
      const size = { minified: kb(bytes.byteLength), gzipped: kb(gzipSync(bytes, { level: 9 }).byteLength) };
      console.log(`${name}: ${size.minified} kB minified, ${size.gzipped} kB gzipped`);
      expect(size.gzipped).toBeLessThanOrEqual(budget);
      if (without !== undefined) expect(new TextDecoder().decode(bytes)).not.toMatch(without);
    });
  }
});

async function measure(entry: Entry): Promise<Size> {
  const bytes = await bundle({ entryPoints: [entry.module] }, platformOf(entry));
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
    // By the exports of package.json, as for a user, and not by the paths that the sources know each other by.
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
