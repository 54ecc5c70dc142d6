/** The documentation site. The pages are the Markdown files of this folder, which a forge shows too. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DefaultTheme, defineConfig } from 'vitepress';
import { anchorOf, REPOSITORY } from './links.js';
import { extendMarkdown } from './markdown.js';
import { BASE, makeBaseRelative } from './relative-base.js';

const docs = fileURLToPath(new URL('..', import.meta.url));
const base = process.env['NODE_ENV'] === 'production' ? BASE : '/';

/** A page of the sidebar, named by its first heading. */
function page(path: string, text = titleOf(path)): DefaultTheme.SidebarItem {
  return { text, link: `/${path.replace(/README\.md$/, '').replace(/\.md$/, '.html')}` };
}

function titleOf(path: string): string {
  const title = /^# (.*)$/m.exec(readFileSync(join(docs, path), 'utf8'))?.[1];
  if (title === undefined) throw new Error(`docs/${path}: The page has no heading of level 1.`);
  return title.replaceAll('`', '');
}

/** The pages of a folder in the order of their file names, without its README. */
function pagesIn(folder: string): DefaultTheme.SidebarItem[] {
  const names = readdirSync(join(docs, folder)).filter((name) => name.endsWith('.md') && name !== 'README.md');
  return names.sort().map((name) => page(`${folder}/${name}`));
}

const LINKS = {
  playground: { text: 'Playground', link: '/playground/index.html', target: '_self' },
  reference: { text: 'API reference', link: '/reference/index.html', target: '_self' },
};

const SIDEBAR: DefaultTheme.SidebarItem[] = [
  { text: 'Guide', items: [page('README.md', 'Start'), page('guide/README.md', 'Contents'), ...pagesIn('guide')] },
  { text: 'Extending', items: [page('extending/README.md', 'Contents'), ...pagesIn('extending')] },
  { text: 'Reference', items: [LINKS.reference, page('specification.md'), page('glossary.md')] },
  {
    text: 'Conformance',
    items: ['fidelity.md', 'conformance.md', 'comparison.md', 'reliability.md', 'performance.md'].map((path) =>
      page(path),
    ),
  },
  {
    text: 'Design',
    items: [page('architecture.md'), { text: 'Decisions', link: '/architecture.html#decisions' }],
  },
];

export default defineConfig({
  title: 'orchplane',
  description: 'A Kubernetes API server and its controllers as a TypeScript library',
  lang: 'en',
  base,
  srcExclude: ['reference/**'],
  rewrites: (id) => id.replace(/(^|\/)README\.md$/, '$1index.md'),
  head: [['link', { rel: 'icon', href: `${base}playground/icon.svg`, type: 'image/svg+xml' }]],
  markdown: {
    config: extendMarkdown,
    anchor: { slugify: anchorOf },
    languageAlias: { 'go-mod': 'go' },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // A forge has neither; the text in braces or between colons is meant as it is.
    attrs: { disable: true },
    emoji: { enabled: [] },
  },
  vite: {
    // The index of the search, which is loaded when the reader opens it.
    build: { chunkSizeWarningLimit: 2_000 },
  },
  vue: { template: { compilerOptions: { isCustomElement: (tag) => tag === 'playground-embed' } } },
  themeConfig: {
    nav: [
      { text: 'Guide', link: '/guide/', activeMatch: '/guide/' },
      LINKS.reference,
      { text: 'Conformance', link: '/conformance.html' },
      { text: 'Comparison', link: '/comparison.html' },
      LINKS.playground,
    ],
    sidebar: {
      '/': SIDEBAR,
      '/decisions/': [
        { text: 'Design', items: [page('architecture.md')] },
        { text: 'Decisions', items: pagesIn('decisions') },
      ],
    },
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
  },
  buildEnd: ({ outDir }) => makeBaseRelative(outDir),
});
