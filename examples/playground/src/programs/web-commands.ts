/**
 * Commands of all images, in addition to those of the runtime.
 */
import type { Program } from 'orchplane/runtime';
import { failureOf } from './load.js';

/** Prints the body of a response. Flags are ignored, so that `wget -qO- URL` and `curl -s URL` work. */
const download: Program = async ({ args, command, fetch, stderr, stdout }) => {
  const name = command[0] ?? 'wget';
  const url = args.findLast((arg) => !arg.startsWith('-'));
  if (url === undefined) {
    stderr.write(`usage: ${name} URL\n`);
    return 1;
  }
  try {
    const response = await fetch(/^https?:/.test(url) ? url : `http://${url}`);
    if (!response.ok) {
      stderr.write(`${name}: server returned error: HTTP ${response.status}\n`);
      return 1;
    }
    stdout.write(await response.text());
    return 0;
  } catch (error) {
    stderr.write(`${name}: ${failureOf(error)}\n`);
    return 1;
  }
};

export const webCommands: Readonly<Record<string, Program>> = {
  wget: download,
  curl: download,
  touch: ({ args, files }) => {
    for (const path of args) if (!files.exists(path)) files.write(path, '');
  },
};
