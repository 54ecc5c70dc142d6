/**
 * A cluster, and KubeConfigs for the unmodified `@kubernetes/client-node` for each transport. The clock advances only
 * when a test advances it.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { ApiException, KubeConfig, type V1Status } from '@kubernetes/client-node';
import { defineKind, status } from 'orchplane';
import type { Tokens } from 'orchplane/http';
import { connectKubeConfig, createInProcessAgent, serve } from 'orchplane/node';
import { type TestCluster, testCluster } from 'orchplane/testing';
import * as z from 'zod';

export const ways = ['https', 'http', 'in process'] as const;
export type Way = (typeof ways)[number];

export interface Site extends AsyncDisposable {
  readonly cluster: TestCluster;
  readonly config: KubeConfig;
  /** Configures another KubeConfig with this server to reach it. */
  reach(config: KubeConfig): void;
  /** Resets all open connections. New ones can be opened. */
  cut(): void;
}

export async function openSite(way: Way, options: { readonly tokens?: Tokens } = {}): Promise<Site> {
  const cluster = testCluster({ dialect: 'kubernetes' });
  if (way === 'in process') {
    const agent = createInProcessAgent(cluster, options);
    const config = connectKubeConfig(new KubeConfig(), agent);
    const cut = (): void => agent.destroy();
    const reach = (other: KubeConfig): void => void connectKubeConfig(other, agent);
    return { cluster, config, reach, cut, [Symbol.asyncDispose]: async () => cut() };
  }
  const server = await serve(cluster, { ...options, tls: way === 'https' });
  const network = await openNetwork(server.port);
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfig.replace(`:${server.port}`, `:${network.port}`));
  const close = async (): Promise<void> => {
    network.close();
    await server.close();
  };
  return { cluster, config, reach: () => undefined, cut: network.cut, [Symbol.asyncDispose]: close };
}

/** A TCP proxy between client and server that can be cut. */
async function openNetwork(to: number): Promise<{ readonly port: number; cut(): void; close(): void }> {
  const open = new Set<Socket>();
  const relay = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    near.pipe(far).pipe(near);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      // A reset connection closes like any other; the other half follows.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const close = (): void => {
    relay.close();
    cut();
  };
  return { port: (relay.address() as AddressInfo).port, cut, close };
}

/** A user-defined kind, for which client-node has no class. */
export const Backup = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Backup',
  scope: 'Namespaced',
  body: {
    spec: z.object({ source: z.string().min(1), keep: z.int().min(0).default(7) }),
    status: z.object({ phase: z.string() }).optional(),
  },
  subresources: { status },
});

/** The error of a failed call. Its body is a string, because client-node does not parse the Status. */
export async function refusal(call: Promise<unknown>): Promise<{ readonly code: number; readonly status: V1Status }> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiException)) throw new Error(`not refused by the server: ${String(error)}`);
  const { code, body } = error as ApiException<string>;
  return { code, status: JSON.parse(body) as V1Status };
}

/** A response as the server sent it: client-node converts times to dates, and missing fields to undefined. */
export function asSent(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, each: unknown) =>
    typeof each === 'string' ? each.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.000Z$/, '$1Z') : each,
  );
}
