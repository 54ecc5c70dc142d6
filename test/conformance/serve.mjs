/**
 * Serves the cluster of the recordings on a port: `node serve.mjs COMMAND …` runs the command with `--url ADDRESS` appended
 * and exits with its code.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { serve } from '../../dist/node/index.js';
import { recordedCluster, tokens } from './target.mjs';

const { cluster, beforeRequest, afterRequest } = await recordedCluster({ dialect: 'kubernetes', pauses: 'measured' });
cluster.use((_request, next) => {
  beforeRequest();
  const response = next();
  afterRequest();
  return response;
});
const server = await serve(cluster, { tokens });

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, [...args, '--url', server.url], { stdio: 'inherit' });
const [code] = await once(child, 'exit');
process.exitCode = code ?? 1;
await server.close();
await cluster.close();
process.exit();
