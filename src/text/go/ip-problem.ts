/**
 * Error messages for invalid IP addresses as Go's netip.ParseAddr produces them: it reads from left to right and stops
 * at the first error. It accepts the same texts as `parseIp`, and zones. Expressions and URLs report these messages.
 */
import { quote } from './go-text.js';

/**
 * Returns for example `ParseAddr("1.2.3"): IPv4 address too short`; undefined for a valid address, with or without a
 * zone. The text may be a byte string if `quoted` handles it.
 */
export function ipAddressProblem(text: string, quoted: (text: string) => string = quote): string | undefined {
  const mark = /[.:%]/.exec(text)?.[0];
  const problem = mark === ':' ? v6Problem(text) : mark === '.' ? dottedProblem(text) : { what: NEITHER[mark ?? ''] };
  if (problem === undefined) return undefined;
  const at = problem.at === undefined || problem.at === '' ? '' : ` (at ${quoted(problem.at)})`;
  return `ParseAddr(${quoted(text)}): ${problem.what}${at}`;
}

/** The zone of an address (`eth0` of `fe80::1%eth0`); empty if it has none. */
export function ipZoneOf(address: string): string {
  const percent = address.indexOf('%');
  return percent < 0 ? '' : address.slice(percent + 1);
}

const NEITHER: Readonly<Record<string, string>> = {
  '%': 'missing IPv6 address',
  '': 'unable to parse IP',
};

interface Problem {
  readonly what: string | undefined;
  /** The remaining input. */
  readonly at?: string;
}

function dottedProblem(text: string): Problem | undefined {
  let digits = '';
  let dots = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '.') {
      if (digits === '' || at === text.length - 1) {
        return { what: 'IPv4 field must have at least one digit', at: text.slice(at) };
      }
      if (dots === 3) return { what: 'IPv4 address too long' };
      [digits, dots] = ['', dots + 1];
    } else if (/[0-9]/.test(character)) {
      if (digits === '0') return { what: 'IPv4 field has octet with leading zero' };
      digits += character;
      if (Number(digits) > 255) return { what: 'IPv4 field has value >255' };
    } else {
      return { what: 'unexpected character', at: text.slice(at) };
    }
  }
  return dots < 3 ? { what: 'IPv4 address too short' } : undefined;
}

function v6Problem(text: string): Problem | undefined {
  const percent = text.indexOf('%');
  if (percent === text.length - 1) return { what: 'zone must be a non-empty string' };
  let rest = percent < 0 ? text : text.slice(0, percent);
  let groups = 0;
  let isShortened = rest.startsWith('::');
  if (isShortened) rest = rest.slice(2);
  // Nothing follows a trailing `::`; `::` alone is the shortest case.
  let isDone = isShortened && rest === '';
  while (!isDone && groups < 8) {
    const digits = /^[0-9a-fA-F]*/.exec(rest)?.[0] ?? '';
    if (digits.length > 4) return { what: 'each group must have 4 or less digits', at: rest };
    if (digits === '') return { what: 'each colon-separated field must have at least one digit', at: rest };
    if (rest[digits.length] === '.') {
      const problem = embeddedProblem(rest, groups, isShortened);
      if (problem !== undefined) return problem;
      [groups, rest] = [groups + 2, ''];
      break;
    }
    groups++;
    rest = rest.slice(digits.length);
    if (rest === '') break;
    if (!rest.startsWith(':')) return { what: 'unexpected character, want colon', at: rest };
    if (rest === ':') return { what: 'colon must be followed by more characters', at: rest };
    rest = rest.slice(1);
    if (!rest.startsWith(':')) continue;
    if (isShortened) return { what: 'multiple :: in address', at: rest };
    isShortened = true;
    rest = rest.slice(1);
    isDone = rest === '';
  }
  if (rest !== '') return { what: 'trailing garbage after address', at: rest };
  if (groups < 8) return isShortened ? undefined : { what: 'address string too short' };
  return isShortened ? { what: 'the :: must expand to at least one field of zeros' } : undefined;
}

/** Checks an IPv4 address in place of the last two groups. */
function embeddedProblem(rest: string, groups: number, isShortened: boolean): Problem | undefined {
  if (!isShortened && groups !== 6) {
    return { what: 'embedded IPv4 address must replace the final 2 fields of the address', at: rest };
  }
  if (groups > 6) {
    return { what: 'too many hex fields to fit an embedded IPv4 at the end of the address', at: rest };
  }
  return dottedProblem(rest);
}
