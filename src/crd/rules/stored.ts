/**
 * Rules of a definition that was accepted: they may use whatever this release knows.
 */
import { storedEnvironment } from '../../cel/library/environments.js';
import type { SchemaView } from '../schema-view.js';
import { compileRules, type RuleNode } from './compile.js';

/** The rules of a whole resource; undefined when it has none. */
export function compileStoredRules(schema: SchemaView): RuleNode | undefined {
  return compileRules(schema, true, { rule: storedEnvironment, message: storedEnvironment });
}
