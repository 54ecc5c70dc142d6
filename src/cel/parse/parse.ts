/**
 * Text into nodes: `parse` reads it, `issuesText` shows what is wrong with it. Checking and everything after it is not
 * done here.
 */
import type { CelIssue, ParsedExpression } from '../ast.js';
import type { Macro } from '../library.js';
import { NodeBuilder } from './node-builder.js';
import { quickParse } from './quick-parser.js';
import { RecoveringParser, STOPPED } from './recovering-parser.js';
import { MOST_CHARACTERS, MOST_SYNTAX_ERRORS, NO_PLACE, TextSource } from './source.js';
import { TokenStream } from './token-stream.js';
import { TreeReader } from './tree-reader.js';

/**
 * Reads an expression with the syntax for optional values. `macros` are found by `macroKey`.
 */
export function parse(
  text: string,
  macros: ReadonlyMap<string, Macro>,
): ParsedExpression | { readonly issues: readonly CelIssue[] } {
  const source = new TextSource(text);
  const size = source.codes.length;
  if (size > MOST_CHARACTERS) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${MOST_CHARACTERS}`;
    return { issues: [{ message, offset: NO_PLACE, exprId: 1 }] };
  }
  let mistaken = false;
  const builder = new NodeBuilder(macros, () => {
    mistaken = true;
  });
  const expr = quickParse(source, builder);
  if (expr === undefined || mistaken) return { issues: findIssues(source, macros) };
  return { source, expr, macroCalls: builder.macroCalls };
}

/** The issues of a text that the quick parser gave up, in the order in which they are found. */
function findIssues(source: TextSource, macros: ReadonlyMap<string, Macro>): readonly CelIssue[] {
  const issues: CelIssue[] = [];
  let syntaxErrors = 0;
  // An empty text has no place at all for its end.
  const place = (offset: number) => (source.text === '' ? -1 : offset);
  const report = (message: string, offset: number, exprId: number) => {
    issues.push({ message, offset: place(offset), exprId });
  };
  const syntax = (message: string, offset: number) => {
    const tooMany = syntaxErrors++ >= MOST_SYNTAX_ERRORS;
    const text = tooMany ? `More than ${MOST_SYNTAX_ERRORS} syntax errors` : withReservedWord(message);
    report(`Syntax error: ${text}`, offset, 0);
    if (tooMany) throw STOPPED;
  };
  const stop = (message: string): never => {
    issues.push({ message, offset: NO_PLACE, exprId: 0 });
    throw STOPPED;
  };
  try {
    const tree = new RecoveringParser(new TokenStream(source, syntax), { syntax, stop }).parse();
    new TreeReader(new NodeBuilder(macros, report), { report, stop }).read(tree);
  } catch (error) {
    if (error !== STOPPED) throw error;
  }
  return issues;
}

/** A keyword after a dot is reported as if it were expected to be a name. */
function withReservedWord(message: string): string {
  return message.replace(
    /no viable alternative at input '.(true|false|null)'/gu,
    "mismatched input '$1' expecting IDENTIFIER",
  );
}
