/**
 * Links between documents refer to existing files and headings. Links to the web are not checked, because tests need
 * no network.
 */
import { describe, expect, test } from 'vitest';
import { findLinkProblem, isInRepository, linksOf, targetOf } from '../../docs/.vitepress/links.js';
import { documents, readDocument } from './fences.js';

describe('the links of the documentation', () => {
  for (const document of documents) {
    test(`refers only to existing targets in ${document}`, () => {
      const problems = linksIn(document).map((link) => problemOf(document, link));
      expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
    });
  }

  test('counts the pages of the guide and the examples in the README', () => {
    const countIn = (pattern: RegExp): number => Number(pattern.exec(readDocument('README.md'))?.[1]);
    expect(countIn(/\b(\d+) pages in reading order/)).toBe(documents.filter((each) => /guide\/\d/.test(each)).length);
    const examples = readDocument('examples/README.md').match(/^\| \[\d\d-/gm);
    expect(countIn(/\| (\d+) programs; /)).toBe(examples?.length);
  });

  test('reaches every document from the README', () => {
    // Two pages are not in the package, so its pages do not link to them: the first page of the site, and the playground's.
    const reached = new Set(['README.md', 'docs/README.md', 'examples/playground/README.md']);
    for (const document of reached) {
      for (const link of linksIn(document)) {
        const { file } = targetOf(document, link);
        if (documents.includes(file)) reached.add(file);
      }
    }
    expect(documents.filter((document) => !reached.has(document))).toEqual([]);
  });
});

function linksIn(document: string): string[] {
  return linksOf(readDocument(document)).filter(isInRepository);
}

/** Generated from measurements; a checkout may lack them. */
const OPTIONAL: ReadonlySet<string> = new Set(['docs/performance.md']);

function problemOf(document: string, link: string): string | undefined {
  const target = targetOf(document, link);
  return OPTIONAL.has(target.file) ? undefined : findLinkProblem(target);
}
