/** Mistakes as clients read them: each with its place, the line it is in, and a mark below. */
import type { CelIssue, Source } from '../ast.js';

/** How many are shown; of the others, only the number. */
const SHOWN = 100;

/** Lines with more bytes than this are not shown. */
const LONGEST_LINE = 16_384;

/** Wide characters are marked by wide dots, so that the mark stands below its character. */
const WIDE_DOT = '\uff0e';
const WIDE_MARK = '\uff3e';

/** `issues` are in the order in which they were found: it decides between those at the same place. */
export function issuesText(source: Source, issues: readonly CelIssue[]): string {
  const placed = issues.slice(0, SHOWN).map((issue) => ({ issue, at: source.locate(issue.offset) }));
  placed.sort((a, b) => a.at.line - b.at.line || a.at.column - b.at.column);
  const texts = placed.map(({ issue, at }) => issueText(source, issue.message, at));
  if (issues.length > SHOWN) texts.push(`${issues.length - SHOWN} more errors were truncated`);
  return texts.join('\n');
}

function issueText(source: Source, message: string, at: { readonly line: number; readonly column: number }): string {
  const text = `ERROR: <input>:${at.line}:${at.column + 1}: ${message}`;
  const line = source.line(at.line);
  if (line === undefined || new TextEncoder().encode(line).length > LONGEST_LINE) return text;
  const shown = line.replaceAll('\t', ' ');
  const characters = Array.from(shown);
  let marks = '';
  for (const character of characters.slice(0, Math.max(at.column, 0))) marks += isWide(character) ? WIDE_DOT : '.';
  marks += isWide(characters[Math.max(at.column, 0)]) ? WIDE_MARK : '^';
  return `${text}\n | ${shown}\n | ${marks}`;
}

function isWide(character: string | undefined): boolean {
  return character !== undefined && (character.codePointAt(0) ?? 0) >= 0x80;
}
