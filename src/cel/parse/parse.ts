/** Parses an expression: a parser that recovers from errors makes a tree, which is then converted to nodes. */
import type { CelIssue, ParsedExpression } from '../ast.js';
import type { Macro } from '../library.js';
import { NodeBuilder } from './node-builder.js';
import { RecoveringParser, STOPPED } from './recovering-parser.js';
import { MAX_CHARACTERS, MAX_SYNTAX_ERRORS, NO_LOCATION, TextSource } from './source.js';
import { TokenStream } from './token-stream.js';
import { TreeReader } from './tree-reader.js';

type Parsed = ParsedExpression | { readonly issues: readonly CelIssue[] };

/** The versions of a CRD repeat their rules, and each rule is parsed when the CRD is validated and when it is served. */
const MAX_CACHED = 200;
const MAX_CACHED_LENGTH = 2000;
const cached = new WeakMap<ReadonlyMap<string, Macro>, Map<string, Parsed>>();

/** Parses an expression, including optional syntax. `macros` are keyed by `macroKey`. Issues are in order of discovery. */
export function parse(text: string, macros: ReadonlyMap<string, Macro>): Parsed {
  let known = cached.get(macros);
  if (known === undefined || known.size >= MAX_CACHED) {
    known = new Map();
    cached.set(macros, known);
  }
  const parsed = known.get(text) ?? parseText(text, macros);
  if (text.length <= MAX_CACHED_LENGTH) known.set(text, parsed);
  return parsed;
}

function parseText(text: string, macros: ReadonlyMap<string, Macro>): Parsed {
  const source = new TextSource(text);
  const size = source.codes.length;
  if (size > MAX_CHARACTERS) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${MAX_CHARACTERS}`;
    return { issues: [{ message, offset: NO_LOCATION }] };
  }
  const issues: CelIssue[] = [];
  let syntaxErrors = 0;
  const report = (message: string, offset: number) => {
    // An empty text has no location for its end.
    issues.push({ message, offset: text === '' ? -1 : offset });
  };
  const syntax = (message: string, offset: number) => {
    const tooMany = syntaxErrors++ >= MAX_SYNTAX_ERRORS;
    report(
      `Syntax error: ${tooMany ? `More than ${MAX_SYNTAX_ERRORS} syntax errors` : withReservedWord(message)}`,
      offset,
    );
    if (tooMany) throw STOPPED;
  };
  const stop = (message: string): never => {
    issues.push({ message, offset: NO_LOCATION });
    throw STOPPED;
  };
  try {
    const tree = new RecoveringParser(new TokenStream(source, syntax), { syntax, stop }).parse();
    const builder = new NodeBuilder(macros, report);
    const expr = new TreeReader(builder, { report, stop }).read(tree);
    if (issues.length === 0) return { source, expr, macroCalls: builder.macroCalls };
  } catch (error) {
    if (error !== STOPPED) throw error;
  }
  return { issues };
}

/** A keyword after a dot is reported as an unexpected token instead of an identifier. */
function withReservedWord(message: string): string {
  return message.replace(
    /no viable alternative at input '.(true|false|null)'/gu,
    "mismatched input '$1' expecting IDENTIFIER",
  );
}
