/**
 * Names of types and operations in OpenAPI documents: `io.orch.api.core.v1.PodSpec`. A struct belongs to the package of
 * the type that contains it, except for the few types that several packages share. Custom resources are named by their
 * reversed group.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import type { NamedType } from '../../schema/to-openapi.js';

/** A package of types; `path` does not include the dialect's prefix. */
export interface Package {
  readonly path: string;
  /** The key of its descriptions, the same for all versions: `core`, `meta`. */
  readonly group: string;
}

export const metaPackage: Package = { path: 'apimachinery.pkg.apis.meta.v1', group: 'meta' };
const CORE: Package = { path: 'api.core.v1', group: 'core' };
const RESOURCE: Package = { path: 'apimachinery.pkg.api.resource', group: 'meta' };
const INTSTR: Package = { path: 'apimachinery.pkg.util.intstr', group: 'meta' };
const RUNTIME: Package = { path: 'apimachinery.pkg.runtime', group: 'meta' };
export const versionPackage: Package = { path: 'apimachinery.pkg.version', group: 'meta' };
const BATCH: Package = { path: 'api.batch.v1', group: 'batch' };
const APIEXTENSIONS: Package = { path: 'apiextensions-apiserver.pkg.apis.apiextensions.v1', group: 'apiextensions' };

/** Types that are used outside their package, or have a package of their own. Their names are unique among all packages. */
const SHARED_TYPES: Readonly<Record<string, Package>> = {
  ...inPackage(metaPackage, ['Condition', 'DeleteOptions', 'FieldSelectorRequirement', 'FieldsV1', 'LabelSelector']),
  ...inPackage(metaPackage, ['LabelSelectorRequirement', 'ListMeta', 'MicroTime', 'ObjectMeta', 'Time']),
  ...inPackage(CORE, ['EventSource', 'NodeSelector', 'ObjectReference', 'PersistentVolumeClaim', 'PodTemplateSpec']),
  ...inPackage(CORE, ['PersistentVolumeSpec', 'Toleration', 'TopologySelectorTerm', 'TypedLocalObjectReference']),
  ...inPackage(APIEXTENSIONS, ['JSON', 'JSONSchemaPropsOrArray', 'JSONSchemaPropsOrBool']),
  ...inPackage(APIEXTENSIONS, ['JSONSchemaPropsOrStringArray']),
  JobSpec: BATCH,
  Quantity: RESOURCE,
  IntOrString: INTSTR,
  RawExtension: RUNTIME,
};

function inPackage(home: Package, names: readonly string[]): Record<string, Package> {
  return Object.fromEntries(names.map((name) => [name, home]));
}

/** The package of a type that a type of package `holder` refers to. */
export function packageOf(name: string, holder: Package): Package {
  return SHARED_TYPES[name] ?? holder;
}

/** Packages whose name is not the first part of their group, and packages whose path does not start with `api`. */
const PACKAGE_NAMES: Readonly<Record<string, string>> = {
  '': 'core',
  [serviceGroup('internal.apiserver')]: 'apiserverinternal',
};
const PACKAGE_HOMES: Readonly<Record<string, string>> = {
  [serviceGroup('apiextensions')]: 'apiextensions-apiserver.pkg.apis',
  [serviceGroup('apiregistration')]: 'kube-aggregator.pkg.apis',
};

/** The package of a built-in kind. */
export function packageOfKind({ kind }: ServedKind): Package {
  const group = PACKAGE_NAMES[kind.group] ?? kind.group.split('.')[0] ?? '';
  return { path: `${PACKAGE_HOMES[kind.group] ?? 'api'}.${group}.${kind.version}`, group };
}

/** The definition name of a type. */
export function definitionName(name: string, home: Package, dialect: Dialect): string {
  return dialect.definition(`${home.path}.${name}`);
}

/** The name of a served kind or, with `name`, of its list. */
export function kindName(served: ServedKind, dialect: Dialect, name = served.kind.kind): string {
  if (served.kind.representation === 'struct') return definitionName(name, packageOfKind(served), dialect);
  const { group, version } = served.gvk;
  return [...group.split('.').reverse(), version, name].filter((part) => part !== '').join('.');
}

/** The tag that groups operations: `rbacAuthorization_v1`, `core_v1`, `exampleCom_v1`. */
export function operationTag(group: string, dialect: Dialect, version = ''): string {
  const tag = operationGroup(group, dialect);
  const first = tag.slice(0, 1).toLowerCase() + tag.slice(1);
  return version === '' ? first : `${first}_${version}`;
}

/** The group in operation ids: `RbacAuthorization`, `Core`, `ExampleCom`. */
export function operationGroup(group: string, dialect: Dialect): string {
  const suffix = dialect.group(serviceGroup(''));
  const name = group.endsWith(suffix) ? group.slice(0, -suffix.length) : group;
  return (name === '' ? 'core' : name).split(/[.-]/).map(capitalized).join('');
}

export function capitalized(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** The fields of JSONSchemaProps whose value has one of several types, and the name of that union type. */
const UNION_TYPES: Readonly<Record<string, NamedType>> = {
  default: 'JSON',
  example: 'JSON',
  enum: 'JSON',
  items: 'JSONSchemaPropsOrArray',
  additionalItems: 'JSONSchemaPropsOrBool',
  additionalProperties: 'JSONSchemaPropsOrBool',
  dependencies: 'JSONSchemaPropsOrStringArray',
};

/** The named union type of a field; undefined for other fields. */
export function unionTypeOf(type: string, field: string): NamedType | undefined {
  return type === 'JSONSchemaProps' ? UNION_TYPES[field] : undefined;
}

/** The name under which descriptions list a schema extension: without the dialect's token, `x-list-type`. */
export function fieldWithoutDialect(field: string, dialect: Dialect): string {
  const prefix = dialect.extension('');
  return field.startsWith(prefix) ? `x-${field.slice(prefix.length)}` : field;
}
