/** Functions with options reject a misspelled option and name it. */
import { createCluster, openIdConnect, tokenWebhook } from 'orchplane';
import {
  admissionPlugins,
  eventRateLimit,
  podNodeSelectorWith,
  podTolerationRestrictionWith,
} from 'orchplane/admission';
import * as of from 'orchplane/controllers';
import { openEtcdSnapshot, writeEtcdSnapshot } from 'orchplane/etcd';
import { createFetchHandler } from 'orchplane/http';
import { indexedDbJournal } from 'orchplane/indexed-db';
import { createInProcessAgent, createNodeListener, fileJournal } from 'orchplane/node';
import { createResponder, fire } from 'orchplane/service-worker';
import { captureCluster, interleavings, testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

const misspelled = { misspelled: 1 } as never;
const cluster = testCluster();

test.each<readonly [string, () => unknown]>([
  ['admissionPlugins', () => admissionPlugins(misspelled)],
  ['apiServices', () => of.apiServices(misspelled)],
  ['captureCluster', () => captureCluster(cluster, misspelled)],
  ['certificateSigning', () => of.certificateSigning(misspelled)],
  ['completes', () => of.completes(misspelled)],
  ['crashLoop', () => of.crashLoop(misspelled)],
  ['createCertificateAuthority', () => of.createCertificateAuthority(misspelled)],
  ['createCluster', () => createCluster(misspelled)],
  ['createInProcessAgent', () => createInProcessAgent(cluster, misspelled)],
  ['createNodeListener', () => createNodeListener(cluster, misspelled)],
  ['createResponder', () => createResponder(cluster, misspelled)],
  ['a handler', () => createFetchHandler(cluster, misspelled)],
  ['eventRateLimit', () => eventRateLimit(misspelled)],
  ['evicted', () => of.evicted(misspelled)],
  ['fileJournal', () => fileJournal('folder', misspelled)],
  ['fire', () => fire(cluster, misspelled)],
  ['indexedDbJournal', () => indexedDbJournal('name', misspelled)],
  ['interleavings', () => interleavings(cluster, () => undefined, misspelled)],
  ['leaderElection', () => of.leaderElection(misspelled)],
  ['legacyTokenCleaner', () => of.legacyTokenCleaner(misspelled)],
  ['namespaces', () => of.namespaces(misspelled)],
  ['nodeLifecycle', () => of.nodeLifecycle(misspelled)],
  ['openIdConnect', () => openIdConnect(misspelled)],
  ['openEtcdSnapshot', () => openEtcdSnapshot('file', misspelled)],
  ['podCollector', () => of.podCollector(misspelled)],
  ['podNodeSelectorWith', () => podNodeSelectorWith(misspelled)],
  ['podTolerationRestrictionWith', () => podTolerationRestrictionWith(misspelled)],
  ['readyPods', () => of.readyPods(misspelled)],
  ['rootCertificates', () => of.rootCertificates(misspelled)],
  ['runControllers', () => of.runControllers(cluster, [], misspelled)],
  ['serviceAccountTokens', () => of.serviceAccountTokens(misspelled)],
  ['serviceAccounts', () => of.serviceAccounts(misspelled)],
  ['slowStart', () => of.slowStart(misspelled)],
  ['stages', () => of.stages([], misspelled)],
  ['standardControllers', () => of.standardControllers(misspelled)],
  ['tokenWebhook', () => tokenWebhook(misspelled)],
  ['volumeProvisioner', () => of.volumeProvisioner(misspelled)],
  ['writeEtcdSnapshot', () => writeEtcdSnapshot('file', cluster, misspelled)],
])('%s rejects an unknown option', async (where, call) => {
  await expect((async () => call())()).rejects.toThrow(`orchplane: ${where} has no option "misspelled"; it has `);
});
