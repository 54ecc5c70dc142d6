/**
 * What a kind of `defineKind` says of its objects, as the schema of a definition: its structural form with the words and
 * restrictions of its zod schema. zod itself tells those, so that no page carries a second reader of zod schemas.
 */
import * as z from 'zod';
// By its own name: through the namespace a bundle would get the words of all languages that zod speaks.
import { $ZodRegistry } from 'zod/v4/core';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { JSONSchemaProps } from '../../schema/json-schema.js';
import type { ObjectNode } from '../../schema/structural.js';
import { objectSchema } from '../../schema/to-openapi.js';
import { own } from '../../util/json.js';
import { RESTRICTIONS, WORDS } from './custom.js';

/** `reference`: to a type of the service that the kind has borrowed. */
export function ownSchema(
  { kind, schema, dialect }: ServedKind,
  reference: (type: ObjectNode) => string | undefined,
): JSONSchemaProps {
  const form = objectSchema(schema, {
    version: 3,
    dialect,
    reference: (type) => (typeof type === 'string' ? undefined : reference(type)),
    formless: () => undefined,
    describe: () => undefined,
  });
  const words = z.toJSONSchema(kind.body, {
    target: 'openapi-3.0',
    io: 'input',
    unrepresentable: 'any',
    metadata: new WordsAlone(),
  });
  return withWords(form as JSONSchemaProps, words as JSONSchemaProps);
}

/** Whoever gave a schema an id did not mean to be referred to from here. */
class WordsAlone extends $ZodRegistry<z.core.JSONSchemaMeta> {
  override get(schema: z.core.$ZodType): z.core.JSONSchemaMeta | undefined {
    const { id: _, ...words } = z.globalRegistry.get(schema) ?? {};
    return words;
  }
}

function withWords(form: JSONSchemaProps, words: JSONSchemaProps): JSONSchemaProps {
  const made: JSONSchemaProps = { ...form, ...picked(words, WORDS) };
  if (words.enum !== undefined && typeof words.type === 'string') {
    // The form has no eye for what the values of a list are made of.
    Object.assign(made, { type: words.type, enum: words.enum });
  } else if (form.type === words.type) {
    Object.assign(made, restrictionsOf(form, words));
  }
  const { items, properties, additionalProperties: others } = form;
  if (isSchema(items) && isSchema(words.items)) made.items = withWords(items, words.items);
  if (isSchema(others) && isSchema(words.additionalProperties)) {
    made.additionalProperties = withWords(others, words.additionalProperties);
  }
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, field]) => {
      const said = own(words.properties ?? {}, name);
      return [name, said === undefined ? field : withWords(field, said)];
    });
    made.properties = Object.fromEntries(fields);
  }
  return made;
}

function isSchema(value: JSONSchemaProps | JSONSchemaProps[] | boolean | undefined): value is JSONSchemaProps {
  return typeof value === 'object' && !Array.isArray(value);
}

/** The ends of what integers are, which zod tells of each of them. */
const RANGES: readonly unknown[] = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 31 - 1, -(2 ** 31)];

function restrictionsOf(form: JSONSchemaProps, words: JSONSchemaProps): JSONSchemaProps {
  const { maximum, minimum, format, pattern, ...others } = picked(words, RESTRICTIONS);
  return {
    ...others,
    ...(RANGES.includes(maximum) ? {} : { maximum }),
    ...(RANGES.includes(minimum) ? {} : { minimum }),
    format: form.format ?? format,
    // The pattern that comes with a format says the same again.
    ...(format === undefined ? { pattern, allOf: words.allOf } : {}),
  } as JSONSchemaProps;
}

function picked(schema: JSONSchemaProps, keys: readonly (keyof JSONSchemaProps)[]): JSONSchemaProps {
  return Object.fromEntries(keys.flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]]])));
}
