/**
 * A program that fails soon after its start.
 */
import type { Program } from 'orchplane/runtime';

export const crash: Program = async ({ log, sleep, stderr }) => {
  log('starting');
  await sleep(500);
  stderr.write('fatal: this pod has the label playground/crash\n');
  return 1;
};
