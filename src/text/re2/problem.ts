/** What is wrong with a regular expression. It leaves the reader of expressions as a text only. */
export class SyntaxProblem extends Error {}

/** A problem and the piece of the expression that has it. */
export function problem(what: string, where: string): SyntaxProblem {
  return new SyntaxProblem(`${what}: \`${where}\``);
}
