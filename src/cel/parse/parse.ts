/** Parses an expression: a fast parser for valid texts and, if it fails, a recovering parser that finds all errors. */
import type { CelIssue, ParsedExpression } from '../ast.js';
import type { Macro } from '../library.js';
import { NodeBuilder } from './node-builder.js';
import { quickParse } from './quick-parser.js';
import { RecoveringParser, STOPPED } from './recovering-parser.js';
import { MAX_CHARACTERS, MAX_SYNTAX_ERRORS, NO_LOCATION, TextSource } from './source.js';
import { TokenStream } from './token-stream.js';
import { TreeReader } from './tree-reader.js';

/** Parses an expression, including optional syntax. `macros` are keyed by `macroKey`. */
export function parse(
  text: string,
  macros: ReadonlyMap<string, Macro>,
): ParsedExpression | { readonly issues: readonly CelIssue[] } {
  const source = new TextSource(text);
  const size = source.codes.length;
  if (size > MAX_CHARACTERS) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${MAX_CHARACTERS}`;
    return { issues: [{ message, offset: NO_LOCATION, exprId: 1 }] };
  }
  let hasError = false;
  const builder = new NodeBuilder(macros, () => {
    hasError = true;
  });
  const expr = quickParse(source, builder);
  if (expr === undefined || hasError) return { issues: findIssues(source, macros) };
  return { source, expr, macroCalls: builder.macroCalls };
}

/** Finds the issues of a text that the quick parser rejected, in the order of discovery. */
function findIssues(source: TextSource, macros: ReadonlyMap<string, Macro>): readonly CelIssue[] {
  const issues: CelIssue[] = [];
  let syntaxErrors = 0;
  // An empty text has no location for its end.
  const location = (offset: number) => (source.text === '' ? -1 : offset);
  const report = (message: string, offset: number, exprId: number) => {
    issues.push({ message, offset: location(offset), exprId });
  };
  const syntax = (message: string, offset: number) => {
    const tooMany = syntaxErrors++ >= MAX_SYNTAX_ERRORS;
    const text = tooMany ? `More than ${MAX_SYNTAX_ERRORS} syntax errors` : withReservedWord(message);
    report(`Syntax error: ${text}`, offset, 0);
    if (tooMany) throw STOPPED;
  };
  const stop = (message: string): never => {
    issues.push({ message, offset: NO_LOCATION, exprId: 0 });
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

/** A keyword after a dot is reported as an unexpected token instead of an identifier. */
function withReservedWord(message: string): string {
  return message.replace(
    /no viable alternative at input '.(true|false|null)'/gu,
    "mismatched input '$1' expecting IDENTIFIER",
  );
}
