/**
 * Reads the conformance suite of CEL: its cases by section, with types and values of our engine. Cases about protobuf
 * messages are listed separately, because our environments have no message types.
 */
import { tests } from '@bufbuild/cel-spec/testdata/conformance.js';
import { ArrayList, EntryMap } from '../../src/cel/index.js';
import type { FunctionDeclaration } from '../../src/cel/library.js';
import {
  ANY,
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  ERROR,
  INT,
  listOf,
  mapOf,
  NULL,
  objectType,
  opaqueType,
  type SimpleType,
  STRING,
  TIMESTAMP,
  TYPE,
  typeOf,
  typeParam,
  UINT,
  wrapperOf,
} from '../../src/cel/types.js';
import { CelBytes, CelDuration, CelTimestamp, CelTypeValue, CelUint, type CelValue } from '../../src/cel/values.js';
import { parseDuration } from '../../src/text/time/duration.js';
import { readInstant } from '../../src/text/time/time.js';

/** JSON of the suite, whose shape is not checked here. */
interface Json {
  // biome-ignore lint/suspicious/noExplicitAny: reads of foreign JSON whose shape the suite defines
  readonly [key: string]: any;
}

export interface Case {
  readonly section: string;
  readonly name: string;
  readonly expr: string;
  readonly container: string;
  readonly checked: boolean;
  /** The case expects a type and is not evaluated. */
  readonly checkOnly: boolean;
  readonly variables: Readonly<Record<string, CelType>>;
  readonly functions: readonly FunctionDeclaration[];
  readonly bindings: ReadonlyMap<string, CelValue>;
  readonly expected:
    | { readonly value: CelValue; readonly type?: CelType }
    | { readonly value?: undefined; readonly type?: CelType; readonly fails: boolean };
}

export interface Sections {
  readonly cases: readonly Case[];
  /** Names of cases that need protobuf messages, by section. */
  readonly messages: ReadonlyMap<string, readonly string[]>;
}

/** Matches the messages of the suite, and `Any`, which contains them. */
const FOREIGN =
  /TestAllTypes|TestRequired|proto[23]|google\.protobuf\.(Any|FieldMask|Empty)|objectValue":\{"@type":"type.googleapis.com\/(?!google\.protobuf\.(Timestamp|Duration)")/;

export function readSuite(): Sections {
  const cases: Case[] = [];
  const messages = new Map<string, string[]>();
  for (const section of (tests as unknown as Json).suites) {
    for (const test of testsOf(section)) {
      const name: string = test.original.name ?? test.original.expr;
      if (FOREIGN.test(JSON.stringify(test.original))) {
        messages.set(section.name, [...(messages.get(section.name) ?? []), name]);
      } else cases.push(caseOf(section.name, name, test.original));
    }
  }
  return { cases, messages };
}

function testsOf(suite: Json): readonly Json[] {
  return [...(suite.tests ?? []), ...(suite.suites ?? []).flatMap(testsOf)];
}

function caseOf(section: string, name: string, test: Json): Case {
  const idents = (test.typeEnv ?? []).filter((declaration: Json) => declaration.ident !== undefined);
  const functions = (test.typeEnv ?? []).filter((declaration: Json) => declaration.function !== undefined);
  return {
    section,
    name,
    expr: test.expr,
    container: test.container ?? '',
    checked: test.disableCheck !== true,
    checkOnly: test.checkOnly === true,
    variables: Object.fromEntries(
      idents.map((declaration: Json) => [declaration.name, toType(declaration.ident.type)]),
    ),
    functions: functions.map(toFunction),
    bindings: new Map(
      Object.entries<Json>(test.bindings ?? {}).map(([variable, { value }]) => [variable, toValue(value)]),
    ),
    expected: expectationOf(test),
  };
}

function expectationOf(test: Json): Case['expected'] {
  const { typedResult } = test;
  const value = test.value ?? typedResult?.result;
  const type = typedResult?.deducedType === undefined ? {} : { type: toType(typedResult.deducedType) };
  if (value !== undefined) return { value: toValue(value), ...type };
  // Without an expectation the result is true.
  if (test.evalError === undefined && typedResult === undefined) return { value: true };
  return { ...type, fails: test.evalError !== undefined };
}

function toFunction(declaration: Json): FunctionDeclaration {
  return {
    name: declaration.name,
    overloads: declaration.function.overloads.map((overload: Json) => ({
      id: overload.overloadId,
      member: overload.isInstanceFunction === true,
      params: (overload.params ?? []).map(toType),
      result: toType(overload.resultType),
    })),
  };
}

const PRIMITIVES: Readonly<Record<string, SimpleType>> = {
  BOOL,
  INT64: INT,
  UINT64: UINT,
  DOUBLE,
  STRING,
  BYTES,
};
/** Messages that have a CEL type. */
const MESSAGE_TYPES: Readonly<Record<string, CelType>> = {
  'google.protobuf.Timestamp': TIMESTAMP,
  'google.protobuf.Duration': DURATION,
  'google.protobuf.Any': ANY,
  'google.protobuf.Value': DYN,
};
const WELL_KNOWN: Readonly<Record<string, CelType>> = { ANY, TIMESTAMP, DURATION };

function toType(type: Json): CelType {
  if (type.primitive !== undefined) return PRIMITIVES[type.primitive] ?? ERROR;
  if (type.wellKnown !== undefined) return WELL_KNOWN[type.wellKnown] ?? ERROR;
  if (type.wrapper !== undefined) return wrapperOf(PRIMITIVES[type.wrapper] as SimpleType);
  if (type.listType !== undefined) return listOf(toType(type.listType.elemType ?? { dyn: {} }));
  if (type.mapType !== undefined) return mapOf(toType(type.mapType.keyType), toType(type.mapType.valueType));
  if (type.messageType !== undefined) return MESSAGE_TYPES[type.messageType] ?? objectType(type.messageType);
  if (type.typeParam !== undefined) return typeParam(type.typeParam);
  if (type.abstractType !== undefined) {
    return opaqueType(type.abstractType.name, ...(type.abstractType.parameterTypes ?? []).map(toType));
  }
  if (type.type !== undefined) return Object.keys(type.type).length === 0 ? TYPE : typeOf(toType(type.type));
  return 'null' in type ? NULL : DYN;
}

const TYPE_VALUES: Readonly<Record<string, CelType>> = {
  bool: BOOL,
  int: INT,
  uint: UINT,
  double: DOUBLE,
  string: STRING,
  bytes: BYTES,
  null_type: NULL,
  list: listOf(DYN),
  map: mapOf(DYN, DYN),
  type: TYPE,
  'google.protobuf.Timestamp': TIMESTAMP,
  'google.protobuf.Duration': DURATION,
};

function toValue(value: Json): CelValue {
  if (value.int64Value !== undefined) return BigInt(value.int64Value);
  if (value.uint64Value !== undefined) return new CelUint(BigInt(value.uint64Value));
  if (value.doubleValue !== undefined) return Number(value.doubleValue);
  if (value.stringValue !== undefined) return value.stringValue;
  if (value.boolValue !== undefined) return value.boolValue;
  if (value.bytesValue !== undefined) return new CelBytes(Uint8Array.from(Buffer.from(value.bytesValue, 'base64')));
  if (value.listValue !== undefined) return new ArrayList((value.listValue.values ?? []).map(toValue));
  if (value.mapValue !== undefined) {
    const entries: readonly Json[] = value.mapValue.entries ?? [];
    return new EntryMap(entries.map((entry) => [toValue(entry.key), toValue(entry.value)]));
  }
  if (value.typeValue !== undefined) {
    return new CelTypeValue(TYPE_VALUES[value.typeValue] ?? opaqueType(value.typeValue));
  }
  return value.objectValue === undefined ? null : toTime(value.objectValue);
}

function toTime(object: Json): CelValue {
  if (object['@type'].endsWith('Duration')) return new CelDuration(parseDuration(object.value));
  const instant = readInstant(object.value) ?? { seconds: 0, nanos: 0 };
  return new CelTimestamp(BigInt(instant.seconds) * 1_000_000_000n + BigInt(instant.nanos));
}
