/** Clusters and manifests for the tests of commands. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { fileJournal, serve } from 'orchplane/node';
import { onTestFinished } from 'vitest';
import { type CommandResult, type RunOptions, run } from './run.js';

/** A folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'orchplane-command-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

export interface Served {
  readonly cluster: Cluster;
  /** Runs a command against the cluster. */
  readonly command: (args: string, options?: RunOptions) => Promise<CommandResult>;
}

export async function served(dialect: 'kubernetes' | 'orch' = 'kubernetes'): Promise<Served> {
  const cluster = createCluster({ dialect });
  const server = await serve(cluster, { token: 'secret' });
  onTestFinished(async () => {
    await server.close();
    await cluster.close();
  });
  const options = ['--kubeconfig', server.kubeconfig, '--dialect', dialect];
  return { cluster, command: (args, given) => run([...args.split(' '), ...options], given) };
}

/** The folder of a cluster that is not served. */
export async function saved(): Promise<string> {
  const data = join(temporaryFolder(), 'data');
  mkdirSync(data);
  await using cluster = createCluster({ dialect: 'kubernetes', journal: fileJournal(join(data, 'journal')) });
  await cluster.api(ConfigMap).create({ metadata: { name: 'kept' }, data: { a: '1' } });
  return data;
}

export const configMap = (name: string, data: Record<string, string> = {}, more = ''): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}${more}}\ndata: ${JSON.stringify(data)}\n`;

export const WIDGETS = `
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec: {size: 1}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`;
