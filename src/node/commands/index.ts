/**
 * The commands of `orchplane`. Each is loaded when it is used.
 */
import type { CommandDefinition } from './command.js';

interface CommandEntry {
  /** A few words for `orchplane --help`. */
  readonly summary: string;
  readonly load: () => Promise<{ readonly command: CommandDefinition }>;
}

export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  serve: { summary: 'serve a cluster until Ctrl-C', load: () => import('./serve.js') },
  run: { summary: 'run a command with a cluster of its own', load: () => import('./run.js') },
  apply: { summary: 'apply manifests', load: () => import('./apply.js') },
  get: { summary: 'print objects', load: () => import('./get.js') },
  diff: { summary: 'show what apply would change', load: () => import('./diff.js') },
  delete: { summary: 'delete objects', load: () => import('./delete.js') },
  validate: { summary: 'check manifests, for CI', load: () => import('./validate.js') },
  'upgrade-check': {
    summary: 'find API versions that a release deprecates or removes',
    load: () => import('./upgrade-check.js'),
  },
  'explain-access': { summary: 'print the smallest role of a program', load: () => import('./explain-access.js') },
  generate: { summary: 'write zod kinds for CRDs', load: () => import('./generate.js') },
  snapshot: { summary: 'write a cluster as an etcd snapshot', load: () => import('./snapshot.js') },
  restore: { summary: 'create a cluster from a snapshot or an import', load: () => import('./restore.js') },
  import: { summary: 'read the objects of a real cluster', load: () => import('./import.js') },
  record: { summary: 'record the requests to a real cluster', load: () => import('./record.js') },
  replay: { summary: 'serve a recording, or check answers against it', load: () => import('./replay.js') },
  envtest: { summary: 'write the programs that test suites in Go start', load: () => import('./envtest.js') },
  completion: { summary: 'print a completion script for a shell', load: () => import('./completion.js') },
};
