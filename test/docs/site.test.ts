/** What the documentation site does with Markdown, and the blocks that open in the playground. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { createMarkdownRenderer } from 'vitepress';
import { beforeAll, describe, expect, test } from 'vitest';
import { extendMarkdown } from '../../docs/.vitepress/markdown.js';
import { makeCluster } from '../../examples/playground/src/session/make-cluster.js';
import { root } from '../package/manifest.js';
import { fences } from './fences.js';

describe('the Markdown of the site', () => {
  let render: (text: string) => string;

  beforeAll(async () => {
    const renderer = await createMarkdownRenderer(join(root, 'docs'), {
      config: extendMarkdown,
      highlight: (code) => `<pre><code>${code}</code></pre>`,
    });
    render = (text) => renderer.render(text, { path: join(root, 'docs/guide/05-applying.md') });
  });

  test('links to pages of the site, and to the repository for other files', () => {
    expect(render('[a](05-applying.md#lists)')).toContain('href="./05-applying.html#lists"');
    expect(render('[a](../extending/README.md)')).toContain('href="./../extending/"');
    expect(render('[a](../../examples/README.md)')).toContain('/blob/main/examples/README.md"');
    expect(render('[a](../../examples)')).toContain('/tree/main/examples"');
    const decision = 'docs/decisions/0012-own-yaml.md';
    expect(render(`[a](https://github.com/orchplane/orchplane/blob/main/${decision}#context)`)).toContain(
      'href="./../decisions/0012-own-yaml.html#context"',
    );
    expect(render('[a](https://example.com)')).toContain('href="https://example.com"');
  });

  test('rejects a link to a file or a heading that does not exist', () => {
    expect(() => render('text\n\n[a](nope.md)')).toThrow(
      /^docs\/guide\/05-applying\.md:3: The link to "docs\/guide\/nope\.md" leads to no file\.$/,
    );
    expect(() => render('[a](https://github.com/orchplane/orchplane/blob/main/src/nope.ts)')).toThrow(
      'The link to "src/nope.ts" leads to no file.',
    );
    expect(() => render('[a](02-reading.md#nope)')).toThrow(
      /^docs\/guide\/05-applying\.md:1: The link to "docs\/guide\/02-reading\.md#nope" leads to no heading\.$/,
    );
  });

  test('adds a button to a block that opens in the playground', () => {
    const html = render('```yaml playground panel=cel\nkind: Pod\n```');
    expect(html).toMatch(
      /^<playground-embed panel="cel">[\s\S]*kind: Pod[\s\S]*<button type="button">Try it<\/button>/,
    );
    expect(render('```yaml\nkind: Pod\n```')).not.toContain('playground-embed');
  });

  test('rejects a block for the playground with an unknown panel, option or language', () => {
    expect(() => render('```yaml playground panel=acess\n```')).toThrow(
      'docs/guide/05-applying.md:1: The playground has no panel "acess"; it has watch, command-line, ',
    );
    expect(() => render('```yaml playground user=bob\n```')).toThrow('The block has an unknown option "user=bob"');
    expect(() => render('```ts playground\n```')).toThrow('Only yaml opens in the playground, not ts.');
  });
});

describe('the blocks that open in the playground', () => {
  const blocks = fences.filter(({ info }) => info.startsWith('yaml playground'));

  test('are on the pages about apply, custom resources, access and admission', () => {
    expect(new Set(blocks.map(({ file }) => file))).toEqual(
      new Set([
        'docs/README.md',
        ...['05-applying', '09-custom-resources', '10-access', '11-admission', '22-playground'].map(
          (name) => `docs/guide/${name}.md`,
        ),
      ]),
    );
  });

  for (const { file, line, code } of blocks) {
    test(`applies ${file}:${line}`, async () => {
      await using cluster = makeCluster();
      const report = await cluster.applyYaml(code);
      expect(report.length).toBeGreaterThan(0);
      expect(report.map(({ outcome }) => outcome)).toEqual(report.map(() => 'created'));
    });
  }
});

test('rejects an unknown command with one sentence', async () => {
  const run = promisify(execFile)(process.execPath, [join(root, 'docs/tools/site.mjs'), 'bild']);
  await expect(run).rejects.toMatchObject({
    code: 1,
    stderr: 'Unknown command "bild". Usage: node docs/tools/site.mjs [build [--out DIR]]\n',
  });
});
