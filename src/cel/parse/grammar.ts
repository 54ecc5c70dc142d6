/**
 * The CEL grammar as a table, for `network.ts`. Only erroneous texts need it.
 *
 * `tree-reader.ts` reads parts by label; a part that is missing because of an error is absent. Left-recursive rules
 * (`relation`, `calc`, `member`) are written as an operand and a loop of suffixes; `precedence` is the binding strength
 * of a suffix.
 */
import { TokenType as T } from './tokens.js';

export type RuleName =
  | 'start'
  | 'expr'
  | 'conditionalOr'
  | 'conditionalAnd'
  | 'relation'
  | 'calc'
  | 'unary'
  | 'member'
  | 'primary'
  | 'exprList'
  | 'listInit'
  | 'fieldInitializerList'
  | 'optField'
  | 'mapInitializerList'
  | 'escapeIdent'
  | 'optExpr'
  | 'literal';

export type Element =
  | { readonly type: 'token'; readonly tokens: readonly number[]; readonly label: string | undefined }
  | { readonly type: 'rule'; readonly rule: RuleName; readonly label: string | undefined; readonly precedence: number }
  | { readonly type: 'optional'; readonly body: Sequence }
  /** Zero or more, or one or more repetitions. */
  | { readonly type: 'star' | 'plus'; readonly body: Sequence; readonly lookahead: Lookahead }
  | { readonly type: 'choice'; readonly alternatives: readonly Alternative[]; readonly lookahead: Lookahead }
  /** The suffixes of a left-recursive rule. */
  | { readonly type: 'suffixes'; readonly alternatives: readonly (Alternative & { readonly precedence: number })[] };

export type Sequence = readonly Element[];

/** One alternative. Its name, if any, becomes the kind of the tree node. */
export interface Alternative {
  readonly name: string | undefined;
  readonly body: Sequence;
}

/** `one`: the next token decides. `many`: unbounded lookahead, see `predict.ts`. */
export type Lookahead = 'one' | 'many';

/** A label with `+` collects all parts in a list. */
const token = (type: number, label?: string): Element => ({ type: 'token', tokens: [type], label });
const oneOf = (label: string, ...tokens: number[]): Element => ({ type: 'token', tokens, label });
const rule = (name: RuleName, label?: string, precedence = 0): Element => ({
  type: 'rule',
  rule: name,
  label,
  precedence,
});
const optional = (...body: Sequence): Element => ({ type: 'optional', body });
const star = (lookahead: Lookahead, ...body: Sequence): Element => ({ type: 'star', lookahead, body });
const plus = (lookahead: Lookahead, ...body: Sequence): Element => ({ type: 'plus', lookahead, body });
const alternative = (name: string, ...body: Sequence): Alternative => ({ name, body });
const choice = (lookahead: Lookahead, ...alternatives: Alternative[]): Element => ({
  type: 'choice',
  lookahead,
  alternatives,
});
const suffix = (precedence: number, name: string | undefined, ...body: Sequence) => ({ precedence, name, body });
const suffixes = (...alternatives: ReturnType<typeof suffix>[]): Element => ({ type: 'suffixes', alternatives });

/** The label of the operand before a suffix. */
export const LEFT = 'left';

export const GRAMMAR: Readonly<Record<RuleName, Sequence>> = {
  start: [rule('expr', 'e'), token(T.END)],
  expr: [
    rule('conditionalOr', 'e'),
    optional(token(T.QUESTION, 'op'), rule('conditionalOr', 'e1'), token(T.COLON), rule('expr', 'e2')),
  ],
  conditionalOr: [rule('conditionalAnd', 'e'), star('one', token(T.OR, 'ops+'), rule('conditionalAnd', 'e1+'))],
  conditionalAnd: [rule('relation', 'e'), star('one', token(T.AND, 'ops+'), rule('relation', 'e1+'))],
  relation: [
    rule('calc', 'calc'),
    suffixes(
      suffix(
        1,
        undefined,
        oneOf('op', T.EQUALS, T.NOT_EQUALS, T.IN, T.LESS, T.LESS_EQUALS, T.GREATER_EQUALS, T.GREATER),
        rule('relation', 'right', 2),
      ),
    ),
  ],
  calc: [
    rule('unary', 'unary'),
    suffixes(
      suffix(2, undefined, oneOf('op', T.STAR, T.SLASH, T.PERCENT), rule('calc', 'right', 3)),
      suffix(1, undefined, oneOf('op', T.PLUS, T.MINUS), rule('calc', 'right', 2)),
    ),
  ],
  unary: [
    choice(
      'many',
      alternative('memberExpr', rule('member', 'member')),
      alternative('logicalNot', plus('one', token(T.NOT, 'ops+')), rule('member', 'member')),
      alternative('negate', plus('many', token(T.MINUS, 'ops+')), rule('member', 'member')),
    ),
  ],
  member: [
    rule('primary', 'primary'),
    suffixes(
      suffix(3, 'select', token(T.DOT, 'op'), optional(token(T.QUESTION, 'opt')), rule('escapeIdent', 'id')),
      suffix(
        2,
        'memberCall',
        token(T.DOT, 'op'),
        token(T.IDENTIFIER, 'id'),
        token(T.OPEN_PAREN, 'open'),
        optional(rule('exprList', 'args')),
        token(T.CLOSE_PAREN),
      ),
      suffix(
        1,
        'index',
        token(T.OPEN_BRACKET, 'op'),
        optional(token(T.QUESTION, 'opt')),
        rule('expr', 'index'),
        token(T.CLOSE_BRACKET),
      ),
    ),
  ],
  primary: [
    choice(
      'many',
      alternative('ident', optional(token(T.DOT, 'leadingDot')), token(T.IDENTIFIER, 'id')),
      alternative(
        'globalCall',
        optional(token(T.DOT, 'leadingDot')),
        token(T.IDENTIFIER, 'id'),
        token(T.OPEN_PAREN, 'op'),
        optional(rule('exprList', 'args')),
        token(T.CLOSE_PAREN),
      ),
      alternative('nested', token(T.OPEN_PAREN), rule('expr', 'e'), token(T.CLOSE_PAREN)),
      alternative(
        'createList',
        token(T.OPEN_BRACKET, 'op'),
        optional(rule('listInit', 'elems')),
        optional(token(T.COMMA)),
        token(T.CLOSE_BRACKET),
      ),
      alternative(
        'createMap',
        token(T.OPEN_BRACE, 'op'),
        optional(rule('mapInitializerList', 'entries')),
        optional(token(T.COMMA)),
        token(T.CLOSE_BRACE),
      ),
      alternative(
        'createMessage',
        optional(token(T.DOT, 'leadingDot')),
        token(T.IDENTIFIER, 'ids+'),
        star('one', token(T.DOT), token(T.IDENTIFIER, 'ids+')),
        token(T.OPEN_BRACE, 'op'),
        optional(rule('fieldInitializerList', 'entries')),
        optional(token(T.COMMA)),
        token(T.CLOSE_BRACE),
      ),
      alternative('constantLiteral', rule('literal', 'literal')),
    ),
  ],
  exprList: [rule('expr', 'e+'), star('one', token(T.COMMA), rule('expr', 'e+'))],
  listInit: [rule('optExpr', 'elems+'), star('many', token(T.COMMA), rule('optExpr', 'elems+'))],
  fieldInitializerList: [
    ...[rule('optField', 'fields+'), token(T.COLON, 'cols+'), rule('expr', 'values+')],
    star('many', token(T.COMMA), rule('optField', 'fields+'), token(T.COLON, 'cols+'), rule('expr', 'values+')),
  ],
  optField: [optional(token(T.QUESTION, 'opt')), rule('escapeIdent', 'ident')],
  mapInitializerList: [
    ...[rule('optExpr', 'keys+'), token(T.COLON, 'cols+'), rule('expr', 'values+')],
    star('many', token(T.COMMA), rule('optExpr', 'keys+'), token(T.COLON, 'cols+'), rule('expr', 'values+')),
  ],
  escapeIdent: [
    choice(
      'one',
      alternative('simpleIdentifier', token(T.IDENTIFIER, 'id')),
      alternative('escapedIdentifier', token(T.ESCAPED_IDENTIFIER, 'id')),
    ),
  ],
  optExpr: [optional(token(T.QUESTION, 'opt')), rule('expr', 'e')],
  literal: [
    choice(
      'many',
      alternative('int', optional(token(T.MINUS, 'sign')), token(T.INT, 'tok')),
      alternative('uint', token(T.UINT, 'tok')),
      alternative('double', optional(token(T.MINUS, 'sign')), token(T.FLOAT, 'tok')),
      alternative('string', token(T.STRING, 'tok')),
      alternative('bytes', token(T.BYTES, 'tok')),
      alternative('true', token(T.TRUE, 'tok')),
      alternative('false', token(T.FALSE, 'tok')),
      alternative('null', token(T.NULL, 'tok')),
    ),
  ],
};
