/**
 * The files under src/ as syntax trees, for tests that analyze the code. Nothing is type-checked, so parsing the whole
 * library takes a fraction of a second.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import ts from 'typescript';
import { root } from './manifest.js';

export interface SourceImport {
  /** As written: `../meta/errors.js`, `zod`. */
  readonly specifier: string;
  /** The file of a relative specifier, relative to the repository; absent for packages. */
  readonly file?: string;
  /** Whether the import has no effect at run time. */
  readonly typeOnly: boolean;
  readonly line: number;
}

export interface SourceFile {
  /** Relative to the repository, with forward slashes: `src/meta/errors.ts`. */
  readonly path: string;
  /** The first folder under src: `meta`. A file directly in src is its own name: `cluster.ts`. */
  readonly folder: string;
  readonly text: string;
  readonly lines: readonly string[];
  readonly tree: ts.SourceFile;
  readonly imports: readonly SourceImport[];
}

/** One violation of a rule. */
export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

const nodesByTree = new WeakMap<ts.Node, readonly ts.Node[]>();

export const sources: readonly SourceFile[] = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => readSource(relative(root, join(entry.parentPath, entry.name)).split(sep).join('/')))
  .sort((a, b) => (a.path < b.path ? -1 : 1));

/** Parses a text as if it were the file at `path`; tests of rules use it for sample files. */
export function parseSource(path: string, text: string): SourceFile {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  const folder = path.split('/')[1] ?? '';
  return { path, folder, text, lines: text.replace(/\n$/, '').split('\n'), tree, imports: importsOf(path, tree) };
}

/** Every node of the tree, parents first. Comments, JSDoc among them, are not visited. */
export function nodesOf(tree: ts.Node): readonly ts.Node[] {
  const known = nodesByTree.get(tree);
  if (known !== undefined) return known;
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    nodes.push(node);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  nodesByTree.set(tree, nodes);
  return nodes;
}

export function lineOf(tree: ts.SourceFile, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}

/** The failure message: the rule, then one line per finding that an editor can open. */
export function report(rule: string, findings: readonly Finding[]): string {
  return [rule, ...findings.map(({ file, line, what }) => `  ${file}:${line}  ${what}`)].join('\n');
}

function readSource(path: string): SourceFile {
  return parseSource(path, readFileSync(join(root, path), 'utf8'));
}

function importsOf(path: string, tree: ts.SourceFile): SourceImport[] {
  const found: SourceImport[] = [];
  const add = (specifier: ts.Node | undefined, typeOnly: boolean): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    const file = specifier.text.startsWith('.') ? resolve(path, specifier.text) : undefined;
    const line = lineOf(tree, specifier);
    found.push({ specifier: specifier.text, typeOnly, line, ...(file === undefined ? {} : { file }) });
  };
  for (const node of nodesOf(tree)) {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnly(node.importClause));
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], false);
    }
  }
  return found;
}

/** `import type {…}` and `import { type A, type B }`; a bare `import 'x'` is not. */
function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.isTypeOnly) return true;
  const named = clause.namedBindings;
  if (clause.name !== undefined || named === undefined || !ts.isNamedImports(named)) return false;
  return named.elements.length > 0 && named.elements.every((element) => element.isTypeOnly);
}

function resolve(from: string, specifier: string): string {
  return posix.join(dirname(from), specifier).replace(/\.js$/, '.ts');
}
