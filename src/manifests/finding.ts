/**
 * What a check of manifests finds, and its forms for people and programs: lines of text, JSON, SARIF and the annotations
 * of GitHub.
 */
import { onOneLine } from '../util/message-of.js';
import { compareText } from '../util/order.js';
import type { ManifestPlace } from './read.js';

export type FindingLevel = 'error' | 'warning' | 'note';

/** The object that a finding is about, as far as its document states it. */
export interface FindingObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
}

export interface Finding {
  readonly level: FindingLevel;
  /** The type of the problem: a key of {@link RULES}. */
  readonly rule: FindingRule;
  readonly message: string;
  /** Absent: the finding is about an object of a cluster, or about standard input. */
  readonly file?: string;
  /** From one. */
  readonly line?: number;
  readonly object?: FindingObject;
  /** The field in the notation of the server: `spec.containers[0].image`. */
  readonly field?: string;
}

/** The types of problems. */
export const RULES = {
  unreadable: 'The document is not valid YAML or JSON, or is not an object of the API',
  skipped: 'The file is not checked',
  'unknown-kind': 'No kind of this name is served',
  invalid: 'The server rejects the object',
  forbidden: 'A policy or a quota rejects the object',
  'unknown-field': 'The schema has no such field',
  deprecated: 'The version or the field is deprecated',
  removed: 'The version is not served',
  warning: 'The server warns about the object',
  'defined-twice': 'Another document defines the same object',
} as const;

export type FindingRule = keyof typeof RULES;

/** The place of a finding, without members that are not known. */
export function findingPlace(place: ManifestPlace, line = place.line): Pick<Finding, 'file' | 'line'> {
  return { ...(place.file === undefined ? {} : { file: place.file }), line };
}

/** By file, line and level. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  return [...findings].sort(
    (a, b) => compareText(a.file ?? '', b.file ?? '') || (a.line ?? 0) - (b.line ?? 0) || rank(a) - rank(b),
  );
}

const LEVELS: readonly FindingLevel[] = ['error', 'warning', 'note'];

function rank({ level }: Finding): number {
  return LEVELS.indexOf(level);
}

/** `web.yaml:12: error: Deployment default/web: spec.replicas: Invalid value: …`. */
export function findingText(finding: Finding): string {
  const { file, line, level, message } = finding;
  const where = file === undefined ? '' : `${[file, line].filter((part) => part !== undefined).join(':')}: `;
  const text = onOneLine(`${where}${level}: ${objectPrefix(finding)}${message}`);
  // GitHub takes lines that begin with spaces and two colons as commands.
  return `${/^\s*::/.test(text) ? './' : ''}${text}\n`;
}

function objectPrefix({ object }: Finding): string {
  return object?.kind === undefined ? '' : `${objectText(object)}: `;
}

function objectText({ kind = '', namespace, name }: FindingObject): string {
  const path = [namespace, name].filter((part) => part !== undefined).join('/');
  return path === '' ? kind : `${kind} ${path}`;
}

/** A workflow command of GitHub Actions: `::error file=web.yaml,line=12::…`. */
export function githubAnnotation(finding: Finding): string {
  const { file, line, level, rule } = finding;
  const properties = { file, line: file === undefined ? undefined : line, title: rule };
  const given = Object.entries(properties).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${escapeProperty(String(value))}`],
  );
  const command = level === 'note' ? 'notice' : level;
  return `::${command} ${given.join(',')}::${escapeData(`${objectPrefix(finding)}${finding.message}`)}\n`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** The part of a SARIF 2.1.0 log that GitHub code scanning reads. */
export function sarifLog(
  findings: readonly Finding[],
  tool: { readonly version: string; readonly uri: string },
): object {
  const rules = [...new Set(findings.map(({ rule }) => rule))];
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'orchplane',
            version: tool.version,
            informationUri: tool.uri,
            rules: rules.map((id) => ({ id, shortDescription: { text: RULES[id] } })),
          },
        },
        // Columns count UTF-16 units, as JavaScript does.
        columnKind: 'utf16CodeUnits',
        results: findings.map((finding) => sarifResult(finding, rules)),
      },
    ],
  };
}

function sarifResult(finding: Finding, rules: readonly FindingRule[]): object {
  const { rule, level, file, line = 1 } = finding;
  return {
    ruleId: rule,
    ruleIndex: rules.indexOf(rule),
    level,
    message: { text: `${objectPrefix(finding)}${finding.message}` },
    // GitHub shows only results with a location.
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: fileUri(file ?? 'stdin') },
          region: { startLine: Math.max(1, line) },
        },
      },
    ],
  };
}

/** A relative reference to a file, with forward slashes, or a file URI. */
function fileUri(file: string): string {
  const path = file.replaceAll('\\', '/').replace(/^\.\//, '');
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  return path.startsWith('/') ? `file://${encoded}` : encoded;
}
