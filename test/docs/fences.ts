/** Every fenced code block of README.md and docs/ with its location. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../package/manifest.js';

export interface Fence {
  /** Relative to the repository, with forward slashes: `docs/guide/02-reading.md`. */
  readonly file: string;
  /** The line number of the first line of code. */
  readonly line: number;
  /** The info string after the opening backticks: `ts run`. */
  readonly info: string;
  readonly code: string;
}

/** The paths of the documents, relative to the repository. */
export const documents: readonly string[] = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...markdownBelow('docs'),
  ...markdownBelow('examples'),
];

function markdownBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.md') && !file.includes('/node_modules/'))
    .sort();
}

export function readDocument(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** The blocks of one document, in order. */
export function fencesOf(file: string, text: string): Fence[] {
  const lines = text.split('\n');
  const fences: Fence[] = [];
  for (let start = 0; start < lines.length; start++) {
    const info = /^\s*```(.*)$/.exec(lines[start] ?? '')?.[1];
    if (info === undefined) continue;
    let end = start + 1;
    while (end < lines.length && !/^\s*```\s*$/.test(lines[end] ?? '')) end++;
    fences.push({ file, line: start + 2, info: info.trim(), code: lines.slice(start + 1, end).join('\n') });
    start = end;
  }
  return fences;
}

export const fences: readonly Fence[] = documents.flatMap((file) => fencesOf(file, readDocument(file)));
