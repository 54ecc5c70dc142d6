/**
 * A tree of YAML nodes → a value with keys of any type, in which aliases and merges are written out. Turning that into
 * JSON is another step, in `yaml.ts`: the reference server does so too, and the two fail with different words.
 */
import { byKey } from '../../util/order.js';
import { YamlFault } from './characters.js';
import type { YamlNode } from './grammar.js';
import type { YamlScalar } from './scalar.js';
import { goScalar, resolveScalar } from './scalar.js';

/** A value of YAML: keys are scalars of any type. */
export type YamlValue = YamlScalar | readonly YamlValue[] | YamlMapping;

/** Entries by {@link identity} of their key, in the order in which the keys were first met. */
export type YamlMapping = Map<string | symbol, { readonly key: YamlScalar; readonly value: YamlValue }>;

/**
 * Writes a tree out. Throws {@link YamlFault} for what the reference server's reader refuses in it: a scalar that is not
 * what its tag says, a mapping as a key, aliases that contain themselves or make the document explode.
 */
export class Decoder {
  /** `line 7: key "k" already set in map`, in the order in which they were met. */
  readonly repeatedKeys: string[] = [];
  readonly #openAliases = new Set<YamlNode>();
  // The document itself is the first that the reference server counts.
  #decoded = 1;
  #fromAliases = 0;

  decode(node: YamlNode): YamlValue {
    this.#count();
    switch (node.kind) {
      case 'scalar':
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

  /** Guards against documents whose few lines stand for millions of values. */
  #count(): void {
    this.#decoded++;
    if (this.#openAliases.size > 0) this.#fromAliases++;
    if (this.#fromAliases <= 100 || this.#decoded <= 1000) return;
    if (this.#fromAliases / this.#decoded > allowedAliasShare(this.#decoded)) {
      throw new YamlFault('document contains excessive aliasing');
    }
  }

  #inAlias<Result>(alias: Alias, use: (target: YamlNode) => Result): Result {
    if (this.#openAliases.has(alias)) throw new YamlFault(`anchor '${alias.name}' value contains itself`);
    this.#openAliases.add(alias);
    const result = use(alias.target);
    this.#openAliases.delete(alias);
    return result;
  }

  /** Later entries win, also when they come from a merge. */
  #fill(mapping: YamlMapping, children: readonly YamlNode[]): void {
    for (let at = 0; at + 1 < children.length; at += 2) {
      const [keyNode, valueNode] = children.slice(at, at + 2);
      if (keyNode === undefined || valueNode === undefined) continue;
      if (isMergeKey(keyNode)) {
        this.#merge(mapping, valueNode);
        continue;
      }
      const key = this.decode(keyNode);
      if (!isYamlScalar(key)) throw new YamlFault(`invalid map key: ${goValue(key)}`);
      const value = this.decode(valueNode);
      const name = identity(key);
      // The reference server names the line of the value, which need not be that of the key.
      if (mapping.has(name)) {
        this.repeatedKeys.push(`line ${valueNode.line + 1}: key ${goScalar(key)} already set in map`);
      }
      mapping.set(name, { key, value });
    }
  }

  #merge(mapping: YamlMapping, node: YamlNode): void {
    // From the back, because the first of several is meant to win.
    const sources = node.kind === 'sequence' ? [...node.children].reverse() : [node];
    for (const source of sources) this.#mergeOne(mapping, source);
  }

  #mergeOne(mapping: YamlMapping, node: YamlNode): void {
    if ((node.kind === 'alias' ? node.target : node).kind !== 'mapping') {
      throw new YamlFault('map merge requires map or sequence of maps as the value');
    }
    this.#count();
    if (node.kind === 'alias') this.#inAlias(node, (target) => this.#mergeOne(mapping, target));
    else if (node.kind === 'mapping') this.#fill(mapping, node.children);
  }
}

type Alias = Extract<YamlNode, { readonly kind: 'alias' }>;

/**
 * Which part of all values may come from aliases: nearly all in a small document, a tenth in a very large one, and
 * between the two so that the number of such values stays about the same.
 */
function allowedAliasShare(decoded: number): number {
  const [small, large] = [400_000, 4_000_000];
  if (decoded <= small) return 0.99;
  if (decoded >= large) return 0.1;
  return 0.99 - 0.89 * ((decoded - small) / (large - small));
}

/** `<<` without quotes, or with a tag that leaves it as it is. */
function isMergeKey(node: YamlNode): boolean {
  if (node.kind !== 'scalar' || node.text !== '<<') return false;
  return (node.isPlain && node.tag === '') || node.tag === '!' || node.tag === 'tag:yaml.org,2002:merge';
}

export function isYamlScalar(value: YamlValue): value is YamlScalar {
  return !Array.isArray(value) && !(value instanceof Map);
}

/** Two keys are the same when type and value are; what is no number is not even the same as itself. */
function identity(key: YamlScalar): string | symbol {
  if (key.type === 'null') return 'null';
  if (key.type === 'float' && Number.isNaN(key.value)) return Symbol('NaN');
  return `${key.type} ${key.value}`;
}

/** A value as Go prints it in its own syntax. */
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
