/**
 * Converts zod strings: lengths, patterns, formats.
 *
 * Most zod formats are patterns, and the pattern expresses them exactly. A CRD format is added only if it accepts
 * everything that the zod format accepts; it serves as documentation and for generators.
 */
import type { CheckDef, Draft, Place } from './context.js';
import { lose, loseOthers, restrict } from './context.js';
import { literalPattern, patternsOf } from './pattern.js';

const KNOWN = ['string_format', 'min_length', 'max_length', 'length_equals'];

/** A string schema with all constraints that can be expressed. */
export function textSchema(checks: readonly CheckDef[], place: Place): Draft {
  const draft: Draft = { type: 'string', ...lengths(checks, 'Length') };
  loseOthers(checks, KNOWN, place);
  const found = checks.filter(({ check }) => check === 'string_format').map((check) => formatOf(check, place));
  const formats = found.flatMap(({ format }) => (format === undefined ? [] : [format]));
  addFormats(draft, place.datesAreTexts ? formats.filter((format) => !DATES.includes(format)) : formats);
  addPatterns(draft, found);
  return draft;
}

/** Their patterns are as strict. */
const DATES = ['date', 'date-time'];

/** The strictest bounds on the length of strings or lists. */
export function lengths(checks: readonly CheckDef[], of: 'Length' | 'Items'): Draft {
  const least = checks.flatMap(({ check, minimum, length }) =>
    check === 'min_length' ? [minimum ?? 0] : check === 'length_equals' ? [length ?? 0] : [],
  );
  const most = checks.flatMap(({ check, maximum, length }) =>
    check === 'max_length' ? [maximum ?? 0] : check === 'length_equals' ? [length ?? 0] : [],
  );
  return {
    ...(least.length === 0 ? {} : { [`min${of}`]: Math.max(...least) }),
    ...(most.length === 0 ? {} : { [`max${of}`]: Math.min(...most) }),
  };
}

/** A string that matches one regular expression. */
export function patternSchema(expression: RegExp, place: Place): Draft {
  const draft: Draft = { type: 'string' };
  addPatterns(draft, [said(expression, place)]);
  return draft;
}

/** The constraints of a format. */
interface Said {
  readonly format?: string;
  readonly all: readonly string[];
  readonly none: readonly string[];
}

const SILENT: Said = { all: [], none: [] };

/** zod format → CRD format that accepts at least the same strings. */
const FORMATS: Readonly<Record<string, string>> = {
  email: 'email',
  uuid: 'uuid',
  guid: 'uuid',
  ipv4: 'ipv4',
  cidrv4: 'cidr',
  date: 'date',
};

/** Patterns for formats that zod checks by code; as exact as possible. */
const BASE64 = '^(?:[0-9a-zA-Z+/]{4})*(?:[0-9a-zA-Z+/]{2}==|[0-9a-zA-Z+/]{3}=)?$';
const BASE64URL = '^(?:[0-9a-zA-Z_-]{4})*(?:[0-9a-zA-Z_-]{2,3})?$';
const JWT = '^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]*$';

function formatOf(check: CheckDef, place: Place): Said {
  const { format = '', pattern } = check;
  switch (format) {
    case 'starts_with':
      return { ...SILENT, all: [`^${literalPattern(check.prefix ?? '')}`] };
    case 'ends_with':
      return { ...SILENT, all: [`${literalPattern(check.suffix ?? '')}$`] };
    case 'includes': {
      const skipped = check.position === undefined ? '' : `^(?s:.{${check.position}}.*)`;
      return { ...SILENT, all: [`${skipped}${literalPattern(check.includes ?? '')}`] };
    }
    case 'url':
      return urlOf(check, place);
    case 'ipv6':
      return { ...SILENT, format: 'ipv6' };
    case 'cidrv6':
      // The format covers both IP families.
      return { ...SILENT, format: 'cidr', all: [':'] };
    case 'datetime':
      // Without an offset or without seconds it is not a date-time.
      if (check.local === true || check.precision === -1) return said(pattern, place);
      return { ...said(pattern, place), format: 'date-time' };
    case 'base64':
      return { ...SILENT, all: [BASE64] };
    case 'base64url':
      return { ...SILENT, all: [BASE64URL] };
    case 'jwt':
      lose(place, 'what is inside a token');
      return { ...SILENT, all: [JWT] };
    case 'credit_card':
    case 'iban':
      lose(place, 'the digits that check the others');
      return said(pattern, place);
    default: {
      if (pattern === undefined) {
        lose(place, `the format ${format}`);
        return SILENT;
      }
      // A custom pattern for a known format may accept more than the CRD format.
      const isUsual = Object.hasOwn(FORMATS, format) && (format !== 'email' || isUsualEmail(pattern));
      return { ...said(pattern, place), ...(isUsual ? { format: FORMATS[format] as string } : {}) };
    }
  }
}

/** A URL is validated by the format uri, which differs from zod's URL parser in rare cases. */
function urlOf({ protocol, hostname }: CheckDef, place: Place): Said {
  lose(place, 'what makes an address, but for the format uri', 'differs');
  if (hostname !== undefined) lose(place, `the host names of ${hostname}`);
  const plain = protocol === undefined ? undefined : /^\^([\w?|()]+)\$$/.exec(protocol.source)?.[1];
  if (protocol !== undefined && plain === undefined) lose(place, `the protocols of ${protocol}`);
  // The format also accepts paths.
  return { ...SILENT, format: 'uri', all: [`^${plain === undefined ? '[a-zA-Z][a-zA-Z0-9+.-]*' : `(?i:${plain})`}:`] };
}

/** True if the pattern rejects typical addresses that the CRD format rejects. */
function isUsualEmail(pattern: RegExp): boolean {
  return !['a..b@example.com', '.a@example.com', 'a.@example.com', 'a b@example.com', 'ü@example.com', 'a@b'].some(
    (odd) => pattern.test(odd),
  );
}

function said(expression: RegExp | undefined, place: Place): Said {
  if (expression === undefined) return SILENT;
  const patterns = patternsOf(expression);
  if (typeof patterns !== 'string') return patterns;
  lose(place, `the pattern ${expression} (${patterns})`);
  return SILENT;
}

/** The first format is set directly, others in `allOf`. */
function addFormats(draft: Draft, formats: readonly string[]): void {
  const [first, ...others] = new Set(formats);
  if (first !== undefined) draft.format = first;
  restrict(
    draft,
    others.map((format) => ({ format })),
  );
}

function addPatterns(draft: Draft, found: readonly Said[]): void {
  const [first, ...others] = new Set(found.flatMap(({ all }) => all));
  const none = [...new Set(found.flatMap((each) => each.none))];
  if (first !== undefined) draft.pattern = first;
  restrict(draft, [...others.map((pattern) => ({ pattern })), ...none.map((pattern) => ({ not: { pattern } }))]);
}
