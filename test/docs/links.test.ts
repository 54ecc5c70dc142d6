/**
 * Links between documents lead to files and headings that exist. Links to the web are not looked at: no test needs a
 * network.
 */
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../package/manifest.js';
import { documents, readDocument } from './fences.js';

describe('the links of the documentation', () => {
  for (const document of documents) {
    test(`${document} points at what exists`, () => {
      const broken = linksOf(readDocument(document)).filter((link) => !leadsSomewhere(document, link));
      expect(broken).toEqual([]);
    });
  }

  test('every document can be reached from the README', () => {
    const reached = new Set(['README.md']);
    for (const document of reached) {
      for (const link of linksOf(readDocument(document))) {
        const { file } = targetOf(document, link);
        if (documents.includes(file)) reached.add(file);
      }
    }
    expect(documents.filter((document) => !reached.has(document))).toEqual([]);
  });
});

/** The relative links of a text; what stands in code is none. */
function linksOf(text: string): string[] {
  const prose = text.replace(/^\s*```[\s\S]*?^\s*```/gm, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1] ?? '')
    .filter((link) => !/^[a-z]+:/.test(link));
}

function targetOf(document: string, link: string): { file: string; heading: string | undefined } {
  const [path = '', heading] = link.split('#');
  return { file: path === '' ? document : posix.join(posix.dirname(document), path), heading };
}

/** Made from measurements; a checkout may be without. */
const OPTIONAL: ReadonlySet<string> = new Set(['docs/performance.md']);

function leadsSomewhere(document: string, link: string): boolean {
  const { file, heading } = targetOf(document, link);
  if (OPTIONAL.has(file)) return true;
  if (!existsSync(join(root, file))) return false;
  return heading === undefined || headingsOf(readDocument(file)).includes(heading);
}

/** As forges make them from headings: small letters, no punctuation, dashes for spaces. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}
