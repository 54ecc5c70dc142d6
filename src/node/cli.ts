#!/usr/bin/env node
/**
 * The program `orchplane`. It caches compiled code between runs, where Node offers that (22.8 and newer), which halves the
 * time to load the library. The cache must be enabled before the library is imported.
 */
import { readFileSync } from 'node:fs';
import module from 'node:module';

(module as { readonly enableCompileCache?: () => unknown }).enableCompileCache?.();

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
