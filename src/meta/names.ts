/**
 * Validators of names, keys and label values. Each returns all messages in the reference server's order, and a shared
 * empty list for a valid value. spec: What the service does
 *
 * The patterns match what is not allowed: they never backtrack, so that a long hostile name costs one pass. The messages
 * contain the reference server's patterns.
 */

/** A validator of names. */
export type NameProblems = (name: string) => readonly string[];

const NONE: readonly string[] = Object.freeze([]);

const LABEL_PATTERN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN_PATTERN = `${LABEL_PATTERN}(\\.${LABEL_PATTERN})*`;
const QUALIFIED_PATTERN = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

const NOT_LABEL = /[^-a-z0-9]|^-|-$|^$/;
const NOT_1035 = /[^-a-z0-9]|^[-0-9]|-$|^$/;
const NOT_SUBDOMAIN = /[^-a-z0-9.]|^[-.]|[-.]$|\.[-.]|-\.|^$/;
const NOT_QUALIFIED = /[^-A-Za-z0-9_.]|^[-_.]|[-_.]$|^$/;
const NOT_LABEL_VALUE = /[^-A-Za-z0-9_.]|^[-_.]|[-_.]$/;
const NOT_CONFIG_KEY = /[^-._a-zA-Z0-9]|^$/;
const NOT_ENV_VAR = /[^-._a-zA-Z0-9]|^[0-9]|^$/;
const NOT_HEADER = /[^-A-Za-z0-9]|^$/;
const NOT_PORT_CHARACTERS = /[^-a-z0-9]|^$/;

const SUBDOMAIN_MESSAGE = patternMessage(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  SUBDOMAIN_PATTERN,
  ['example.com'],
);
const LABEL_MESSAGE = patternMessage(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  LABEL_PATTERN,
  ['my-name', '123-abc'],
);
const LABEL_1035_MESSAGE = patternMessage(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  '[a-z]([-a-z0-9]*[a-z0-9])?',
  ['my-name', 'abc-123'],
);
const WILDCARD_MESSAGE = patternMessage(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  `\\*\\.${SUBDOMAIN_PATTERN}`,
  ['*.example.com'],
);
const QUALIFIED_MESSAGE = patternMessage(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  QUALIFIED_PATTERN,
  ['MyName', 'my.name', '123-abc'],
);
const LABEL_VALUE_MESSAGE = patternMessage(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  `(${QUALIFIED_PATTERN})?`,
  ['MyValue', 'my_value', '12345'],
);
const CONFIG_KEY_MESSAGE = patternMessage(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  '[-._a-zA-Z0-9]+',
  ['key.name', 'KEY_NAME', 'key-name'],
);
const ENV_VAR_MESSAGE = patternMessage(
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
  '[-._a-zA-Z][-._a-zA-Z0-9]*',
  ['my.env-name', 'MY_ENV.NAME', 'MyEnvName1'],
);
const HEADER_MESSAGE = patternMessage(
  "a valid HTTP header must consist of alphanumeric characters or '-'",
  '[-A-Za-z0-9]+',
  ['X-Header-Name'],
);

/** The names of most kinds. */
export function dnsSubdomainProblems(name: string): readonly string[] {
  return NOT_SUBDOMAIN.test(name) ? problems(tooLong(name, 253), SUBDOMAIN_MESSAGE) : lengthProblems(name, 253);
}

/** The names of namespaces. */
export function dnsLabelProblems(name: string): readonly string[] {
  if (!NOT_LABEL.test(name)) return lengthProblems(name, 63);
  return problems(tooLong(name, 63), NOT_SUBDOMAIN.test(name) ? LABEL_MESSAGE : 'must not contain dots');
}

/** The names of services: a label that does not start with a digit. */
export function dns1035LabelProblems(name: string): readonly string[] {
  return problems(tooLong(name, 63), NOT_1035.test(name) && LABEL_1035_MESSAGE);
}

export function wildcardSubdomainProblems(name: string): readonly string[] {
  const bad = !name.startsWith('*.') || NOT_SUBDOMAIN.test(name.slice(2));
  return problems(tooLong(name, 253), bad && WILDCARD_MESSAGE);
}

/** The minimum for names of all kinds: a valid URL path segment. */
export function pathSegmentProblems(name: string): readonly string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return pathSegmentPrefixProblems(name);
}

/** Like {@link pathSegmentProblems}, for the prefix of a name. */
export function pathSegmentPrefixProblems(prefix: string): readonly string[] {
  if (!/[/%]/.test(prefix)) return NONE;
  return problems(prefix.includes('/') && "may not contain '/'", prefix.includes('%') && "may not contain '%'");
}

/** Keys of labels and annotations, and finalizers: a name with an optional `subdomain/` prefix. */
export function qualifiedNameProblems(key: string): readonly string[] {
  const slash = key.indexOf('/');
  const name = key.slice(slash + 1);
  if (name.includes('/')) {
    return [
      `a qualified name ${QUALIFIED_MESSAGE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const prefix = slash < 0 ? NONE : prefixProblems(key.slice(0, slash));
  // Valid names have one byte per character.
  if (prefix.length === 0 && name.length <= 63 && !NOT_QUALIFIED.test(name)) return NONE;
  const length = name === '' ? 'must be non-empty' : tooLong(name, 63);
  const rest = problems(length && `name part ${length}`, NOT_QUALIFIED.test(name) && `name part ${QUALIFIED_MESSAGE}`);
  return prefix.length === 0 ? rest : [...prefix, ...rest];
}

function prefixProblems(prefix: string): readonly string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  const found = dnsSubdomainProblems(prefix);
  return found.length === 0 ? NONE : found.map((problem) => `prefix part ${problem}`);
}

/** Whether {@link labelValueProblems} returns no messages. */
export function isLabelValue(value: string): boolean {
  return value.length <= 63 && !NOT_LABEL_VALUE.test(value);
}

export function labelValueProblems(value: string): readonly string[] {
  return NOT_LABEL_VALUE.test(value) ? problems(tooLong(value, 63), LABEL_VALUE_MESSAGE) : lengthProblems(value, 63);
}

/** Keys of config maps and secrets. */
export function configMapKeyProblems(key: string): readonly string[] {
  return problems(tooLong(key, 253), NOT_CONFIG_KEY.test(key) && CONFIG_KEY_MESSAGE, parentDirectoryProblem(key));
}

export function envVarNameProblems(name: string): readonly string[] {
  return problems(NOT_ENV_VAR.test(name) && ENV_VAR_MESSAGE, parentDirectoryProblem(name));
}

/** The rule for containers that replaced {@link envVarNameProblems}. */
export function relaxedEnvVarNameProblems(name: string): readonly string[] {
  if (name === '') return ['environment variable name must be non-empty'];
  const message = "a valid environment variable name must consist only of printable ASCII characters other than '='";
  return problems(/[^ -<>-~]/.test(name) && message);
}

export function httpHeaderNameProblems(name: string): readonly string[] {
  return problems(NOT_HEADER.test(name) && HEADER_MESSAGE);
}

/** Names of container and service ports. */
export function portNameProblems(name: string): readonly string[] {
  return problems(
    tooLong(name, 15),
    NOT_PORT_CHARACTERS.test(name) && 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    !/[a-z]/.test(name) && 'must contain at least one letter (a-z)',
    name.includes('--') && 'must not contain consecutive hyphens',
    (name.startsWith('-') || name.endsWith('-')) && 'must not begin or end with a hyphen',
  );
}

/**
 * The text to validate instead of a `generateName`: a trailing dash is allowed, because a suffix follows it.
 * `web-` → `wea`.
 */
export function maskTrailingDash(prefix: string): string {
  if (prefix.length < 2 || !prefix.endsWith('-')) return prefix;
  const kept = prefix.slice(0, -2);
  // The reference server removes two bytes. Of a multi-byte character an invalid part remains, so the name stays invalid.
  return prefix.charCodeAt(prefix.length - 2) < 0x80 ? `${kept}a` : `${prefix.slice(0, -1)}a`;
}

/** `must be no more than 63 characters`, for limits that are not part of the rules above. */
export function lengthMessage(max: number): string {
  return `must be no more than ${max} characters`;
}

/** A message with examples and the pattern: `… (e.g. 'a',  or 'b', regex used for validation is '…')`. */
export function patternMessage(what: string, pattern: string, examples: readonly string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${what} (${shown === '' ? '' : `e.g. ${shown}`}regex used for validation is '${pattern}')`;
}

/** Characters of more than one byte. */
const LONG_CHARACTERS = /[\u0080-\uffff]/;

/** The length in UTF-8 bytes, which limits on names refer to. */
export function byteLength(text: string): number {
  if (!LONG_CHARACTERS.test(text)) return text.length;
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) continue;
    // A surrogate pair has four bytes: two are counted in text.length, one more for each half.
    const half = code >= 0xd800 && code <= 0xdfff && isPaired(text, i);
    bytes += code < 0x800 || half ? 1 : 2;
  }
  return bytes;
}

function isPaired(text: string, index: number): boolean {
  const [before, code, after] = [text.charCodeAt(index - 1), text.charCodeAt(index), text.charCodeAt(index + 1)];
  const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;
  const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;
  return isHigh(code) ? isLow(after) : isHigh(before);
}

/** The length check for text that has only single-byte characters. */
function lengthProblems(text: string, max: number): readonly string[] {
  return text.length > max ? [lengthMessage(max)] : NONE;
}

function tooLong(text: string, max: number): string | false {
  // A UTF-16 code unit has at most three bytes, so short names need no counting.
  if (text.length * 3 <= max) return false;
  return (text.length > max || byteLength(text) > max) && lengthMessage(max);
}

/** Keys become file names, which must not refer to a parent directory. */
function parentDirectoryProblem(key: string): string | false {
  if (key === '.' || key === '..') return `must not be '${key}'`;
  return key.startsWith('..') && "must not start with '..'";
}

/** The messages that apply; allocates no list for a valid name. */
function problems(...found: readonly (string | false)[]): readonly string[] {
  for (const problem of found) {
    if (problem !== false) return found.filter((message) => message !== false);
  }
  return NONE;
}
