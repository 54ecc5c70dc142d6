/** Links between Markdown files and the anchors of their headings, as the site and the tests read them. */
import { existsSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root folder of the repository. */
const root = fileURLToPath(new URL('../../', import.meta.url));

export const REPOSITORY = 'https://github.com/orchplane/orchplane';

/** What a URL of a file or folder of the repository starts with. Pages of the package link so to what it does not contain. */
const FILES = new RegExp(`^${REPOSITORY}/(?:blob|tree)/main/`);

export interface LinkTarget {
  /** Relative to the repository, with forward slashes. */
  readonly file: string;
  readonly heading: string | undefined;
}

/** The links of a text, without code. */
export function linksOf(text: string): string[] {
  const prose = text.replace(/^\s*```[\s\S]*?^\s*```/gm, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
}

export function isRelative(link: string): boolean {
  return !/^([a-z]+:|\/\/)/i.test(link);
}

/** Whether a link refers to a file of the repository or to a heading. */
export function isInRepository(link: string): boolean {
  return isRelative(link) || FILES.test(link);
}

/** `document` is relative to the repository: `docs/guide/02-reading.md`. */
export function targetOf(document: string, link: string): LinkTarget {
  const [path = '', heading] = link.replace(FILES, '').split('#');
  const folder = isRelative(link) ? posix.dirname(document) : '';
  return { file: path === '' ? document : posix.join(folder, path), heading };
}

/** Returns undefined if the file and the heading exist, otherwise one sentence. */
export function findLinkProblem({ file, heading }: LinkTarget): string | undefined {
  const path = join(root, file);
  if (!existsSync(path)) return `The link to "${file}" leads to no file.`;
  if (heading === undefined || !file.endsWith('.md')) return undefined;
  return anchorsOf(readFileSync(path, 'utf8')).includes(heading)
    ? undefined
    : `The link to "${file}#${heading}" leads to no heading.`;
}

/** The anchor of a heading as forges create it: lower case, no punctuation, dashes for spaces. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-');
}

/** The second heading with the same anchor gets `-1`, the third `-2`. */
function anchorsOf(text: string): string[] {
  const prose = text.replace(/^\s*```[\s\S]*?^\s*```/gm, '');
  const counts = new Map<string, number>();
  return [...prose.matchAll(/^#+ (.*)$/gm)].map((match) => {
    const anchor = anchorOf(match[1] ?? '');
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}
