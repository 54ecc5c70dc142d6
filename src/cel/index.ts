/**
 * Entry point of the Common Expression Language (CEL) engine. Other folders import only this file;
 * `test/package/layers.test.ts` checks it.
 *
 *     createEnvironment → compile (parse + check) → estimateCost → plan → program.evaluate
 */

export { check } from './check/check.js';
export { equivalentType } from './check/relations.js';
export { compile } from './compile.js';
export { estimateCost } from './cost/estimate.js';
export { compileDeviceSelector, MAX_SELECTOR_COST } from './devices/compile.js';
export {
  type ClassLike,
  compilationCost,
  DeviceSelectionError,
  matchDevices,
  type SelectableAttribute,
  type SelectableCapacity,
  type SelectableDevice,
  type SelectorLike,
  selectsDevice,
} from './devices/match.js';
export type { CheckedExpression, Environment, Outcome, Program, Variables } from './engine.js';
export { createEnvironment } from './environment.js';
export { celEquals } from './equality.js';
export { plan, planParsed } from './evaluate/plan.js';
export { ArrayList, EntryMap, itemsOf, JsonList, JsonMap, jsonValue, keysOf } from './evaluate/views.js';
export {
  AUTHORIZER_TYPE,
  type AuthorizationCheck,
  authorizerValue,
  type CelAuthorizer,
  RESOURCE_CHECK_TYPE,
  resourceAuthorizerValue,
} from './library/authorizer.js';
export { newExpressionsEnvironment, storedExpressionsEnvironment } from './library/environments.js';
export { printValue, valueText } from './library/print-value.js';
export { JSON_PATCHES } from './library/strings.js';
export type { SizeEstimator } from './library.js';
export { parse } from './parse/parse.js';
export { goTypeName, typeNameOf } from './runtime-type.js';
export {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  describeType,
  INT,
  listOf,
  mapOf,
  NULL,
  type ObjectType,
  objectType,
  opaqueType,
  optionalOf,
  type SimpleType,
  STRING,
  TIMESTAMP,
  type TypeProvider,
  typeName as runtimeTypeName,
} from './types.js';
export {
  CelBytes,
  CelCostLimitError,
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelObject,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
} from './values.js';
export { spendWork } from './work-budget.js';
