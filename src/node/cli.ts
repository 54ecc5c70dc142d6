#!/usr/bin/env node
/** The program `orchplane`. */
import { readFileSync } from 'node:fs';
import { main } from './run-command.js';

// Two folders up from both the source and the built file.
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
if (process.argv[2]?.startsWith('envtest-')) {
  const { runEnvtestProgram } = await import('./envtest/programs.js');
  await runEnvtestProgram(process.argv.slice(2), manifest.version);
} else {
  await main(manifest.version);
}
