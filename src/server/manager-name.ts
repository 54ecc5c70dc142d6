/**
 * Names of field managers: validation, and the default for requests without one. spec: fieldManager
 */
import type { FieldError } from '../meta/field-error.js';
import { invalid, tooLong } from '../meta/field-error.js';
import { byteLength } from '../meta/names.js';
import type { ApiRequest } from '../protocol/request.js';
import { isPrintable, quote, verbatim } from '../text/go/go-text.js';

const MAX_BYTES = 128;

/** The manager of requests in process that name none. */
const IN_PROCESS = 'orchplane';

/** The field manager of a request. */
export function managerOf({ options, userAgent }: ApiRequest): string {
  if (options.fieldManager) return options.fieldManager;
  return (userAgent === undefined ? IN_PROCESS : programOf(userAgent)) || 'unknown';
}

/** The first part of a User-Agent, cut to printable characters and the maximum length. */
function programOf(userAgent: string): string {
  const end = userAgent.indexOf('/');
  const program = end < 0 ? userAgent : userAgent.slice(0, end);
  let name = '';
  let bytes = 0;
  for (const character of program) {
    if (!isPrintable(character)) continue;
    bytes += byteLength(character);
    if (bytes > MAX_BYTES) break;
    name += character;
  }
  return name;
}

/** Names that have been validated: every write validates its managers, and there are few names. */
const validNames = new Set<string>();
const MAX_GOOD = 1_000;

/** True for a validated name or an absent one. */
export function isKnownValidManager(manager: string | undefined): boolean {
  return !manager || validNames.has(manager);
}

export function managerNameProblems(manager: string | undefined, field: string): readonly FieldError[] {
  if (!manager || isKnownValidManager(manager)) return NONE;
  const problems = validateManagerName(manager, field);
  if (problems.length === 0) {
    if (validNames.size >= MAX_GOOD) validNames.clear();
    validNames.add(manager);
  }
  return problems;
}

const NONE: readonly FieldError[] = Object.freeze([]);

function validateManagerName(manager: string, field: string): FieldError[] {
  const problems: FieldError[] = [];
  if (byteLength(manager) > MAX_BYTES) problems.push(tooLong(field, MAX_BYTES));
  // Every error contains the whole name, so it is quoted once, and a long hostile name gets one error per rule only.
  const shown = verbatim(quote(manager));
  let position = 0;
  for (const character of manager) {
    if (problems.length > MAX_BYTES) break;
    if (!isPrintable(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      problems.push(invalid(field, shown, `invalid character U+${code} (at position ${position})`));
    }
    position += byteLength(character);
  }
  return problems;
}
