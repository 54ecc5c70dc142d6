#!/usr/bin/env node
/** The program `orchplane`. */
import { readFileSync } from 'node:fs';

// Two folders up from both the source and the built file.
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
if (process.argv[2]?.startsWith('envtest-')) {
  const { runEnvtestProgram } = await import('./envtest/programs.js');
  await runEnvtestProgram(process.argv.slice(2), manifest.version);
} else {
  const { main } = await import('./run-command.js');
  await main(manifest.version);
}
