/**
 * The server that envtest starts in the place of etcd: it answers health checks and stores nothing. The API server keeps
 * the objects.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { parseFlags } from './flags.js';

/** The release that the reference server is built with. */
export const ETCD_VERSION = '3.5.21';

const VERSION = { etcdserver: ETCD_VERSION, etcdcluster: '3.5.0' };
const HEALTH = { health: 'true', reason: '' };

/** Listens on the client URLs of an etcd command line. Returns a function that stops it. */
export async function startEtcd(args: readonly string[]): Promise<() => void> {
  const urls = parseFlags(args).get('listen-client-urls')?.at(-1) ?? 'http://127.0.0.1:2379';
  const servers = urls.split(',').map((text) => {
    const { hostname, port } = new URL(text);
    const server = createServer((request, response) => {
      const body = request.url === '/version' ? VERSION : HEALTH;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    return server.listen(Number(port), hostname.replace(/^\[|\]$/g, ''));
  });
  await Promise.all(servers.map((server) => once(server, 'listening')));
  return () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
}
