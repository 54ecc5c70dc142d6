/// <reference types="vite/types/importMeta.d.ts" />
/** Runs the kind contract on clusters in etcd, for one built-in kind of each sort. The replay covers all kinds. */
import { etcdStorage } from 'orchplane/etcd';
import { testCluster } from 'orchplane/testing';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeKind, type KindSample } from '../../unit/kinds/kind-contract.js';
import { type EtcdServer, hasEtcd, startEtcd } from './etcd-server.js';

const modules = import.meta.glob<{ readonly samples: readonly KindSample[] }>('../../unit/kinds/samples/*.ts', {
  eager: true,
});

/** What the contract depends on. */
const sortOf = ({ kind, body: _, change: __, wireOrder: ___, names, badName, ...flags }: KindSample): string =>
  JSON.stringify([kind.scope, names === undefined, badName === null, Object.entries(flags).sort()]);

const samples = Object.values(modules).flatMap((module) => module.samples);
const oneOfEachSort = new Map(samples.map((sample) => [sortOf(sample), sample])).values();

// `.ci/run` installs etcd; without it these tests are skipped.
describe.skipIf(!hasEtcd)('in etcd', () => {
  let etcd: EtcdServer;
  let count = 0;

  beforeAll(async () => {
    etcd = await startEtcd();
  }, 60_000);
  afterAll(() => etcd[Symbol.asyncDispose]());

  for (const sample of oneOfEachSort) {
    describeKind(sample, (options) =>
      testCluster({ ...options, storage: etcdStorage({ endpoints: [etcd.endpoint], prefix: `/${count++}` }) }),
    );
  }
});
