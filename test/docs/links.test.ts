/**
 * Links between documents refer to existing files and headings. Links to the web are not checked, because tests need
 * no network.
 */
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../package/manifest.js';
import { documents, readDocument } from './fences.js';

describe('the links of the documentation', () => {
  for (const document of documents) {
    test(`refers only to existing targets in ${document}`, () => {
      const broken = linksOf(readDocument(document)).filter((link) => !targetExists(document, link));
      expect(broken).toEqual([]);
    });
  }

  test('reaches every document from the README', () => {
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

/** The relative links of a text, without code. */
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

/** Generated from measurements; a checkout may lack them. */
const OPTIONAL: ReadonlySet<string> = new Set(['docs/performance.md']);

function targetExists(document: string, link: string): boolean {
  const { file, heading } = targetOf(document, link);
  if (OPTIONAL.has(file)) return true;
  if (!existsSync(join(root, file))) return false;
  return heading === undefined || headingsOf(readDocument(file)).includes(heading);
}

/** Anchors of headings as forges create them: lower case, no punctuation, dashes for spaces. */
function headingsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}
