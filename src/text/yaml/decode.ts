/**
 * Converts a YAML node tree to a value with keys of any type and resolves aliases and merges. Conversion to JSON is a
 * separate step in `codec/yaml.ts`, as in the reference server: the two fail with different messages.
 */
import { byKey } from '../../util/order.js';
import { YamlSyntaxError } from './characters.js';
import { YamlLimitError, type YamlNode } from './parse.js';
import { goScalar, resolveScalar, type YamlScalar } from './scalar.js';

/** A YAML value; mapping keys are scalars of any type. */
export type YamlValue = YamlScalar | readonly YamlValue[] | YamlMapping;

/** Entries by {@link identity} of their key, in order of first occurrence. */
export type YamlMapping = Map<string | symbol, { readonly key: YamlScalar; readonly value: YamlValue }>;

/**
 * Decodes a node tree. Throws {@link YamlSyntaxError} for what the reference server rejects: a scalar that does not
 * match its tag, a mapping as a key, aliases that contain themselves or expand excessively; {@link YamlLimitError}.
 */
export class Decoder {
  /** Messages such as `line 7: key "k" already set in map`, in order of occurrence. */
  readonly repeatedKeys: string[] = [];
  readonly #openAliases = new Set<YamlNode>();
  // The reference server counts the document itself.
  #decoded = 1;
  #fromAliases = 0;
  #characters = 0;
  readonly #maxCharacters: number;

  /** `maxCharacters`: of all scalars; those of an alias count again. */
  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  decode(node: YamlNode): YamlValue {
    this.#count();
    switch (node.kind) {
      case 'scalar':
        this.#countCharacters(node.text);
        return resolveScalar(node);
      case 'sequence':
        return node.children.map((child) => this.decode(child));
      case 'mapping': {
        const mapping: YamlMapping = new Map();
        this.#fill(mapping, node.children);
        return mapping;
      }
      case 'alias':
        return this.#inAlias(node, (target) => this.decode(target));
    }
  }

  /** Rejects documents whose aliases expand to millions of values. */
  #count(): void {
    this.#decoded++;
    if (this.#openAliases.size > 0) this.#fromAliases++;
    if (this.#fromAliases <= 100 || this.#decoded <= 1000) return;
    if (this.#fromAliases / this.#decoded > allowedAliasShare(this.#decoded)) {
      throw new YamlSyntaxError('document contains excessive aliasing');
    }
  }

  /** A few aliases can repeat a long scalar, which is resolved each time. */
  #countCharacters({ length }: string): void {
    this.#characters += length;
    if (this.#characters > this.#maxCharacters) throw new YamlLimitError(`limit is ${this.#maxCharacters} characters`);
  }

  #inAlias<Result>(alias: Alias, use: (target: YamlNode) => Result): Result {
    if (this.#openAliases.has(alias)) throw new YamlSyntaxError(`anchor '${alias.name}' value contains itself`);
    this.#openAliases.add(alias);
    const result = use(alias.target);
    this.#openAliases.delete(alias);
    return result;
  }

  /** Later entries replace earlier ones, even if they come from a merge. */
  #fill(mapping: YamlMapping, children: readonly YamlNode[]): void {
    for (let at = 0; at + 1 < children.length; at += 2) {
      const [keyNode, valueNode] = children.slice(at, at + 2);
      if (keyNode === undefined || valueNode === undefined) continue;
      if (isMergeKey(keyNode)) {
        this.#merge(mapping, valueNode);
        continue;
      }
      const key = this.decode(keyNode);
      if (!isYamlScalar(key)) throw new YamlSyntaxError(`invalid map key: ${goValue(key)}`);
      const value = this.decode(valueNode);
      const name = identity(key);
      // The reference server reports the line of the value, which may differ from that of the key.
      if (mapping.has(name)) {
        this.repeatedKeys.push(`line ${valueNode.line + 1}: key ${goScalar(key)} already set in map`);
      }
      mapping.set(name, { key, value });
    }
  }

  #merge(mapping: YamlMapping, node: YamlNode): void {
    // In reverse, because the first of several sources wins.
    const sources = node.kind === 'sequence' ? [...node.children].reverse() : [node];
    for (const source of sources) this.#mergeOne(mapping, source);
  }

  #mergeOne(mapping: YamlMapping, node: YamlNode): void {
    if ((node.kind === 'alias' ? node.target : node).kind !== 'mapping') {
      throw new YamlSyntaxError('map merge requires map or sequence of maps as the value');
    }
    this.#count();
    if (node.kind === 'alias') this.#inAlias(node, (target) => this.#mergeOne(mapping, target));
    else if (node.kind === 'mapping') this.#fill(mapping, node.children);
  }
}

type Alias = Extract<YamlNode, { readonly kind: 'alias' }>;

/**
 * The allowed share of values from aliases: nearly all in a small document, a tenth in a very large one, interpolated
 * in between.
 */
function allowedAliasShare(decoded: number): number {
  const [small, large] = [400_000, 4_000_000];
  if (decoded <= small) return 0.99;
  if (decoded >= large) return 0.1;
  return 0.99 - 0.89 * ((decoded - small) / (large - small));
}

/** Whether a node is `<<` without quotes or with a merge tag. */
function isMergeKey(node: YamlNode): boolean {
  if (node.kind !== 'scalar' || node.text !== '<<') return false;
  return (node.isPlain && node.tag === '') || node.tag === '!' || node.tag === 'tag:yaml.org,2002:merge';
}

export function isYamlScalar(value: YamlValue): value is YamlScalar {
  return !Array.isArray(value) && !(value instanceof Map);
}

/** A map key for a scalar: equal type and value give equal keys; NaN differs from itself. */
function identity(key: YamlScalar): string | symbol {
  if (key.type === 'null') return 'null';
  if (key.type === 'float' && Number.isNaN(key.value)) return Symbol('NaN');
  return `${key.type} ${key.value}`;
}

/** Formats a value as Go's `%#v`. */
export function goValue(value: YamlValue): string {
  if (isYamlScalar(value)) return goScalar(value);
  if (!(value instanceof Map)) return `[]interface {}{${value.map(goMember).join(', ')}}`;
  const entries = Array.from(value.values(), (entry) => [goMember(entry.key), goMember(entry.value)] as const);
  entries.sort(byKey);
  return `map[interface {}]interface {}{${entries.map(([key, item]) => `${key}:${item}`).join(', ')}}`;
}

function goMember(value: YamlValue): string {
  return isYamlScalar(value) && value.type === 'null' ? 'interface {}(nil)' : goValue(value);
}
