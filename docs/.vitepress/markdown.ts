/**
 * What the site changes in Markdown: links to files that are not pages lead to the repository, and a block marked
 * `yaml playground` gets a button that opens its text in the playground. A wrong link or block fails the build.
 */
import { statSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MarkdownOptions } from 'vitepress';
import { PANEL_IDS } from '../../examples/playground/src/panels/panel-ids.js';
import { anchorOf, findLinkProblem, isInRepository, REPOSITORY, targetOf } from './links.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

type Renderer = Parameters<NonNullable<MarkdownOptions['config']>>[0];

/** What VitePress passes to the rules. `path` is the one after rewrites. */
interface Environment {
  readonly path: string;
  readonly realPath?: string;
}

export function extendMarkdown(md: Renderer): void {
  md.core.ruler.before('anchor', 'repository-links', ({ tokens, env }) => {
    const document = documentOf(env);
    for (const block of tokens) {
      const line = (block.map?.[0] ?? 0) + 1;
      for (const token of block.children ?? []) {
        const link = token.attrGet('href');
        if (token.type !== 'link_open' || link === null || !isInRepository(link)) continue;
        token.attrSet('href', hrefOf(document, line, link));
      }
    }
  });

  const renderFence = md.renderer.rules.fence;
  if (renderFence === undefined || renderFence === null) throw new Error('The Markdown renderer has no rule for code.');
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index];
    const html = renderFence(tokens, index, options, env, self);
    const words = token?.info.trim().split(/\s+/) ?? [];
    if (words[1] !== 'playground') return html;
    const panel = panelOf(words, `${documentOf(env)}:${(token?.map?.[0] ?? 0) + 1}`);
    const attribute = panel === undefined ? '' : ` panel="${panel}"`;
    return `<playground-embed${attribute}>${html}<button type="button">Try it</button></playground-embed>`;
  };
}

/** For headings: the same anchors as on a forge, so that a link works in both places. */
export { anchorOf };

function documentOf({ realPath, path }: Environment): string {
  return relative(root, realPath ?? path)
    .split(sep)
    .join('/');
}

function hrefOf(document: string, line: number, link: string): string {
  const target = targetOf(document, decodeURI(link));
  const problem = findLinkProblem(target);
  if (problem !== undefined) throw new Error(`${document}:${line}: ${problem}`);
  if (link.startsWith('#')) return link;
  // The README of a folder is its index on the site.
  const heading = target.heading === undefined ? '' : `#${target.heading}`;
  if (/^docs\/.*\.md$/.test(target.file)) {
    const page = posix.relative(posix.dirname(document), target.file);
    return page.replace(/(^|\/)README\.md$/, '$1index.md') + heading;
  }
  const kind = statSync(join(root, target.file)).isDirectory() ? 'tree' : 'blob';
  return `${REPOSITORY}/${kind}/main/${target.file}${heading}`;
}

/** The panel of a block such as `yaml playground panel=access`; undefined if it names none. */
function panelOf([language, , ...options]: readonly string[], place: string): string | undefined {
  if (language !== 'yaml') throw new Error(`${place}: Only yaml opens in the playground, not ${language}.`);
  let panel: string | undefined;
  for (const option of options) {
    const value = /^panel=(.*)$/.exec(option)?.[1];
    if (value === undefined) throw new Error(`${place}: The block has an unknown option "${option}"; use panel=ID.`);
    if (!PANEL_IDS.some((id) => id === value)) {
      throw new Error(`${place}: The playground has no panel "${value}"; it has ${PANEL_IDS.join(', ')}.`);
    }
    panel = value;
  }
  return panel;
}
