/**
 * Metrics as Prometheus reads them: the text format, version 0.0.4.
 */

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** One line: what stands behind the name of its family, its labels in their order, and its value. */
export interface Sample {
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly value: number;
}

/** A family of which there is nothing to show is not shown at all. */
export function printFamily(
  { name, help, type }: { readonly name: string; readonly help: string; readonly type: MetricType },
  samples: readonly Sample[],
): string {
  if (samples.length === 0) return '';
  let text = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
  for (const { suffix = '', labels, value } of samples) {
    const inBraces = labels.map(([label, is]) => `${label}="${escapeValue(is)}"`).join(',');
    text += `${name}${suffix}${inBraces === '' ? '' : `{${inBraces}}`} ${printNumber(value)}\n`;
  }
  return text;
}

const HELP_ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n' };
const VALUE_ESCAPES: Readonly<Record<string, string>> = { ...HELP_ESCAPES, '"': '\\"' };

function escapeHelp(text: string): string {
  return text.replace(/[\\\n]/g, (character) => HELP_ESCAPES[character] ?? character);
}

/** A label may come from outside: nothing in it may end the label, or the line. */
function escapeValue(text: string): string {
  return text.replace(/[\\"\n]/g, (character) => VALUE_ESCAPES[character] ?? character);
}

/** The fewest digits that still give the number; with an exponent from a million on, and below a ten-thousandth. */
export function printNumber(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e6) return String(value);
  const [digits = '', power = ''] = value.toExponential().split('e');
  return `${digits}e${power.charAt(0)}${power.slice(1).padStart(2, '0')}`;
}
