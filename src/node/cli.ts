#!/usr/bin/env node
/**
 * The command `orchplane`. It is a program and exports nothing.
 */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { run } from './serve-command.js';

// Two folders up both from here and from the built file.
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const stop = new Promise<void>((resolve) => {
  let asked = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    // Whoever asks twice does not want to wait.
    if (asked) process.exit(signal === 'SIGINT' ? 130 : 143);
    asked = true;
    resolve();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
});

// Whoever read along may stop reading (`… | head`): the cluster is served all the same.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await run(process.argv.slice(2), {
  version: manifest.version,
  stdin: process.stdin,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  stop,
});
