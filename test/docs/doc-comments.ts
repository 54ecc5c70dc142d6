/**
 * The `@example`s in doc comments of src, each wrapped into a module that declares what examples assume: the public
 * names, the names of the file, and values such as `cluster` or `configMaps`.
 */
import { posix } from 'node:path';
import ts from 'typescript';
import { entries } from '../package/manifest.js';
import { lineOf, nodesOf, parseSource, type SourceFile, sources } from '../package/sources.js';

export interface Example {
  /** `src/client/api.ts:45`. */
  readonly place: string;
  /** The source text of a module. */
  readonly text: string;
}

/** Values that an example may use without declaring them. */
const GIVEN = `
  declare const client: import('orchplane').Client;
  declare const transport: import('orchplane').Transport;
  declare const signal: AbortSignal;
  declare const uid: string;
  declare const text: string;
  declare const configMaps: import('orchplane').Api<typeof import('orchplane/kinds').ConfigMap>;
  declare const namespaces: import('orchplane').Api<typeof import('orchplane/kinds').Namespace>;
  declare const namespace: Awaited<ReturnType<typeof namespaces.get>>;
  declare const pods: import('orchplane').Api<typeof import('orchplane/kinds').Pod>;
  declare const endpoints: import('orchplane').Api<typeof import('orchplane/kinds').Endpoints>;
  declare const quotas: import('orchplane').Api<typeof import('orchplane/kinds').ResourceQuota>;
  declare const pod: Awaited<ReturnType<typeof pods.get>>;
  type Program = import('orchplane/runtime').Program;
`;

const CLUSTER = `
  declare const cluster: import('orchplane').Cluster;
`;

/** The same in files for tests. */
const TEST_CLUSTER = `
  declare const cluster: import('orchplane/testing').TestCluster;
  declare const seeded: import('orchplane/testing').TestCluster;
  declare const log: import('orchplane/testing').RequestLog;
  declare const before: import('orchplane').ApiObject;
  declare const after: import('orchplane').ApiObject;
  declare const readFile: typeof import('node:fs/promises').readFile;
  declare const writeFile: typeof import('node:fs/promises').writeFile;
`;

export function examplesInSources(): Example[] {
  const common = new Map<string, string>();
  for (const entry of entries) {
    for (const name of exportsOf(sourceAt(entry.source))) common.set(name, entry.specifier);
  }
  return sources.flatMap((source) => {
    const names = new Map(common);
    // Names that no entry exports are imported from the source.
    const own = `../../src/${source.path.slice('src/'.length).replace(/\.ts$/, '.js')}`;
    for (const name of exportsOf(source)) if (!names.has(name)) names.set(name, own);
    const given = GIVEN + (/^src\/(testing|vitest)\//.test(source.path) ? TEST_CLUSTER : CLUSTER);
    return examplesOf(source).map(({ line, code }) => ({
      place: `${source.path}:${line}`,
      text: wrap(code, names, given),
    }));
  });
}

/** Wraps the example into a block, where it may redeclare the given names. */
function wrap(code: string, names: ReadonlyMap<string, string>, given: string): string {
  const words = new Set(code.match(/[A-Za-z_$][\w$]*/g));
  // Given values have precedence over exports of the same name.
  const isGiven = (name: string) => given.includes(`declare const ${name}:`);
  const imports = [...names].flatMap(([name, from]) =>
    words.has(name) && !isGiven(name) ? [`import { ${name} } from '${from}';`] : [],
  );
  const zod = words.has('z') ? ["import * as z from 'zod';"] : [];
  return [...imports, ...zod, given, `{\n${code}\n}`, 'export {};'].join('\n');
}

function examplesOf(source: SourceFile): { line: number; code: string }[] {
  const tags = new Set<ts.JSDocTag>();
  for (const node of nodesOf(source.tree)) {
    for (const tag of ts.getJSDocTags(node)) if (tag.tagName.text === 'example') tags.add(tag);
  }
  return [...tags].map((tag) => ({
    line: lineOf(source.tree, tag),
    code: ts.getTextOfJSDocComment(tag.comment) ?? '',
  }));
}

/** The values that a file exports by name, including re-exports. */
function exportsOf({ tree, path }: SourceFile): string[] {
  const names: string[] = [];
  for (const statement of tree.statements) {
    if (ts.isExportDeclaration(statement)) {
      const { exportClause, isTypeOnly } = statement;
      if (isTypeOnly) continue;
      if (exportClause === undefined) names.push(...exportsOf(sourceAt(besideOf(path, statement))));
      if (exportClause === undefined || !ts.isNamedExports(exportClause)) continue;
      for (const { name, isTypeOnly: onlyType } of exportClause.elements) if (!onlyType) names.push(name.text);
    } else if (isExported(statement)) names.push(...declared(statement));
  }
  return names;
}

/** The file of an `export *`. */
function besideOf(path: string, { moduleSpecifier }: ts.ExportDeclaration): string {
  const specifier = moduleSpecifier !== undefined && ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : '';
  return posix.join(posix.dirname(path), specifier.replace(/\.js$/, '.ts'));
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

function declared(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  }
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) {
    return statement.name === undefined ? [] : [statement.name.text];
  }
  return [];
}

function sourceAt(path: string): SourceFile {
  return sources.find((source) => source.path === path) ?? parseSource(path, '');
}
