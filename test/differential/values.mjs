const MAX_DEPTH = 9;

/**
 * `resolve` follows the references of a schema. `dictionary` has values by field name, taken from valid requests, so that
 * values that a validator compares with constants occur.
 */
import { readFileSync } from 'node:fs';

/** Texts, numbers and other values that requests contain. */
export const WORDS = JSON.parse(readFileSync(new URL('words.json', import.meta.url), 'utf8'));
const { strings: STRINGS, integers: INTEGERS, numbers: NUMBERS, odd: ODD, keys: KEYS } = WORDS;
/** Fields whose change makes most requests fail for a reason that is the same for all kinds. They change less often. */
const RARELY_CHANGED = WORDS.rarelyChanged;
export function valueGenerator(random, resolve, dictionary) {
  const known = (name, accepts) => {
    const values = (dictionary.get(name) ?? []).filter(accepts);
    return values.length > 0 && random.chance(0.5) ? structuredClone(random.pick(values)) : undefined;
  };
  const text = (name, { enum: options, format }) => {
    if (options !== undefined && random.chance(0.8)) return random.pick(options);
    if (format === 'byte' && random.chance(0.7)) return random.pick(['', 'YQ==', 'eyJhIjoxfQ==']);
    if (format === 'date-time' && random.chance(0.7)) return '2030-01-01T00:00:00Z';
    return known(name, (value) => typeof value === 'string') ?? random.pick(STRINGS);
  };
  const object = (schema, depth) => {
    const properties = Object.entries(schema.properties ?? {});
    const share = Math.min(0.5, 3 / properties.length) / (1 + depth / 3);
    return Object.fromEntries(
      properties.flatMap(([key, inner]) => {
        const isRequired = schema.required?.includes(key);
        if (!random.chance(isRequired ? 0.95 : share)) return [];
        return [[key, value(inner, key, depth + 1)]];
      }),
    );
  };
  const value = (reference, name, depth = 0) => {
    const schema = resolve(reference);
    const type =
      schema.oneOf !== undefined || schema['x-kubernetes-int-or-string']
        ? random.pick(['string', 'integer'])
        : schema.type;
    if (depth > MAX_DEPTH) return structuredClone(random.pick(ODD));
    if (type === 'string') return text(name, schema);
    if (type === 'integer') return known(name, Number.isInteger) ?? random.pick(INTEGERS);
    if (type === 'number') return random.pick(NUMBERS);
    if (type === 'boolean') return random.chance(0.5);
    if (type === 'array') {
      const items = known(name, Array.isArray);
      return (
        items ?? Array.from({ length: random.pick([0, 1, 1, 2]) }, () => value(schema.items ?? {}, name, depth + 1))
      );
    }
    if (schema.properties !== undefined) return object(schema, depth);
    if (type === 'object' && typeof schema.additionalProperties === 'object') {
      const keys = Array.from({ length: random.pick([0, 1, 1, 2]) }, () => random.pick(KEYS));
      return (
        known(name, isMap) ??
        Object.fromEntries(keys.map((key) => [key, value(schema.additionalProperties, name, depth + 1)]))
      );
    }
    return structuredClone(random.pick(ODD));
  };
  return value;
}

/** All places of an object with their schemas: `{ parent, key, path, schema }`; the root has no parent. */
export function placesOf(object, schema, resolve) {
  const places = [];
  const visit = (parent, key, reference, path) => {
    const found = resolve(reference);
    const inner = parent === undefined ? object : parent[key];
    places.push({ parent, key, path, schema: found, value: inner });
    if (Array.isArray(inner)) {
      for (const index of inner.keys()) visit(inner, index, found.items ?? {}, [...path, index]);
    } else if (isMap(inner)) {
      for (const name of Object.keys(inner)) {
        visit(inner, name, found.properties?.[name] ?? found.additionalProperties ?? {}, [...path, name]);
      }
    }
  };
  visit(undefined, undefined, schema, []);
  return places;
}

/** Functions that change a copy of an object in one place. Each returns the path of the change and the new value. */
export function mutator(random, resolve, dictionary) {
  const generate = valueGenerator(random, resolve, dictionary);
  const missing = ({ value, schema }) => Object.keys(schema.properties ?? {}).filter((name) => !(name in value));
  const operations = {
    add(places) {
      const place = random.pick(places.filter((each) => isMap(each.value) && missing(each).length > 0));
      if (place === undefined) return undefined;
      const name = random.pick(missing(place));
      return set(place.value, name, generate(place.schema.properties[name], name), place.path);
    },
    addEntry(places) {
      const place = random.pick(
        places.filter((each) => isMap(each.value) && typeof each.schema.additionalProperties === 'object'),
      );
      if (place === undefined) return undefined;
      return set(place.value, random.pick(KEYS), generate(place.schema.additionalProperties, ''), place.path);
    },
    addItem(places) {
      const place = random.pick(places.filter((each) => Array.isArray(each.value)));
      if (place === undefined) return undefined;
      const isCopy = place.value.length > 0 && random.chance(0.4);
      const item = isCopy
        ? structuredClone(random.pick(place.value))
        : generate(place.schema.items ?? {}, String(place.key));
      return set(place.value, place.value.length, item, place.path);
    },
    replace(places) {
      const place = random.pick(inner(places));
      return place && set(place.parent, place.key, generate(place.schema, String(place.key)), place.path.slice(0, -1));
    },
    odd(places) {
      const place = random.pick(inner(places));
      return place && set(place.parent, place.key, structuredClone(random.pick(ODD)), place.path.slice(0, -1));
    },
    remove(places) {
      const place = random.pick(inner(places));
      if (place === undefined) return undefined;
      if (Array.isArray(place.parent)) place.parent.splice(place.key, 1);
      else delete place.parent[place.key];
      return { path: place.path, value: undefined };
    },
    unknown(places) {
      const place = random.pick(places.filter((each) => isMap(each.value)));
      return set(
        place.value,
        random.pick(['unknownField', 'Spec', 'metaData', 'x']),
        structuredClone(random.pick(ODD)),
        place.path,
      );
    },
  };
  const inner = (places) =>
    places.filter(
      ({ parent, path }) => parent !== undefined && (!RARELY_CHANGED.includes(path.join('.')) || random.chance(0.1)),
    );
  return (object, schema) => {
    const places = placesOf(object, schema, resolve);
    const operation = random.weighted([
      [40, 'add'],
      [6, 'addEntry'],
      [10, 'addItem'],
      [16, 'replace'],
      [14, 'odd'],
      [10, 'remove'],
      [4, 'unknown'],
    ]);
    return operations[operation](places) ?? operations.add(places);
  };
}

function set(target, key, value, path) {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  return { path: [...path, key], value };
}

export function isMap(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** A name in a path; `{ns}` stays. */
export function pathSegment(name) {
  return encodeURIComponent(name).replaceAll('%7Bns%7D', '{ns}');
}

/** A field of an earlier response, in the notation of recordings. */
export function reference(path) {
  return `$\{${path}}`;
}
