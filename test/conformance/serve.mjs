/**
 * The same cluster on a port, for replays over sockets: `node serve.mjs COMMAND …` runs a command with `--url` and the
 * address behind it, and ends as it does.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { serve } from '../../dist/node/index.js';
import { recordedCluster, tokens } from './target.mjs';

const { cluster, asked, answered } = recordedCluster();
cluster.use((_request, next) => {
  asked();
  const response = next();
  answered();
  return response;
});
const server = await serve(cluster, { tokens });

const [command, ...words] = process.argv.slice(2);
const child = spawn(command, [...words, '--url', server.url], { stdio: 'inherit' });
const [code] = await once(child, 'exit');
process.exitCode = code ?? 1;
await server.close();
await cluster.close();
process.exit();
