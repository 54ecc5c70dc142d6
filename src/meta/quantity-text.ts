/**
 * Parses the text of a quantity into its parts. Arithmetic and printing are in quantity.ts. spec: Conventions
 */

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** The parts of a quantity: `mantissa × 10^scale`. */
export interface Parts {
  readonly mantissa: bigint;
  /** Power of ten. */
  readonly scale: number;
  readonly format: QuantityFormat;
  /** Represented as arbitrary-precision decimal rather than as 64-bit integer. */
  readonly wide: boolean;
  /** The canonical text, if it is already known. */
  readonly text?: string;
}

const WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const WRONG_NUMBER = 'unable to parse numeric part of quantity';
const WRONG_SUFFIX = "unable to parse quantity's suffix";

export const NANO = -9;
export const MAX_INT64 = 2n ** 63n - 1n;
export const MIN_INT64 = -(2n ** 63n);
/** The number of decimal digits that always fit in a 64-bit integer. */
export const SAFE_DIGITS = 18;
/**
 * The largest difference of scales that is computed exactly. A client may send `1e2000000000`; the value is accepted, but
 * no integer of gigabytes is built for it.
 */
export const MAX_SPREAD = 10_000;

/** Before the point. The reference server accepts more, at a cost that grows with the square of their number. */
const MAX_DIGITS = 20_000;
/** Further digits of a fraction are below a nano, to which quantities are rounded up, even if multiplied by 2^60. */
const MAX_FRACTION_DIGITS = 30;

export const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const;
export const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;

// The patterns are unambiguous, so that they match in linear time.
const NUMBER = /^([+-]?)0*([0-9]*)(?:\.([0-9]*))?/;
const SUFFIX = /^[eEinumkKMGTP]*[-+]?[0-9]*$/;

/** The parts, or an error message. */
export function parseParts(text: string): Parts | string {
  const match = NUMBER.exec(text);
  if (text === '' || match === null) return WRONG_FORMAT;
  const [number, sign = '', digits = '', fraction = ''] = match;
  const suffixText = text.slice(number.length);
  if (!SUFFIX.test(suffixText)) return WRONG_FORMAT;
  const suffix = interpretSuffix(suffixText);
  if (suffix === undefined) return WRONG_SUFFIX;
  if (digits.length > MAX_DIGITS) return WRONG_NUMBER;
  const written = { negative: sign === '-', digits: digits || '0', fraction, suffix };
  const narrow = narrowParts(written, text);
  if (narrow !== undefined) return narrow;
  // Without digits the small representation parses as zero (`Ki`); the decimal parser requires a digit (`Ei` fails).
  return /[0-9]/.test(number) ? wideParts(written) : WRONG_NUMBER;
}

interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

function interpretSuffix(suffix: string): Suffix | undefined {
  const decimal = (DECIMAL_SUFFIXES as readonly string[]).indexOf(suffix);
  if (decimal >= 0) return { base: 10, exponent: NANO + 3 * decimal, format: 'DecimalSI' };
  const binary = (BINARY_SUFFIXES as readonly string[]).indexOf(suffix);
  if (binary > 0) return { base: 2, exponent: 10 * binary, format: 'BinarySI' };
  if (!/^[eE][-+]?[0-9]+$/.test(suffix)) return undefined;
  // A length limit keeps BigInt fast; 64-bit integers have at most 19 digits.
  const written = suffix.slice(1).replace(/^([-+]?)0+(?=[0-9])/, '$1');
  if (written.length > 20) return undefined;
  const exponent = BigInt(written.replace('+', ''));
  if (exponent !== BigInt.asIntN(64, exponent)) return undefined;
  // Exponents are 32 bits wide and wrap.
  return { base: 10, exponent: Number(BigInt.asIntN(32, exponent)), format: 'DecimalExponent' };
}

interface Written {
  readonly negative: boolean;
  /** Before the point, without leading zeros; at least one. */
  readonly digits: string;
  readonly fraction: string;
  readonly suffix: Suffix;
}

/** The value as 64-bit integer, if its digits guarantee that it fits; keeps a text that is known to be canonical. */
function narrowParts({ negative, digits, fraction, suffix }: Written, text: string): Parts | undefined {
  const { format, exponent } = suffix;
  const all = digits + fraction;
  if (format === 'BinarySI') {
    // 2^10 has about three digits; the sum stays below fifteen for safety.
    if (fraction !== '' || digits.length + (exponent * 3) / 10 + 1 > 15) return undefined;
    const count = BigInt(digits);
    const mantissa = (negative ? -count : count) << BigInt(exponent);
    const kept = count % 8n !== 0n ? { text } : {};
    return { mantissa, scale: 0, format, wide: false, ...kept };
  }
  const scale = exponent - fraction.length;
  if (all.length > SAFE_DIGITS || scale < NANO) return undefined;
  const kept = scale % 3 === 0 && !all.endsWith('000') && !all.startsWith('0') ? { text } : {};
  return { mantissa: BigInt(negative ? `-${all}` : all), scale, format, wide: false, ...kept };
}

function shortFraction(fraction: string): string {
  const isRounded = /[1-9]/.test(fraction.slice(MAX_FRACTION_DIGITS));
  return fraction.slice(0, MAX_FRACTION_DIGITS) + (isRounded ? '1' : '');
}

function wideParts({ negative, digits, fraction, suffix }: Written): Parts {
  const isBinary = suffix.base === 2;
  const kept = isBinary ? shortFraction(fraction) : fraction;
  let all = digits + kept;
  if (isBinary) all = (BigInt(all) << BigInt(suffix.exponent)).toString();
  const scale = (isBinary ? 0 : suffix.exponent) - kept.length;
  const rounded = atNano(all, scale);
  let { magnitude } = rounded;
  let resultScale = rounded.scale;
  let { format } = suffix;
  if (format === 'BinarySI') {
    const one = 10n ** BigInt(-resultScale);
    if (magnitude > MAX_INT64 * one) [magnitude, resultScale] = [MAX_INT64, 0];
    else if (magnitude > 0n && magnitude < one) format = 'DecimalSI';
  }
  return { mantissa: negative ? -magnitude : magnitude, scale: resultScale, format, wide: true };
}

/** Rounds up to whole nanos, so that a small positive request never becomes zero. */
function atNano(digits: string, scale: number): { readonly magnitude: bigint; readonly scale: number } {
  const extra = scale - NANO;
  if (extra > MAX_SPREAD) return { magnitude: BigInt(digits), scale };
  if (extra >= 0) return { magnitude: BigInt(digits) * 10n ** BigInt(extra), scale: NANO };
  // Cuts the text, because 10^2000000000 cannot be computed.
  const cut = Math.max(0, digits.length + extra);
  const magnitude = BigInt(digits.slice(0, cut) || '0');
  return { magnitude: /[1-9]/.test(digits.slice(cut)) ? magnitude + 1n : magnitude, scale: NANO };
}
