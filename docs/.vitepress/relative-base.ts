/**
 * Makes the built site work below any address. VitePress needs a fixed base path, so the site is built with the
 * placeholder {@link BASE}. Afterwards it is replaced: in pages by the relative path to the root, in scripts by a
 * variable that each page computes from its own address.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { parseAst } from 'rollup/parseAst';

export const BASE = '/__site_base__/';

const VARIABLE = 'window.SITE_BASE';

/**
 * Runs before the scripts of the page. Vue keeps the links of the rendered page when it takes it over, and a relative
 * link would lead elsewhere after the reader has opened a page in another folder.
 */
const ABSOLUTE_LINKS = `<script>for (const link of document.querySelectorAll('a[href^="."], [rel=icon]')) link.setAttribute('href', link.href)</script>`;

export async function makeBaseRelative(folder: string): Promise<void> {
  // A page for missing addresses would need to know how deep they are.
  await rm(join(folder, '404.html'));
  for (const name of await readdir(folder, { recursive: true })) {
    const rewrite = REWRITES[extname(name)];
    if (rewrite === undefined) continue;
    const text = await readFile(join(folder, name), 'utf8');
    if (text.includes(BASE)) await writeFile(join(folder, name), rewrite(text, name));
  }
}

const REWRITES: Readonly<Record<string, (text: string, name: string) => string>> = {
  '.html': rewritePage,
  '.js': rewriteScript,
  // The style sheet is in the same folder as its files.
  '.css': (text) => text.replaceAll(`${BASE}assets/`, './'),
};

function rewritePage(text: string, name: string): string {
  const depth = relative('.', name).split(sep).length - 1;
  const toRoot = depth === 0 ? './' : '../'.repeat(depth);
  return text
    .replaceAll(`\\"base\\":\\"${BASE}\\"`, `\\"base\\":\\""+${VARIABLE}+"\\"`)
    .replaceAll(BASE, toRoot)
    .replace('<head>', `<head><script>${VARIABLE} = new URL('${toRoot}', location.href).pathname</script>`)
    .replace('</body>', `${ABSOLUTE_LINKS}</body>`);
}

interface TextNode {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** Replaces the placeholder in strings and templates. */
function rewriteScript(text: string): string {
  const found: TextNode[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const each of node) visit(each);
    if (!isNode(node)) return;
    const { start, end } = node;
    if (node['type'] === 'Literal' && typeof node['value'] === 'string' && node['value'].includes(BASE)) {
      const parts = node['value'].split(BASE).map((part) => JSON.stringify(part));
      found.push({ start, end, replacement: `(${parts.join(`+${VARIABLE}+`)})` });
    } else if (node['type'] === 'TemplateElement') {
      found.push({ start, end, replacement: text.slice(start, end).replaceAll(BASE, `\${${VARIABLE}}`) });
    } else for (const each of Object.values(node)) visit(each);
  };
  visit(parseAst(text));
  let rewritten = text;
  for (const { start, end, replacement } of found.sort((a, b) => b.start - a.start)) {
    rewritten = rewritten.slice(0, start) + replacement + rewritten.slice(end);
  }
  return rewritten;
}

function isNode(value: unknown): value is Record<string, unknown> & { start: number; end: number } {
  return typeof value === 'object' && value !== null && 'type' in value && !Array.isArray(value);
}
