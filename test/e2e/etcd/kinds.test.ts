/// <reference types="vite/types/importMeta.d.ts" />
/** Runs the kind contract for every built-in kind on clusters in etcd. */
import { etcdStorage } from 'orchplane/etcd';
import { testCluster } from 'orchplane/testing';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeKind, type KindSample } from '../../unit/kinds/kind-contract.js';
import { type EtcdServer, hasEtcd, startEtcd } from './etcd-server.js';

const modules = import.meta.glob<{ readonly samples: readonly KindSample[] }>('../../unit/kinds/samples/*.ts', {
  eager: true,
});

// `.ci/run` installs etcd; without it these tests are skipped.
describe.skipIf(!hasEtcd)('in etcd', () => {
  let etcd: EtcdServer;
  let count = 0;

  beforeAll(async () => {
    etcd = await startEtcd();
  }, 60_000);
  afterAll(() => etcd[Symbol.asyncDispose]());

  for (const sample of Object.values(modules).flatMap((module) => module.samples)) {
    describeKind(sample, (options) =>
      testCluster({ ...options, storage: etcdStorage({ endpoints: [etcd.endpoint], prefix: `/${count++}` }) }),
    );
  }
});
