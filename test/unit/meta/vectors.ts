/**
 * Reads outcomes of the real implementation. They live beside the checkout, not in it; a suite that needs them skips
 * itself, and says so, when they are absent.
 */
import { existsSync, readFileSync } from 'node:fs';

const folder = new URL('../../../../shared/vectors/', import.meta.url);

/** Whether the file of that name is there. */
export function hasVectors(name: string): boolean {
  return existsSync(new URL(`${name}.json`, folder));
}

/** The title of a suite over that file, with the reason when it is skipped. */
export function vectorSuite(name: string): string {
  return hasVectors(name) ? `vectors ${name}.json` : `vectors ${name}.json (skipped: no ../shared beside the checkout)`;
}

/** The file's value; integers under the given keys become texts first, because they may not fit a number. */
export function readVectors(name: string, bigKeys: readonly string[] = []): unknown {
  let text = readFileSync(new URL(`${name}.json`, folder), 'utf8');
  for (const key of bigKeys) text = text.replace(new RegExp(`("${key}":\\s*)(-?\\d+)`, 'g'), '$1"$2"');
  return JSON.parse(text);
}
